"""What a reading of a question's messages says that the log of events does not.

Pure: the caller reads the reactions, and appends what `reconcile` returns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from engine.debate import BallotKind
from engine.judging import How, VoteEvent
from engine.ports import Reactions
from engine.store.votes import NewEvent
from engine.votes.hands import as_given, hands_held, shortest_delay

Holding = tuple[int, str]
"""A person and an option."""


class Order(NamedTuple):
    """Since when what was heard may be newer than what a reading finds, and since when it is.

    None: nothing may be, or of nothing it is known.
    """

    heard_from: datetime | None = None
    newer_since: datetime | None = None


UNHEARD = Order()  # what a reading finds is newer than all that was heard


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
    order: Order = UNHEARD,
) -> tuple[NewEvent, ...]:
    """Return the events that bring the log in line with a reading, withdrawals first.

    `people` maps the platform's users to persons; a user whom it does not name was forgotten
    and stays so. Read before seeding again: a message that lost the bot's own reaction to an
    option was cleared, and there nobody withdrew anything. Neither did anybody when the
    reading is incomplete or the ballot secret; a choice made by button, what was received
    before its option was `cleared`, and whatever was received after the reading began, is never
    touched. A reaction that is in the log, and not taken away since, is the one that is still
    there, whether it was left by the bot (in a secret ballot) or by a choice made by button.

    What is added stands in this `order` to what was heard.

    A message that was never `seeded`, as a turn is not, shows no clear by itself, nor does an
    option that the bot could not add its own reaction to (`unseeded`): there an option that
    several people held and nobody holds any more counts as cleared.
    """
    if ballot is BallotKind.PRIVATE:
        return ()
    seen = {
        (people[user], option)
        for option, users in reactions.holders.items()
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
    gone = {h for h in gone - taken if h[1] in kept and held[h].how is not How.BUTTON}
    withdrawn = [NewEvent(person, option, False) for person, option in sorted(gone)]
    found = (NewEvent(*holding, True, How.RECOVERED, *order) for holding in sorted(added))
    return (*withdrawn, *found)


@dataclass(frozen=True, slots=True)
class _Fresh:
    """What was received after a reading began, and so knows better than the reading."""

    holdings: frozenset[Holding]
    by_button: frozenset[int]

    def touches(self, holding: Holding) -> bool:
        """Return whether the holding, or all of its person's, was decided since."""
        return holding in self.holdings or holding[0] in self.by_button


def _cleared(events: Sequence[VoteEvent], cleared: Mapping[str, datetime]) -> set[Holding]:
    """Return what was chosen before a moderator cleared it, and not again since."""
    latest = {(e.person, e.option): e.received_at for e in events if e.added}
    return {h for h, chosen in latest.items() if h[1] in cleared and chosen <= cleared[h[1]]}


def _uncleared(held: Iterable[Holding], seen: Iterable[Holding]) -> set[str]:
    """Return the options that one person alone held, or that somebody still holds."""
    holders = Counter(option for _, option in held)
    alone = {option for option, people in holders.items() if people == 1}
    return alone | {option for _, option in seen}


def _left_there(events: Sequence[VoteEvent], ballot: BallotKind) -> set[Holding]:
    """Return the reactions that were seen and that the bot has not taken away since."""
    seen: dict[Holding, bool] = {}
    for _, own in as_given(events, tally_visible=ballot is BallotKind.OPEN):
        for event in own:
            if event.how is not How.BUTTON:
                seen[event.person, event.option] = event.added
    return {holding for holding, there in seen.items() if there}


def _held(events: Sequence[VoteEvent], ballot: BallotKind) -> dict[Holding, VoteEvent]:
    hands = hands_held(events, tally_visible=ballot is BallotKind.OPEN)
    return {
        (person, option): event for person, own in hands.items() for option, event in own.items()
    }


def _received_since(events: Sequence[VoteEvent], moment: datetime) -> _Fresh:
    """Leave out what was told late: the reading has seen what came of it."""
    delay = shortest_delay(events)
    late = [
        e
        for e in events
        if e.received_at >= moment
        and e.how is not How.RECOVERED
        and (e.given_at is None or e.given_at + delay >= moment)
    ]
    return _Fresh(
        holdings=frozenset((e.person, e.option) for e in late if e.how is How.LIVE),
        by_button=frozenset(e.person for e in late if e.how is How.BUTTON),
    )
