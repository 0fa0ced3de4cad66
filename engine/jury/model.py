"""The model of jurors: what a panel's ballots say about the truth, and whom to ask; pure.

The truth of a debate is N(0, 1). A juror's signal is, in units of its own error,

    u = skill · (truth + shared + kin) + group · H + own

with the errors of all jurors, of one family, of a group that errs together (H) and of its own, all
normal and independent. The posterior of the truth given some jurors' signals is then normal too
(conditioning a multivariate normal; docs/statistics.md has the formulas). It is computed without
NumPy: panels are small.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import mul
from statistics import NormalDist, fmean
from typing import NamedTuple

from engine.jury.ballot import (
    CLIP,
    MOST_JURORS,
    MOST_READINGS,
    ROTATE_EVERY,
    SPLIT,
    Chances,
    known_jurors,
    margins,
    signal_of,
    signals,
)
from engine.jury.rubric import Rubric, find_rubric
from engine.values.debate import KNOWN_AFTER, SEES, Fit, JurorFit, Model, PanelSetup
from engine.values.verdicts import TIE, Ballot

POINTS = 40  # of the quadrature
STANDARD = NormalDist()
SKILL_ERROR = 0.18  # of its logarithm, on average over jurors, from which the model knows enough
LEARNT_AFTER = 200  # debates, after which it knows as much as it will
UNKNOWN_SKILL = 0.3


class _PanelWeights(NamedTuple):
    """How the truth follows from some jurors' signals: mean = Σ weight · x."""

    weights: tuple[float, ...]
    variance: float


class _JurorTraits(NamedTuple):
    """What a juror's weight depends on."""

    family: str
    skill: float
    group: float
    scale: float

    @classmethod
    def of(cls, one: JurorFit) -> _JurorTraits:
        """Return that of a fitted juror."""
        return cls(one.family, one.skill, one.group, one.scale)

    def twice(self, shared: float, kin: float, steady: float) -> _JurorTraits:
        """Return that of the mean of a juror's two signals, one in each order.

        The steady part of its own error stays, and of the rest one half. In units of what is left
        everything else is larger.
        """
        left = math.sqrt((1 + steady) / 2)
        found = self._replace(skill=self.skill / left, group=self.group / left)
        wider = found.size(shared, kin) / self.size(shared, kin)
        return found._replace(scale=self.scale * left * wider)

    def size(self, shared: float, kin: float) -> float:
        """Return the standard deviation of u."""
        return math.sqrt(self.skill**2 * (1 + shared + kin) + self.group**2 + 1)


def signal(fit: Fit, juror: str, orientation: int, margin: float, named: float) -> float:
    """Return a ballot's x: the margin and the verdict, freed of the juror's lean."""
    one = fit.jurors[juror]
    clipped = max(-CLIP, min(CLIP, (margin - orientation * one.lean) / one.spread))
    return clipped + fit.worth * (named - orientation * one.named)


def posterior(fit: Fit, signals: Mapping[str, float]) -> tuple[float, float, float]:
    """Return the truth's mean and variance given signals, and the chance that A is better.

    Without any signal that is a coin.
    """
    jurors = tuple(sorted(signals))
    panel = weigh(fit, jurors)
    terms = zip(panel.weights, jurors, strict=True)
    mean = math.fsum(weight * signals[juror] for weight, juror in terms)
    return mean, panel.variance, chance(mean, panel.variance)


def chance(mean: float, variance: float) -> float:
    """Return the probability that a normal variable is above 0."""
    return 0.5 * math.erfc(-mean / math.sqrt(2 * variance))


def chances(means: Mapping[str, float], variance: float) -> dict[str, float]:
    """Return the probability that each contender is the best.

    `variance` is half that of the difference of two. A sum over quantiles of each contender.
    """
    if len(means) == 2:
        (first, ahead), (second, behind) = means.items()
        p = chance(ahead - behind, 2 * variance)
        return {first: p, second: 1 - p}
    step = math.sqrt(variance)
    best = {
        side: math.fsum(
            math.prod(
                chance(mean + step * z - other, variance)
                for rival, other in means.items()
                if rival != side
            )
            for z in _normals()
        )
        for side, mean in means.items()
    }
    whole = math.fsum(best.values())
    return {side: value / whole for side, value in best.items()}


def weigh(fit: Fit, readings: Sequence[str]) -> _PanelWeights:
    """Return the weights of signals, R⁻¹a; the jurors of `readings` may be named twice each.

    A juror whose weight is negative is left out: a ballot for one side never counts for the other.
    One that read in both orders has one weight, shared by its two ballots.
    """
    times = Counter(readings)
    known = []
    for juror, n in times.items():
        traits = _JurorTraits.of(fit.jurors[juror])
        known.append(traits if n == 1 else traits.twice(fit.shared, fit.kin, fit.steady))
    found = _weigh(fit.shared, fit.kin, tuple(known))
    weights = {one: weight / times[one] for one, weight in zip(times, found.weights, strict=True)}
    return _PanelWeights(tuple(weights[one] for one in readings), found.variance)


