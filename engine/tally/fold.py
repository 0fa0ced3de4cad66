"""The reactions each person holds after a log of vote events, and which one is their choice.

Pure. A platform reports an event once, twice, late or never; a reading shows what is held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

from engine.values.verdicts import How, VoteEvent

NO_DELAY = timedelta()
_NUMBER = attrgetter("number")
Held = tuple[str, str]
"""An option, and the variant of its reaction that is held."""
VoteEventFold = dict[Held, VoteEvent]
"""What one person holds, each with its event; several variants of an option are one choice."""


def vote_folds(
    events: Iterable[VoteEvent], *, tally_visible: bool = True
) -> dict[int, VoteEventFold]:
    """Return what each person holds after the events, ordered by when they happened.

    `tally_visible` is False where the bot removes reactions at once (a secret ballot) or there
    are none (a private one); see `standing_votes`.
    """
    return {
        person: fold_of(own, tally_visible=tally_visible)
        for person, own in as_given(events, tally_visible=tally_visible)
    }


def as_given(
    events: Iterable[VoteEvent], *, tally_visible: bool
) -> Iterator[tuple[int, list[VoteEvent]]]:
    """Yield each person's events in the order in which they happened, by person id.

    Where reactions stay on the message, events reported after a reading are made consistent with
    it, and only events that a reading has overtaken keep their `read_at`.
    """
    log = tuple(events)
    delay = shortest_delay(log)
    for person, own in by_person(log):
        yield person, in_order(_settled(own, delay) if tally_visible else map(_fresh, own))


def fold_of(events: Iterable[VoteEvent], *, tally_visible: bool = True) -> VoteEventFold:
    """Return what one person holds after events in the order in which they happened."""
    fold: VoteEventFold = {}
    for event in events:
        take(event, fold, tally_visible=tally_visible)
    return fold


def chosen_option(events: Iterable[VoteEvent], *, tally_visible: bool) -> str | None:
    """Return the choice that a person's own events lead to."""
    for fold in vote_folds(events, tally_visible=tally_visible).values():
        standing = standing_option(fold)
        return None if standing is None else standing.option
    return None


def standing_option(fold: VoteEventFold, told_by: datetime | None = None) -> VoteEvent | None:
    """Return the standing holding; None if there is none or it cannot be determined.

    The platform may still report, with its time, what a reading found after `told_by`; None: no
    more reports are due.
    """
    for one in fold.values():
        others = (other for other in fold.values() if other.option != one.option)
        if all(_is_newer(one, other, told_by) for other in others):
            return one
    return None


def is_undecided(events: Iterable[VoteEvent], told_by: datetime) -> bool:
    """Whether the platform may still report which of a person's choices is the last.

    The events belong to one question of an open ballot; reports on readings up to `told_by` have
    arrived by now, if ever.
    """
    return any(
        standing_option(fold, told_by) is None
        and any(one.given_at is None and _may_be_told(one, told_by) for one in fold.values())
        for fold in vote_folds(events).values()
    )


def in_order(events: Iterable[VoteEvent]) -> list[VoteEvent]:
    """Return one person's events in the order they happened; by receipt if no time was reported.

    A late report, as when Slack redelivers an event, goes before the first event that happened
    after it.
    """
    placed: list[VoteEvent] = []
    for event in sorted(events, key=_NUMBER):
        at = len(placed)
        if event.given_at is not None:
            later = (i for i, other in enumerate(placed) if _given_after(other, event))
            at = next(later, at)
        placed.insert(at, event)
    return placed


def by_person(events: Iterable[VoteEvent]) -> Iterator[tuple[int, Iterator[VoteEvent]]]:
    """Group events by person, ordered by id."""
    whose = attrgetter("person")
    return groupby(sorted(events, key=whose), key=whose)


def shortest_delay(events: Iterable[VoteEvent]) -> timedelta:
    """Return the shortest delay between an action and its receipt.

    The platform's clock gives the one and ours the other, so it may be negative. An action at a
    platform time happened at most this much later by our clock.
    """
    delays = (event.received_at - event.given_at for event in events if event.given_at is not None)
    return min(delays, default=NO_DELAY)


def _settled(own: Iterable[VoteEvent], delay: timedelta) -> list[VoteEvent]:
    """Make one person's reports that arrived after a reading consistent with that reading.

    A reading already includes every earlier action. A later report of one only says when it
    happened, not what is held.
    """
    known: list[VoteEvent] = []
    forms: list[tuple[VoteEvent, Sequence[VoteEvent]]] = []
    for event in sorted(own, key=_NUMBER):
        form = _agreeing(event, known, delay)
        forms.append((event, form))
        known.extend(form)
    return [
        one
        for event, form in forms
        for one in (
            (event,)
            if not event.added
            and any(
                other.added and _held(other) == _held(event) and _given_after(other, event)
                for other in known
            )
            else form
        )
    ]


