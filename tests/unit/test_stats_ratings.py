"""Bradley–Terry with ties and covariates, against independent maxima of the likelihood."""

from collections import Counter
from math import exp, log
from random import Random
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from engine.stats.bradley_terry import (
    Contests,
    Matchup,
    StrengthFit,
    chances,
    comparable_groups,
    fit_matchups,
    fit_strengths,
)
from engine.stats.ratings import (
    POINTS,
    UNKNOWN,
    Effect,
    Missing,
    adjust,
    adjust_models,
    rank_models,
    rate,
)
from engine.stats.row import Row
from engine.tally import Z95
from engine.values.verdicts import TIE
from tests.kit import make_row, some
from tests.slow import slow_after

Results: TypeAlias = dict[tuple[int, int], tuple[int, int, int]]
COUNTS = st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 4))
RESULTS = st.integers(2, 5).flatmap(
    lambda n: st.fixed_dictionaries({(i, j): COUNTS for i in range(n) for j in range(i + 1, n)})
)


def contests_of(results: Results) -> Contests:
    contests = Contests()
    for (i, j), (won, lost, tied) in results.items():
        for _ in range(won):
            contests.add_win(f"m{i}", f"m{j}")
        for _ in range(lost):
            contests.add_win(f"m{j}", f"m{i}")
        for _ in range(tied):
            contests.add_tie(f"m{j}", f"m{i}")
    return contests


def badness(x: np.ndarray, results: Results, models: int) -> float:
    """The likelihood as the paper writes it, by worths π = e^θ and ν = e^η, less its sign."""
    worth = np.exp(np.append(0.0, x[: models - 1]))
    nu = exp(x[-1]) if len(x) == models else 0.0
    loss = 0.0
    for (i, j), (won, lost, tied) in results.items():
        room = nu * (worth[i] * worth[j]) ** 0.5
        whole = worth[i] + worth[j] + room
        loss -= won * log(worth[i] / whole) + lost * log(worth[j] / whole)
        loss -= tied * log(room / whole) if tied else 0.0
    return float(loss)


def differentiate(
    x: np.ndarray, results: Results, models: int, steps: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and second derivatives, by central differences of 1e-4."""

    def f(move: np.ndarray) -> float:
        return badness(x + move, results, models)

    slope = [(f(s) - f(-s)) / 2e-4 for s in steps]
    hessian = [[(f(s + t) - f(s - t) - f(t - s) + f(-s - t)) / 4e-8 for t in steps] for s in steps]
    return np.array(slope), np.array(hessian)


def maximise(results: Results) -> tuple[np.ndarray, np.ndarray]:
    """Return scipy's strengths with mean 0, and their errors from a numerical Hessian."""
    # Loading it takes a second, which every process that only collects tests would spend too.
    from scipy.optimize import minimize  # type: ignore[import-untyped]

    models = max(j for _, j in results) + 1
    ties = any(tied for _, _, tied in results.values())
    start = np.zeros(models - 1 + ties)
    found = minimize(badness, start, (results, models), method="BFGS", options={"gtol": 1e-5}).x
    steps = np.eye(len(found)) * 1e-4
    for _ in range(8):  # Newton's steps by differences, as BFGS stops early
        slope, hessian = differentiate(found, results, models, steps)
        found = found - np.linalg.solve(hessian, slope)
    strengths = np.append(0.0, found[: models - 1])
    centre = np.eye(models) - 1 / models
    spread = np.zeros((models, models))
    spread[1:, 1:] = np.linalg.inv(hessian)[: models - 1, : models - 1]
    return strengths - strengths.mean(), np.sqrt(np.diag(centre @ spread @ centre))


@settings(max_examples=25)
@given(RESULTS)
def test_strengths_and_errors_are_those_of_the_greatest_likelihood(results: Results) -> None:
    contests = contests_of(results)
    models = max(j for _, j in results) + 1
    fit = fit_strengths(contests)
    assert (fit is None) == (not contests.wins or drifts(contests))
    assume(fit is not None and len(fit.strengths) == models)
    assert fit is not None
    assume(max(map(abs, fit.strengths.values())) < 6)
    strengths, errors = maximise(results)
    ours = [fit.strengths[f"m{n}"] for n in range(models)]
    assert ours == pytest.approx(strengths, abs=1e-6)
    assert [fit.errors[f"m{n}"] for n in range(models)] == pytest.approx(errors, rel=1e-3)


def drifts(contests: Contests) -> bool:
    """Tell, by linear programs, whether strengths can part for ever without any loss.

    The variables are a direction of every θ and, last, of η; what happened must not become less
    likely than what did not.
    """
    from scipy.optimize import linprog

    names = contests.models
    place = {name: number for number, name in enumerate(names)}
    rows: list[np.ndarray] = []
    for one, other in [*contests.wins, *contests.ties]:
        lead = np.zeros(len(names) + 1)
        lead[place[one]], lead[place[other]] = 1, -1
        room = np.append(np.zeros(len(names)), 2.0)
        if (one, other) in contests.wins:
            rows += [-lead, room - lead] if contests.ties else [-lead]
        if (one, other) in contests.ties:
            rows += [lead - room, -lead - room]
    for name in names[1:]:
        for sign in (1, -1):
            goal = np.zeros(len(names) + 1)
            goal[place[name]], goal[0] = sign, -sign
            found = linprog(goal, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), bounds=(-1, 1))
            if found.fun < -1e-9:
                return True
    return False


