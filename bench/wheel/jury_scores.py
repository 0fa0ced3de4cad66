"""What panels earned in the jury benchmark: shares of what is known, intervals, and the tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median, stdev
from typing import Any, NamedTuple

from bench.wheel.jury_panels import PanelCall
from bench.wheel.jury_world import Case
from engine.values.verdicts import TIE

ORACLE, NAIVE, SWAPPED = "oracle", "naive majority", "strict swap"
KNOWING, THRIFTY = "six, exact weights", "exact, adaptive stop"
UNLABELLED, LABELLED = "rostrum, no labels", "rostrum, 200 labels"
UNCALIBRATED, BALANCED = "without calibration", "balanced by order"
BINS = 5  # of p(A)
WHOLE_INTERVAL = 1.96
FAINT = 0.02  # a gain that is as good as none


class PanelScore(NamedTuple):
    """A panel's results in one installation, averaged over its debates.

    `accuracy` and `lean` (A's wins beyond those it deserved) are shares of 1; `named` is the share
    of its first debates in which it named a winner, and `proven` the debates before it was proven
    that its jurors see something.
    """

    accuracy: float
    lean: float
    calls: float
    audits: float
    cold: float | None = None
    ties: float = 0.0
    chances: tuple[Bin, ...] = ()
    named: float = math.nan
    proven: float = math.nan


class Bin(NamedTuple):
    """The debates whose p(A) lies in one bin: how many, and the sums of p, of p·(1 − p), of what p
    missed, squared, and of A's wins. What it missed, it missed on average given the shared error.
    """

    n: int
    p: float
    expected: float
    missed: float
    won: float


class PanelLine(NamedTuple):
    """A panel in one world: points, percent and calls; an `interval` is half a 95 % one.

    `share` is of the oracle's gain, `of_six` of what six jurors' ballots can give. `ahead` is by
    how much of the latter it is ahead of the balanced rule in the same debates, `over_unlabelled`
    by how much of that without labels. `cold` is the accuracy in an installation's first debates,
    and `cold_ahead` that beyond the balanced rule's; `named` is the percentage of these that had a
    winner, and `proven` the median of the debates before jurors were proven to see something.
    `points` is by how much it is more accurate than the balanced rule.
    `brier` is that of p(A), and `expected` what it would be if p were right; `reliability` gives
    each bin's mean p, A's share of wins and the half of its 95 % interval.
    """

    panel: str
    accuracy: float
    share: float
    interval: float
    lean: float
    calls: float
    audits: float
    cold: float = math.nan
    ties: float = 0.0
    brier: float = math.nan
    expected: float = math.nan
    reliability: tuple[tuple[float, float, float], ...] = ()
    of_six: float = math.nan
    interval_six: float = math.nan
    interval_lean: float = math.nan
    ahead: float = math.nan
    interval_ahead: float = math.nan
    over_unlabelled: float = math.nan
    interval_over: float = math.nan
    cold_ahead: float = math.nan
    interval_cold: float = math.nan
    brier_off: float = math.nan
    interval_brier: float = math.nan
    points: float = math.nan
    interval_points: float = math.nan
    named: float = math.nan
    proven: float = math.nan


Scores = Mapping[str, PanelScore]


def score_calls(cases: Sequence[Case], calls: Sequence[PanelCall]) -> PanelScore:
    """Return what a panel's calls earned it in these debates."""
    pairs = list(zip(cases, calls, strict=True))
    return PanelScore(
        accuracy=fmean(_earn(call, case) for case, call in pairs),
        lean=_lean(calls),
        calls=fmean(call.calls for call in calls),
        audits=fmean(call.audits for call in calls),
        ties=fmean(call.winner == TIE for call in calls),
        chances=tuple(_sort(pairs)),
    )


def _lean(calls: Sequence[PanelCall]) -> float:
    """Return how far A wins whichever of the two sides it is: a half if it always does."""
    both = [(call.winner, call.mirrored) for call in calls if call.mirrored]
    found = [(_credit(one, "A") + _credit(other, "A") - 1) / 2 for one, other in both]
    return fmean(found) if found else math.nan


def _sort(pairs: Sequence[tuple[Case, PanelCall]]) -> Iterator[Bin]:
    found = [(call.p, case) for case, call in pairs if call.p is not None]
    for at in range(BINS):
        inside = [(p, case) for p, case in found if min(int(p * BINS), BINS - 1) == at]
        yield Bin(
            n=len(inside),
            p=math.fsum(p for p, _ in inside),
            expected=math.fsum(p * (1 - p) for p, _ in inside),
            missed=math.fsum(
                case.chance * (1 - p) ** 2 + (1 - case.chance) * p**2 for p, case in inside
            ),
            won=math.fsum(case.winner == "A" for _, case in inside),
        )


def _earn(call: PanelCall, case: Case) -> float:
    a = _credit(call.winner, "A")
    return a * case.chance + (1 - a) * (1 - case.chance)


def _credit(said: str, winner: str) -> float:
    return 0.5 if said == TIE else float(said == winner)


def summarise(installations: Sequence[Scores]) -> Iterator[PanelLine]:
    """Compare every panel with those that know all over one world's installations."""
    best = [scores[ORACLE].accuracy - 0.5 for scores in installations]
    six = [scores[KNOWING].accuracy - 0.5 for scores in installations]
    balanced = [scores[BALANCED] for scores in installations]
    unlabelled = [scores[UNLABELLED] for scores in installations]
    for panel in installations[0]:
        found = [scores[panel] for scores in installations]
        gains = [score.accuracy - 0.5 for score in found]
        share, interval = _share(gains, best)
        of_six, interval_six = _share(gains, six)
        more = [gain - one.accuracy + 0.5 for gain, one in zip(gains, balanced, strict=True)]
        ahead, interval_ahead = _share(more, six)
        most = [gain - one.accuracy + 0.5 for gain, one in zip(gains, unlabelled, strict=True)]
        over, interval_over = _share(most, six)
        cold = [math.nan if one.cold is None else one.cold for one in found]
        colder = [one - (other.cold or 0.0) for one, other in zip(cold, balanced, strict=True)]
        yield PanelLine(
            panel=panel,
            accuracy=50 + 100 * fmean(gains),
            share=share,
            interval=interval,
            lean=100 * fmean(score.lean for score in found),
            calls=fmean(score.calls for score in found),
            audits=fmean(score.audits for score in found),
            cold=100 * fmean(cold),
            ties=100 * fmean(score.ties for score in found),
            of_six=of_six,
            interval_six=interval_six,
            interval_lean=100 * _interval([score.lean for score in found]),
            ahead=ahead,
            interval_ahead=interval_ahead,
            over_unlabelled=over,
            interval_over=interval_over,
            cold_ahead=100 * fmean(colder),
            interval_cold=100 * _interval(colder),
            points=100 * fmean(more),
            interval_points=100 * _interval(more),
            named=100 * fmean(score.named for score in found),
            proven=median(score.proven for score in found),
            **_rely(found),
        )


def _share(gains: Sequence[float], whole: Sequence[float]) -> tuple[float, float]:
    """Return gains as percent of others, over installations, and the half of its interval."""
    base = fmean(whole)
    if base < FAINT:
        return math.nan, math.nan
    share = fmean(gains) / base
    gaps = [gain - share * one for gain, one in zip(gains, whole, strict=True)]
    return 100 * share, 100 * _interval(gaps) / base


def _interval(values: Sequence[float]) -> float:
    """Return half the 95 % interval of a mean over installations."""
    if len(values) < 2 or any(map(math.isnan, values)):
        return math.nan
    return _student(len(values) - 1) * stdev(values) / math.sqrt(len(values))


def _student(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's t (Abramowitz and Stegun, 26.7.5)."""
    z = WHOLE_INTERVAL
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


def _rely(found: Sequence[PanelScore]) -> dict[str, Any]:
    """Return how far p(A) can be relied on, over installations."""
    bins = [
        Bin(*map(sum, zip(*same, strict=True)))
        for same in zip(*(one.chances for one in found), strict=True)
    ]
    n = sum(one.n for one in bins)
    if not n:
        return {}
    return {
        "brier": sum(one.missed for one in bins) / n,
        "brier_off": sum(one.missed - one.expected for one in bins) / n,
        "interval_brier": _interval([_miss(one.chances) for one in found]),
        "expected": sum(one.expected for one in bins) / n,
        "reliability": tuple(
            (
                one.p / one.n,
                one.won / one.n,
                WHOLE_INTERVAL * math.sqrt(one.expected / one.n / one.n),
            )
            for one in bins
            if one.n
        ),
    }


def _miss(bins: Sequence[Bin]) -> float:
    n = sum(one.n for one in bins)
    return sum(one.missed - one.expected for one in bins) / max(n, 1)


def over_worlds(lines: Mapping[str, Sequence[PanelLine]]) -> Iterator[dict[str, float | str]]:
    """Yield each panel's shares on average and in its worst world, and the other figures."""
    for one in zip(*lines.values(), strict=True):
        worst = min(one, key=lambda line: line.share)
        six = min(one, key=lambda line: line.of_six)
        behind = min(one, key=lambda line: line.ahead)
        points = min(one, key=lambda line: line.points)
        lean = max(one, key=lambda line: abs(line.lean))
        off = max(one, key=lambda line: abs(line.brier_off))
        yield {
            "panel": one[0].panel,
            "of_six_average": fmean(line.of_six for line in one),
            "interval_six_average": _join([line.interval_six for line in one]),
            "of_six_worst": six.of_six,
            "interval_six_worst": six.interval_six,
            "share_average": fmean(line.share for line in one),
            "interval_average": _join([line.interval for line in one]),
            "share_worst": worst.share,
            "interval_worst": worst.interval,
            "points_average": fmean(line.points for line in one),
            "points_worst": points.points,
            "interval_points_worst": points.interval_points,
            "named_most": max(line.named for line in one),
            "calls": fmean(line.calls for line in one),
            "audit_calls": fmean(line.audits for line in one),
            "ahead_average": fmean(line.ahead for line in one),
            "interval_ahead_average": _join([line.interval_ahead for line in one]),
            "ahead_worst": behind.ahead,
            "interval_ahead_worst": behind.interval_ahead,
            "over_unlabelled": fmean(line.over_unlabelled for line in one),
            "interval_over": _join([line.interval_over for line in one]),
            "cold": fmean(line.cold for line in one),
            "cold_ahead": fmean(line.cold_ahead for line in one),
            "interval_cold": _join([line.interval_cold for line in one]),
            "brier_off": off.brier_off,
            "interval_brier": off.interval_brier,
            "lean_worst": lean.lean,
            "interval_lean": lean.interval_lean,
        }


def _join(intervals: Sequence[float]) -> float:
    """Return half the interval of the mean over worlds."""
    return math.hypot(*intervals) / len(intervals)


FINE = ("brier", "expected", "brier_off", "interval_brier")


def rounded(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row for JSON."""
    return {name: _round(value, 4 if name in FINE else 2) for name, value in row.items()}


def _round(value: Any, digits: int) -> Any:
    """Round numbers, in tuples too; None for one that was not measured."""
    if isinstance(value, tuple):
        return [_round(one, 3) for one in value]
    if isinstance(value, float):
        return round(value, digits) if math.isfinite(value) else None
    return value


def render(lines: Mapping[str, Sequence[PanelLine]]) -> str:
    """Return three tables as text: one row per panel, one column per world.

    The first is of what six jurors' ballots can give, the second of the impressions behind them;
    the third is how much more accurate each panel is than the balanced rule, in the same debates.
    """
    return "\n\n".join((
        _tabulate("of six ballots' gain, %", lines, ("of_six", "interval_six")),
        _tabulate("of impressions' gain, %", lines, ("share", "interval")),
        _compare(lines),
    ))  # fmt: skip


def _compare(lines: Mapping[str, Sequence[PanelLine]]) -> str:
    heads = ["points", "±", "calls", "first", "proven"]
    rows = [f"{'ahead of balanced':26}{'panel':23}" + "".join(f"{head:>9}" for head in heads)]
    for world, found in lines.items():
        for line in found:
            if line.panel in (UNLABELLED, LABELLED, UNCALIBRATED, BALANCED):
                calls = line.calls + line.audits
                cells = (line.points, line.interval_points, calls, line.named, line.proven)
                rows.append(f"{world:26}{line.panel:23}" + "".join(f"{one:>9.2f}" for one in cells))
    return "\n".join(rows)


def _tabulate(head: str, lines: Mapping[str, Sequence[PanelLine]], named: tuple[str, str]) -> str:
    share, interval = named
    heads = ["average", "±", "worst", "±", *lines, "calls", "audits", "lean"]
    rows = [f"{head:23}" + "".join(f"{head:>9}" for head in heads)]
    for row, one in zip(over_worlds(lines), zip(*lines.values(), strict=True), strict=True):
        names = (f"{share}_average", f"{interval}_average", f"{share}_worst", f"{interval}_worst")
        cells = [f"{row[name]:>9.1f}" for name in names]
        cells += [f"{getattr(line, share):>9.1f}" for line in one]
        cells += [f"{row[name]:>9.2f}" for name in ("calls", "audit_calls", "lean_worst")]
        rows.append(f"{row['panel']:23}" + "".join(cells))
    return "\n".join(rows)
