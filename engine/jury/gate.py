"""Whether the model of jurors tells held-back ballots as well as the balanced rule; needs NumPy.

A net beneath the model: where jurors are so unlike what it takes them to be that it collapses, the
balanced rule decides. It does not see half a point of accuracy.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev

from engine.jury import model
from engine.jury.aggregate import CLIP, UNKNOWN, VERDICT_TERM
from engine.jury.fitting import fit_jurors
from engine.jury.hearing import Heard, hear
from engine.jury.history import fit
from engine.store.journal import PastDebate
from engine.values.debate import Fit, JurorHistory

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
    history: Mapping[str, JurorHistory], fitted: Fit, ballots: Sequence[Heard], number: int
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
        mean = model.posterior(fitted, {who: fmean(x) for who, x in by_juror.items()}).mean
        z = _balance(history, rest)
        yield (_sign(mean) - _sign(z)) / 2 * _signal(history, told)


def _balance(history: Mapping[str, JurorHistory], ballots: Sequence[Heard]) -> float:
    by_order = defaultdict(list)
    for one in ballots:
        weight = history.get(one.juror, UNKNOWN).weight
        by_order[one.orientation].append(weight * _signal(history, one))
    return fmean(map(fmean, by_order.values()))


def _signal(history: Mapping[str, JurorHistory], one: Heard) -> float:
    known = history.get(one.juror, UNKNOWN)
    margin = (one.margin - one.orientation * known.pos) / known.sd
    return max(-CLIP, min(CLIP, margin)) + VERDICT_TERM * one.named


def _sign(value: float) -> float:
    return float((value > 0) - (value < 0))