@settings(max_examples=40)
@given(RESULTS)
def test_at_the_fit_everybody_has_won_as_often_as_expected(results: Results) -> None:
    contests = contests_of(results)
    fit = fit_strengths(contests)
    assume(fit is not None)
    assert fit is not None
    assert sum(fit.strengths.values()) == pytest.approx(0, abs=1e-9)
    for model in contests.models:
        won = sum(n for (one, _), n in contests.wins.items() if one == model)
        tied = sum(n for pair, n in contests.ties.items() if model in pair)
        expected = sum(
            met * chance(fit.strengths[model], fit.strengths[rival], fit.tie)
            for rival in contests.models
            if (met := meetings(contests, model, rival))
        )
        assert won + tied / 2 == pytest.approx(expected, abs=1e-7)


def meetings(contests: Contests, one: str, other: str) -> int:
    pair = (min(one, other), max(one, other))
    return contests.wins[one, other] + contests.wins[other, one] + contests.ties[pair]


def chance(one: float, other: float, tie: float | None) -> float:
    room = exp(tie + (one + other) / 2) if tie is not None else 0.0
    return (exp(one) + room / 2) / (exp(one) + exp(other) + room)


def test_two_models_are_as_far_apart_as_their_odds_and_a_tie_links_others() -> None:
    fit = some(fit_strengths(contests_of({(0, 1): (3, 1, 0)})))
    assert fit.tie is None
    assert fit.strengths["m0"] - fit.strengths["m1"] == pytest.approx(log(3), abs=1e-9)
    assert fit.errors["m0"] == pytest.approx((1 / 3 + 1) ** 0.5 / 2, abs=1e-9)
    rated = rate(contests_of({(0, 1): (2, 1, 0), (1, 2): (3, 0, 1)}))
    assert all(rating.missing is None for rating in rated.values())
    assert (rated["m1"].value or 0) > (rated["m2"].value or 0)


def test_a_model_that_never_wins_gets_no_rating_and_moves_nobody() -> None:
    results: Results = {(0, 1): (3, 1, 0), (0, 2): (5, 0, 0), (1, 2): (5, 0, 0)}
    rated = rate(contests_of(results))
    assert rated["m2"].missing == "never_won"
    assert (rated["m2"].value, rated["m2"].lost) == (None, 10)
    alone = rate(contests_of({(0, 1): (3, 1, 0)}))
    assert rated["m0"].value == alone["m0"].value
    assert rated["m0"].won == 8


@pytest.mark.parametrize(
    ("results", "missing"),
    [
        ({(0, 1): (1, 2, 0), (0, 2): (0, 4, 0)}, "never_lost"),
        ({(0, 1): (1, 2, 0), (2, 3): (1, 0, 0)}, "apart"),
        ({(0, 1): (0, 0, 5), (0, 2): (0, 0, 1)}, "only_ties"),
        ({(0, 1): (2, 0, 0), (1, 2): (2, 0, 0)}, "no_cycle"),
        ({(0, 1): (2, 0, 2), (1, 2): (2, 0, 3)}, "no_cycle"),
    ],
)
def test_what_is_missing_is_said(results: Results, missing: Missing) -> None:
    rated = rate(contests_of(results))
    assert rated["m2"].missing is missing
    assert (rated["m2"].value, rated["m2"].low, rated["m2"].high) == (None, None, None)


