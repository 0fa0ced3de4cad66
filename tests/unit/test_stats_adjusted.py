"""Ratings with side, last word and length as covariates, against statsmodels and in simulation."""

from __future__ import annotations

from collections import Counter
from math import log
from random import Random

import numpy as np
import pytest

from engine.stats.bradley_terry import StrengthFit, fit_matchups
from engine.stats.contests import Matchup
from engine.stats.likelihood import chances
from engine.stats.presentation import UNKNOWN, word_effect
from engine.stats.ratings import POINTS, Effect, Unknown, adjust, adjust_models, rank_models
from engine.stats.row import Row
from engine.tally.tally import Z95
from engine.values.judging import TIE
from tests.kit import make_row
from tests.slow import slow_after

STRENGTHS = (0.9, 0.3, -0.2, -1.0)
SIDE, LENGTH, TIES = 0.4, 0.5, -0.6
LENGTHS = (-1.0, 1.0)


def draw(random: Random, held: int, *, edges: bool = True, ties: bool = True) -> list[Matchup]:
    """Return `held` debates of every pair on each side, whose results follow known parameters."""
    found: Counter[tuple[str, str, tuple[float, ...], int]] = Counter()
    for i, one in enumerate(STRENGTHS):
        for j, other in enumerate(STRENGTHS):
            for _ in range(held if i != j else 0):
                length = random.choice(LENGTHS)
                lead = one - other + (SIDE + LENGTH * length if edges else 0)
                result = random.choices((0, 1, 2), chances(lead, TIES if ties else None))[0]
                key = (f"m{i}", f"m{j}", (1.0, length) if edges else (), result)
                found[key] += 1
    return [
        Matchup(first, second, n * (result == 0), n * (result == 1), n * (result == 2), covariates)
        for (first, second, covariates, result), n in found.items()
    ]


def design(matchups: list[Matchup]) -> np.ndarray:
    """One row a matchup: the strengths of all models but the first, then the edges."""
    rows = np.zeros((len(matchups), len(STRENGTHS) + len(matchups[0].edges)))
    for row, one in zip(rows, matchups, strict=True):
        row[int(one.first[1])], row[int(one.second[1])] = 1, -1
        row[len(STRENGTHS) :] = one.edges
    return rows[:, 1:]


