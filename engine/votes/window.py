"""A platform's vote window: recovers reactions, extends once, closes when due, reveals.

Deadlines are rows, not timers: after a restart they fire late rather than never. A debate and its
mirror close together, as the reveal of one names the models of both.
"""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog

from engine.debate import BallotKind, Criterion, Debate, Scores, Status
from engine.delivery.last_word import elsewhere
from engine.errors import LeaseLostError, NotToldYetError, RostrumError, VenueAwayError
from engine.floor.keeper import Keeper
from engine.floor.wake import Bell
from engine.formats import FORMATS
from engine.formats.format import Decision
from engine.judging import Ballot, Persuasion, Question, Tally, Verdict, Vote, VoteEvent
from engine.jury.rubric import DEBATE, find_rubric
from engine.messages import AgainInvite, JurorLine, Notice, Report, Reveal, VoteClosed
from engine.ports import Clock, Venue
from engine.store import Closing, Lease, Post, Store
from engine.store.pairs import closes_with
from engine.votes.hands import is_undecided
from engine.votes.hearing import MISSED, Hearing
from engine.votes.labels import asked, persuasion, seen_by_others
from engine.votes.questions import options_of, stance_name, vote_options
from engine.votes.reading import Reader
from engine.votes.removal import Removals
from engine.votes.retries import Retries
from engine.votes.tally import agreement, count, standing_votes

LOOK_SECONDS = 1.0
LONGEST_WAIT = 60.0
MOST_AT_A_LOOK = 50
AT_ONCE = 10
MOST_READINGS = 3  # of one vote at its close, until one finds what is known
WORDS_A_MINUTE = 1000
NO_VERDICT = Verdict(winner=None, problem="the panel gave no verdict", valid=0, invalid=0)
Work = Callable[[str], Awaitable[None]]
NONE: frozenset[Question] = frozenset()
WAITS_TO_CLOSE = (
    "Waiting for {platform}: the votes could not be read, so the vote stays open. "
    "Rostrum retries automatically."
)
WAITS_TO_BEGIN = (
    "Waiting for {platform}: the first stances could not be read. They are read again by "
    "themselves."
)
DEFECT = "Waiting to close the vote: a bug in Rostrum; the details are in its log."


class Held(NamedTuple):
    """A debate whose lease is held here, and its questions with unreadable reactions."""

    debate: Debate
    lease: Lease
    unread: frozenset[Question] = NONE


log = structlog.get_logger(__name__)


