"""One debate in a terminal, from its command to the reveal."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from rich.console import Console
from ulid import ULID

from adapters import make_private_folder
from adapters.database.file import local_file
from adapters.terminal.texts import (
    GUEST,
    Hand,
    guests_among,
    hands,
    next_round,
    parse_rounds,
    parse_sure,
    parse_votes,
)
from adapters.terminal.venue import TerminalVenue, records_of
from bot import sentences
from bot.app import App, run_app
from bot.local.orders import COMMUNITY, PLATFORM, has_keyboard
from bot.settings.settings import Settings
from engine.formats import find_format
from engine.run.order import Order
from engine.run.service import Started
from engine.store import OpenQuestion
from engine.tally.questions import CLOSE, CONFIDENCES, STANCES, UNSURE, round_options, vote_options
from engine.values.debate import OTHER, ConfidenceScale, Debate, Status, short_code
from engine.values.errors import LeaseLostError, RostrumError, StoreError, VenueError
from engine.values.language import speaking
from engine.values.limits import Caps
from engine.values.ports import Audience, Inbound, ReactionSeen, VenueLimits
from engine.values.verdicts import EVEN, Question
from engine.words.phrases import NO_STANCES

DEFAULT_VOTES = "{}=3,{}=2,tie=1"  # of the first two contenders
DEFAULT_STANCES = "against>for=2,unsure>for=1,for=1,against=1,unsure>against=1"
LIMITS = VenueLimits(typing_seconds=0.25)
LOOK_SECONDS = 0.05


class _DebateConsole(Console):
    """A console that tasks print a debate on; `quiet` once its reader has gone.

    A terminal gets lines that end between words, a pipe whole ones.
    """

    def __init__(self) -> None:
        super().__init__(highlight=False)
        self.soft_wrap = not self.is_terminal
        self._command = asyncio.current_task()

    def on_broken_pipe(self) -> None:
        """Cancel the command like Ctrl-C, as an error would end only the task that prints."""
        self.quiet = True
        if self._command is not None:
            self._command.cancel()


@contextmanager
def showing_debate() -> Iterator[Console]:
    """Yield a debate's console. Raises BrokenPipeError after the body if its reader has gone."""
    console = _DebateConsole()
    try:
        yield console
    except asyncio.CancelledError:
        if not console.quiet:
            raise
    if console.quiet:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


class _DebateEndedError(RostrumError):
    """The debate ended without a vote; the message says why, and how to continue."""