def _agreeing(
    event: VoteEvent, before: Sequence[VoteEvent], delay: timedelta
) -> Sequence[VoteEvent]:
    """Return an event's effect on what was known to be held before it."""
    if event.given_at is None or event.read_at is None:
        return (_fresh(event),)
    latest = event.given_at + delay
    if latest >= event.read_at:
        return (_fresh(event),)
    there = _held(event) in fold_of(in_order(before))
    if there == (_held(event) in fold_of(in_order((*before, event)))):
        return (event,)
    if event.added:
        return ()  # it has been withdrawn since
    # It has been given again since, but before the reading ended.
    untimed = event.model_copy(update={"given_at": None})
    again = {"added": True, "how": How.RECOVERED, "received_at": latest}
    bounds = {"heard_from": latest, "newer_since": event.read_at}
    return (untimed, untimed.model_copy(update=again | bounds))


def _fresh(event: VoteEvent) -> VoteEvent:
    """Return the event as one that no reading has overtaken."""
    if event.read_at is None or event.how is How.RECOVERED:
        return event
    return event.model_copy(update={"read_at": None})


def _given_after(one: VoteEvent, other: VoteEvent) -> bool:
    """Whether the platform reported both times, and this one is later."""
    if one.given_at is None or other.given_at is None:
        return False
    return one.given_at > other.given_at


def _may_be_told(found: VoteEvent, told_by: datetime | None) -> bool:
    return found.how is How.RECOVERED and told_by is not None and max(_bounds(found)) > told_by


def _is_newer(one: VoteEvent, other: VoteEvent, told_by: datetime | None) -> bool:
    """Whether one holding is known to be newer than another."""
    if one.given_at is not None and other.given_at is not None:
        return (one.given_at, one.number) > (other.given_at, other.number)
    if one.how is not How.RECOVERED:
        heard_later = one.number > other.number and one.read_at is None
        return heard_later or _was_heard_after(one, other, told_by)
    if other.how is How.RECOVERED:
        return min(_bounds(one)) > max(_bounds(other))  # by a later reading
    heard_before = one.heard_from is None or other.received_at < one.heard_from
    return heard_before and one.number > other.number


def _bounds(found: VoteEvent) -> tuple[datetime, datetime]:
    """Return two times; it was given no earlier than one reading before the first of them."""
    return found.received_at, found.read_at or found.received_at


def _was_heard_after(one: VoteEvent, found: VoteEvent, told_by: datetime | None) -> bool:
    """Whether one was given after the last silence that the recovered one can date from."""
    if found.how is not How.RECOVERED or found.newer_since is None or _may_be_told(found, told_by):
        return False
    return min(one.received_at, one.given_at or one.received_at) >= found.newer_since


def take(event: VoteEvent, fold: VoteEventFold, *, tally_visible: bool) -> None:
    """Apply the next event to what one person holds."""
    if not event.added:
        _withdraw(event, fold, tally_visible)
    elif event.how is How.RECOVERED:
        _recover(event, fold, tally_visible)
    elif event.how is How.BUTTON or not tally_visible:
        fold.clear()
        fold[_held(event)] = event
    elif (held := fold.get(_held(event))) is None:
        fold[_held(event)] = event
    elif held.how is How.RECOVERED:
        fold[_held(event)] = _tell(held, event)
    else:  # removed unheard and given again, or a duplicate report
        silent_between = event.heard_from is not None and event.heard_from > held.received_at
        if _given_after(event, held) or (event.given_at is None and silent_between):
            fold[_held(event)] = event


def _tell(found: VoteEvent, told: VoteEvent) -> VoteEvent:
    """Return a holding that was found by a reading and is now reported too.

    Without a time the report is in order. With one it may be delayed, so it is no newer than the
    others that the same reading found.
    """
    if told.given_at is None:
        return told
    return found.model_copy(update={"given_at": told.given_at})


def _withdraw(event: VoteEvent, fold: VoteEventFold, tally_visible: bool) -> None:
    if event.how is How.BUTTON:
        fold.clear()
        return
    held = fold.get(_held(event))
    if held is not None and held.how is not How.BUTTON and tally_visible:
        del fold[_held(event)]


def _recover(event: VoteEvent, fold: VoteEventFold, tally_visible: bool) -> None:
    held = fold.get(_held(event))
    if held is not None:
        if held.given_at is not None and tally_visible:  # reported after a reading had found it
            fold[_held(event)] = _tell(event, held)
        return
    if not tally_visible:
        heard = [key for key, holding in fold.items() if holding.how is not How.RECOVERED]
        for key in [key for key in heard if _is_newer(event, fold[key], None)]:
            del fold[key]
    fold[_held(event)] = event


def _held(event: VoteEvent) -> Held:
    return event.option, event.variant