def test_groups_that_never_met_are_rated_by_the_larger() -> None:
    results: Results = {(0, 1): (1, 1, 0), (2, 3): (2, 1, 0), (3, 4): (1, 1, 0)}
    assert comparable_groups(contests_of(results)) == [("m2", "m3", "m4"), ("m0", "m1")]
    rated = rate(contests_of(results))
    assert rated["m0"].missing == "apart"
    assert rated["m2"].missing is None
    assert rate(Contests()) == {}


def test_the_leaderboard_has_people_and_jury_side_by_side() -> None:
    rows = [make_row(n, "AAB"[n % 3], "ABB"[n % 3]) for n in range(9)]
    board = rank_models(rows)
    assert (board.debates, board.people, board.jury) == (9, 9, 9)
    first, second = board.standings
    assert (first.model, second.model) == ("near/ana", "near/ben")
    assert first.people is not None
    assert first.jury is not None
    assert (first.people.won, first.people.lost, first.people.tied) == (6, 3, 0)
    assert first.people.value == pytest.approx(1000 + POINTS * log(2) / 2)
    margin = POINTS * Z95 * (1 / 6 + 1 / 3) ** 0.5 / 2
    assert first.people.high == pytest.approx((first.people.value or 0) + margin)
    assert first.jury.value == pytest.approx(1000 - POINTS * log(2) / 2)


def test_the_unrated_come_last_by_name_and_who_was_never_judged_has_nothing() -> None:
    cy = {"A": "near/cy", "B": "near/ana"}
    rows = [make_row(1), make_row(2, "B"), make_row(3, None, "B", models=cy)]
    board = rank_models(rows)
    assert [standing.model for standing in board.standings] == ["near/ana", "near/ben", "near/cy"]
    last = board.standings[-1]
    assert last.people is None
    assert some(last.jury).missing == "no_cycle"
    assert (board.people, board.jury) == (2, 3)


def test_of_three_contenders_the_winner_beats_the_others_and_a_tie_says_nothing() -> None:
    models = {side: f"near/m{side}" for side in "123"}
    board = rank_models([make_row(1, "2", "tie", models=models)])
    found = {s.model: s.people and (s.people.won, s.people.lost) for s in board.standings}
    assert found == {"near/m1": (0, 1), "near/m2": (2, 0), "near/m3": (0, 1)}
    assert all(standing.jury is None for standing in board.standings)
    same = {"A": "near/ana", "B": "near/ana"}  # a model against itself is no contest
    rows = [make_row(1, models=same), make_row(2, "tie", "tie", models=same)]
    assert rank_models(rows).standings == ()


# --- Ratings with side, last word and length as covariates, against statsmodels and in simulation


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


def check_same(fit: StrengthFit, params: np.ndarray, covariance: np.ndarray) -> None:
    """Compare a fit with another's parameters, which leave out the first strength."""
    models, size = len(STRENGTHS), len(params)
    turn = np.zeros((size + 1, size))
    turn[1:] = np.eye(size)
    turn[:models] -= turn[:models].mean(axis=0)
    values, errors = turn @ params, np.sqrt(np.diag(turn @ covariance @ turn.T))
    assert ours(fit)[0] == pytest.approx(values, abs=1e-6)
    assert ours(fit)[1] == pytest.approx(errors, abs=1e-6)


