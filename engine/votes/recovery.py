"""Reconcile a question's event log with a reading of its messages.

Pure: the caller reads the reactions and appends the events that `reconcile` returns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from engine.store.votes import NewEvent
from engine.tally.hands import as_given, hands_held, shortest_delay
from engine.values.debate import BallotKind
from engine.values.judging import How, VoteEvent
from engine.values.ports import Reactions
from engine.values.text import split_variant


class Holding(NamedTuple):
    """A reaction that a person holds."""

    person: int
    option: str
    variant: str = ""


class EventOrder(NamedTuple):
    """Since when received events may be newer than a reading's finds, and since when they are.

    None: none may be, or none is known to be.
    """

    heard_from: datetime | None = None
    newer_since: datetime | None = None


UNHEARD = EventOrder()  # a reading's finds are newer than every received event


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
    order: EventOrder = UNHEARD,
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
        Holding(people[user], *split_variant(reaction))
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


def _event(holding: Holding, added: bool, order: EventOrder = UNHEARD) -> NewEvent:
    person, option, variant = holding
    return NewEvent(person, option, added, How.RECOVERED, variant, *order)


@dataclass(frozen=True, slots=True)
class _Fresh:
    """Events received after a reading began; they override the reading."""

    holdings: frozenset[Holding]
    by_button: frozenset[int]

    def touches(self, holding: Holding) -> bool:
        """Return whether the holding, or all of its person's, was decided since."""
        return holding in self.holdings or holding.person in self.by_button


def _cleared(events: Sequence[VoteEvent], cleared: Mapping[str, datetime]) -> set[Holding]:
    """Return the choices made before a moderator cleared them, and not repeated since."""
    latest = {_of(e): e.received_at for e in events if e.added}
    return {h for h, at in latest.items() if h.option in cleared and at <= cleared[h.option]}


def _uncleared(held: Iterable[Holding], seen: Iterable[Holding]) -> set[str]:
    """Return the options that only one person held, or that someone still holds."""
    holders = Counter(option for _, option in {(h.person, h.option) for h in held})
    alone = {option for option, people in holders.items() if people == 1}
    return alone | {holding.option for holding in seen}


def _left_there(events: Sequence[VoteEvent], ballot: BallotKind) -> set[Holding]:
    """Return the reactions that were seen and that the bot has not removed since."""
    seen: dict[Holding, bool] = {}
    for _, own in as_given(events, tally_visible=ballot is BallotKind.OPEN):
        for event in own:
            if event.how is not How.BUTTON:
                seen[_of(event)] = event.added
    return {holding for holding, there in seen.items() if there}


def _held(events: Sequence[VoteEvent], ballot: BallotKind) -> dict[Holding, VoteEvent]:
    hands = hands_held(events, tally_visible=ballot is BallotKind.OPEN)
    return {_of(event): event for own in hands.values() for event in own.values()}


def _of(event: VoteEvent) -> Holding:
    return Holding(event.person, event.option, event.variant)


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
