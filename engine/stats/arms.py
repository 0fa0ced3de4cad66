"""Arms of a series, compared with one another: debates that a draw held in different ways; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from engine.stats.figure import Difference, Mean, Share, ShownTable, Sums, mean_of
from engine.stats.row import Row
from engine.tally.tally import FEWEST
from engine.values.debate import Value
from engine.values.verdicts import TIE

Outcome = Callable[[Row], float | None]
"""What a debate adds to a share; None where it has no say in it."""

OUTCOMES: Mapping[str, Outcome] = {
    "the jury decided": lambda row: float(row.jury is not None),
    "tied, of decided": lambda row: None if row.jury is None else float(row.jury == TIE),
    "A won, a tie counting half": lambda row: _first(row, row.jury),
    "A won with people": lambda row: _first(row, row.people),
    "jury and people agree": lambda row: float(row.people == row.jury) if row.compared else None,
    "how sure the jury is": lambda row: None if row.p_a is None else abs(2 * row.p_a - 1),
}


class _ArmShare(Value):
    """What one arm came to."""

    arm: str
    share: Share


class _ArmDifference(Value):
    """By how much an arm is above another one, of the same topics."""

    arm: str
    other: str
    difference: Difference


class _ArmOutcome(Value):
    """One outcome in each arm, and each two arms compared."""

    name: str
    arms: tuple[_ArmShare, ...]
    differences: tuple[_ArmDifference, ...]


class _ArmLength(Value):
    """How many words the debates of an arm have on average."""

    arm: str
    debates: int
    words: Mean


class Arms(Value):
    """The arms of one or several series, as `arm` or `series/arm`."""

    lengths: tuple[_ArmLength, ...]
    outcomes: tuple[_ArmOutcome, ...]


def measure_arms(rows: Iterable[Row]) -> Arms | None:
    """Compare the arms of some debates; None if no two of one series are among them.

    The differences are of arms of one series. Their intervals are resampled by topic, as a draw
    spreads the debates on a topic over the arms.
    """
    held: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.arm:
            held.setdefault((row.series, row.arm), []).append(row)
    keys = sorted(held)
    pairs = [(one, other) for one, other in combinations(keys, 2) if one[0] == other[0]]
    if not pairs:
        return None
    several = len({series for series, _ in keys}) > 1
    names = {key: "/".join(key) if several else key[1] for key in keys}
    outcomes = []
    for name, outcome in OUTCOMES.items():
        found = {key: list(_observe(held[key], outcome)) for key in keys}
        outcomes.append(
            _ArmOutcome(
                name=name,
                arms=tuple(
                    _ArmShare(arm=names[key], share=Share.estimate(found[key], mean_of))
                    for key in keys
                ),
                differences=tuple(
                    _ArmDifference(
                        arm=names[one],
                        other=names[other],
                        difference=compare_means(found[one], found[other]),
                    )
                    for one, other in pairs
                ),
            )
        )
    lengths = []
    for key in keys:
        words = ((row.topic, (float(sum(row.words.values())), 1.0)) for row in held[key])
        mean = Mean.estimate(words, mean_of)
        lengths.append(_ArmLength(arm=names[key], debates=len(held[key]), words=mean))
    return Arms(lengths=tuple(lengths), outcomes=tuple(outcomes))


def _first(row: Row, winner: str | None) -> float | None:
    """Return the credit of the first of two sides."""
    if winner is None or len(row.models) != 2:
        return None
    return row.credit(winner, next(iter(row.models)))


def _observe(rows: Iterable[Row], outcome: Outcome) -> Iterator[tuple[str, Sums]]:
    for row in rows:
        if (value := outcome(row)) is not None:
            yield row.topic, (value, 1.0)


def compare_means(one: Sequence[tuple[str, Sums]], other: Sequence[tuple[str, Sums]]) -> Difference:
    """Return the difference of two means, unless one of them rests on too few debates."""
    fewest = min(len(one), len(other))
    if fewest < FEWEST:
        return Difference(n=fewest)
    observed = [(topic, (*sums, 0.0, 0.0)) for topic, sums in one]
    observed += [(topic, (0.0, 0.0, *sums)) for topic, sums in other]
    return Difference.estimate(observed, _difference).model_copy(update={"n": fewest})


def _difference(sums: Sums) -> float | None:
    first, first_n, second, second_n = sums
    return first / first_n - second / second_n if first_n and second_n else None


def tell_arms(found: Arms) -> Iterator[ShownTable]:
    """Yield all arms as tables: what each came to, and how far two of them are apart."""
    arms = [one.arm for one in found.lengths]
    rows: list[tuple[object, ...]] = [
        ("debates", *(one.debates for one in found.lengths)),
        ("words", *(one.words.cell for one in found.lengths)),
    ]
    for outcome in found.outcomes:
        if any(one.share.n for one in outcome.arms):
            rows.append((outcome.name, *(one.share.cell for one in outcome.arms)))
    yield "Arms", ("", *arms), rows
    compared = [
        (f"{one.arm} less {one.other}: {outcome.name}", one.difference, one.difference.n)
        for outcome in found.outcomes
        for one in outcome.differences
        if not one.difference.few
    ]
    yield "Arm by arm, in points", ("", "difference", "debates, at least"), compared
