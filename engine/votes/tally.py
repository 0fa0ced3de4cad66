"""From the log of vote events to each person's standing vote, and to the count.

Pure, and the only place that knows what a standing vote is in a debate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Protocol

from engine.judging import TIE, WEAK, How, NotGold, Recovery, Tally, Verdict, Vote, VoteEvent
from engine.votes.wilson import wilson

READING = timedelta(seconds=5)  # a reading takes no longer, so that it saw what was then
Hands = dict[str, VoteEvent]
"""The options that one person holds, each with the event that says so."""


class Standing(Protocol):
    """What a count needs of a standing vote; `ambiguous` ones are in no count."""

    @property
    def person(self) -> int:
        """Whose it is, as a surrogate id."""
        ...

    @property
    def option(self) -> str:
        """What was chosen."""
        ...

    @property
    def ambiguous(self) -> bool:
        """Whether nobody can say which of several choices stands."""
        ...

    @property
    def gold(self) -> bool:
        """Whether it is a label."""
        ...


def hands_held(events: Iterable[VoteEvent], *, tally_visible: bool = True) -> dict[int, Hands]:
    """Return what each person holds after the events, in the order in which they were given.

    `tally_visible` is False where the bot takes reactions away at once (a secret ballot) or
    there are none (a private one); see `standing_votes`.
    """
    held: dict[int, Hands] = {}
    for person, own in by_person(events):
        for event in in_order(own):
            _apply(event, held.setdefault(person, {}), tally_visible)
    return held


def in_order(events: Iterable[VoteEvent]) -> list[VoteEvent]:
    """Return one person's events as they were given: that of receipt, where no time was told.

    One that was told late, as Slack tells what it could not at first, comes before the first that
    was given after it.
    """
    placed: list[VoteEvent] = []
    for event in sorted(events, key=_order):
        at = len(placed)
        if event.given_at is not None:
            later = (i for i, other in enumerate(placed) if _given_after(other, event))
            at = next(later, at)
        placed.insert(at, event)
    return placed


def _given_after(one: VoteEvent, other: VoteEvent) -> bool:
    """Whether the platform told of both when they were given, and this one was later."""
    if one.given_at is None or other.given_at is None:
        return False
    return one.given_at > other.given_at


def by_person(events: Iterable[VoteEvent]) -> Iterator[tuple[int, Iterator[VoteEvent]]]:
    """Group events by person, in the order of their ids."""
    whose = attrgetter("person")
    return groupby(sorted(events, key=whose), key=whose)


def standing_votes(
    events: Sequence[VoteEvent],
    *,
    starter: int | None,
    judge_visible: bool,
    tally_visible: bool,
    readable_at: datetime | None = None,
    gap: bool = False,
    recovery: Recovery = "complete",
) -> tuple[Vote, ...]:
    """Derive the standing vote of everybody who has one, ordered by person.

    With a `gap` in the thread, where something could not be read, no vote is gold, nor is one where
    `recovery` says that the reactions could not be read. A choice that was made before
    `readable_at` is `fast`; None: no choice is.

    Of several options held, the newest stands. What a reading found is newer than all that was
    heard before the gap, or the reading, that it may have been missed in, and older than what was
    given after the last gap before it. What was heard between is newer or older, and of several
    found by one reading none is known to be the last: the vote is ambiguous then, and its option
    names all that are held, as in `A+tie`.

    Where the tally is visible, reactions stay on the message: nobody can add one that he
    holds, so a repeated event is a repeated delivery and changes nothing, unless its time, or a
    gap between, says that it was given again. Where it is not, the bot has taken the reaction
    away: adding one is a new choice that replaces the last, one that recovery finds was made after
    all that had been received, and only a button withdraws.
    """
    votes = []
    for person, own in by_person(events):
        course = _follow(in_order(own), tally_visible)
        if course.hands:
            is_starter = person == starter
            unread = recovery == "unread"
            vote = _vote(person, course, is_starter, judge_visible, tally_visible, gap, unread)
            fast = readable_at is not None and vote.last_at < readable_at
            votes.append(vote.model_copy(update={"fast": fast, "recovery": recovery}))
    return tuple(votes)


def standing_option(hands: Hands) -> VoteEvent | None:
    """Return the holding that stands, None when there is none or nobody can say which."""
    for one in hands.values():
        if all(_is_newer(one, other) for other in hands.values() if other is not one):
            return one
    return None


def _is_newer(one: VoteEvent, other: VoteEvent) -> bool:
    """Whether one holding is known to be newer than another."""
    if one.given_at is not None and other.given_at is not None:
        return (one.given_at, one.number) > (other.given_at, other.number)
    if one.how is not How.RECOVERED:
        return one.number > other.number or _was_heard_after(one, other)
    if other.how is How.RECOVERED:
        return one.received_at > other.received_at  # by a later reading
    heard_before = one.heard_from is None or other.received_at < one.heard_from
    return heard_before and one.number > other.number


def _was_heard_after(one: VoteEvent, found: VoteEvent) -> bool:
    """Whether one was given after the last silence in which a recovered one can have been."""
    if found.how is not How.RECOVERED or found.newer_since is None:
        return False
    return min(one.received_at, one.given_at or one.received_at) >= found.newer_since


def chosen_option(events: Iterable[VoteEvent], *, tally_visible: bool) -> str | None:
    """Return what a person's own events leave chosen."""
    held: Hands = {}
    for event in in_order(events):
        _apply(event, held, tally_visible)
    standing = standing_option(held)
    return None if standing is None else standing.option


