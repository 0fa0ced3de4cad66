"""Answers interactions: acknowledges them at once, runs the command, shows the answer privately.

Discord drops an interaction that is not acknowledged within three seconds, sometimes earlier, and
its token after fifteen minutes. An answer that comes too late goes to the channel instead, without
anything that only the person may know.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, Literal

import discord
import structlog
from pydantic import BaseModel, ValidationError, model_validator

from adapters.discord import texts
from adapters.discord.errors import ACKNOWLEDGED, KNOWN, NETWORK, capabilities_of
from adapters.discord.render import LONGEST_ALT, below, modal_of, shown
from adapters.discord.rest import insist, seconds_left
from adapters.discord.texts import language_around, language_of, typed, with_options
from adapters.discord.venue import DiscordVenue
from adapters.pictures import drawn
from engine.chat.answers import Answer, to_markdown
from engine.chat.answers.catalogue import HelpAnswer
from engine.chat.answers.debates import StatusAnswer
from engine.chat.answers.management import SettingsAnswer
from engine.chat.commands import OWN_DATA
from engine.chat.context import Requester, own_community
from engine.chat.interactions import LOOK_SECONDS, OVER, InteractionHandler
from engine.chat.invocation import Invocation
from engine.chat.participants import check_form
from engine.delivery.reasons import refusal_of
from engine.run.order import check_allowed
from engine.values.errors import NotAllowedError, RostrumError, UsageError, VenueAwayError
from engine.values.language import speaking
from engine.values.markdown import split_markdown
from engine.values.ports import ButtonPressed
from engine.values.source_files import check_files
from engine.values.sources import SourceFile, SourceLimits
from engine.values.text import headline
from engine.words.buttons import ButtonAction, form_of
from engine.words.translation import say

# What an interaction brings, checked at the door: its form, and attached files.


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


PLATFORM = "discord"
MOST_BYTES = 10 * 2**20 - 4096  # of a file, as Discord counts them with the request around it
ANSWER = 4000  # characters of an embed's text, with room to spare
MARGIN_SECONDS = 30.0  # left of the fifteen minutes, for a last edit
LATE_SECONDS = 60.0  # between two public notes on private answers that were lost
ACKNOWLEDGE_SECONDS = 2.0  # of the three that Discord waits
# What begins a debate or more: Discord showed that it failed, so the person asks for it once more.
SPENDING = ("start", "rematch", "league", "schedule")
NO_SETTINGS = ("broadcast",)  # that Discord does not support
BUTTONS_ONLY = ("rematch",)  # as a group of commands has at most 25
log = structlog.get_logger(__name__)

Interaction = discord.Interaction[discord.Client]


@dataclass(slots=True)
class _Reply:
    """An interaction whose answer was announced, in time or not; `text` is the answer shown."""

    interaction: Interaction
    acknowledged: bool
    text: str = ""
    answer: Answer | None = None
    link: str = ""  # below the answer, once a debate has a thread

    @property
    def around(self) -> str:
        """The language of everyone around the person."""
        return language_around(self.interaction)


Hears = Literal["alone", "shared", "handed over"]
"""Whether another process hears the same interactions, as well as this one or in its place."""


def alone() -> Hears:
    """Return that no other process hears the same interactions."""
    return "alone"


@dataclass(frozen=True, slots=True)
class DiscordInteractionHandler(InteractionHandler[_Reply]):
    """Answers commands and button presses.

    `hears`: if another process hears them as well, the first to acknowledge one answers it.
    `trial` is there where people may install the app for themselves, and debate in its direct
    messages.
    """

    venue: DiscordVenue
    hears: Callable[[], Hears] = alone
    trial: float | None = None
    at_work: set[object] = field(default_factory=set)  # interactions that are being answered
    late_notice_at: dict[str, float] = field(default_factory=dict)  # when a place was, last

    async def carry_out(
        self,
        interaction: Interaction,
        asked: Invocation | Callable[[], Invocation],
        attached: Sequence[discord.Attachment] = (),
        *,
        in_place: bool = False,
    ) -> None:
        """Run a command, or parse and run it, and show its answer; sources may be attached.

        `in_place`: the answer replaces the private message whose button was pressed.
        """
        async with self._replying(interaction, in_place=in_place) as reply:
            if reply is None:
                return

            async def run() -> Answer:
                self.commands.check_database()
                command = asked() if callable(asked) else asked
                if not reply.acknowledged and command.name in SPENDING:
                    raise RostrumError(texts.GIVEN_UP)
                if attached:
                    files = await read_attachments(attached, self.commands.defaults.sources)
                    given = command.arguments["asked"].model_copy(update={"sources": files})
                    command = command._replace(arguments={"asked": given})
                return await self.run(reply, command)

            await self.answer(reply, run)

    async def press(self, interaction: Interaction, option: str | None) -> None:
        """Cast a vote by button; None withdraws it."""
        async with self._replying(interaction) as reply:
            if reply is not None:
                await self.vote(reply, pressed_of(interaction, option))

    async def open_form(self, interaction: Interaction, pressed: ButtonAction) -> None:
        """Open a button's form, for those who may send it.

        That acknowledges the button, and cannot be made up for when it is late.
        """
        if self.hears() == "handed over":
            return
        try:
            self.commands.check_database()
            await check_form(self.commands, await self.person(interaction), pressed)
        except RostrumError as error:
            await self.refuse(interaction, error)
            return
        with self._working(interaction):
            form = form_of(pressed)
            try:
                await interaction.response.send_modal(modal_of(form))
            except discord.HTTPException as error:
                log.warning("form not opened", form=form.title, code=error.code)
            except NETWORK as error:
                log.warning("form not opened", form=form.title, why=str(error))

    async def admits(self, interaction: Interaction) -> bool:
        """Return whether its server is served; a person elsewhere is told, but not while typing.

        What is stored of a person is theirs everywhere.
        """
        data: dict[str, Any] = dict(interaction.data or {})
        options: Sequence[dict[str, Any]] = data.get("options") or ({},)
        if interaction.guild_id is None or options[0].get("name") in OWN_DATA:
            return True
        try:
            check_allowed(self.commands.defaults, PLATFORM, str(interaction.guild_id))
        except NotAllowedError as error:
            if interaction.type is not discord.InteractionType.autocomplete:
                await self.refuse(interaction, error)
            return False
        return True

    async def refuse(self, interaction: Interaction, error: RostrumError) -> None:
        """Say to the person alone why nothing was done."""
        async with self._replying(interaction) as reply:
            if reply is not None:
                await self.explain(reply, partial(refusal_of, error))

    async def requester(self, reply: _Reply, command: Invocation | None = None) -> Requester:
        """Return who asks; refuses to show reveals in the channel too, which Discord cannot."""
        changes = command.arguments.get("changes", {}) if command else {}
        if set(NO_SETTINGS) & set(changes):
            raise UsageError(texts.NO_BROADCAST)
        return await self.person(reply.interaction)

    async def person(self, interaction: Interaction) -> Requester:
        """Return the person and their place. Raises RostrumError where debates cannot be."""
        if interaction.guild_id is not None and interaction.is_guild_integration():
            return person_of(interaction)
        if interaction.guild_id is not None:
            raise RostrumError(texts.NOT_A_MEMBER)
        if self.trial is None or not interaction.context.dm_channel:
            raise RostrumError(texts.NOT_HERE)
        user, place = str(interaction.user.id), str(interaction.channel_id)
        store = self.commands.store
        number = await store.people.number(PLATFORM, user)
        if number is None and interaction.type is not discord.InteractionType.autocomplete:
            # One who only types is not stored, and stays so.
            number = (await store.votes.people(PLATFORM, [user])).get(user)
        return Requester(
            platform=PLATFORM,
            community=own_community(number or 0),
            place=place,
            thread=place,  # direct messages have no threads
            user=user,
            manager=True,
            max_bytes=MOST_BYTES,
            trial=self.trial,
        )

    async def show(self, reply: _Reply, answer: Answer) -> None:
        """Show an answer privately, or else its public part in the channel."""
        if isinstance(answer, SettingsAnswer):
            answer = answer.without(NO_SETTINGS)
        if isinstance(answer, HelpAnswer):
            inside = reply.interaction.guild_id is not None
            hides = not (inside and capabilities_of(reply.interaction).no_removal)
            answer = with_options(answer, reply.interaction.command, hides=hides)
            answer = answer.without(BUTTONS_ONLY, instead=texts.REMATCH)
        # A mention notifies no one, as allowed mentions are none.
        said = to_markdown(answer, link=lambda at: f"<#{at}>", person=lambda user: f"<@{user}>")
        reply.text, reply.answer = typed(said), answer
        public = answer.public()
        await self._show(reply, None if public is None else lambda: typed(to_markdown(public)))

    async def explain(self, reply: _Reply, why: Callable[[], str]) -> None:
        """Show why there is no answer."""
        reply.text, reply.answer = why(), None
        await self._show(reply, why)

    def seconds_left(self, reply: _Reply) -> float:
        """Return for how long the answer can be edited; 0 if it is shown nowhere."""
        return seconds_left(reply.interaction) - MARGIN_SECONDS if reply.acknowledged else 0.0

    async def show_progress(self, reply: _Reply, status: StatusAnswer) -> None:
        """Add a link to the thread, then an abnormal end."""
        text = reply.text
        if status.debate.status in OVER:
            text = to_markdown(status)
        else:
            reply.link = "\n" + say(texts.THREAD, thread=status.debate.thread)
        await _edit_answer(reply, f"{text}{reply.link}")

    @asynccontextmanager
    async def _replying(
        self, interaction: Interaction, *, in_place: bool = False
    ) -> AsyncIterator[_Reply | None]:
        """Acknowledge an interaction, and answer it within; None if another process does."""
        with self._working(interaction):
            hears = self.hears()
            acknowledged: bool | None = None
            if hears != "handed over":
                shared = hears == "shared"
                acknowledged = await acknowledge(interaction, shared=shared, in_place=in_place)
            yield None if acknowledged is None else _Reply(interaction, acknowledged)

    @contextmanager
    def _working(self, interaction: Interaction) -> Iterator[None]:
        self.at_work.add(interaction)
        try:
            with speaking(language_of(interaction)):
                yield
        finally:
            self.at_work.discard(interaction)

    async def _show(self, reply: _Reply, public: Callable[[], str] | None) -> None:
        """Show an answer privately, or else what everyone may read of it in the channel."""
        if reply.acknowledged and await _edit_answer(reply, reply.text):
            return
        place = str(reply.interaction.channel_id)
        if public is not None or self._may_tell_late(place):
            with speaking(reply.around):
                text = public() if public is not None else say(texts.ASK_AGAIN)
                late = say(texts.TOO_LATE, user=reply.interaction.user.id, answer=text)
                try:
                    for piece in _pieces(late):
                        await self.venue.say(place, {"embeds": [{"description": piece}]})
                except RostrumError as error:
                    log.warning("answer lost", place=place, why=str(error))

    def _may_tell_late(self, place: str) -> bool:
        """Return whether to say in public that a private answer was lost: once a minute a place.

        A crowd whose taps came too fast would fill it otherwise; each sees that its tap failed.
        """
        now = time.monotonic()
        for told, at in tuple(self.late_notice_at.items()):
            if now - at > LATE_SECONDS:
                del self.late_notice_at[told]
        if place in self.late_notice_at:
            log.warning("answer lost", place=place, why="others there were told to ask again")
            return False
        self.late_notice_at[place] = now
        return True


async def acknowledge(
    interaction: Interaction, *, shared: bool = False, in_place: bool = False
) -> bool | None:
    """Announce a private answer to Discord; False if it is too late.

    `in_place`: it will replace the message whose button was pressed. None if another process
    announced one, which only one that is `shared` can mean.
    """
    until, unsure = time.monotonic() + ACKNOWLEDGE_SECONDS, False
    while True:
        try:
            await interaction.response.defer(ephemeral=True, thinking=not in_place)
        except discord.HTTPException as error:
            # A request without a response may have arrived.
            if error.code == ACKNOWLEDGED:
                return None if shared and not unsure else True
            log.warning("interaction expired", code=error.code)
            return False
        except NETWORK as error:
            if time.monotonic() > until:
                log.warning("interaction not acknowledged", why=str(error))
                return False
            unsure = True
            await asyncio.sleep(LOOK_SECONDS)
        else:
            return True


def person_of(interaction: Interaction) -> Requester:
    """Return the person and their place. Raises RostrumError outside a server."""
    if interaction.guild_id is None or interaction.channel_id is None:
        raise RostrumError(texts.NOT_HERE)
    channel, user = interaction.channel, interaction.user
    inside = isinstance(channel, discord.Thread)
    place = channel.parent_id if isinstance(channel, discord.Thread) else interaction.channel_id
    allowed = interaction.permissions
    return Requester(
        platform=PLATFORM,
        community=str(interaction.guild_id),
        place=str(place),
        thread=str(interaction.channel_id) if inside else None,
        user=str(user.id),
        manager=allowed.manage_guild or allowed.administrator,
        roles=frozenset(str(role.id) for role in getattr(user, "roles", ())),
        capabilities=capabilities_of(interaction),
        max_bytes=MOST_BYTES,
    )


def pressed_of(interaction: Interaction, option: str | None) -> ButtonPressed:
    """Translate a button of a vote."""
    message = interaction.message
    return ButtonPressed(
        place=str(interaction.channel_id),
        message=str(message.id) if message else "",
        user=str(interaction.user.id),
        option=option,
        event=str(interaction.id),
        joined_at=getattr(interaction.user, "joined_at", None),
    )


async def _edit_answer(reply: _Reply, text: str) -> bool:
    """Show a text in place of the acknowledgement, with its answer's parts; False if too late."""
    interaction, answer = reply.interaction, reply.answer
    first, *more = (discord.Embed(description=piece) for piece in _pieces(text))
    picture = answer.picture() if answer else None
    pictures = await drawn([picture]) if picture else ()

    async def edit() -> None:
        files = [_file(one.name, one.data(), headline(one.alt, LONGEST_ALT)) for one in pictures]
        if answer and answer.file:
            files.insert(0, _file(*answer.file))
        view = below(answer) if answer else None
        await interaction.edit_original_response(embed=first, attachments=files, view=view)

    if not await insist(interaction, edit):
        return False
    for embed in more:
        if not await insist(
            interaction, partial(interaction.followup.send, embed=embed, ephemeral=True)
        ):
            return False
    return True


def _file(name: str, content: bytes, alt: str | None = None) -> discord.File:
    return discord.File(io.BytesIO(content), name, description=alt)


def _pieces(text: str) -> tuple[str, ...]:
    return split_markdown(shown(text), ANSWER) or ("…",)