@dataclass(slots=True)
class VoteWindow:
    """Closes the votes of one platform when they are due, and handles their events."""

    venue: Venue
    store: Store
    keeper: Keeper
    bell: Bell
    clock: Clock
    hearing: Hearing = field(init=False)
    _removals: Removals = field(init=False)
    _reader: Reader = field(init=False)
    _retries: Retries = field(default_factory=Retries)
    _behind: set[str] = field(default_factory=set)  # of which something was missed

    def __post_init__(self) -> None:
        venue, store, clock = self.venue, self.store, self.clock
        self._removals = Removals(venue, store, clock)
        self._reader = Reader(venue, store, clock, self._removals, since=clock.now())
        self.hearing = Hearing(
            venue, store, self.keeper, self.bell, clock, self._removals, self._reader
        )

    async def run(self) -> None:
        """Recover missed events, then close each vote when due, until cancelled."""
        await self.listen()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._removals.run())
            group.create_task(self._read_turns())
            rung = {MISSED}
            while True:
                if MISSED in rung:
                    await self._note_missed()
                left = min(await self._catch_up_all(), await self._close_due())
                rung = await self.bell.collect(f"votes/{self.venue.platform}", left)

    async def listen(self) -> None:
        """Record that this process listens, before the first question or event."""
        await self._reader.listen()

    async def close(self, debate_id: str, *, early: bool = False) -> None:
        """Close a vote now, together with an open one on its mirror.

        If one is below its quorum, both are extended. Raises LeaseLostError, or VenueError if the
        reactions of either cannot be read; both then stay open.
        """
        async with self._hold_pair(debate_id, early) as pair:
            ready = [await self._make_ready(held, early) for held in pair]
            extended = [] if early else [held for held in ready if await self._extend(held)]
            for held in () if extended else ready:
                await self._conclude(held, early)
        for held in pair:
            self.bell.ring(f"outbox/{self.venue.platform}", held.debate.id)

    @asynccontextmanager
    async def _hold_pair(self, debate_id: str, early: bool) -> AsyncIterator[Sequence[Held]]:
        """Take the leases of a debate with an open vote, and of its mirror if that is open too.

        A deadline that moved during the wait for a lease is no longer due.
        """
        debate = await self.store.debates.get(debate_id)
        mirror = await self.store.debates.mirror_of(debate)
        pair = [debate, mirror] if mirror and closes_with(debate, mirror) else [debate]
        due = {one.id: one.vote_deadline for one in pair}
        async with AsyncExitStack() as stack:
            # Same order everywhere, to avoid deadlocks.
            held = [await stack.enter_async_context(self._hold(each)) for each in sorted(due)]
            yield [
                one
                for one in held
                if one.debate.status is Status.VOTING
                and (early or one.debate.vote_deadline == due[one.debate.id])
            ]

    @asynccontextmanager
    async def _hold(self, debate_id: str) -> AsyncIterator[Held]:
        async with self.keeper.hold(f"debate/{debate_id}") as lease:
            yield Held(await self.store.debates.get(debate_id), lease)

    async def _make_ready(self, held: Held, early: bool) -> Held:
        """Recover missed events and clear the waiting state."""
        due = None if early else held.debate.vote_deadline
        unread = await self._read_to_the_end(held, due, Question.VOTE, Question.STANCE_AFTER)
        debate = await self.store.debates.get(held.debate.id)
        if debate.reason and not debate.gone:
            await self.store.debates.set_waiting(debate.id, "")
        before = await self.store.votes.targets(debate.id, Question.STANCE_BEFORE)
        unread |= {target.question for target in before if target.unread}
        return Held(debate, held.lease, unread)

    async def _read_to_the_end(
        self, held: Held, due: datetime | None, *questions: Question
    ) -> frozenset[Question]:
        """Read until a reading finds nothing new; return the permanently unreadable questions.

        A reading takes several requests, so a person who changes options in between appears twice
        or not at all. A received event settles that; otherwise the next reading does.

        Raises NotToldYetError shortly after `due`, while the platform may still report which
        choice is the last.
        """
        for _ in range(MOST_READINGS):
            read = await self._reader.recover(held.debate, held.lease, *questions)
            if not read.found:
                break
        if due is not None:
            await self._hear_out(held.debate, due, questions)
        return read.unread

    async def _hear_out(self, debate: Debate, due: datetime, questions: Sequence[Question]) -> None:
        patience, now = timedelta(seconds=self.venue.limits.redelivery_seconds), self.clock.now()
        in_time = now < max(due, self._reader.heard_from) + 2 * patience
        if not in_time or debate.request.ballot is not BallotKind.OPEN:
            return
        for question in questions:
            if is_undecided(await self.store.votes.events(debate.id, question), now - patience):
                raise NotToldYetError("The platform may still report which choice came last.")

    async def _note_missed(self) -> None:
        """Schedule recovery: the votes now, the thumbs on turns when there is time."""
        platform, channel = self.venue.platform, self.venue.channel
        votes = await self.store.votes.deadlines(platform, channel)
        agains = await self.store.votes.agains(platform, channel)
        going = await self.store.votes.held_in(platform, channel=channel)
        self._behind |= {*votes, *agains}
        self._retries.forget_all()  # the platform is there again
        await self._catch_up_all()
        for debate_id in (*going, *agains):
            self.bell.ring(f"thumbs/{platform}", debate_id)

    async def _catch_up_all(self) -> float:
        """Recover missed events and return the seconds until the next check."""
        now = self.clock.now()
        await self._do_due(self._catch_up, dict.fromkeys(self._behind, now), now)
        return self._seconds_to(self._catch_up, dict.fromkeys(self._behind, now), now)

    async def _read_turns(self) -> None:
        """Read thumbs on turns, message by message, oldest debates first."""
        behind, left = set[str](), LONGEST_WAIT
        while True:
            behind |= await self.bell.collect(f"thumbs/{self.venue.platform}", left)
            now = self.clock.now()
            for debate_id in sorted(behind):
                if self._retries.due((self._catch_up_turns, debate_id), now) <= now:
                    again = await self._attempt(debate_id, self._catch_up_turns)
                    behind -= set() if again else {debate_id}
            left = self._seconds_to(self._catch_up_turns, dict.fromkeys(behind, now), now)

    async def _close_due(self) -> float:
        """Close due votes and return the seconds until the next check."""
        served = (self.venue.platform, self.venue.channel)
        stances = await self.store.votes.stances(*served)
        now = self.clock.now()
        # Votes waiting for a retry are due first and must not hide the others.
        most = MOST_AT_A_LOOK + len(self._retries)
        deadlines = await self.store.votes.deadlines(*served, most, now=now)
        agains = await self.store.votes.agains(*served)
        work = (
            (self._close_stance, stances),
            (self._close, deadlines),
            (self._close_again, agains),
        )
        for each, dues in work:
            await self._do_due(each, dues, now)
        return min(self._seconds_to(each, dues, now) for each, dues in work)

    async def _do_due(self, work: Work, dues: Mapping[str, datetime], now: datetime) -> None:
        """Run due tasks, except those that failed recently."""
        due = [d for d, when in dues.items() if self._retries.due((work, d), when) <= now]
        await self._at_once(work, due)

    def _seconds_to(self, work: Work, dues: Mapping[str, datetime], now: datetime) -> float:
        """Return the seconds until the next task is due."""
        next_ones = (self._retries.due((work, d), when) for d, when in dues.items())
        left = min(((due - now).total_seconds() for due in next_ones), default=LONGEST_WAIT)
        # A task that just failed is still due: check again, but not at once.
        return min(max(left, 0.0), LONGEST_WAIT) or LOOK_SECONDS

    async def _at_once(self, work: Work, debates: Iterable[str]) -> None:
        """Run a task for several debates, a few at a time."""
        room = asyncio.Semaphore(AT_ONCE)

        async def one(debate_id: str) -> None:
            async with room:
                await self._attempt(debate_id, work)

        async with asyncio.TaskGroup() as group:
            for debate_id in debates:
                group.create_task(one(debate_id))

    async def _attempt(self, debate_id: str, work: Work) -> bool:
        """Run a task and tell whether to retry it after a pause."""
        try:
            await work(debate_id)
        except LeaseLostError:
            log.info("vote held by another process", debate=debate_id)
        except RostrumError as error:
            after = error.retry_after if isinstance(error, VenueAwayError) else 0.0
            pause = self._put_off(debate_id, work, after)
            log.warning("vote reading postponed", debate=debate_id, why=str(error), again_in=pause)
            await self._say_waiting(debate_id, work, error)
            return True
        except Exception as error:  # a bug in one vote must not keep the others open
            self._put_off(debate_id, work)
            log.exception("unhandled error in a vote", debate=debate_id)
            await self._say_waiting(debate_id, work, error)
            return True
        self._retries.forget((work, debate_id))
        return False

    def _put_off(self, debate_id: str, work: Work, at_least: float = 0.0) -> float:
        return self._retries.put_off((work, debate_id), self.clock.now(), LOOK_SECONDS, at_least)

    async def _close(self, debate_id: str) -> None:
        await self.close(debate_id)

    async def _catch_up(self, debate_id: str) -> None:
        """Recover missed events of the open questions, before or after the reveal."""
        async with self._hold(debate_id) as held:
            revealed = held.debate.revealed_at is not None
            before = (Question.VOTE, Question.STANCE_AFTER)
            await self._reader.recover(*held[:2], *((Question.AGAIN,) if revealed else before))
        self._behind.discard(debate_id)

    async def _catch_up_turns(self, debate_id: str) -> None:
        """Read the thumbs on a debate's turns, without the debate's own lease."""
        if not await self.store.votes.targets(debate_id, Question.TURN):
            return
        async with self.keeper.hold(f"thumbs/{debate_id}", stoppable=False) as lease:
            debate = await self.store.debates.get(debate_id)
            await self._reader.recover(debate, lease, Question.TURN)

    async def _close_stance(self, debate_id: str) -> None:
        """Close the first stance; the waiting runner holds the debate's own lease."""
        async with self.keeper.hold(f"stance/{debate_id}", stoppable=False) as lease:
            debate = await self.store.debates.get(debate_id)
            asked = Question.STANCE_BEFORE
            due = debate.stance_deadline
            unread = asked in await self._read_to_the_end(Held(debate, lease), due, asked)
            await self.store.votes.close_stance(lease, debate_id, self.clock.now(), unread=unread)
            if debate.reason == self._waiting_for(self._close_stance):
                await self.store.debates.set_waiting(debate_id, "")
        self.bell.ring(f"stance/{debate_id}")

    async def _close_again(self, debate_id: str) -> None:
        """Close the question asked again after the reveal; its log has the answers."""
        async with self._hold(debate_id) as held:
            asking = await self.store.votes.targets(debate_id, Question.AGAIN)
            due = min((each.deadline for each in asking if each.deadline), default=None)
            unread = await self._read_to_the_end(held, due, Question.AGAIN)
            now = self.clock.now()
            await self.store.votes.close_again(held.lease, debate_id, now, unread=bool(unread))

    async def _say_waiting(self, debate_id: str, work: Work, error: Exception) -> None:
        holds_up = work not in (self._catch_up, self._catch_up_turns)
        if not holds_up or isinstance(error, NotToldYetError):  # that is over in a moment
            return
        why = DEFECT
        if isinstance(error, VenueAwayError):
            why = self._waiting_for(work)
        elif isinstance(error, RostrumError):
            why = f"Waiting to close the vote: {error}"
        await self.store.debates.set_waiting(debate_id, why)

    def _waiting_for(self, work: Work) -> str:
        """Record what the debate is waiting for while reactions cannot be read."""
        what = WAITS_TO_BEGIN if work == self._close_stance else WAITS_TO_CLOSE
        return what.format(platform=self.venue.platform.capitalize())

    async def _extend(self, held: Held) -> bool:
        """Extend a vote below its quorum, once; tell whether it was extended."""
        debate = held.debate
        events = await self.store.votes.events(debate.id)
        if not self._may_extend(debate, events, held.unread):
            return False
        deadline = self.clock.now() + timedelta(minutes=debate.request.vote_minutes)
        await self.store.votes.extend(held.lease, debate.id, deadline, _extension(debate))
        return True

    async def _conclude(self, held: Held, early: bool) -> None:
        debate, lease, unread = held
        verdict, ballots = await self.store.journal.judged(debate.id)
        calls, usd = await self.store.journal.spending(debate.id)
        verdict = verdict or NO_VERDICT
        words = await self.store.journal.words_spoken(debate.id)
        interventions = await self.store.votes.interventions(debate.id)
        own = await self.store.journal.own_verdict(debate.id, debate.request.format)

        def conclude(cast: tuple[VoteEvent, ...]) -> Closing:
            tally, stances = tally_of(debate, cast, unread), stances_of(debate, cast, unread)
            closed = _closed(debate, tally, early)
            message = reveal_of(debate, tally, verdict, ballots, calls, usd, stances, unread, own)
            reveal = Post(key="reveal", message=message)
            decided = _decide(debate, stances, verdict)
            usual = (closed, reveal, *_tell(decided))
            posts = (elsewhere(debate, message),) if debate.gone else usual
            stood = (*standing(debate, cast, readable_from(debate, words), unread), *stances)
            return Closing(
                votes=seen_by_others(stood, cast, interventions),
                posts=posts,
                last=_ask_again(debate),
                verdicts={debate.request.format: decided.verdict} if decided else {},
                unread=unread,
            )

        await self.store.votes.close(lease, debate.id, self.clock.now(), early, conclude)
        self._behind.discard(debate.id)
        log.info("vote closed", debate=debate.id, early=early, unread=sorted(unread))

    def _may_extend(
        self, debate: Debate, events: tuple[VoteEvent, ...], unread: frozenset[Question]
    ) -> bool:
        if debate.gone or debate.vote_extended or not debate.request.extend:
            return False
        if debate.gaps:  # no vote is gold, however many come
            return False
        return not tally_of(debate, events, unread).quorum_met


