"""Read a question's reactions from the platform and reconcile its log with them.

Several messages may belong to one question, such as the parts of a long turn: they share a log
and are read together.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import structlog

from engine.store import Intervention, Lease, Store, Target
from engine.store.vote_log import NewEvent, unseeded_of
from engine.tally.fold import as_given, shortest_delay, vote_folds
from engine.values.debate import BallotKind, Debate
from engine.values.errors import MessageGoneError, VenueAwayError, VenueError, VenueGoneError
from engine.values.ports import Clock, Reactions, VisibleReaction, Watch
from engine.values.text import split_variant, with_variant
from engine.values.verdicts import How, Log, Question, VoteEvent

if TYPE_CHECKING:
    from engine.values.protocols import Venue

# Reconcile a question's event log with a reading of its messages.
#
# Pure: the caller reads the reactions and appends the events that `reconcile` returns.


class _HeldReaction(NamedTuple):
    """A reaction that a person holds."""

    person: int
    option: str
    variant: str = ""


class _EventOrder(NamedTuple):
    """Since when received events may be newer than a reading's finds, and since when they are.

    None: none may be, or none is known to be.
    """

    heard_from: datetime | None = None
    newer_since: datetime | None = None


UNHEARD = _EventOrder()  # a reading's finds are newer than every received event


def reconcile(
    events: Sequence[VoteEvent],
    reactions: Reactions,
    *,
    read_began_at: datetime,
    people: Mapping[str, int],
    ballot: BallotKind = BallotKind.OPEN,
    cleared: Mapping[str, datetime] | None = None,
    seeded: bool = True,
    unseeded: frozenset[str] = frozenset(),
    order: _EventOrder = UNHEARD,
) -> tuple[NewEvent, ...]:
    """Return the events that reconcile the log with a reading, withdrawals first.

    `people` maps the platform's users to persons; a missing user was forgotten and stays so. Read
    before seeding again: an option that lost the bot's own reaction was cleared by a moderator,
    so no one withdrew there. There are no withdrawals either if the reading is incomplete or the
    ballot secret. Never touched: choices by button, events received before their option was
    `cleared`, and events received after the reading began. A reaction that is in the log and was
    not removed since is the one still there, whether the bot left it (in a secret ballot) or its
    person also chose by button.

    New events stand in this `order` to the received ones.

    A message that was never `seeded`, such as a turn, cannot show a clear; nor can an option that
    the bot failed to seed (`unseeded`). There, an option counts as cleared if several people held
    it and no one does any more.
    """
    if ballot is BallotKind.PRIVATE:
        return ()
    seen = {
        _HeldReaction(people[user], *split_variant(reaction))
        for reaction, users in reactions.holders.items()
        for user in users
        if user in people
    }
    held = _held(events, ballot)
    fresh = _received_since(events, read_began_at)
    added = {h for h in seen - held.keys() if not fresh.touches(h)} - _left_there(events, ballot)
    gone = {h for h in held.keys() - seen if not fresh.touches(h)}
    if ballot is BallotKind.SECRET or not reactions.complete:
        gone = set()
    taken = _cleared(events, cleared or {})
    guessed = _uncleared(held.keys() - taken, seen)
    kept = reactions.seeded | (guessed & unseeded) if seeded else guessed
    gone = {h for h in gone - taken if h.option in kept and held[h].how is not How.BUTTON}
    withdrawn = (_event(holding, False) for holding in sorted(gone))
    found = (_event(holding, True, order) for holding in sorted(added))
    return (*withdrawn, *found)


def _event(holding: _HeldReaction, added: bool, order: _EventOrder = UNHEARD) -> NewEvent:
    person, option, variant = holding
    return NewEvent(person, option, added, How.RECOVERED, variant, *order)


@dataclass(frozen=True, slots=True)
class _Fresh:
    """Events received after a reading began; they override the reading."""

    holdings: frozenset[_HeldReaction]
    by_button: frozenset[int]

    def touches(self, holding: _HeldReaction) -> bool:
        """Return whether the holding, or all of its person's, was decided since."""
        return holding in self.holdings or holding.person in self.by_button


def _cleared(events: Sequence[VoteEvent], cleared: Mapping[str, datetime]) -> set[_HeldReaction]:
    """Return the choices made before a moderator cleared them, and not repeated since."""
    latest = {_of(e): e.received_at for e in events if e.added}
    return {h for h, at in latest.items() if h.option in cleared and at <= cleared[h.option]}