@lru_cache(4096)
def _weigh(shared: float, kin: float, known: tuple[_JurorTraits, ...]) -> _PanelWeights:
    """Return a panel's weights; the same few sit in many debates."""
    kept = list(range(len(known)))
    while kept:
        found = _solve(shared, kin, [known[at] for at in kept])
        if min(found) >= 0:
            break
        kept.pop(found.index(min(found)))
    else:
        found = []
    weights = [0.0] * len(known)
    gained = 0.0
    for at, weight in zip(kept, found, strict=True):
        one = known[at]
        weights[at] = weight / one.scale
        gained += weight * one.skill / one.size(shared, kin)
    return _PanelWeights(tuple(weights), 1 - gained)


def _solve(shared: float, kin: float, jurors: Sequence[_JurorTraits]) -> list[float]:
    """Solve R·w = a, R being the jurors' correlations and a those with the truth."""
    import numpy as np  # not loaded by a debate without a fit

    sizes = np.array([one.size(shared, kin) for one in jurors])
    skills = np.array([one.skill for one in jurors]) / sizes
    groups = np.array([one.group for one in jurors]) / sizes
    related = np.array([[one.family == other.family for other in jurors] for one in jurors])
    alike = 1 + shared + kin * related
    matrix = alike * np.outer(skills, skills) + np.outer(groups, groups)
    np.fill_diagonal(matrix, 1.0)
    found: list[float] = np.linalg.solve(matrix, skills).tolist()
    return found


def gain_of_another(mean: float, before: float, following: Sequence[float]) -> float:
    """Return how much likelier each further call makes the right verdict, at the best use of them.

    `before` is the variance of the truth that the ballots so far leave, and `following` is that
    after each further reading. A share of 1 for each call.
    """
    now = chance(abs(mean), before)
    gains = [0.0]
    for more, variance in enumerate(following, 1):
        after = min(before, variance)
        # The expected chance of a right verdict, once the mean has moved by that variance.
        step = math.sqrt(before - after)
        gains.append(
            ((math.fsum(chance(abs(mean + step * z), after) for z in _normals()) / POINTS) - now)
            / more
        )
    return max(gains)