def _decide(debate: Debate, stances: tuple[Vote, ...], verdict: Verdict) -> Decision | None:
    script = FORMATS.get(debate.request.format)
    return script.decide(debate.request, stances, verdict) if script else None


def _tell(decided: Decision | None) -> tuple[Post, ...]:
    if decided is None:
        return ()
    return (Post(key="decision", message=Report(title=decided.title, text=decided.text)),)


def _ask_again(debate: Debate) -> tuple[Post, ...]:
    request = debate.request
    if debate.gone or not request.again:
        return ()
    invite = AgainInvite(
        options=vote_options(tuple(request.sides)),
        minutes=request.again_minutes,
        ballot=request.ballot,
        stances=request.stances,
        names=debate.setup.called,
    )
    return (Post(key="again", message=invite),)


def readable_from(debate: Debate, words: int) -> datetime | None:
    """Return the earliest time at which a person can have read the debate.

    Assumes 1,000 words a minute from the opening of its thread, our own choice: about four times
    silent reading speed (238 words a minute; M. Brysbaert, J. Memory and Language 109, 2019).
    """
    return debate.opened_at and debate.opened_at + timedelta(minutes=words / WORDS_A_MINUTE)


def standing(
    debate: Debate,
    events: tuple[VoteEvent, ...],
    readable_at: datetime | None = None,
    unread: frozenset[Question] = NONE,
) -> tuple[Vote, ...]:
    """Return the standing votes of a debate's log; options not on the ballot are ignored."""
    return _standing(debate, events, Question.VOTE, readable_at, unread)


