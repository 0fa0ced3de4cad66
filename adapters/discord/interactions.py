"""Answers interactions: acknowledges them at once, runs the command, shows the answer privately.

Discord drops an interaction that is not acknowledged within three seconds, sometimes earlier, and
its token after fifteen minutes. An answer that comes too late goes to the channel instead, without
anything that only the person may know.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import Any

import discord
import structlog

from adapters.discord import texts
from adapters.discord.errors import ACKNOWLEDGED, NETWORK
from adapters.discord.permissions import ground_of
from adapters.discord.render import LONGEST_ALT, controls, modal_of, review_menus, shown, view_of
from adapters.discord.rest import insist, seconds_left
from adapters.discord.translation import language_around, language_of, typed, with_options
from adapters.discord.venue import DiscordVenue
from adapters.discord.wellformed import read_attachments
from adapters.pictures.png import drawn
from engine.chat.answers.base import Answer, SentFile, to_markdown, vote_answer, voted_in
from engine.chat.answers.catalogue import HelpAnswer
from engine.chat.answers.debates import StartedAnswer
from engine.chat.answers.management import SettingsAnswer
from engine.chat.answers.voters import RemarkAnswer, ReviewAnswer, ReviewLine
from engine.chat.commands import OWN_DATA, Commands
from engine.chat.context import Requester, Trial, own_community
from engine.chat.invocation import Invocation, RemarkArguments, SettingsArguments
from engine.chat.participants import check_form
from engine.chat.progress import OVER, Followers, follow
from engine.delivery.reasons import refusal_of
from engine.run.plan import check_allowed
from engine.values.errors import NotAllowedError, RostrumError, UsageError
from engine.values.language import speaking
from engine.values.markdown import split_markdown
from engine.values.messages import File
from engine.values.ports import ButtonPressed, Listener
from engine.values.text import headline
from engine.votes.events import EventOutcome
from engine.words.buttons import Button, ButtonAction, Row
from engine.words.forms import form_of
from engine.words.phrases import COMMAND_BUG
from engine.words.translation import say

PLATFORM = "discord"
MOST_BYTES = 10 * 2**20 - 4096  # of a file, as Discord counts them with the request around it
ANSWER = 4000  # characters of an embed's text, with room to spare
MARGIN_SECONDS = 30.0  # left of the fifteen minutes, for a last edit
LOOK_SECONDS = 0.25
PRESS_TRIES = 8
LATE_SECONDS = 60.0  # between two public notes on private answers that were lost
ACKNOWLEDGE_SECONDS = 2.0  # of the three that Discord waits
# What begins a debate or more: Discord showed that it failed, so the person asks for it once more.
SPENDING = ("start", "rematch", "league", "schedule")
NO_SETTINGS = ("broadcast",)  # that Discord does not support
BUTTONS_ONLY = ("rematch",)  # as a group of commands has at most 25
log = structlog.get_logger(__name__)

Interaction = discord.Interaction[discord.Client]


@dataclass(frozen=True, slots=True)
class _AnswerText:
    """An answer's text: `private` for the person; `public` is None if no one else may read it.

    `picture` is an SVG that says the same. `started` is the id of a new debate, `offered` are
    debates to review, and `rows` are buttons and menus below it.
    """

    private: str
    public: str | None = None
    file: SentFile | None = None
    picture: File | None = None
    started: str = ""
    offered: tuple[ReviewLine, ...] = ()
    buttons: tuple[Button, ...] = ()
    rows: tuple[Row, ...] = ()


class Hears(Enum):
    """Which processes hear the same interactions as this one."""

    NONE_ELSE = "none else"
    ANOTHER = "another as well"
    ANOTHER_INSTEAD = "another from now on"


def none_else() -> Hears:
    """Return that no other process hears the same interactions."""
    return Hears.NONE_ELSE


@dataclass(frozen=True, slots=True)
class DiscordInteractionHandler:
    """Answers commands and button presses.

    `hears`: if another process hears them as well, the first to acknowledge one answers it.
    `trial` is there where people may install the app for themselves, and debate in its direct
    messages.
    """

    commands: Commands
    listener: Listener
    venue: DiscordVenue
    hears: Callable[[], Hears] = none_else
    trial: Trial | None = None
    at_work: set[object] = field(default_factory=set)  # interactions that are being answered
    told_late: dict[str, float] = field(default_factory=dict)  # when a place was, last
    followers: Followers = field(default_factory=Followers)

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
        with self._working(interaction):
            await self._carry_out(interaction, asked, attached, in_place)

    async def _carry_out(
        self,
        interaction: Interaction,
        asked: Invocation | Callable[[], Invocation],
        attached: Sequence[discord.Attachment],
        in_place: bool,
    ) -> None:
        acknowledged = await self._acknowledge(interaction, in_place=in_place)
        if acknowledged is None:
            return

        async def run() -> _AnswerText:
            self.commands.check_database()
            command = asked() if callable(asked) else asked
            if not acknowledged and command.name in SPENDING:
                raise RostrumError(texts.GIVEN_UP)
            if attached:
                files = await read_attachments(attached, self.commands.defaults.sources)
                given = command.arguments.model_copy(update={"sources": files})
                command = command._replace(arguments=given)
            _refuse_broadcast(command)
            person = await self.person(interaction)
            answer = await self.commands.run(person, command)
            if isinstance(answer, HelpAnswer):
                hides = not person.ground.no_removal
                answer = with_options(answer, interaction.command, hides=hides)
            return said_of(answer, language_around(interaction))

        said = await _explained(run, language_around(interaction))
        await self._show(interaction, acknowledged, said)
        if said.started and acknowledged:
            self.followers.start(self._follow(interaction, said))

    async def open_form(self, interaction: Interaction, pressed: ButtonAction) -> None:
        """Open a button's form, for those who may send it.

        That acknowledges the button, and cannot be made up for when it is late.
        """
        if self.hears() is Hears.ANOTHER_INSTEAD:
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
        if interaction.guild_id is None or _named(interaction) in OWN_DATA:
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
        with self._working(interaction):
            acknowledged = await self._acknowledge(interaction)
            if acknowledged is not None:
                said = refusal_of(error)
                await self._show(interaction, acknowledged, _AnswerText(said, said))

    async def person(self, interaction: Interaction) -> Requester:
        """Return the person and their place. Raises RostrumError where debates cannot be."""
        if interaction.guild_id is not None and interaction.is_guild_integration():
            return person_of(interaction)
        if interaction.guild_id is not None:
            raise RostrumError(texts.NOT_A_MEMBER)
        if self.trial is None or not interaction.context.dm_channel:
            raise RostrumError(texts.NOT_HERE)
        user, place = str(interaction.user.id), str(interaction.channel_id)
        typing = interaction.type is discord.InteractionType.autocomplete
        number = await self._number(user, known_only=typing)
        return Requester(
            platform=PLATFORM,
            community=own_community(number),
            place=place,
            thread=place,  # direct messages have no threads
            user=user,
            manager=True,
            max_bytes=MOST_BYTES,
            trial=self.trial,
        )

    async def _number(self, user: str, *, known_only: bool) -> int:
        """Return a person's surrogate id; 0 for one who is not stored, and stays so."""
        store = self.commands.store
        number = await store.people.number(PLATFORM, user)
        if number is None and not known_only:
            number = (await store.votes.people(PLATFORM, [user])).get(user)
        return number or 0

    async def vote(self, interaction: Interaction, option: str | None) -> None:
        """Cast a vote by button; None withdraws it."""
        with self._working(interaction):
            await self._vote(interaction, option)

    async def _vote(self, interaction: Interaction, option: str | None) -> None:
        acknowledged = await self._acknowledge(interaction)
        if acknowledged is None:
            return

        async def run() -> _AnswerText:
            self.commands.check_database()
            heard = await self._press(pressed_of(interaction, option))
            said = _AnswerText(vote_answer(heard))
            return await self._with_more(interaction, said, voted_in(heard))

        said = await _explained(run, language_around(interaction))
        await self._show(interaction, acknowledged, said)

    async def _with_more(
        self, interaction: Interaction, said: _AnswerText, debate: str
    ) -> _AnswerText:
        """Add to a vote's answer what else its person may say."""
        if not debate:
            return said
        asked = Invocation("remark", RemarkArguments(debate=debate))
        try:
            answer = await self.commands.run(person_of(interaction), asked)
        except RostrumError as error:  # the vote itself is stored
            log.info("nothing offered beside a vote", why=str(error))
            return said
        more = said_of(answer, language_around(interaction))
        text = f"{said.private}\n\n{more.private}"
        return replace(said, private=text, rows=more.rows) if more.rows else said

    async def _acknowledge(
        self, interaction: Interaction, *, in_place: bool = False
    ) -> bool | None:
        """Return whether it was acknowledged in time; None if another process answers it."""
        hears = self.hears()
        if hears is Hears.ANOTHER_INSTEAD:
            return None
        shared = hears is Hears.ANOTHER
        return await acknowledge(interaction, shared=shared, in_place=in_place)

    @contextmanager
    def _working(self, interaction: Interaction) -> Iterator[None]:
        self.at_work.add(interaction)
        try:
            with speaking(language_of(interaction)):
                yield
        finally:
            self.at_work.discard(interaction)

    async def _press(self, pressed: ButtonPressed) -> object:
        """Pass a press on, with retries: a button is visible just before its vote is stored."""
        for _ in range(PRESS_TRIES):
            heard = await self.listener(pressed)
            if not (isinstance(heard, EventOutcome) and heard.outcome == "unknown"):
                break
            await asyncio.sleep(LOOK_SECONDS)
        return heard

    async def _follow(self, interaction: Interaction, said: _AnswerText) -> None:
        """Add a link to the thread, then an abnormal end, while the answer can be edited."""
        person, link = await self.person(interaction), ""
        seconds = seconds_left(interaction) - MARGIN_SECONDS
        async for status in follow(self.commands, person, said.started, seconds):
            if status.debate.status in OVER:
                ended = to_markdown(status)
                await _edit_answer(interaction, replace(said, private=f"{ended}{link}"))
            else:
                link = "\n" + say(texts.THREAD, thread=status.debate.thread)
                await _edit_answer(interaction, replace(said, private=f"{said.private}{link}"))

    async def _show(self, interaction: Interaction, acknowledged: bool, said: _AnswerText) -> None:
        """Show an answer privately, or else its public part in the channel."""
        if acknowledged and await _edit_answer(interaction, said):
            return
        if said.public is not None or self._may_tell_late(str(interaction.channel_id)):
            with speaking(language_around(interaction)):
                text = said.public or say(texts.ASK_AGAIN)
                late = say(texts.TOO_LATE, user=interaction.user.id, answer=text)
                try:
                    for piece in _pieces(late):
                        body = {"embeds": [{"description": piece}]}
                        await self.venue.say(str(interaction.channel_id), body)
                except RostrumError as error:
                    log.warning("answer lost", place=interaction.channel_id, why=str(error))

    def _may_tell_late(self, place: str) -> bool:
        """Return whether to say in public that a private answer was lost: once a minute a place.

        A crowd whose taps came too fast would fill it otherwise; each sees that its tap failed.
        """
        now = time.monotonic()
        for told, at in tuple(self.told_late.items()):
            if now - at > LATE_SECONDS:
                del self.told_late[told]
        if place in self.told_late:
            log.warning("answer lost", place=place, why="others there were told to ask again")
            return False
        self.told_late[place] = now
        return True