@dataclass(slots=True)
class TerminalSession:
    """A terminal with one debate; without `votes` and `stances`, keys are read if possible.

    `ahead` is what people say after each round, `sure` how clear they find it in the end, and
    `questions` what they ask both sides. `say_why`: those who vote by keys are asked why they chose
    so, and which models debated. `by_page`: a key is waited for between two rounds.
    `show_of_hands`: each vote is another person's; else those given as options, and those of one
    keyboard from the second on, are no person's. `usd` is what the debate may cost at most, its
    mirror included; None leaves each the cap of the settings.
    """

    settings: Settings
    console: Console
    votes: str | None = None
    stances: tuple[tuple[str, str], ...] | None = None
    ahead: str | None = None
    sure: str | None = None
    on_start: Callable[[Started], None] = lambda _: None
    resume_command: str = "rostrum resume"
    usd: float | None = None
    questions: tuple[str, ...] | None = None
    say_why: bool = False
    by_page: bool = False
    show_of_hands: bool = False
    _turned: int = 0  # for how many questions of who is ahead a page was turned
    _done: asyncio.Queue[int] = field(default_factory=asyncio.Queue)  # with how many people are

    async def start(self, order: Order) -> Debate:
        """Hold a new debate, and its mirror if requested; return the last one, revealed.

        Raises what `Service.start` does.
        """
        channel = str(ULID())
        venue = self.open_venue(channel)
        async with run_app(self.settings, [venue], audience=self.audience(venue)) as app:
            asked = order.model_copy(
                update={"platform": PLATFORM, "community": COMMUNITY, "place": channel}
            )
            again = order.rematch.of.request.speakers if order.rematch else ()
            update = {
                "caps": self.caps(app, 2 if order.mirror else 1),
                "models": (*app.defaults.models, *again),  # any may be named here
            }
            defaults = app.defaults.model_copy(update=update)
            if order.mirror:
                venue.watch("")  # both run at once, and are shown one after the other
            if asked.rematch:
                from engine.run.rematch import repeat  # few orders are one

                asked = repeat(asked, asked.rematch, defaults, app.service.new_seed())
            started = await app.service.start(asked, defaults)
            self.on_start(started)
            if started.mirror is None:
                return await self.follow(app, venue, started.debate.id)
            return await self.follow_pair(app, venue, started.debate.id, started.mirror.id)

    def caps(self, app: App, debates: int) -> Caps:
        """Return the caps of an operator's debates, which share what they may cost together."""
        lifted = ("user_daily_debates", "max_live_per_community", "max_live")
        update: dict[str, float | None] = dict.fromkeys(lifted)  # they protect from members
        if self.usd is not None:
            update["debate_usd"] = self.usd / debates
        return app.defaults.caps.model_copy(update=update)

    def open_venue(self, channel: str) -> TerminalVenue:
        """Return the terminal, with the record of a channel. Raises StoreError."""
        folder = records_of(local_file(self.settings.database_url.get_secret_value()))
        record = folder / f"{channel}.jsonl"
        try:
            make_private_folder(record.parent)
        except OSError as error:
            raise StoreError(
                f"Cannot create the folder {record.parent}: {error.strerror}. "
                "Make its parent writable, or change ROSTRUM_DATABASE_URL."
            ) from error
        return TerminalVenue(self.console, channel=channel, record=record, limits=LIMITS)

    def audience(self, venue: TerminalVenue) -> Audience | None:
        """Return the audience of turns being written; None if the output is not a terminal."""
        return venue.follow if self.console.is_terminal else None

    async def follow_pair(self, app: App, venue: TerminalVenue, first: str, second: str) -> Debate:
        """Show a debate and its mirror; both votes are cast before either reveal."""
        opened = await _until(app, first, lambda d: d.thread or has_ended(d))
        venue.turn_to(opened.thread or "")
        await self.follow(app, venue, first, holds=True)
        try:
            mirror = await _until(app, second, lambda d: d.thread or has_ended(d))
            venue.turn_to(mirror.thread or "")
            debate = await self.follow(app, venue, second, exchanged=True)
            await app.deliveries[PLATFORM].settled(first)
            return debate
        except _DebateEndedError:
            # Its votes are already cast, so the first reveal spoils nothing.
            await self._close_vote(app, first)
            await app.deliveries[PLATFORM].settled(first)
            raise
        finally:
            venue.turn_to(opened.thread or "")

    async def follow(
        self,
        app: App,
        venue: TerminalVenue,
        debate_id: str,
        *,
        holds: bool = False,
        exchanged: bool = False,
    ) -> Debate:
        """Show a debate until it is revealed, or, if it `holds`, until its votes are cast.

        `exchanged`: it is a mirror, and votes given as an option go to the same models.
        """
        venue.listener = partial(self._hear, app, venue, debate_id)
        given = (self.votes, self.stances, self.ahead, self.sure)
        if any(answers is not None for answers in given):
            await self._mark_scripted(app, venue, debate_id, sentences.SCRIPTED)
        venue.guests = _LocalVoters(venue, self.ahead, self.sure)
        venue.turn_page = partial(self._turn_page, venue) if self.by_page else None
        try:
            await self._hear_first_stances(app, venue, debate_id)
            async with self._typing_beside(app, venue, debate_id):
                debate = await self._hear_rounds(app, venue, debate_id)
            if debate.vote_opened_at and not has_ended(debate):
                debate = await self._vote(app, venue, debate, holds=holds, exchanged=exchanged)
            await app.deliveries[PLATFORM].settled(debate_id)
        except asyncio.CancelledError:
            code = short_code(debate_id)
            venue.note(sentences.STOPPING.format(command=self.resume_command, code=code))
            raise
        finally:
            venue.close()
        if debate.status is not (Status.VOTING if holds else Status.CLOSED):
            raise _DebateEndedError(f"{debate.reason} {_way_on(debate, self.resume_command)}")
        return debate

    @asynccontextmanager
    async def _typing_beside(
        self, app: App, venue: TerminalVenue, debate_id: str
    ) -> AsyncIterator[None]:
        """Take questions and turns from the keyboard while the body runs, if there are any."""
        debate = await app.store.debates.get(debate_id)
        async with AsyncExitStack() as beside:
            if debate.request.questions:
                from bot.local.keyboard import asking_beside  # few debates have any

                asking = asking_beside(app, venue, debate, self.questions)
                await beside.enter_async_context(asking)
            if debate.request.guest:
                from bot.local.keyboard import writing_beside  # few debates have one

                await beside.enter_async_context(writing_beside(app, venue, debate))
            yield

    async def _hear(self, app: App, venue: TerminalVenue, debate_id: str, event: Inbound) -> object:
        """Pass on what happened here; a second person at one keyboard may be the first again."""
        if isinstance(event, ReactionSeen) and guests_among([event.user]) > 1:
            await self._mark_scripted(app, venue, debate_id, sentences.ONE_KEYBOARD)
        return await app.service.hear(PLATFORM, event)

    async def _mark_scripted(
        self, app: App, venue: TerminalVenue, debate_id: str, note: str
    ) -> None:
        """Keep the votes of a debate between models out of what counts as people's."""
        debate = await app.store.debates.get(debate_id)
        if not (self.show_of_hands or debate.scripted or debate.setup.rehearsal):
            await app.store.queue.mark_scripted(debate_id)
            venue.note(note)

    async def _turn_page(self, venue: TerminalVenue, round_name: str) -> None:
        """Wait for a key; Enter that ends the question of who is ahead is such a key."""
        asked = venue.asked(EVEN)
        if asked > self._turned and self._says_ahead:
            self._turned = asked
            while await self._done.get() < asked:
                pass
            return
        with speaking(venue.language):
            venue.note(next_round(round_name))
        from adapters.terminal.keys import press_any_key  # only with a keyboard

        if not await press_any_key(sys.stdin.fileno()):
            venue.turn_page = None

    @property
    def _says_ahead(self) -> bool:
        """Whether people say by keys after each round who is ahead."""
        return self.votes is None and self.ahead is None and has_keyboard()

    async def _vote(
        self, app: App, venue: TerminalVenue, debate: Debate, *, holds: bool, exchanged: bool
    ) -> Debate:
        """Take the votes; close when the people at this terminal are done or time is up.

        If it `holds`, the vote stays open, and what follows is hidden.
        """
        options = vote_options(tuple(debate.request.sides))
        async with asyncio.TaskGroup() as group:
            voting = group.create_task(self._take_votes(app, venue, debate, options, exchanged))
            closing = group.create_task(_until(app, debate.id, has_ended))
            await asyncio.wait({voting, closing}, return_when=asyncio.FIRST_COMPLETED)
            voting.cancel()
            if holds:
                venue.watch("")
                closing.cancel()
                return await _until(app, debate.id, lambda d: d.status is not Status.RUNNING)
            await self._close_vote(app, debate.id)
            return await closing

    async def _close_vote(self, app: App, debate_id: str) -> None:
        """Close an open vote, once the jury is done."""
        judged = await _until(app, debate_id, lambda d: not d.status.live)
        if judged.status is Status.VOTING:
            await app.service.close_vote(debate_id)

    async def _take_votes(
        self,
        app: App,
        venue: TerminalVenue,
        debate: Debate,
        options: tuple[str, ...],
        exchanged: bool,
    ) -> None:
        if self.votes is not None:
            given = parse_votes(self.votes, options)
            if exchanged:
                given = {OTHER.get(option, option): number for option, number in given.items()}
            await _cast(venue, hands(given))
        elif has_keyboard():
            read = await venue.reactions(debate.thread or "", debate.vote_message or "")
            before = guests_among(user for held in read.holders.values() for user in held)
            quorum = debate.request.quorum
            await _by_keys(venue, options, before, debate.setup.called, quorum)
        else:
            venue.note(sentences.NO_VOTERS)
        asks_how_sure = debate.request.confidence and self.votes is None and self.sure is None
        if debate.request.confidence is ConfidenceScale.PERCENT:
            if self.sure is not None or (asks_how_sure and has_keyboard()):
                from bot.local.keyboard import say_sure  # few debates ask that

                await say_sure(app, venue, debate, self.sure)
        elif asks_how_sure and has_keyboard():
            await _until(app, debate.id, lambda _: venue.asked(CLOSE))
            await _by_keys(venue, CONFIDENCES)
        if self.say_why and self.votes is None and has_keyboard():
            from bot.local.keyboard import say_why  # and with it what chats ask

            await say_why(app, venue, debate)
        if debate.request.stance and self._has_people:
            await _until(app, debate.id, lambda _: venue.asked(UNSURE) > 1)
            stood = [after for _, after in self.stances or ()]
            await self._take_stances(venue, debate, stood)

    async def _hear_first_stances(self, app: App, venue: TerminalVenue, debate_id: str) -> None:
        """Take first stances, if requested, and end the question: no one else answers it here."""

        def over(debate: Debate) -> object:
            return debate.stance_closed_at or debate.vote_opened_at or has_ended(debate)

        debate = await app.store.debates.get(debate_id)
        if not debate.request.stance:
            return
        if over(await _until(app, debate_id, lambda d: venue.asked(UNSURE) or over(d))):
            return
        async with asyncio.TaskGroup() as group:
            stood = [before for before, _ in self.stances or ()]
            taking = group.create_task(self._take_stances(venue, debate, stood))
            closing = group.create_task(_until(app, debate_id, over))
            await asyncio.wait({taking, closing}, return_when=asyncio.FIRST_COMPLETED)
            taking.cancel()
            if not closing.done():
                with suppress(LeaseLostError):  # it is ending right now
                    asked = OpenQuestion(debate_id, Question.STANCE_BEFORE)
                    await app.service.windows[PLATFORM].end(asked)

    async def _hear_rounds(self, app: App, venue: TerminalVenue, debate_id: str) -> Debate:
        """Take by keys who is ahead, round by round, until the vote opens or the debate ends."""
        debate = await app.store.debates.get(debate_id)

        def over(debate: Debate) -> object:
            return debate.vote_opened_at or has_ended(debate)

        if not debate.request.round_votes or not self._says_ahead:
            return await _until(app, debate_id, over)
        options, called = round_options(tuple(debate.request.sides)), debate.setup.called
        asked = 0
        async with asyncio.TaskGroup() as group:
            taking = group.create_task(asyncio.sleep(0))
            while not over(debate):
                asked_before, asked = asked, venue.asked(EVEN)
                if asked > asked_before:
                    taking.cancel()
                    await asyncio.wait({taking})
                    taking = group.create_task(_by_keys(venue, options, names=called))
                    taking.add_done_callback(partial(self._said, asked))
                seen = asked
                debate = await _until(
                    app,
                    debate_id,
                    lambda d: over(d) or venue.asked(EVEN) > seen,  # noqa: B023
                )
            taking.cancel()
        return debate

    def _said(self, asked: int, _: asyncio.Task[None]) -> None:
        self._done.put_nowait(asked)

    @property
    def _has_people(self) -> bool:
        return self.stances is not None or (self.votes is None and has_keyboard())

    async def _take_stances(
        self, venue: TerminalVenue, debate: Debate, stances: Sequence[str]
    ) -> None:
        if self.stances is not None:
            await _cast(venue, [Hand(f"{GUEST}{n}", up) for n, up in enumerate(stances, start=1)])
        elif self._has_people:
            decides = find_format(debate.request.format).stance
            needed = max(1, debate.request.quorum) if decides else 0
            await _by_keys(venue, STANCES, quorum=needed)
        else:
            venue.note(sentences.NO_STANCES)


