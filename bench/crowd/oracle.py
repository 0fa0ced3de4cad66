"""What a person's standing vote has to be, by what the platform itself knows; pure.

The platform's final state says which options somebody holds, and its log when each was given and
whether the bot was told of it. Of several options the newest stands where the bot could know it;
where it could not the vote is ambiguous.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

AMBIGUOUS = "ambiguous"
LAG_SECONDS = 0.5  # what is told as a session begins may be stored before that it began
Vote = str | None
"""An option, `AMBIGUOUS`, or None for none."""


class Telling(StrEnum):
    """How the bot received an act: as it happened, later with its time, or never.

    `unsure` is what was told in the moment in which the bot died or was cut off.
    """

    LIVE = "live"
    LATE = "late"
    UNSURE = "unsure"
    NEVER = "never"


class Deed(NamedTuple):
    """A person's act on a ballot; `at` is in seconds since 1970.

    `told_at` is when the bot had taken note of it, where the platform knows that.
    """

    at: float
    user: str
    added: bool
    option: str
    told: Telling
    told_at: float | None = None


class _Due(NamedTuple):
    """The right results of a vote: any of `accepted`; the first is the intended one.

    `held` are the options held in the end, the newest first. `guess` is where the bot was away
    while somebody took the newest back and gave it again: nobody can see that from outside.
    """

    held: tuple[str, ...]
    accepted: tuple[Vote, ...]
    guess: bool = False


class _Compared(NamedTuple):
    """How the votes of one debate compare with what the platform has."""

    counts: Counter[str]
    wrong: list[str]


class Course(NamedTuple):
    """What the bot could know of a ballot: from when to when it was deaf, and read it whole.

    `closed` is when the vote was closed: what was told after that was told to nobody.
    """

    gaps: Sequence[tuple[float, float]] = ()
    readings: Sequence[tuple[float, float]] = ()
    closed: float = math.inf

    def knew(self, act: Deed) -> Deed:
        """Return an act as the bot knew it at the close."""
        late = act.told_at is not None and act.told_at > self.closed
        return act._replace(told=Telling.NEVER) if late else act

    def leaves_open(self, missed: float, heard: float) -> bool:
        """Whether nothing says which gap since the last reading an act was missed in.

        Then one that was heard between two of them is newer or older.
        """
        before = max((began for began, ended in self.readings if ended < missed), default=0.0)
        after = min((ended for began, ended in self.readings if began >= missed), default=math.inf)
        return any(before < back <= heard + LAG_SECONDS for _, back in self.gaps) and any(
            heard <= lost < after for lost, _ in self.gaps
        )


KNOWN = Course()


def due(acts: Sequence[Deed], course: Course = KNOWN) -> _Due:
    """Return what one person's vote has to be after all that he did, in order."""
    given: dict[str, Deed] = {}
    retaken = set[str]()
    unseen: dict[str, bool] = {}
    for act in acts:
        if not act.added:
            given.pop(act.option, None)
            unseen[act.option] = act.told is not Telling.LIVE
            continue
        # Taken back and given again, neither of which the bot was told of.
        again = unseen.get(act.option, False) and _apart(act)
        retaken = retaken | {act.option} if again else retaken - {act.option}
        given[act.option] = act
    if not given:
        return _Due((), (None,))
    newest, *others = sorted(given.values(), key=attrgetter("at"), reverse=True)
    held = (newest.option, *(other.option for other in others))
    if others and newest.option in retaken:
        return _Due(held, (*held, AMBIGUOUS), guess=True)
    if any(_together(newest, other, course) for other in others):
        return _Due(held, (newest.option, AMBIGUOUS))
    return _Due(held, (newest.option,))


def compare(
    acts: Sequence[Deed],
    held: Mapping[str, frozenset[str]],
    stored: Mapping[str, str],
    course: Course = KNOWN,
) -> _Compared:
    """Compare stored votes with what each user of the platform holds in the end."""
    counts = Counter[str]()
    wrong: list[str] = []
    ordered = sorted(map(course.knew, acts), key=attrgetter("user", "at"))
    did = {user: tuple(own) for user, own in groupby(ordered, attrgetter("user"))}
    for user in sorted(did.keys() | held.keys() | stored.keys()):
        own = did.get(user, ())
        expected, found = due(own, course), stored.get(user)
        assert set(expected.held) == held.get(user, frozenset()), "the platform lost count"
        counts.update(_kinds(expected, found))
        if found not in expected.accepted:
            wrong.append(_describe(user, own, expected, found))
    return _Compared(counts, wrong)


def _kinds(expected: _Due, found: Vote) -> Iterator[str]:
    yield "people"
    yield "standing" if expected.held else "none"
    if len(expected.held) > 1:
        yield "hold_several"
    if expected.guess:
        yield "unknowable"
    if found == AMBIGUOUS:
        yield "ambiguous"
    if found in expected.accepted:
        return
    yield "differ"
    if found is None:
        yield "lost"
    elif not expected.held:
        yield "invented"
    elif found == AMBIGUOUS:
        yield "needlessly_ambiguous"


def _apart(act: Deed) -> bool:
    """Whether the bot was not told when it was, so that it can only find it."""
    return act.told in (Telling.NEVER, Telling.UNSURE)


def _together(newest: Deed, other: Deed, course: Course) -> bool:
    """Whether only the platform knows which of two came later."""
    if newest.told is Telling.LIVE:
        return _apart(other) and course.leaves_open(other.at, newest.at)
    if other.told is Telling.LIVE:
        return _apart(newest) and course.leaves_open(newest.at, other.at)
    return not newest.told is other.told is Telling.LATE


def _describe(user: str, course: Sequence[Deed], expected: _Due, found: Vote) -> str:
    did = " ".join(
        f"{act.at % 10_000:.2f}{'+' if act.added else '-'}{act.option}/{act.told}" for act in course
    )
    return f"{user}: {found} stored, {' or '.join(map(str, expected.accepted))} due: {did}"
