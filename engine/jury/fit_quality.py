"""How good a fit is: how sure of what jurors share, and whether it tells held-back ballots."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, stdev

import numpy as np

from engine.jury import model
from engine.jury.aggregate import UNKNOWN
from engine.jury.ballot import CLIP, VERDICT_TERM
from engine.jury.fit import fit_jurors
from engine.jury.history import HeardDebate, PairBallot, fit, hear
from engine.jury.likelihood import (
    GROUP_COST,
    GROUP_ROUND,
    VARIANCE_SD,
    JurorLikelihood,
    Vector,
    gather,
    minimise,
)
from engine.jury.model import signal
from engine.jury.roster import PanelFit
from engine.store.learning import PastDebate
from engine.values.debate import Fit, JurorHistory

# How sure a fit is of what jurors share; imports NumPy, so import it only to fit.
#
# The errors are those of Laplace's approximation: the square roots of the diagonal of the inverse
# curvature of −log(likelihood · prior) at the fitted parameters. The curvature is a difference of
# the exact gradient, so it takes one gradient a parameter.


STEP = 1e-4
ROUNDS = 25
MEMBER_COST = 0.5  # that of those in a group once it is found, as in the fit
BLIND = 0.05  # the skill under which a juror counts for nothing, and shares in nothing


def with_errors(fit: Fit, heard: Sequence[HeardDebate]) -> Fit:
    """Return a fit with the errors of shared, family and group errors; `heard` is what it is of."""
    jurors = [name for name, one in sorted(fit.jurors.items()) if one.skill > BLIND]
    if not jurors:
        return fit
    said, x = _place(fit, heard, jurors)
    # Of those who are in no group, as if they could be.
    free, whole = replace(said, grouped=None), len(x)
    here = free(x)[1]
    curvature = np.empty((whole, whole))
    for at in range(whole):
        step = np.zeros(whole)
        step[at] = STEP
        curvature[at] = (free(x + step)[1] - here) / STEP
    curvature = (curvature + curvature.T) / 2
    if said.grouped is not None:
        group = slice(said.readers, 2 * said.readers)
        out = (said.grouped == 0) * GROUP_ROUND / (x[group] ** 2 + GROUP_ROUND) ** 1.5
        curvature[group, group] += np.diag((GROUP_COST - said.cost) * out)
    values, vectors = np.linalg.eigh(curvature)
    # No direction is less known than the prior says of the least known parameter.
    variance = (vectors**2) @ (1 / np.maximum(values, VARIANCE_SD**-2))
    errors: Vector = np.sqrt(variance)
    groups = dict(zip(jurors, errors[said.readers :], strict=False))
    known = {
        name: one.model_copy(update={"group_error": float(groups.get(name, 0.0))})
        for name, one in fit.jurors.items()
    }
    shared, kin = (float(error) for error in errors[-3:-1])
    return fit.model_copy(update={"shared_error": shared, "kin_error": kin, "jurors": known})


def _place(
    fit: Fit, heard: Sequence[HeardDebate], jurors: Sequence[str]
) -> tuple[JurorLikelihood, Vector]:
    """Return the objective of a fit and its minimum."""
    known = [fit.jurors[name] for name in jurors]
    at = {name: at for at, name in enumerate(jurors)}
    sums, n = np.zeros((len(heard), len(at))), np.zeros((len(heard), len(at)))
    for row, one in _counted(fit, heard):
        if one.juror in at and not one.audit:
            cell = row, at[one.juror]
            sums[cell] += signal(fit, one.juror, one.orientation, one.margin, one.named)
            n[cell] += 1
    signals = np.where(n > 0, sums / np.maximum(n, 1), np.nan)
    kinship = np.array([[float(a.family == b.family) for b in known] for a in known])
    scale = [math.log(one.scale) for one in known]
    skill = [math.log(one.skill) for one in known]
    group = [one.group for one in known]
    people = fit.labels > 0
    if people:
        human = np.array([math.nan if one.human is None else one.human for one in heard])
        signals, kinship = np.column_stack([signals, human]), np.pad(kinship, (0, 1))
        size = float(np.nanmean(human**2))
        scale, group = [*scale, 0.5 * math.log(max(size, 0.01))], [*group, 0.0]
        skill.append(math.log(fit.people / math.sqrt(1 - fit.people**2)))
    grouped = np.array([float(part != 0) for part in group])
    said = JurorLikelihood(gather(signals), kinship, np.array(scale), people, MEMBER_COST, grouped)
    own = skill[: len(jurors)]
    last = [math.log(fit.shared), math.log(fit.kin), sum(own) / (len(own) + 1)]
    start = np.array([*skill, *group, *scale, *last])
    return said, minimise(said, start, ROUNDS)[0]


def _counted(fit: Fit, heard: Sequence[HeardDebate]) -> Iterator[tuple[int, PairBallot]]:
    """Yield ballots without those from before a juror changed."""
    left = Counter({name: one.left for name, one in fit.jurors.items()})
    for row, debate in enumerate(heard):
        for one in debate.ballots:
            if left[one.juror] > 0:
                left[one.juror] -= 1
            else:
                yield row, one


# Whether the model of jurors tells held-back ballots as well as the balanced rule; needs NumPy.
#
# A net beneath the model: where jurors are so unlike what it takes them to be that it collapses,
# the balanced rule decides. It does not see half a point of accuracy.


FEWEST = 100  # debates from which rules are compared
NEWEST = 300  # debates that are told, so that a collapse that is over does not count for ever
FOLDS = 2


def compare_rules(past: Sequence[PastDebate]) -> float:
    """Return by how many standard errors the model tells held-back ballots better; 0 for too few.

    Each of two folds is fitted to, and tells the newest debates of the other: one ballot of each,
    by turns, from those of its other jurors. A rule earns the ballot's signal where it names that
    side, else it loses it.
    """
    debates = [debate for debate in past if debate.blind]
    if len(debates) < FEWEST:
        return 0.0
    heard, gaps = hear(debates), list[float]()
    for fold in range(FOLDS):
        others = slice(1 - fold, None, FOLDS)
        balanced, fitted = fit(debates[others]).history, fit_jurors(heard[others])
        for number, debate in enumerate(heard[fold::FOLDS][-NEWEST // FOLDS :]):
            ballots = [one for one in debate.ballots if not one.audit]
            gaps += _compare(balanced, fitted, ballots, number)
    if len(gaps) < FEWEST / 2 or not any(gaps):
        return 0.0
    return fmean(gaps) * math.sqrt(len(gaps)) / stdev(gaps)


def _compare(
    history: Mapping[str, JurorHistory], fitted: Fit, ballots: Sequence[PairBallot], number: int
) -> Iterator[float]:
    if not ballots:
        return
    told = ballots[number % len(ballots)]
    rest = [one for one in ballots if one.juror != told.juror]
    known = [one for one in rest if fitted.knows(one.juror)]
    if len({one.juror for one in known}) > 1:
        by_juror = defaultdict(list)
        for one in known:
            by_juror[one.juror].append(
                model.signal(fitted, one.juror, one.orientation, one.margin, one.named)
            )
        mean, _, _ = model.posterior(fitted, {who: fmean(x) for who, x in by_juror.items()})
        by_order = defaultdict(list)
        for one in rest:
            weight = history.get(one.juror, UNKNOWN).weight
            by_order[one.orientation].append(weight * _signal(history, one))
        z = fmean(map(fmean, by_order.values()))
        yield (_sign(mean) - _sign(z)) / 2 * _signal(history, told)


def _signal(history: Mapping[str, JurorHistory], one: PairBallot) -> float:
    known = history.get(one.juror, UNKNOWN)
    margin = (one.margin - one.orientation * known.pos) / known.sd
    return max(-CLIP, min(CLIP, margin)) + VERDICT_TERM * one.named


def _sign(value: float) -> float:
    return float((value > 0) - (value < 0))


def fit_all(past: Sequence[PastDebate], before: Fit | None = None) -> PanelFit:
    """Fit both rules to past debates; pure, and work for a thread. `before` is an earlier fit.

    Without a ballot the model knows nothing yet.
    """
    balanced, model = fit(past), Fit()
    if balanced.history:
        heard = hear(past)
        model = with_errors(fit_jurors(heard, before), heard)
        model = model.model_copy(update={"ahead": compare_rules(past)})
    return balanced.model_copy(update={"model": model})