def stances_of(
    debate: Debate, events: tuple[VoteEvent, ...], unread: frozenset[Question] = NONE
) -> tuple[Vote, ...]:
    """Return people's stances before and after the debate."""
    return tuple(
        vote.model_copy(update={"option": stance_name(vote.option)})
        for question in (Question.STANCE_BEFORE, Question.STANCE_AFTER)
        for vote in _standing(debate, events, question, None, unread)
    )


def _standing(
    debate: Debate,
    events: tuple[VoteEvent, ...],
    question: Question,
    readable_at: datetime | None,
    unread: frozenset[Question],
) -> tuple[Vote, ...]:
    options = options_of(question, tuple(debate.request.sides))
    shown = debate.request.scores is Scores.LIVE and question is not Question.STANCE_BEFORE
    return standing_votes(
        [event for event in events if event.question is question and event.option in options],
        starter=debate.starter,
        judge_visible=shown,
        tally_visible=debate.request.ballot is BallotKind.OPEN,
        readable_at=readable_at,
        gap=debate.gaps > 0 and question is not Question.STANCE_BEFORE,
        recovery="unread" if question in unread else "complete",
    )


def tally_of(
    debate: Debate, events: tuple[VoteEvent, ...], unread: frozenset[Question] = NONE
) -> Tally:
    """Count a debate's log in its current state; unread votes are not labels."""
    return count(
        standing(debate, events, None, unread), tuple(debate.request.sides), debate.request.quorum
    )