class _LocalVoters:
    """The people whose answers were given as options: after each round, and how clear it was."""

    def __init__(self, venue: TerminalVenue, ahead: str | None, sure: str | None) -> None:
        self._venue, self._ahead, self._sure = venue, ahead, sure

    def __call__(self, options: Sequence[str]) -> Sequence[tuple[str, str]]:
        """Return who answers what, once a question with these options stands there."""
        votes: Mapping[str, int] = {}
        if EVEN in options and self._ahead is not None:
            rounds = parse_rounds(self._ahead, options)
            votes = rounds[min(self._venue.asked(EVEN), len(rounds)) - 1]
        elif CLOSE in options and self._sure is not None:
            votes = parse_sure(self._sure)
        return [(hand.user, hand.option) for hand in hands(votes)]


async def _by_keys(
    venue: TerminalVenue,
    options: tuple[str, ...],
    before: int = 0,
    names: Mapping[str, str] = NO_STANCES,
    quorum: int = 0,
) -> None:
    from adapters.terminal.keys import key_hint, vote_by_keys  # votes are often given as options

    with speaking(venue.language):
        venue.note(key_hint(options, names, quorum))
    await vote_by_keys(
        sys.stdin.fileno(), options, lambda hand: _cast(venue, [hand]), before=before
    )


async def _cast(venue: TerminalVenue, given: Iterable[Hand]) -> None:
    for hand in given:
        act = venue.hold if hand.added else venue.drop
        try:
            await act(hand.user, hand.option)
        except VenueError as error:  # the vote has just closed
            venue.note(str(error))


async def _until(app: App, debate_id: str, done: Callable[[Debate], object]) -> Debate:
    # Other tasks and processes change the state in the database; most changes come with a message.
    while not done(debate := await app.store.debates.get(debate_id)):
        await app.service.notifier.wait(f"delivered/{debate_id}", LOOK_SECONDS)
    return debate


def _way_on(debate: Debate, command: str) -> str:
    if debate.status is Status.CANCELLED:
        return "A cancelled debate cannot be resumed; start a new one."
    if debate.status is Status.PARTIAL:
        return f"Continue under a higher cap with: {command} {debate.code} --usd USD"
    return f"Continue with: {command} {debate.code}"


def has_ended(debate: Debate) -> bool:
    """Return whether a debate is over, its vote included."""
    return not debate.status.live and debate.status is not Status.VOTING