def _named(interaction: Interaction) -> str:
    """Return the subcommand that somebody used; empty for anything else."""
    data: dict[str, Any] = dict(interaction.data or {})
    options: Sequence[dict[str, Any]] = data.get("options") or ({},)
    return str(options[0].get("name", ""))


def _refuse_broadcast(command: Invocation) -> None:
    """Refuse to show reveals in the channel too: Discord cannot."""
    given = command.arguments
    if isinstance(given, SettingsArguments) and set(NO_SETTINGS) & set(given.changes):
        raise UsageError(texts.NO_BROADCAST)


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
        ground=ground_of(interaction),
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


def _mention(user: str) -> str:
    return f"<@{user}>"  # which notifies no one, as allowed mentions are none


def said_of(answer: Answer, around: str) -> _AnswerText:
    """Word an answer for the person, and for everyone in the language `around` them."""
    if isinstance(answer, SettingsAnswer):
        answer = answer.without(NO_SETTINGS)
    if isinstance(answer, HelpAnswer):
        answer = answer.without(BUTTONS_ONLY, instead=texts.REMATCH)
    public = answer.public()
    with speaking(around):
        read_by_all = None if public is None else typed(to_markdown(public))
    return _AnswerText(
        private=typed(to_markdown(answer, link=lambda thread: f"<#{thread}>", person=_mention)),
        public=read_by_all,
        file=answer if isinstance(answer, SentFile) else None,
        picture=answer.picture(),
        started=answer.debate.id if isinstance(answer, StartedAnswer) else "",
        offered=answer.lines if isinstance(answer, ReviewAnswer) else (),
        buttons=answer.buttons(),
        rows=answer.rows() if isinstance(answer, RemarkAnswer) else (),
    )