def _extension(debate: Debate) -> Post:
    text = (
        f"Fewer than {debate.request.quorum} votes count so far, so the vote stays open for "
        f"another {debate.request.vote_minutes:g} minutes."
    )
    return Post(key="vote/extended", message=Notice(text=text))


def _closed(debate: Debate, tally: Tally, early: bool) -> Post:
    options = vote_options(tuple(debate.request.sides))
    message = VoteClosed(options=options, votes=sum(tally.counts.values()), early=early)
    return Post(key="vote/closed", message=message, target="vote")


def reveal_of(
    debate: Debate,
    tally: Tally,
    verdict: Verdict,
    ballots: tuple[Ballot, ...],
    calls: int,
    usd: float | None,
    stances: tuple[Vote, ...] = (),
    unread: frozenset[Question] = NONE,
    own: Verdict | None = None,
) -> Reveal:
    """Return the reveal of a closed vote."""
    return Reveal(
        topic=debate.request.topic,
        models={side: model.ref for side, model in debate.request.sides.items()},
        drawn=debate.request.drawn,
        seats={seat: model.ref for seat, model in debate.request.seats.items()},
        judges=tuple(model.ref for model in debate.request.judges),
        tally=tally,
        verdict=verdict,
        jurors=tuple(_juror_lines(ballots)),
        agree=agreement(tally, verdict),
        usd=usd,
        calls=calls,
        persuasion=_persuasion(debate, stances),
        broadcast=debate.request.broadcast,
        rehearsal=debate.setup.rehearsal,
        replaced=tuple((one.was.ref, one.now.ref) for one in debate.setup.replaced),
        gaps=debate.gaps,
        unread=Question.VOTE in unread,
        criteria=_unusual(debate),
        stances=debate.request.stances,
        names=debate.setup.called,
        own=own,
    )


def _unusual(debate: Debate) -> tuple[Criterion, ...]:
    """Return what jurors scored; nothing for the usual rubric."""
    panel = debate.setup.panel
    rubric = find_rubric(panel.rubric, panel.criteria)
    return () if rubric is DEBATE else rubric.criteria


def _persuasion(debate: Debate, stances: tuple[Vote, ...]) -> Persuasion | None:
    """Return who changed sides; None for more than two contenders, as none argues against."""
    sides = tuple(debate.request.sides)
    if not stances or len(sides) != 2:
        return None
    before, after = (
        asked(stances, question) for question in (Question.STANCE_BEFORE, Question.STANCE_AFTER)
    )
    return persuasion(before, after, sides)


def _juror_lines(ballots: Iterable[Ballot]) -> Iterator[JurorLine]:
    """Yield the ballots to list: those that decide, then those of recused jurors."""
    for ballot in sorted(ballots, key=lambda ballot: ballot.audit):
        if not ballot.audit or ballot.recused:
            yield JurorLine(
                juror=ballot.juror,
                verdict=ballot.verdict,
                order=ballot.order,
                problem=ballot.problem,
                contradictory=ballot.contradictory,
                recused=ballot.recused,
            )
