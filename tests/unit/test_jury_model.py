"""The model of jurors and the errors of its fit, against independent computations of the same."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.jury.fit import fit_jurors
from engine.jury.fit_quality import with_errors
from engine.jury.history import HeardDebate, PairBallot
from engine.jury.likelihood import (
    KIN,
    SHARED,
    VARIANCE_SD,
    JurorLikelihood,
    SignalCovariance,
    gather,
    minimise,
)
from engine.jury.model import _JurorTraits, choose, gain_of_another, plot, posterior, signal, weigh
from engine.jury.roster import SURE
from engine.values.debate import Fit, JurorFit

JURORS, FAMILIES = 12, 6


def _fitted(seed: int = 0, count: int = 6) -> Fit:
    rng = np.random.default_rng(seed)
    return Fit(
        version=1,
        shared=0.3,
        kin=0.1,
        people=0.7,
        jurors={
            f"juror-{at}": JurorFit(
                family=f"family-{at % 3}",
                ballots=100,
                skill=float(np.exp(rng.normal(0, 0.35))),
                group=float(rng.normal(0, 0.5)),
                scale=float(rng.uniform(0.8, 1.3)),
            )
            for at in range(count)
        },
    )


def _joint(fit: Fit) -> NDArray[np.float64]:
    """The covariance of truth and signals, from the independent sources that make them up."""
    jurors = list(fit.jurors.values())
    families = sorted({one.family for one in jurors})
    sources = np.zeros((1 + len(jurors), 3 + len(families) + len(jurors)))
    sources[0, 0] = 1
    for at, one in enumerate(jurors):
        row = sources[1 + at]
        row[0] = one.skill
        row[1] = one.skill * math.sqrt(fit.shared)
        row[2] = one.group
        row[3 + families.index(one.family)] = one.skill * math.sqrt(fit.kin)
        row[3 + len(families) + at] = 1
        row *= one.scale / np.linalg.norm(row)
    return sources @ sources.T


@pytest.mark.parametrize("seed", range(5))
def test_the_posterior_is_the_conditional_of_the_joint_distribution(seed: int) -> None:
    fit = _fitted(seed, 3)
    joint, x = _joint(fit), np.random.default_rng(seed).normal(size=3)
    weights = np.linalg.solve(joint[1:, 1:], joint[1:, 0])
    if (weights < 0).any():
        pytest.skip("a juror would weigh less than nothing")
    mean, variance, p = posterior(fit, dict(zip(fit.jurors, x.tolist(), strict=True)))
    assert mean == pytest.approx(weights @ x)
    assert variance == pytest.approx(1 - joint[0, 1:] @ weights)
    drawn = np.random.default_rng(1).normal(mean, math.sqrt(variance), 200_000)
    assert p == pytest.approx((drawn > 0).mean(), abs=0.005)
    assert posterior(fit, {})[2] == 0.5


def test_a_juror_never_counts_for_the_side_that_it_is_against() -> None:
    herd = {f"h{at}": JurorFit(family=f"h{at}", skill=0.3, group=2.0) for at in range(3)}
    fit = _fitted().model_copy(
        update={"jurors": {**herd, "odd": JurorFit(family="odd", skill=2.0, group=1.5)}}
    )
    joint = _joint(fit)
    assert (np.linalg.solve(joint[1:, 1:], joint[1:, 0]) < -0.01).any()
    panel = weigh(fit, tuple(fit.jurors))
    assert min(panel.weights) >= 0
    assert max(panel.weights) > 0
    weights = np.array(panel.weights)
    error = 1 - 2 * weights @ joint[1:, 0] + weights @ joint[1:, 1:] @ weights
    assert panel.variance == pytest.approx(error)


def test_jurors_are_asked_in_the_sequence_that_tells_most() -> None:
    fit = _fitted(3, 8)
    joint, names = _joint(fit), list(fit.jurors)
    taken: list[int] = []
    while len(taken) < 6:
        told = {}
        for at in range(8):
            if at not in taken:
                rows = [1 + one for one in (*taken, at)]
                a = joint[rows, 0]
                told[at] = a @ np.linalg.solve(joint[np.ix_(rows, rows)], a)
        taken.append(max(told, key=told.__getitem__))
    assert choose(fit, names, 6) == tuple(names[at] for at in taken)
    assert choose(fit, names, 6, first=("juror-5",))[0] == "juror-5"
    dear = dict.fromkeys(names, 1.0) | {names[taken[0]]: 1000.0}
    assert choose(fit, names, 6, price=dear)[0] != names[taken[0]]


@pytest.mark.parametrize("mean", [0.0, 0.2, -0.6, 2.0])
def test_what_another_call_is_worth_is_what_asking_gains_on_average(mean: float) -> None:
    fit = _fitted(1)
    names = tuple(fit.jurors)
    asked, more = names[:3], names[3:]
    before = weigh(fit, asked).variance
    rng = np.random.default_rng(2)
    truth = rng.normal(mean, math.sqrt(before), 400_000)
    gains, variances = [], []
    for calls in (1, 2, 3):
        after = min(before, weigh(fit, (*asked, *more[:calls])).variance)
        variances.append(after)
        # The later mean is the truth less an error that it does not know.
        share = 1 - after / before
        noise = rng.normal(0, math.sqrt(after * share), len(truth))
        later = mean + share * (truth - mean) + noise
        right = (np.sign(later) == np.sign(truth)).mean()
        gains.append((right - (np.sign(mean or 1) == np.sign(truth)).mean()) / calls)
    assert gain_of_another(mean, before, variances) == pytest.approx(max(0.0, *gains), abs=0.003)


def test_two_readings_of_a_juror_are_weighed_as_the_joint_distribution_has_them() -> None:
    fit = _fitted(3, 3).model_copy(update={"steady": 0.4})
    names = tuple(fit.jurors)
    model = _joint(fit)
    first = fit.jurors[names[0]]
    size = _JurorTraits.of(first).size(fit.shared, fit.kin)
    # The second reading has all of the first but what does not stay of its own error.
    one = np.vstack([model, model[1]])
    one = np.column_stack([one, one[:, 1]])
    one[4, 4] = model[1, 1]
    one[1, 4] = one[4, 1] = model[1, 1] - 0.6 * (first.scale / size) ** 2
    weights = np.linalg.solve(one[1:, 1:], one[1:, 0])
    found = weigh(fit, (*names, names[0]))
    assert found.weights == pytest.approx([*weights[:3], weights[3]], abs=1e-9)
    assert found.variance == pytest.approx(1 - weights @ one[1:, 0])


def test_the_next_reading_is_the_one_that_lowers_the_variance_most() -> None:
    fit = _fitted(5).model_copy(update={"steady": 0.2})
    names = tuple(fit.jurors)
    asked, new = names[:2], names[2:]
    readings, variances = plot(fit, asked, new, asked, 6)
    taken: list[str] = []
    for reading, variance in zip(readings, variances, strict=True):
        fresh = next((one for one in new if one not in taken), None)
        again = [one for one in (*asked, *taken) if (*asked, *taken).count(one) == 1]
        best = min(
            weigh(fit, (*asked, *taken, one)).variance for one in (*again, fresh) if one is not None
        )
        taken.append(reading)
        assert variance == pytest.approx(best)
        assert weigh(fit, (*asked, *taken)).variance == pytest.approx(best)
    assert set(asked) & set(readings)  # another order is worth more than a poor juror
    assert max(map((*asked, *readings).count, names)) <= 2


def _said(seed: int = 0, *, people: bool = True) -> JurorLikelihood:
    rng = np.random.default_rng(seed)
    signals = rng.normal(size=(80, 6))
    signals[rng.random(signals.shape) < 0.4] = np.nan
    kinship: NDArray[np.float64] = np.kron(np.eye(3), np.ones((2, 2))).astype(np.float64)
    if people:
        kinship = np.pad(kinship[:5, :5], (0, 1))
    return JurorLikelihood(gather(signals), kinship, np.zeros(6), people)


def _somewhere(said: JurorLikelihood, seed: int = 5) -> NDArray[np.float64]:
    start = said.start()
    found: NDArray[np.float64] = start + np.random.default_rng(seed).normal(0, 0.4, len(start))
    return found


def test_the_likelihood_is_that_of_the_ballots_that_were_asked() -> None:
    # Loading it takes a second, which every process that only collects tests would spend too.
    from scipy.stats import multivariate_normal  # type: ignore[import-untyped]

    rng = np.random.default_rng(7)
    signals = rng.normal(size=(50, 6))
    signals[rng.random(signals.shape) < 0.5] = np.nan
    said = JurorLikelihood(gather(signals), np.eye(6), np.zeros(6))
    covariance = SignalCovariance.of(_somewhere(said), said).covariance
    whole = 0.0
    for row in signals:
        heard = np.nonzero(~np.isnan(row))[0]
        if len(heard):
            part = covariance[np.ix_(heard, heard)]
            whole -= multivariate_normal.logpdf(row[heard], cov=part)
            whole -= 0.5 * len(heard) * math.log(2 * math.pi)
    assert said.read(covariance)[0] == pytest.approx(whole)


@pytest.mark.parametrize("people", [False, True])
def test_the_gradient_is_the_derivative(people: bool) -> None:
    from scipy.optimize import approx_fprime  # type: ignore[import-untyped]

    said = _said(people=people)
    x = _somewhere(said)
    by_hand = approx_fprime(x, lambda x: said(x)[0], 1e-6)
    assert said(x)[1] == pytest.approx(by_hand, abs=2e-3, rel=1e-3)


def test_the_minimum_is_the_one_that_scipy_finds() -> None:
    from scipy.optimize import minimize

    said = _said(people=False)
    other = minimize(said, said.start(), jac=True, method="L-BFGS-B", tol=1e-12)
    assert minimise(said, said.start(), 200, 1e-6)[1] == pytest.approx(other.fun, abs=1e-3)


Distort = Callable[[int, NDArray[np.float64]], NDArray[np.float64]]


def _hold(
    seed: int,
    debates: int,
    *,
    skills: NDArray[np.float64] | None = None,
    herd: float = 0.0,
    lean: float = 0.4,
    labels: int = 0,
    distort: Distort | None = None,
) -> tuple[list[HeardDebate], NDArray[np.float64]]:
    """Debates that four of twelve jurors read, as the model says that they do."""
    rng = np.random.default_rng(seed)
    skill = np.exp(rng.normal(0, 0.35, JURORS)) if skills is None else skills
    held = []
    for number in range(debates):
        truth = rng.normal()
        felt = skill * (truth + rng.normal(0, math.sqrt(0.277))) + rng.normal(size=JURORS)
        felt[:5] += herd * rng.normal()
        if distort is not None:
            felt = distort(number, felt)
        ballots = []
        for at, juror in enumerate(rng.permutation(JURORS)[:4]):
            o = 1 if (at + number) % 2 else -1
            margin = felt[juror] + o * lean
            said = float(np.sign(margin)) if abs(margin) > 0.25 else 0.0
            ballots.append(
                PairBallot(f"juror-{juror:02}", f"family-{juror % FAMILIES}", o, margin, said)
            )
        human = float(np.sign(truth + rng.normal(0, 0.4))) if number < labels else None
        held.append(HeardDebate(tuple(ballots), human))
    return held, skill


def test_skills_and_leans_are_found_again() -> None:
    held, skill = _hold(1, 1500)
    fit = fit_jurors(held)
    found = list(fit.jurors.values())
    logs = np.log([one.skill for one in found]) - np.log(skill)
    assert np.corrcoef([one.skill for one in found], skill)[0, 1] > 0.8
    assert np.abs(logs - logs.mean()).max() < 4 * max(one.skill_error for one in found)
    assert [one.lean for one in found] == pytest.approx([0.4] * JURORS, abs=0.25)
    assert max(one.drift for one in found) < 4.5
    assert fit.evidence > SURE
    again = fit_jurors(held, fit)
    assert [one.skill for one in again.jurors.values()] == pytest.approx(
        [one.skill for one in found], rel=0.05
    )
    assert Fit.model_validate_json(fit.model_dump_json()) == fit


def test_a_herd_is_found_and_people_tell_which_half_it_is() -> None:
    fit = fit_jurors(_hold(2, 1200, skills=np.ones(JURORS), herd=1.2, labels=300)[0])
    groups = [abs(one.group) for one in fit.jurors.values()]
    assert min(groups[:5]) > max(groups[5:])
    assert fit.labels == 300
    assert 0.6 < fit.people < 0.9


@pytest.mark.parametrize("herd", [0.0, 1.2])
def test_so_few_majorities_of_people_do_not_move_who_errs_together(herd: float) -> None:
    held, _ = _hold(2, 700, skills=np.ones(JURORS), herd=herd, labels=200)
    people = fit_jurors(held)
    alone = fit_jurors([one._replace(human=None) for one in held])
    assert (people.labels, alone.labels) == (200, 0)
    groups = [{name for name, one in fit.jurors.items() if one.group} for fit in (people, alone)]
    assert groups[0] == groups[1]
    assert groups[0] <= {f"juror-{at:02}" for at in range(5 if herd else 0)}
    assert len(groups[0]) >= (4 if herd else 0)


def test_jurors_that_see_nothing_in_common_are_not_believed() -> None:
    blind = np.random.default_rng(4)
    held, _ = _hold(3, 300, distort=lambda _, felt: blind.normal(size=JURORS))
    fit = fit_jurors(held)
    assert fit.evidence < SURE
    seeing = fit_jurors(_hold(3, 100)[0])
    assert seeing.evidence > SURE
    assert seeing.knows("juror-00")
    assert not seeing.knows("juror-99")


def test_a_juror_that_changed_is_noticed_and_judged_by_what_it_is_now() -> None:
    def replace(number: int, felt: NDArray[np.float64]) -> NDArray[np.float64]:
        if number >= 400:
            felt[0] = np.random.default_rng(number).normal(0, 1.5)
        return felt

    held, _ = _hold(5, 800, skills=np.full(JURORS, 1.2), distort=replace)
    fit = fit_jurors(held)
    changed = fit.jurors["juror-00"]
    assert changed.drift > 4.5
    assert 100 < changed.left < 170
    assert changed.skill < 0.6
    assert all(one.left == 0 for name, one in fit.jurors.items() if name != "juror-00")


def test_a_signal_is_freed_of_lean_and_clipped() -> None:
    one = JurorFit(family="f", lean=1.0, spread=2.0, named=0.2)
    fit = Fit(version=1, shared=0.3, kin=0.1, people=0.7, worth=0.5, jurors={"j": one})
    assert signal(fit, "j", 1, 3.0, 1.0) == pytest.approx(1.0 + 0.5 * 0.8)
    assert signal(fit, "j", -1, 3.0, 1.0) == pytest.approx(2.0 + 0.5 * 1.2)
    assert signal(fit, "j", -1, 9.0, 0.0) == pytest.approx(2.5 + 0.1)
    values = [signal(fit, "j", 1, margin, 0.0) for margin in range(-9, 10)]
    assert all(a <= b for a, b in pairwise(values))


@pytest.mark.parametrize("sees", [-1.0, 0.0])
def test_a_juror_that_sees_the_opposite_or_nothing_weighs_nothing(sees: float) -> None:
    noise = np.random.default_rng(6)

    def spoil(_: int, felt: NDArray[np.float64]) -> NDArray[np.float64]:
        felt[0] = sees * felt[0] + noise.normal()
        return felt

    held, _ = _hold(6, 400, distort=spoil)
    fit = fit_jurors(held)
    others = [name for name in fit.jurors if name != "juror-00"]
    assert fit.jurors["juror-00"].weight == 0
    panel = weigh(fit, ("juror-00", *others[:2]))
    assert abs(panel.weights[0]) < 0.1 * max(panel.weights)
    assert all(fit.jurors[name].weight > 0 for name in others)


# --- The errors of a fit, beside how often the truth is inside their intervals in simulation ------


NINE, THREE = 9, 3
HERD = 4  # of the jurors, where they err together


def hold(
    seed: int, debates: int, *, shared: float, kin: float, herd: float = 0.0, labels: int = 0
) -> list[HeardDebate]:
    """Debates that four of nine jurors of three families read, by the model."""
    rng = np.random.default_rng(seed)
    skill = np.exp(rng.normal(0, 0.3, NINE))
    held = []
    for number in range(debates):
        truth = rng.normal()
        common = truth + rng.normal(0, math.sqrt(shared))
        felt = skill * (common + np.tile(rng.normal(0, math.sqrt(kin), THREE), 3))
        felt += rng.normal(size=NINE)
        felt[:HERD] += herd * rng.normal()
        ballots = tuple(
            PairBallot(f"j{one}", f"f{one % THREE}", (-1) ** at, float(felt[one]), 0.0)
            for at, one in enumerate(rng.permutation(NINE)[:4])
        )
        human = float(np.sign(truth + rng.normal(0, 0.4))) if number < labels else None
        held.append(HeardDebate(ballots, human))
    return held


def fit(held: list[HeardDebate]) -> Fit:
    return with_errors(fit_jurors(held), held)


@pytest.fixture(scope="module")
def cases() -> list[tuple[float, float, Fit]]:
    """Fits of installations whose shared and family errors are drawn as the model expects them."""
    rng, found = np.random.default_rng(11), []
    for seed in range(20):
        shared, kin = np.exp(rng.normal(np.log([SHARED, KIN]), VARIANCE_SD))
        held = hold(seed, 400, shared=shared, kin=kin, labels=300 if seed % 2 else 0)
        found.append((float(shared), float(kin), fit(held)))
    return found


@pytest.mark.slow
def test_intervals_of_common_errors_hold_the_truth(cases: list[tuple[float, float, Fit]]) -> None:
    off = [
        (abs(math.log(one.shared / shared)) / one.shared_error,
         abs(math.log(one.kin / kin)) / one.kin_error)
        for shared, kin, one in cases
    ]  # fmt: skip
    for which in (0, 1):
        inside = sum(sizes[which] < 1.96 for sizes in off)
        assert inside >= 17, sorted(sizes[which] for sizes in off)
    # Without people nothing tells the truth from what all share; with them something does.
    alone = [one.shared_error for _, _, one in cases[::2]]
    people = [one.shared_error for _, _, one in cases[1::2]]
    assert max(people) < min(alone) <= VARIANCE_SD


def test_a_group_is_measured_of_those_in_it_and_those_out_of_it() -> None:
    for seed in range(3):
        found = fit(hold(100 + seed, 500, shared=SHARED, kin=KIN, herd=1.0)).jurors
        for at in range(NINE):
            one, true = found[f"j{at}"], float(at < HERD)
            assert 0.05 < one.group_error < 0.6
            # The last of a herd may be left out, and then its interval is about 0.
            if one.group or at >= HERD:
                assert abs(abs(one.group) - true) < 3 * one.group_error
