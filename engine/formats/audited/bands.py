"""Calibration bands: what a comparison of two turns says about their scores; pure.

A comparison binds neighbours alone, but a turn has two neighbours: moved into one band it may leave
the other. So all turns are adjusted together, at the end, by the smallest total change. That is
isotonic regression under the absolute error, with bounds on each value and on each step; it is
solved by dynamic programming over the breakpoints of a convex piecewise linear function: G. Rote,
“Isotonic Regression by Dynamic Programming”, SOSA 2019, doi:10.4230/OASIcs.SOSA.2019.1.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from math import inf
from typing import Literal, NamedTuple

Outcome = Literal["previous", "latest", "draw"]
WINNER_LEAST, LOSER_MOST, DRAW_MOST, LEAST_LEAD = 0.55, 0.85, 0.10, 2.0
PLACES = 6  # decimals of an adjusted score


class Bands(NamedTuple):
    """The bounds of each turn's score, and of each step from a turn to the next."""

    low: list[float]
    high: list[float]
    least: list[float]
    most: list[float]


def find_bands(scale: float, outcomes: Sequence[Outcome | None]) -> Bands:
    """Return what comparisons of neighbours allow; None for two that were not compared.

    A winner has at least 55 % of the scale and 2 points more than the loser, who has at most
    85 %; in a draw they differ by at most 10 %.
    Between 55 % and 85 % there is no room for a long run of turns each of which beats the one
    before by 2 points: such a run shares the room there is in equal steps.
    """
    turns = len(outcomes) + 1
    low, high = [0.0] * turns, [scale] * turns
    for at, outcome in enumerate(outcomes):
        if outcome in ("latest", "previous"):
            winner, loser = (at + 1, at) if outcome == "latest" else (at, at + 1)
            low[winner] = max(low[winner], WINNER_LEAST * scale)
            high[loser] = min(high[loser], LOSER_MOST * scale)
    rising = _leads("latest", scale, outcomes, low, high)
    falling = _leads("previous", scale, outcomes[::-1], low[::-1], high[::-1])[::-1]
    least, most = [-inf] * len(outcomes), [inf] * len(outcomes)
    for at, outcome in enumerate(outcomes):
        match outcome:
            case "latest":
                least[at] = rising[at]
            case "previous":
                most[at] = -falling[at]
            case "draw":
                least[at], most[at] = -DRAW_MOST * scale, DRAW_MOST * scale
    return Bands(low, high, least, most)


def _leads(
    wins: Outcome,
    scale: float,
    outcomes: Sequence[Outcome | None],
    low: Sequence[float],
    high: Sequence[float],
) -> list[float]:
    """Return by how much each turn has to lead the one before, where `wins` says that it does."""
    leads = [LEAST_LEAD] * len(outcomes)
    for first in range(len(outcomes)):
        won, drawn = 0, 0
        for at in range(first, len(outcomes)):
            if outcomes[at] not in (wins, "draw"):
                break
            won += outcomes[at] == wins
            drawn += outcomes[at] == "draw"
            room = high[at + 1] - low[first] + drawn * DRAW_MOST * scale
            if room < won * LEAST_LEAD:
                share = room / won
                leads[first : at + 1] = [min(lead, share) for lead in leads[first : at + 1]]
    return leads


def settle(scores: Sequence[float], bands: Bands) -> list[float]:
    """Return scores within all bands whose distances from the given ones add up to the least.

    Of several answers it is the one that leaves later turns as they are, where it can. The lists
    `left` and `right` hold where the slope of the total change, as a function of the score of the
    turn at hand, rises by one: below and above its minimum.
    """
    left: list[float] = []
    right: list[float] = []
    bottom, top = bands.low[0], bands.high[0]
    course = []
    for at, score in enumerate(scores):
        if at:
            least, most = bands.least[at - 1], bands.most[at - 1]
            bottom, top = max(bands.low[at], bottom + least), min(bands.high[at], top + most)
            left = [min(max(point + least, bottom), top) for point in left]
            right = [min(max(point + most, bottom), top) for point in right]
        kept = min(max(score, bottom), top)
        insort(left, kept)
        insort(right, left.pop())
        insort(right, kept)
        insort(left, right.pop(0))
        course.append((bottom, top, left[-1], right[0]))
    return _trace_back(scores, course, bands)


def _trace_back(
    scores: Sequence[float], course: Sequence[tuple[float, float, float, float]], bands: Bands
) -> list[float]:
    """Choose the last turn's score, then each earlier one's within a step of the next."""
    settled = [0.0] * len(scores)
    for at in range(len(scores) - 1, -1, -1):
        bottom, top, best, still_best = course[at]
        if at < len(scores) - 1:
            bottom = max(bottom, settled[at + 1] - bands.most[at])
            top = min(top, settled[at + 1] - bands.least[at])
        wanted = min(max(scores[at], best), still_best)
        settled[at] = min(max(wanted, bottom), top)
    return settled