def centred(params: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return strengths with mean 0 and then the effects, and the errors of all."""
    models, size = len(STRENGTHS), len(params)
    turn = np.zeros((size + 1, size))
    turn[1:] = np.eye(size)
    turn[:models] -= turn[:models].mean(axis=0)
    return turn @ params, np.sqrt(np.diag(turn @ covariance @ turn.T))


def ours(fit: StrengthFit) -> tuple[list[float], list[float]]:
    names = sorted(fit.strengths)
    return (
        [*(fit.strengths[name] for name in names), *(one.value for one in fit.effects)],
        [*(fit.errors[name] for name in names), *(one.error for one in fit.effects)],
    )


@pytest.mark.slow
@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_without_ties_the_fit_is_statsmodels_logistic_regression(seed: int, edges: bool) -> None:
    # Loading it takes a second, which every process that only collects tests would spend too.
    import statsmodels.api as sm  # type: ignore[import-untyped]

    matchups = draw(Random(seed), 10, edges=edges, ties=False)
    results = np.array([(one.won, one.lost) for one in matchups])
    model = sm.GLM(results, design(matchups), family=sm.families.Binomial())
    found = model.fit(tol=1e-14, maxiter=100)
    values, errors = centred(found.params, found.cov_params())
    fit = fit_matchups(matchups)
    assert fit is not None
    assert ours(fit)[0] == pytest.approx(values, abs=1e-6)
    assert ours(fit)[1] == pytest.approx(errors, abs=1e-6)


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("seed", slow_after(1, [1, 2, 3]))
def test_with_ties_the_fit_is_statsmodels_log_linear_model(seed: int, edges: bool) -> None:
    """Davidson's model as S. Fienberg wrote it: Poisson counts, with a level for each matchup."""
    import statsmodels.api as sm

    matchups = draw(Random(seed), 10, edges=edges)
    half = design(matchups) / 2
    level = np.eye(len(matchups))
    none, one = np.zeros((len(matchups), 1)), np.ones((len(matchups), 1))
    rows = np.vstack(
        [
            np.hstack([half, none, level]),
            np.hstack([-half, none, level]),
            np.hstack([0 * half, one, level]),
        ]
    )
    counts = np.array([(m.won, m.lost, m.tied) for m in matchups]).T.ravel()
    found = sm.GLM(counts, rows, family=sm.families.Poisson()).fit(tol=1e-14, maxiter=100)
    size = half.shape[1]
    values, errors = centred(found.params[:size], found.cov_params()[:size, :size])
    fit = fit_matchups(matchups)
    assert fit is not None
    assert fit.tie == pytest.approx(found.params[size], abs=1e-6)
    assert ours(fit)[0] == pytest.approx(values, abs=1e-6)
    assert ours(fit)[1] == pytest.approx(errors, abs=1e-6)


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.slow
def test_intervals_cover_what_is_true_in_95_of_100_simulations(edges: bool) -> None:
    random, runs = Random(7), 1000
    truth = np.array([*STRENGTHS, *((SIDE, LENGTH) if edges else ())])
    hits = np.zeros(len(truth))
    for _ in range(runs):
        fit = fit_matchups(draw(random, 10, edges=edges))
        assert fit is not None
        values, errors = map(np.array, ours(fit))
        hits += abs(values - truth) <= Z95 * errors
    assert (hits / runs).min() >= 0.93
    assert (hits / runs).max() <= 0.97


# --- debates -----------------------------------------------------------------------------


def held(n: int, winner: str, *, ana: str = "A", words: tuple[int, int] = (100, 100)) -> Row:
    models = {"A": "near/ana", "B": "near/ben"}
    if ana == "B":
        models = {"A": "near/ben", "B": "near/ana"}
    return make_row(n, winner, None, models=models, words=dict(zip("AB", words, strict=True)))


def people(row: Row) -> str | None:
    return row.people


def test_a_model_that_was_mostly_on_the_better_side_loses_its_lead() -> None:
    """A wins three of four debates against any model; ana has A in 40 of 48."""
    rows = [held(n, "AAAB"[n % 4], ana="B" if n >= 40 else "A") for n in range(48)]
    plain = {one.model: one.people for one in rank_models(rows).standings}["near/ana"]
    found = adjust(rows, people)
    assert plain is not None
    assert (plain.value or 0) > 1040
    assert found.ratings["near/ana"].value == pytest.approx(1000, abs=1e-6)
    assert found.side.value == pytest.approx(POINTS * log(3))
    assert (found.side.low or 0) > 0
    assert found.closer.missing is Unknown.CONFOUNDED  # B always spoke last
    assert found.length.missing is Unknown.UNSEEN  # both always said as much
    assert word_effect(found.side) == "+191 (+39 to +343)"


def test_a_model_that_only_says_more_loses_its_lead() -> None:
    """Twice the words win three of four; ana says them in 30 of 40 debates."""
    rows = []
    for n in range(40):
        longer = "A" if n < 30 else "B"
        other = "B" if longer == "A" else "A"
        words = (200, 100) if longer == "A" else (100, 200)
        ana, winner = "AB"[n % 2], longer if n % 5 else other
        if ana == "B":
            words, winner = words[::-1], {"A": "B", "B": "A"}[winner]
        rows.append(held(n, winner, ana=ana, words=words))
    found = adjust(rows, people)
    plain = adjust([_mute(row) for row in rows], people)
    assert (plain.ratings["near/ana"].value or 0) > 1050
    assert found.ratings["near/ana"].value == pytest.approx(1000, abs=1)
    assert found.length.value == pytest.approx(POINTS * log(4), abs=1)


def _mute(row: Row) -> Row:
    return make_row(1, row.people, None, topic=row.topic, models=row.models)


def test_speaking_last_is_told_from_the_side_where_both_sides_did() -> None:
    rows = []
    for n in range(64):
        last, ana = "AB"[n % 2], "AB"[n // 2 % 2]
        other = "B" if last == "A" else "A"
        models = held(n, last, ana=ana).models
        rows.append(make_row(n, other if n % 7 == 0 else last, None, models=models, closer=last))
    found = adjust(rows, people)
    assert found.closer.value is not None
    assert found.closer.value > 250
    assert found.side.value is not None
    assert abs(found.side.value) < 150


def test_an_effect_that_always_decides_has_no_size_and_changes_nothing() -> None:
    rows = [held(n, "A", ana="AB"[n % 2]) for n in range(20)]
    found = adjust(rows, people)
    assert found.side.missing is Unknown.UNBOUNDED
    assert found.ratings["near/ana"].value == pytest.approx(1000)
    assert word_effect(found.side) == UNKNOWN[Unknown.UNBOUNDED]


def test_without_ratings_there_are_no_effects() -> None:
    found = adjust_models([make_row(1, "A", "tie")])
    assert found.people.side == found.jury.length == Effect(missing=Unknown.UNRATED)
    assert found.people.ratings["near/ana"].value is None
    assert adjust_models([]).people.ratings == {}


def test_more_than_two_contenders_have_no_sides_but_lengths() -> None:
    models = {"1": "near/a", "2": "near/b", "3": "near/c"}
    rows = [
        make_row(
            n, "123"[n % 3], TIE, models=models, closer=None, words={"1": 90 + n, "2": 100, "3": 80}
        )
        for n in range(30)
    ]
    found = adjust(rows, people)
    assert found.side.missing is Unknown.UNSEEN
    assert found.length.value is not None