async def _explained(run: Callable[[], Awaitable[_AnswerText]], around: str) -> _AnswerText:
    """Return an answer, or the reason why there is none."""
    why: Callable[[], str]
    try:
        return await run()
    except RostrumError as error:
        why = partial(refusal_of, error)
    except Exception:  # the person gets an answer, and the log has the details
        log.exception("unhandled error in a command")
        why = partial(say, COMMAND_BUG)
    with speaking(around):
        public = why()
    return _AnswerText(why(), public)


async def _edit_answer(interaction: Interaction, said: _AnswerText) -> bool:
    """Show an answer in place of the acknowledgement; False if it is too late."""
    first, *more = (discord.Embed(description=piece) for piece in _pieces(said.private))
    pictures = await drawn([said.picture]) if said.picture else ()

    async def edit() -> None:
        file = said.file
        files = [discord.File(io.BytesIO(file.content), file.name)] if file else []
        files += map(_shown, pictures)
        view = review_menus(said.offered) if said.offered else view_of(said.buttons)
        view = controls(said.rows) if said.rows else view
        await interaction.edit_original_response(embed=first, attachments=files, view=view)

    if not await insist(interaction, edit):
        return False
    for embed in more:
        if not await insist(
            interaction, partial(interaction.followup.send, embed=embed, ephemeral=True)
        ):
            return False
    return True


def _shown(picture: File) -> discord.File:
    alt = headline(picture.alt, LONGEST_ALT)
    return discord.File(io.BytesIO(picture.data()), picture.name, description=alt)


def _pieces(text: str) -> tuple[str, ...]:
    return split_markdown(shown(text), ANSWER) or ("…",)
