"""Whether jurors have shown that they see more than the order of showing, or chance; pure.

A juror that reads a debate in both orders gives two margins for A, and so S, their sum, and D,
their difference. One that sees nothing is as likely to have |S| > |D| as not, once both are freed
of what they are on average: S is D with the second margin's sign turned. A bet of half the stake on
each such pair, at even odds, makes a test martingale: by chance it ever reaches 100 with a
probability of at most 1 % (J. Ville, 1939; G. Shafer, “Testing by betting”, 2021).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from statistics import fmean

from engine.values.debate import Fit

PROVEN = 100.0
SURE = 4.0  # standard errors by which jurors agree in opposite orders, to be believed as well
MOST = 600.0  # of a logarithm, so that no product overflows


def combine(stakes: Mapping[str, float], jurors: Collection[str]) -> float:
    """Return what became of a stake of 1 on these jurors.

    A third is bet on all their pairs in turn, a third is shared among the jurors, and a third stays
    half in hand with each: whether all of them see or only some, one of the three grows.
    """
    logs = [min(stakes[juror], MOST) for juror in jurors if juror in stakes]
    if not logs:
        return 1.0
    whole = math.exp(min(math.fsum(logs), MOST))
    shared = (math.fsum(map(math.exp, logs)) + len(jurors) - len(logs)) / len(jurors)
    by_halves = math.exp(min(math.fsum(math.log(0.5 + 0.5 * math.exp(one)) for one in logs), MOST))
    return fmean((whole, shared, by_halves))


def stake_of(fit: Fit, jurors: Collection[str]) -> float | None:
    """Return what became of the stake on these jurors; None if it is proven that they see.

    It is, too, once different jurors who read in opposite orders agree (`Fit.evidence`), as those
    that `rostrum calibrate` asks do, and two of these are among them.
    """
    stakes = {juror: fit.jurors[juror].stake for juror in jurors if juror in fit.jurors}
    stake = combine(stakes, jurors)
    agreed = fit.evidence >= SURE and sum(fit.knows(juror) for juror in jurors) > 1
    return None if stake >= PROVEN or agreed else stake