def _uncleared(held: Iterable[_HeldReaction], seen: Iterable[_HeldReaction]) -> set[str]:
    """Return the options that only one person held, or that someone still holds."""
    holders = Counter(option for _, option in {(h.person, h.option) for h in held})
    alone = {option for option, people in holders.items() if people == 1}
    return alone | {holding.option for holding in seen}


def _left_there(events: Sequence[VoteEvent], ballot: BallotKind) -> set[_HeldReaction]:
    """Return the reactions that were seen and that the bot has not removed since."""
    seen: dict[_HeldReaction, bool] = {}
    for _, own in as_given(events, tally_visible=ballot is BallotKind.OPEN):
        for event in own:
            if event.how is not How.BUTTON:
                seen[_of(event)] = event.added
    return {holding for holding, there in seen.items() if there}


def _held(events: Sequence[VoteEvent], ballot: BallotKind) -> dict[_HeldReaction, VoteEvent]:
    folds = vote_folds(events, tally_visible=ballot is BallotKind.OPEN)
    return {_of(event): event for own in folds.values() for event in own.values()}


def _of(event: VoteEvent) -> _HeldReaction:
    return _HeldReaction(event.person, event.option, event.variant)


def _received_since(events: Sequence[VoteEvent], moment: datetime) -> _Fresh:
    """Drop late reports: the reading already reflects them."""
    delay = shortest_delay(events)
    late = [
        e
        for e in events
        if e.received_at >= moment
        and e.how is not How.RECOVERED
        and (e.given_at is None or e.given_at + delay >= moment)
    ]
    return _Fresh(
        holdings=frozenset(_of(e) for e in late if e.how is How.LIVE),
        by_button=frozenset(e.person for e in late if e.how is How.BUTTON),
    )


MOST_TRIES = 5
MOST_PARTIAL = 5  # readings of a message that leave people out, before one is taken as it is
LOG = attrgetter("question", "step")
log = structlog.get_logger(__name__)


def days_since(moment: datetime | None, now: datetime) -> int | None:
    """Return the whole days since a moment; None if it is unknown."""
    return None if moment is None else max(0, (now - moment).days)


def never(_: str) -> datetime | None:
    """Return that a community was taken over from no one."""
    return None


class Recovered(NamedTuple):
    """The result of readings: the number of new events, and the permanently unread logs."""

    found: int = 0
    unread: frozenset[Log] = frozenset()


@dataclass(slots=True)
class Removals:
    """Removes the reactions of secret ballots from their messages, as soon as they are stored.

    In order; a failed removal is left to the recovery.
    """

    venue: Venue
    store: Store
    clock: Clock
    _waiting: asyncio.Queue[VisibleReaction] = field(default_factory=asyncio.Queue)
    _known: set[VisibleReaction] = field(default_factory=set)

    def add(self, shown: VisibleReaction) -> None:
        """Queue the removal of a reaction that is already stored."""
        if shown not in self._known:
            self._known.add(shown)
            self._waiting.put_nowait(shown)

    async def run(self) -> None:
        """Remove reactions until cancelled."""
        while True:
            shown = await self._waiting.get()
            self._known.discard(shown)
            from engine.votes.interventions import hide  # few ballots are secret

            await hide(shown, self.venue, self.store, self.clock)