def count(votes: Iterable[Standing], contenders: Sequence[str], quorum: int) -> Tally:
    """Count votes by option: all that stand, and the gold ones.

    The quorum counts gold votes, ties and both-weak included. `share` is that of the first
    of two contenders; it and its bounds are None when nobody chose either.
    """
    counts = dict.fromkeys((*contenders, TIE, WEAK), 0)
    gold = dict(counts)
    for vote in votes:
        if not vote.ambiguous and vote.option in counts:
            counts[vote.option] += 1
            gold[vote.option] += vote.gold
    cast = sum(gold.values())
    met = cast >= quorum
    winner = _winner(gold, contenders) if met and cast else None
    plain = Tally(counts=counts, gold=gold, quorum_met=met, winner=winner)
    return _with_share(plain, contenders)


@dataclass(slots=True)
class _Course:
    """One person's way through the vote, up to the latest event."""

    hands: Hands = field(default_factory=dict)
    standing: str | None = None
    latest: str | None = None  # the last choice that stood, also when withdrawn since
    first: VoteEvent | None = None
    turned: VoteEvent | None = None
    changes: int = 0


def _order(event: VoteEvent) -> int:
    return event.number


def _apply(event: VoteEvent, hands: Hands, tally_visible: bool) -> None:
    if not event.added:
        _withdraw(event, hands, tally_visible)
    elif event.how is How.RECOVERED:
        _recover(event, hands, tally_visible)
    elif event.how is How.BUTTON or not tally_visible:
        hands.clear()
        hands[event.option] = event
    elif event.option not in hands:
        hands[event.option] = event
    elif hands[event.option].how is How.RECOVERED:
        hands[event.option] = _tell(hands[event.option], event)
    elif _given_again(event, hands[event.option]):
        hands[event.option] = event


def _given_again(event: VoteEvent, held: VoteEvent) -> bool:
    """Whether what is held was taken away, unheard, and given once more; else it is told twice."""
    silent_between = event.heard_from is not None and event.heard_from > held.received_at
    return _given_after(event, held) or (event.given_at is None and silent_between)