def plot(
    fit: Fit, asked: Sequence[str], new: Sequence[str], again: Sequence[str], most: int
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return what to ask for next, and the variance of the truth after each reading.

    Each is the reading that lowers it most.

    Either of the next of the `new` jurors, or of one of those who may read `again` in the other
    order: once a new one has read, it may too.
    """
    names = (*new, *again)
    found, variances = _plot(
        (fit.shared, fit.kin, fit.steady),
        tuple(sorted((_JurorTraits.of(fit.jurors[one]), n) for one, n in Counter(asked).items())),
        tuple(_JurorTraits.of(fit.jurors[one]) for one in new),
        tuple((_JurorTraits.of(fit.jurors[one]), int(one in asked)) for one in again),
        most,
    )
    return tuple(names[at] for at in found), variances


@lru_cache(4096)
def _plot(
    errors: tuple[float, float, float],
    asked: tuple[tuple[_JurorTraits, int], ...],
    new: tuple[_JurorTraits, ...],
    again: tuple[tuple[_JurorTraits, int], ...],
    most: int,
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the readings' numbers, new jurors first, and the variances; for the same few panels.

    `again` are with how often each has read so that it counts.
    """
    shared, kin, steady = errors
    known = [*new, *(one for one, _ in again)]
    times = [*(0 for _ in new), *(n for _, n in again)]
    others = list(asked)
    for one in again:
        if one in others:
            others.remove(one)
    left = [*([2] * len(new)), *([1] * len(again))]
    chosen: list[int] = []
    variances: list[float] = []
    fresh = 0

    def look(at: int) -> float:
        counts = [n + (place == at) for place, n in enumerate(times)]
        seen = [(one, n) for one, n in (*others, *zip(known, counts, strict=True)) if n]
        panel = tuple(one if n == 1 else one.twice(shared, kin, steady) for one, n in seen)
        return _weigh(shared, kin, panel).variance

    while len(chosen) < most:
        able = [at for at, n in enumerate(left) if n and (at >= len(new) or at <= fresh)]
        if not able:
            break
        variance, taken = min((look(at), at) for at in able)
        fresh += taken == fresh and taken < len(new)
        times[taken] += 1
        left[taken] -= 1
        chosen.append(taken)
        variances.append(variance)
    return tuple(chosen), tuple(variances)


@lru_cache(1)
def _normals() -> tuple[float, ...]:
    return tuple(STANDARD.inv_cdf((at + 0.5) / POINTS) for at in range(POINTS))


def choose(
    fit: Fit,
    available: Sequence[str],
    most: int,
    first: Sequence[str] = (),
    price: Mapping[str, float] | None = None,
) -> tuple[str, ...]:
    """Return jurors in the sequence to ask them: each adds most information to those before.

    What it adds is the fall of the truth's variance, over its `price` where there is one. `first`
    are taken before others. Unknown jurors, and those that see nothing, are left out.
    """
    known = {
        juror: _JurorTraits.of(fit.jurors[juror])
        for juror in available
        if juror in fit.jurors and (juror in first or fit.jurors[juror].sees >= SEES)
    }
    sizes = {juror: one.size(fit.shared, fit.kin) for juror, one in known.items()}
    seen: dict[str, list[float]] = {juror: [] for juror in known}
    pull = {juror: one.skill / sizes[juror] for juror, one in known.items()}
    rest = dict.fromkeys(known, 1.0)
    chosen: list[str] = []
    forced = [juror for juror in first if juror in known]
    while len(chosen) < min(most, len(known)):
        left = [juror for juror in known if juror not in chosen]
        if len(chosen) < len(forced):
            taken = forced[len(chosen)]
        else:
            worth = {one: pull[one] ** 2 / rest[one] / (price or {}).get(one, 1.0) for one in left}
            taken = max(left, key=worth.__getitem__)
        chosen.append(taken)
        root = math.sqrt(rest[taken])
        share = pull[taken] / root
        for juror in left:
            if juror != taken:
                shared = sum(map(mul, seen[juror], seen[taken]))
                one, other = known[juror], known[taken]
                kin = fit.kin if one.family == other.family else 0.0
                # The covariance of their u.
                both = one.skill * other.skill * (1 + fit.shared + kin) + one.group * other.group
                step = (both / (sizes[juror] * sizes[taken]) - shared) / root
                seen[juror].append(step)
                pull[juror] -= step * share
                rest[juror] -= step * step
    return tuple(chosen)


# A panel's verdict, and its next readings, by the model of jurors.


def draw(
    shy: Sequence[Model], fit: Fit, ordinal: int, prices: Mapping[str, float] | None
) -> tuple[Model, ...]:
    """Return jurors in the sequence to ask them; `shy` are those jurors, the least known first.

    None while the model does not know them well enough to choose among them. Every fifth debate the
    least known one sits with those who tell most (a new one, every second).
    """
    known = [fit.jurors.get(juror.ref) for juror in shy]
    errors = [
        one.skill_error if one else UNKNOWN_SKILL for one in known if not one or one.sees >= SEES
    ]
    if fit.debates < LEARNT_AFTER and errors and fmean(errors) > SKILL_ERROR:
        return ()
    every = ROTATE_EVERY if known[0] and known[0].ballots >= KNOWN_AFTER else 2
    exploring = [shy[0].ref] if ordinal % every == 0 else []
    named = {juror.ref: juror for juror in shy}
    chosen = choose(fit, list(named), MOST_JURORS, exploring, prices)
    return tuple(named[ref] for ref in dict.fromkeys((*exploring, *chosen, *named)))


def next_readings(
    fit: Fit, setup: PanelSetup, ballots: Sequence[Ballot]
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the readings to ask for next by the model, and the variance after each."""
    times = Counter(one.juror for one in ballots if not one.audit)
    known = [one.ref for one in setup.roster if fit.knows(one.ref)]
    return plot(
        fit,
        known_jurors(fit, ballots),
        [juror for juror in known if not times[juror]],
        [juror for juror in known if times[juror] == 1],
        MOST_READINGS - sum(times.values()),
    )


def weigh_ballots(fit: Fit, setup: PanelSetup, ballots: Sequence[Ballot]) -> tuple[Ballot, ...]:
    """Fill in signals and weights by the model; a juror that it hardly knows weighs nothing."""
    counted = sorted(known_jurors(fit, ballots))
    weights = dict(zip(counted, weigh(fit, tuple(counted)).weights, strict=True))
    rubric = find_rubric(setup.rubric, setup.criteria)
    return tuple(_fill(fit, weights, rubric, one) if one.valid else one for one in ballots)


def _fill(fit: Fit, weights: Mapping[str, float], rubric: Rubric, ballot: Ballot) -> Ballot:
    known = fit.jurors.get(ballot.juror, JurorFit(family=ballot.family))
    x = signals(ballot, margins(ballot, rubric), known.lean, known.spread, fit.worth, known.named)
    return ballot.model_copy(
        update={
            "signal": x,
            "weight": 0.0 if ballot.audit else weights.get(ballot.juror, 0.0),
            "pos": known.lean,
            "sd": known.spread,
        }
    )


def conclude_by_model(
    fit: Fit, contenders: tuple[str, ...], ballots: Sequence[Ballot], following: Sequence[float]
) -> Chances:
    """Return what the model makes of the ballots: contrasts of contenders, all alike."""
    n = len(contenders)
    asked = tuple(sorted(ballot.juror for ballot in ballots))
    variance = weigh(fit, asked).variance
    means = {
        side: math.fsum((one.weight or 0.0) * signal_of(one, side) for one in ballots) * (n - 1) / n
        for side in contenders
    }
    p = chances(means, variance * (n - 1) / n)
    first, second = sorted(contenders, key=lambda side: -means[side])[:2]
    ahead = means[first] - means[second]
    spread = math.sqrt(2 * variance * (n - 1) / n)
    split = chance(ahead, spread**2) - 0.5 < SPLIT
    signed = means[contenders[0]] - means[contenders[1]] if n == 2 else ahead
    return Chances(
        p,
        signed / spread,
        TIE if split else first,
        variance=variance,
        gain=gain_of_another(ahead, variance, following),
    )
