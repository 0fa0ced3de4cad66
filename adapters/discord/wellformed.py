"""What an interaction brings, checked at the door: its form, and attached files."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType

import discord
from pydantic import BaseModel, ValidationError, model_validator

from adapters.discord import texts
from adapters.discord.errors import KNOWN
from engine.values.errors import UsageError, VenueAwayError
from engine.values.source_files import check_files
from engine.values.sources import SourceFile, SourceLimits

# By the type of an option; of any other the handlers read no value.
VALUES: Mapping[int, type | tuple[type, ...]] = MappingProxyType(
    {3: str, 4: int, 5: bool, 10: (int, float), 11: str}
)


class _Option(BaseModel):
    """A subcommand, or a value that was given to it."""

    type: int
    name: str
    value: str | bool | int | float | None = None
    options: list[_Option] = []

    @model_validator(mode="after")
    def _is_of_its_type(self) -> _Option:
        if self.value is not None and not isinstance(self.value, VALUES.get(self.type, object)):
            raise ValueError
        return self


class _Field(BaseModel):
    """A part of a submitted form: a row, a label, or what was typed."""

    custom_id: str = ""
    value: str | None = None
    component: _Field | None = None
    components: list[_Field] = []


class _Data(BaseModel):
    custom_id: str = ""
    options: list[_Option] = []
    values: list[str] = []
    components: list[_Field] = []


def is_wellformed(interaction: discord.Interaction[discord.Client]) -> bool:
    """Return whether an interaction has what its handler reads."""
    try:
        _Data.model_validate(interaction.data, strict=True)
    except ValidationError:
        return False
    # discord.py passes on a language that it does not know, whatever its type.
    named = isinstance(getattr(interaction.locale, "value", interaction.locale), str)
    return named and isinstance(interaction.user, discord.User | discord.Member)


# Files attached to a command: read whole, once their names and sizes are checked.


TRIES = 3
PAUSE_SECONDS = 0.5  # longer after each try
SECONDS = 20.0  # for one download


async def read_attachments(
    attached: Sequence[discord.Attachment], limits: SourceLimits
) -> tuple[SourceFile, ...]:
    """Read attached files. Raises UsageError, or VenueAwayError for one that Discord withholds."""
    check_files([(name_of(one), one.size) for one in attached], limits)
    contents = await asyncio.gather(*map(_read, attached))
    return tuple(
        SourceFile(name=name_of(one), content=content)
        for one, content in zip(attached, contents, strict=True)
    )


def name_of(attached: discord.Attachment) -> str:
    """Return a file's name; Discord keeps other scripts in its title only."""
    return (
        f"{attached.title or PurePath(attached.filename).stem}{PurePath(attached.filename).suffix}"
    )


async def _read(attached: discord.Attachment) -> bytes:
    """Download a file; what may pass is tried again."""
    for left in reversed(range(TRIES)):
        try:
            async with asyncio.timeout(SECONDS):
                return await attached.read()
        except (discord.NotFound, discord.Forbidden):
            raise UsageError(texts.ATTACHMENT_GONE) from None
        except (*KNOWN, TimeoutError) as error:
            if not left:
                raise VenueAwayError(texts.ATTACHMENT_AWAY) from error
            await asyncio.sleep(PAUSE_SECONDS * (TRIES - left))
    raise AssertionError("unreachable")
