"""`audited`: the calibration bands hold between all neighbours, at the smallest total change."""

import os
import random
from collections.abc import Sequence
from itertools import pairwise

import pytest

from engine.formats.audited.scores import (
    DRAW_MOST,
    LEAST_LEAD,
    LOSER_MOST,
    WINNER_LEAST,
    Outcome,
    _Bands,
    find_bands,
    settle,
)

SEQUENCES = int(os.environ.get("SEQUENCES", "30000"))  # `make bands` takes a million
TURNS, SCALES = range(2, 13), (30.0, 40.0)
OUTCOMES: tuple[Outcome | None, ...] = ("latest", "previous", "draw")
SLACK = 1e-6


def drawn(
    chance: random.Random, outcomes: Sequence[Outcome | None]
) -> tuple[float, list[float], list[Outcome | None]]:
    """Return a scale, scores of a debate on it, and what comparisons of neighbours said."""
    scale, turns = chance.choice(SCALES), chance.choice(TURNS)
    scores = [chance.random() * scale for _ in range(turns)]
    return scale, scores, chance.choices(outcomes, k=turns - 1)


def contradictions(
    scale: float, scores: Sequence[float], outcomes: Sequence[Outcome | None]
) -> list[str]:
    """Return which comparisons the scores contradict."""
    found = []
    for (previous, latest), outcome in zip(pairwise(scores), outcomes, strict=True):
        if outcome == "draw":
            holds = abs(previous - latest) <= DRAW_MOST * scale + SLACK
        elif outcome is None:
            holds = True
        else:
            winner, loser = (latest, previous) if outcome == "latest" else (previous, latest)
            holds = winner > loser and winner >= WINNER_LEAST * scale - SLACK
            holds = holds and loser <= LOSER_MOST * scale + SLACK
        if not holds:
            found.append(f"{previous} {outcome} {latest}")
    return found


@pytest.mark.slow
def test_no_pair_of_neighbours_contradicts_its_comparison() -> None:
    chance = random.Random(13)
    for _ in range(SEQUENCES):
        scale, scores, outcomes = drawn(chance, OUTCOMES)
        settled = settle(scores, find_bands(scale, outcomes))
        assert not contradictions(scale, settled, outcomes), (scores, outcomes, settled)
        assert min(settled) >= 0
        assert max(settled) <= scale


@pytest.mark.slow
def test_no_other_scores_within_the_bands_change_less() -> None:
    """Against a linear programme that says the same: scipy finds its least total change."""
    chance = random.Random(14)
    for _ in range(300):
        scale, scores, outcomes = drawn(chance, (*OUTCOMES, None))
        bands = find_bands(scale, outcomes)
        settled = settle(scores, bands)
        total = sum(abs(was - now) for was, now in zip(scores, settled, strict=True))
        assert total == pytest.approx(_least_change(scores, bands), abs=1e-6)


def _least_change(scores: Sequence[float], bands: _Bands) -> float:
    # Loading it takes a second, which every process that only collects tests would spend too.
    from scipy.optimize import linprog  # type: ignore[import-untyped]

    turns = len(scores)
    rows: list[list[float]] = []
    limits: list[float] = []
    for at in range(turns - 1):
        for sign, limit in ((1, bands.most[at]), (-1, -bands.least[at])):
            if abs(limit) < float("inf"):
                row = [0.0] * 2 * turns
                row[at + 1], row[at] = sign, -sign
                rows.append(row)
                limits.append(limit)
    for at, score in enumerate(scores):
        for sign in (1, -1):
            row = [0.0] * 2 * turns
            row[at], row[turns + at] = sign, -1
            rows.append(row)
            limits.append(sign * score)
    bounds = [*zip(bands.low, bands.high, strict=True), *([(0, None)] * turns)]
    found = linprog([0] * turns + [1] * turns, A_ub=rows, b_ub=limits, bounds=bounds)
    assert found.status == 0
    return float(found.fun)


@pytest.mark.parametrize(
    ("scores", "outcomes", "settled"),
    [
        ([24, 14], ["latest"], [20, 22]),
        ([30, 25, 31], ["previous", "latest"], [30, 25, 31]),  # nothing to do
        ([30, 36, 28], ["previous", "previous"], [36, 34, 28]),
        ([20, 30, 20], ["draw", "draw"], [20, 24, 20]),
        ([10, 30, 10], [None, None], [10, 30, 10]),
        ([-3, 20], [None], [0, 20]),  # docked below nothing
    ],
)
def test_scores_move_together_and_as_little_as_they_can(
    scores: list[float], outcomes: list[Outcome | None], settled: list[float]
) -> None:
    assert settle(scores, find_bands(40, outcomes)) == pytest.approx(settled)


def test_a_run_of_wins_too_long_for_its_room_shares_it() -> None:
    """Each of nine turns beats the one before: eight of them lie between 55 % and 85 %."""
    settled = settle([20.0] * 10, find_bands(30, ["latest"] * 9))
    leads = [latest - previous for previous, latest in pairwise(settled)]
    assert min(leads[1:-1]) == pytest.approx(9 / 7)
    assert not contradictions(30, settled, ["latest"] * 9)
    short = settle([20.0] * 5, find_bands(30, ["latest"] * 4))
    assert min(b - a for a, b in pairwise(short)) >= LEAST_LEAD - SLACK