@dataclass(slots=True)
class ReactionReader:
    """Recovers missed events; `since` is when this process started listening.

    `taken` returns when it took a community over from another process, if it did.
    """

    venue: Venue
    store: Store
    clock: Clock
    removals: Removals
    watch: Watch
    since: datetime
    taken: Callable[[str], datetime | None] = never
    _partial: dict[tuple[str, str], int] = field(default_factory=dict)
    _silent: set[int] = field(default_factory=set)  # connections that are lost now
    _listening: asyncio.Lock = field(default_factory=asyncio.Lock)
    _listens: bool = False
    _last_silence: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._last_silence = self.since

    async def listen(self) -> None:
        """Record, before the first event, that no one listened before this process."""
        async with self._listening:
            if not self._listens:
                await self.store.votes.hear_again(self.venue.platform, self.since)
                self._listens = True

    async def hear_again(self, connection: int) -> None:
        """Record that events up to now may have been missed."""
        self._silent.discard(connection)
        self._last_silence = self.clock.now()
        await self.store.votes.hear_again(self.venue.platform, self._last_silence)

    @property
    def heard_from(self) -> datetime:
        """Since when every event was received, except those still arriving."""
        return self._last_silence

    def told(self, connection: int, *, lost: bool) -> None:
        """Record that a connection was `lost`, or resumed and delivers the missed events."""
        (self._silent.add if lost else self._silent.discard)(connection)

    def _order(self, gaps: tuple[datetime | None, ...], cast: Sequence[VoteEvent]) -> _EventOrder:
        """Return the order between what a reading finds now and the received events.

        A new find was missed in a silence since the last reading, so it is older than events
        received after the last silence, unless one is going on now. Without a silence its event
        is still to arrive; a platform that reports times may deliver in any order, so there it
        may date from any time since the last reading.
        """
        read_at, first_ended, last_ended = gaps
        if first_ended is None:
            timed = any(event.given_at is not None for event in cast)
            return _EventOrder(heard_from=read_at if timed else None)
        return _EventOrder(first_ended, None if self._silent else last_ended)

    async def recover(
        self,
        debate: Debate,
        lease: Lease,
        *questions: Question,
        closes_at: datetime | None = None,
        step: str = "",
    ) -> Recovered:
        """Reconcile the logs of these questions, which close together, with the platform.

        With a `step`, only that log of a question asked several times. What is found in one that
        was to close before this process started is late. Raises VenueAwayError if one of them
        cannot be read now.
        """
        await self.listen()
        asked = await self.store.votes.targets(debate.id, *questions)
        targets = [target for target in asked if step in ("", target.step)]
        if debate.gone:
            return Recovered(unread=_unread(targets))
        found, unread, away = 0, frozenset[Log](), None
        try:
            for _, group in groupby(targets, LOG):
                asking = tuple(group)
                due = asking[0].closes_at or closes_at
                late = due is not None and due < (self.taken(debate.community) or self.since)
                try:
                    read = await self._recover(debate, lease, asking, late=late)
                except VenueAwayError as error:  # the others can be read meanwhile
                    away = error
                else:
                    found, unread = found + read.found, unread | read.unread
        except VenueGoneError as error:
            log.warning("thread is gone", debate=debate.id, why=str(error))
            await self.store.deliveries.abandon(lease, debate.id, error.text)
            return Recovered(unread=_unread(targets))
        if away is not None:
            raise away
        return Recovered(found, unread)

    async def _recover(
        self, debate: Debate, lease: Lease, asking: Sequence[Target], *, late: bool
    ) -> Recovered:
        target = asking[0]
        if target.ballot is BallotKind.PRIVATE:
            return Recovered()
        if all(each.closed for each in asking):
            return Recovered(unread=_unread(asking))
        began = self.clock.now()
        readings = await self._read_all(asking)
        if not readings:
            return Recovered()
        reactions = _together(asking, readings)
        # Everything seen was given by now; no earlier time can be claimed.
        ended = self.clock.now()
        users = sorted({user for held in reactions.holders.values() for user in held})
        people = await self.store.votes.people(debate.platform, users)
        interventions = await self.store.votes.interventions(debate.id)
        cleared, unseeded = _cleared_at(target, interventions), unseeded_of(target, interventions)
        gaps = await self.store.votes.connection_gaps(target)
        made_at = self.venue.account_made_at
        made = {person: made_at(user) for user, person in people.items()} if made_at else {}

        def find(cast: tuple[VoteEvent, ...]) -> tuple[NewEvent, ...]:
            found = reconcile(
                cast,
                reactions,
                read_began_at=began,
                people=people,
                ballot=target.ballot,
                cleared=cleared,
                seeded=target.question is not Question.TURN,
                unseeded=unseeded,
                order=self._order(gaps, cast),
            )
            return tuple(
                replace(event, account_days=days_since(made.get(event.person), ended))
                for event in found
            )

        read_at = began if reactions.complete else None
        found = await self.store.votes.recover(lease, target, find, ended, late, read_at=read_at)
        if found:
            about, platform = _named(target), self.venue.platform
            self.watch.answered(platform, target.question, How.RECOVERED, "stored", found)
            log.info("votes recovered", debate=debate.id, question=about, events=found, late=late)
        if target.ballot is BallotKind.SECRET:
            self._hide(asking, readings)
        return Recovered(found, frozenset() if reactions.complete else _unread(asking))

    async def _read_all(self, asking: Sequence[Target]) -> Sequence[Reactions]:
        """Read a question's messages; nothing if it was closed meanwhile, under another lease.

        Its seeds may have gone while it was read, so nothing follows from what is missing.
        """
        target = asking[0]
        try:
            readings = [await self._read(each) for each in asking]
        except VenueAwayError:
            if await self._has_ended(target):
                return ()
            raise
        kept = _together(asking, readings).seeded == set(target.options)
        seeded = target.question is Question.TURN or kept
        return readings if seeded or not await self._has_ended(target) else ()

    async def _has_ended(self, target: Target) -> bool:
        now = await self.store.votes.target(target.platform, target.place, target.message)
        return now is not None and now.ended

    def _hide(self, asking: Sequence[Target], readings: Sequence[Reactions]) -> None:
        for target, read in zip(asking, readings, strict=True):
            for reaction, users in sorted(read.holders.items()):
                if target.option_of(reaction) is None:
                    continue
                for user in sorted(users):
                    of = (target.place, target.message, user, reaction)
                    self.removals.add(VisibleReaction(*of, target.variant_of(reaction)))

    async def _read(self, target: Target) -> Reactions:
        """Read the reactions; on a permanent failure the votes stay as last known.

        Raises VenueAwayError if a retry may help.
        """
        if target.closed:
            return Reactions(complete=False)
        waited_for, about = target.question is not Question.TURN, _named(target)
        try:
            return await (self._ask(target) if waited_for else self._ask_patiently(target))
        except VenueGoneError:
            raise
        except MessageGoneError as error:
            log.warning("message is gone", debate=target.debate, question=about, why=str(error))
            deleted = Intervention.on(target, "deleted", self.clock.now())
            await self.store.votes.intervene(target, deleted)
        except VenueAwayError:
            raise
        except VenueError as error:
            why = str(error)
            log.warning("reactions unreadable", debate=target.debate, question=about, why=why)
        return Reactions(complete=False)

    async def _ask(self, target: Target) -> Reactions:
        """Read once. Raises VenueAwayError for an incomplete reading, up to a few times."""
        read = await self.venue.reactions(target.place, target.message)
        key = (target.place, target.message)
        if read.complete:
            self._partial.pop(key, None)
            return read
        self._partial[key] = self._partial.get(key, 0) + 1
        if self._partial[key] < MOST_PARTIAL:
            raise VenueAwayError("the list of people who reacted is incomplete.")
        log.warning("reactions read partially", debate=target.debate, question=_named(target))
        return read

    async def _ask_patiently(self, target: Target) -> Reactions:
        """Read questions without urgency: spaced, with one retry.

        Raises VenueAwayError if the retry fails too.
        """
        for _ in range(MOST_TRIES - 1):
            await self.clock.sleep(self.venue.limits.read_seconds)
            try:
                return await self._ask(target)
            except VenueAwayError as error:
                await self.clock.sleep(error.retry_after)
        return await self._ask(target)


