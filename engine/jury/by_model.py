"""A panel's verdict, and its next readings, by the model of jurors (engine/jury/model.py)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from engine.jury import model
from engine.jury.aggregate import (
    MOST_READINGS,
    SPLIT,
    Chances,
    known_jurors,
    margins,
    signal_of,
    signals,
)
from engine.jury.rubric import Rubric, find_rubric
from engine.values.debate import Fit, JurorFit, PanelSetup
from engine.values.verdicts import TIE, Ballot


def plot(
    fit: Fit, setup: PanelSetup, ballots: Sequence[Ballot]
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the readings to ask for next by the model, and the variance after each."""
    times = Counter(one.juror for one in ballots if not one.audit)
    known = [one.ref for one in setup.roster if fit.knows(one.ref)]
    return model.plot(
        fit,
        known_jurors(fit, ballots),
        [juror for juror in known if not times[juror]],
        [juror for juror in known if times[juror] == 1],
        MOST_READINGS - sum(times.values()),
    )


def weigh(fit: Fit, setup: PanelSetup, ballots: Sequence[Ballot]) -> tuple[Ballot, ...]:
    """Fill in signals and weights by the model; a juror that it hardly knows weighs nothing."""
    counted = sorted(known_jurors(fit, ballots))
    weights = dict(zip(counted, model.weigh(fit, tuple(counted)).weights, strict=True))
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


def conclude(
    fit: Fit, contenders: tuple[str, ...], ballots: Sequence[Ballot], following: Sequence[float]
) -> Chances:
    """Return what the model makes of the ballots: contrasts of contenders, all alike."""
    n = len(contenders)
    asked = tuple(sorted(ballot.juror for ballot in ballots))
    variance = model.weigh(fit, asked).variance
    means = {
        side: math.fsum((one.weight or 0.0) * signal_of(one, side) for one in ballots) * (n - 1) / n
        for side in contenders
    }
    p = model.chances(means, variance * (n - 1) / n)
    first, second = sorted(contenders, key=lambda side: -means[side])[:2]
    ahead = means[first] - means[second]
    spread = math.sqrt(2 * variance * (n - 1) / n)
    split = model.chance(ahead, spread**2) - 0.5 < SPLIT
    signed = means[contenders[0]] - means[contenders[1]] if n == 2 else ahead
    return Chances(
        p,
        signed / spread,
        TIE if split else first,
        variance=variance,
        gain=model.gain_of_another(ahead, variance, following),
    )