def _tell(found: VoteEvent, told: VoteEvent) -> VoteEvent:
    """Return a holding that a reading had found when it is told of as well.

    Without a time it is told in its turn. With one it may have waited, so that it is no newer than
    what the reading found beside it.
    """
    if told.given_at is None:
        return told
    return found.model_copy(update={"given_at": told.given_at})


def _withdraw(event: VoteEvent, hands: Hands, tally_visible: bool) -> None:
    if event.how is How.BUTTON:
        hands.clear()
        return
    held = hands.get(event.option)
    if held is None or held.how is How.BUTTON or not tally_visible:
        return
    if _was_found_since(held, event):
        # It was given once more, and of that the time is not known.
        hands[event.option] = held.model_copy(update={"given_at": None})
    else:
        del hands[event.option]


def _was_found_since(held: VoteEvent, withdrawn: VoteEvent) -> bool:
    """Whether a reading found a reaction after it was taken back, which was told late.

    Should two clocks disagree about that, the next reading withdraws what is not there.
    """
    if held.how is not How.RECOVERED or withdrawn.given_at is None:
        return False
    return withdrawn.given_at < held.received_at - READING


def _recover(event: VoteEvent, hands: Hands, tally_visible: bool) -> None:
    if event.option in hands:
        return
    if not tally_visible:
        heard = [o for o, holding in hands.items() if holding.how is not How.RECOVERED]
        for option in [o for o in heard if _is_newer(event, hands[o])]:
            del hands[option]
    hands[event.option] = event


def _follow(events: Iterable[VoteEvent], tally_visible: bool) -> _Course:
    course = _Course()
    for event in events:
        _apply(event, course.hands, tally_visible)
        if event.added and course.first is None:
            course.first = event
        holding = standing_option(course.hands)
        option = holding.option if holding else None
        if option != course.standing:
            course.standing, course.turned = option, event
            if option is not None:
                course.changes += course.latest not in (None, option)
                course.latest = option
    return course


def _vote(
    person: int,
    course: _Course,
    starter: bool,
    judge_visible: bool,
    tally_visible: bool,
    gap: bool,
    unread: bool,
) -> Vote:
    holding = standing_option(course.hands)
    ambiguous = holding is None
    latest = holding or max(course.hands.values(), key=_order)
    first, turned = course.first or latest, course.turned or latest
    reasons: dict[NotGold, bool] = {
        "judge": judge_visible,
        "starter": starter,
        "ambiguous": ambiguous,
        "mirror": turned.mirror_revealed,
        "gap": gap,
        "unread": unread,
    }
    reason: NotGold = next((why for why, holds in reasons.items() if holds), "")
    return Vote(
        person=person,
        option="+".join(sorted(course.hands)) if holding is None else holding.option,
        ambiguous=ambiguous,
        gold=not reason,
        reason=reason,
        starter=starter,
        judge_visible=judge_visible,
        late_seen=latest.late_seen,
        tally_visible=tally_visible,
        votes_seen_before=latest.votes_seen_before if tally_visible else 0,
        changes=course.changes,
        first_at=first.received_at,
        last_at=turned.received_at,
        question=latest.question,
        mirror_revealed=turned.mirror_revealed,
    )


def _winner(gold: dict[str, int], contenders: Sequence[str]) -> str:
    first, second = sorted(contenders, key=lambda c: gold[c], reverse=True)[:2]
    return TIE if gold[first] == gold[second] or gold[TIE] >= gold[first] else first


def _with_share(tally: Tally, contenders: Sequence[str]) -> Tally:
    if len(contenders) != 2:
        return tally
    a, b = (tally.gold[contender] for contender in contenders)
    if a + b == 0:
        return tally
    low, high = wilson(a, a + b)
    return tally.model_copy(update={"share": a / (a + b), "low": low, "high": high})


def agreement(tally: Tally, verdict: Verdict) -> bool | None:
    """Say whether people and panel agree; None unless both decided, and the panel blind."""
    if tally.winner is None or verdict.winner is None or not verdict.blind:
        return None
    return tally.winner == verdict.winner
