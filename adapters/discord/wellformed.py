"""Whether an interaction is of Discord's form, checked at the door: handlers read what is named."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import discord
from pydantic import BaseModel, ValidationError, model_validator

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