def ours(fit: StrengthFit) -> tuple[list[float], list[float]]:
    names = sorted(fit.strengths)
    return (
        [*(fit.strengths[name] for name in names), *(value for value, _ in fit.effects)],
        [*(fit.errors[name] for name in names), *(error for _, error in fit.effects)],
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
    fit = some(fit_matchups(matchups))
    check_same(fit, found.params, found.cov_params())


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("seed", slow_after(1, [1, 2, 3]))
def test_with_ties_the_fit_is_statsmodels_log_linear_model(seed: int, edges: bool) -> None:
    """Davidson's model as S. Fienberg wrote it: Poisson counts, with a level for each matchup."""
    import statsmodels.api as sm

    matchups = draw(Random(seed), 10, edges=edges)
    half = design(matchups) / 2
    level = np.eye(len(matchups))
    none, one = np.zeros((len(matchups), 1)), np.ones((len(matchups), 1))
    won, lost, tied = [half, none, level], [-half, none, level], [0 * half, one, level]
    rows = np.vstack([np.hstack(part) for part in (won, lost, tied)])
    counts = np.array([(m.won, m.lost, m.tied) for m in matchups]).T.ravel()
    found = sm.GLM(counts, rows, family=sm.families.Poisson()).fit(tol=1e-14, maxiter=100)
    size = half.shape[1]
    fit = some(fit_matchups(matchups))
    assert fit.tie == pytest.approx(found.params[size], abs=1e-6)
    check_same(fit, found.params[:size], found.cov_params()[:size, :size])


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.slow
def test_intervals_cover_what_is_true_in_95_of_100_simulations(edges: bool) -> None:
    random, runs = Random(7), 1000
    truth = np.array([*STRENGTHS, *((SIDE, LENGTH) if edges else ())])
    hits = np.zeros(len(truth))
    for _ in range(runs):
        fit = some(fit_matchups(draw(random, 10, edges=edges)))
        values, errors = map(np.array, ours(fit))
        hits += abs(values - truth) <= Z95 * errors
    assert (hits / runs).min() >= 0.93
    assert (hits / runs).max() <= 0.97


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
    assert (some(plain).value or 0) > 1040
    assert found.ratings["near/ana"].value == pytest.approx(1000, abs=1e-6)
    assert found.side.value == pytest.approx(POINTS * log(3))
    assert (found.side.low or 0) > 0
    assert found.closer.missing == "confounded"  # B always spoke last
    assert found.length.missing == "unseen"  # both always said as much
    assert str(found.side) == "+191 (+39 to +343)"


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
    mute = [make_row(1, row.people, None, topic=row.topic, models=row.models) for row in rows]
    plain = adjust(mute, people)
    assert (plain.ratings["near/ana"].value or 0) > 1050
    assert found.ratings["near/ana"].value == pytest.approx(1000, abs=1)
    assert found.length.value == pytest.approx(POINTS * log(4), abs=1)


def test_speaking_last_is_told_from_the_side_where_both_sides_did() -> None:
    rows = []
    for n in range(64):
        last, ana = "AB"[n % 2], "AB"[n // 2 % 2]
        other = "B" if last == "A" else "A"
        models = held(n, last, ana=ana).models
        rows.append(make_row(n, other if n % 7 == 0 else last, None, models=models, closer=last))
    found = adjust(rows, people)
    assert some(found.closer.value) > 250
    assert abs(some(found.side.value)) < 150


def test_an_effect_that_always_decides_has_no_size_and_changes_nothing() -> None:
    rows = [held(n, "A", ana="AB"[n % 2]) for n in range(20)]
    found = adjust(rows, people)
    assert found.side.missing == "unbounded"
    assert found.ratings["near/ana"].value == pytest.approx(1000)
    assert str(found.side) == UNKNOWN["unbounded"]


def test_a_few_debates_of_nearly_equal_length_say_nothing_about_twice_the_words() -> None:
    """Each word more would be worth some hundred points of what eight debates show."""
    longer, shorter = (101, 100), (100, 101)
    rows = [
        held(n, won, ana="AB"[n // 2 % 2], words=longer if n % 2 == 0 else shorter)
        for n, won in enumerate("BAABABAB")
    ]
    found = adjust(rows, people)
    assert found.length.missing == "unbounded"
    assert found.side.value == pytest.approx(0, abs=1e-6)


def test_without_ratings_there_are_no_effects() -> None:
    found = adjust_models([make_row(1, "A", "tie")])
    assert found.people.side == found.jury.length == Effect(missing="unrated")
    assert found.people.ratings["near/ana"].value is None
    assert adjust_models([]).people.ratings == {}


def test_more_than_two_contenders_have_no_sides_but_lengths() -> None:
    models = {"1": "near/a", "2": "near/b", "3": "near/c"}
    fields: dict[str, object] = {"models": models, "closer": None}
    rows = [
        make_row(n, "123"[n % 3], TIE, words={"1": 90 + n, "2": 100, "3": 80}, **fields)
        for n in range(30)
    ]
    found = adjust(rows, people)
    assert found.side.missing == "unseen"
    assert found.length.value is not None