def _together(asking: Sequence[Target], readings: Sequence[Reactions]) -> Reactions:
    """Return who holds what option on a question's messages; other emoji are ignored."""
    holders: dict[str, frozenset[str]] = {}
    for target, read in zip(asking, readings, strict=True):
        for reaction, users in read.holders.items():
            if option := target.option_of(reaction):
                held = with_variant(option, target.variant_of(reaction))
                holders[held] = holders.get(held, frozenset()) | users
    return Reactions(
        holders,
        frozenset(asking[0].options) & frozenset[str]().union(*(one.seeded for one in readings)),
        complete=all(one.complete for one in readings),
    )


def _unread(targets: Sequence[Target]) -> frozenset[Log]:
    """Return the logs that depend on reactions, and so on the last known ones.

    A question that has closed was read then, or marked as unread.
    """
    return frozenset(
        Log(t.question, t.step)
        for t in targets
        if t.ballot is not BallotKind.PRIVATE and (t.unread or not t.ended)
    )


def _named(target: Target) -> str:
    return target.step or target.question


def _cleared_at(target: Target, interventions: Sequence[Intervention]) -> dict[str, datetime]:
    """Return when a moderator last cleared each option of a question."""
    moments: dict[str, datetime] = {}
    for intervention in interventions:
        if intervention.act == "cleared" and LOG(intervention) == LOG(target):
            options = (intervention.option,) if intervention.option else target.options
            moments |= dict.fromkeys(options, intervention.at)
    return moments
