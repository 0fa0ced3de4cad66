"""κ, α, calibration and the bootstrap, against their reference libraries; and the whole report.

The libraries take seconds to load, which every process that collects tests would spend; so each
test imports its own.
"""

import math
import warnings
from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from engine.stats.agreement import Agreement, measure_agreement
from engine.stats.figure import (
    Share,
    alpha_of,
    alpha_sums,
    brier_sums,
    interval,
    kappa_of,
    kappa_sums,
    mean_of,
    reliability,
    total,
)
from engine.stats.row import JurorBallot
from tests.kit import juror_ballot, make_row, some

CHOICES = ("A", "B", "tie")
PAIRS = st.lists(
    st.tuples(st.sampled_from(CHOICES), st.sampled_from(CHOICES)), min_size=1, max_size=60
)
UNITS = st.lists(
    st.lists(st.sampled_from([*CHOICES, "1", None]), min_size=4, max_size=4),
    min_size=1,
    max_size=30,
)


@pytest.mark.slow
@given(PAIRS)
def test_kappa_equals_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

    ours = kappa_of(total([kappa_sums(*pair, CHOICES) for pair in pairs]))
    if len({choice for pair in pairs for choice in pair}) < 2:
        assert ours is None
        return
    theirs = cohen_kappa_score(*zip(*pairs, strict=True))
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(UNITS)
def test_alpha_equals_krippendorff(units: list[list[str | None]]) -> None:
    import krippendorff

    counts = [Counter(filter(None, unit)) for unit in units]
    ours = alpha_of(total([alpha_sums(unit, (*CHOICES, "1")) for unit in counts]))
    paired = [unit for unit in units if len([one for one in unit if one]) > 1]
    if len({choice for unit in paired for choice in unit if choice}) < 2:
        assert ours is None
        return
    codes = {None: np.nan, "A": 0.0, "B": 1.0, "tie": 2.0, "1": 3.0}
    data = np.array([[codes[choice] for choice in unit] for unit in units]).T
    theirs = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(st.lists(st.lists(st.sampled_from(CHOICES), min_size=4, max_size=4), min_size=1))
def test_alpha_of_complete_ratings_is_fleiss_kappa_without_its_bias(units: list[list[str]]) -> None:
    from statsmodels.stats.inter_rater import fleiss_kappa  # type: ignore[import-untyped]

    ours = alpha_of(total([alpha_sums(Counter(unit), CHOICES) for unit in units]))
    if len({choice for unit in units for choice in unit}) < 2:
        assert ours is None
        return
    theirs = fleiss_kappa([[unit.count(choice) for choice in CHOICES] for unit in units])
    # Fleiss draws what is expected by chance with replacement, Krippendorff without.
    ratings = 4 * len(units)
    assert ours == pytest.approx(1 - (1 - theirs) * (ratings - 1) / ratings, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 1000), st.booleans()), min_size=1, max_size=60))
def test_calibration_equals_scikit_learn(said: list[tuple[int, bool]]) -> None:
    from sklearn.calibration import calibration_curve  # type: ignore[import-untyped]
    from sklearn.metrics import brier_score_loss

    forecasts = [(p / 1000, float(won)) for p, won in said]
    truth, p = [int(won) for _, won in said], [share for share, _ in forecasts]
    brier = mean_of(total([brier_sums(*one) for one in forecasts]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one class only, which Brier's score does not mind
        assert brier == pytest.approx(brier_score_loss(truth, p, pos_label=1), abs=1e-9)
        observed, predicted = calibration_curve(truth, p, n_bins=5)
    filled = [one for one in reliability(forecasts) if one.n]
    assert [one.observed for one in filled] == pytest.approx(list(observed), abs=1e-9)
    assert [one.predicted for one in filled] == pytest.approx(list(predicted), abs=1e-9)


def test_a_tie_is_half_an_outcome_compared_and_not_decided() -> None:
    [*_, last] = bins = reliability([(1.0, 0.5), (0.9, 1.0)])
    assert (last.n, last.predicted, last.observed) == (2, 0.95, 0.75)
    assert [(one.low, one.n, one.observed) for one in bins[:2]] == [(0.0, 0, None), (0.2, 0, None)]
    rows = [make_row(n, "tie", "tie") for n in range(30)] + [make_row(30, "A", "B")]
    report = measure_agreement(rows)
    assert value(report, "agreement") == round(30 / 31, 6)
    assert (report.decided.n, report.decided.few) == (1, True)
    assert (report.people_shares.a.n, report.jury_shares.closer.n) == (1, 1)
    assert list(report.matrix) == ["A", "B", "tie"]


def test_an_interval_is_as_wide_as_theory_says_and_debates_on_one_topic_count_together() -> None:
    random = Random(3)
    topics = [(float(random.random() < 0.7), 1.0) for _ in range(400)]
    low, high = interval(topics, mean_of) or (0, 0)
    expected = 2 * 1.96 * math.sqrt(0.7 * 0.3 / 400)
    assert high - low == pytest.approx(expected, rel=0.15)
    assert low < 0.7 < high
    alone = [(f"t{n}", (float(n % 3 == 0), 1.0)) for n in range(120)]
    together = [(f"t{n // 3}", (float(n % 9 < 3), 1.0)) for n in range(120)]
    narrow, wide = Share.estimate(alone, mean_of), Share.estimate(together, mean_of)
    assert narrow.low is not None
    assert narrow.high is not None
    assert wide.low is not None
    assert some(wide.high) - wide.low > 1.4 * (narrow.high - narrow.low)


@settings(max_examples=10)
@given(st.permutations([(float(n % 4), 2.0) for n in range(12)]))
def test_an_interval_depends_on_no_order_of_reading(topics: list[tuple[float, ...]]) -> None:
    assert interval(topics, mean_of) == interval(sorted(topics), mean_of)


def test_nothing_is_said_of_few_of_one_topic_or_of_what_is_mostly_undefined() -> None:
    assert interval([(3.0, 4.0)], mean_of) is None
    topics = [(1.0,), (0.0,), (0.0,), (0.0,), (0.0,), (0.0,)]
    assert interval(topics, lambda sums: sums[0] if sums[0] < 3 else None) is not None
    assert interval(topics, lambda sums: sums[0] if sums[0] > 1 else None) is None
    assert Share.estimate([("t", (1.0, 1.0))] * 30, mean_of).low is None
    many = [(f"t{n}", (1.0, 1.0)) for n in range(30)]
    assert Share.estimate(many, mean_of).value == 1.0
    few = Share.estimate(many[1:], mean_of)
    assert (few.few, few.n, few.value, few.low) == (True, 29, None, None)
    assert Share.of(1, 29).few
    assert Share.of(15, 30).value == 0.5


def value(report: Agreement, *path: str) -> float | None:
    found: object = report
    for name in path:
        found = getattr(found, name)
    figure = getattr(found, "value")  # noqa: B009 - whatever figure it is
    return None if figure is None else round(figure, 6)


def test_a_jury_that_repeats_people_agrees_wholly() -> None:
    report = measure_agreement([make_row(n, "AB"[n % 2], "AB"[n % 2]) for n in range(40)])
    for path in (["agreement"], ["decided"], ["kappa"], ["pooled", "alpha_all"]):
        assert value(report, *path) == 1.0, path
    assert (value(report, "pooled", "people"), value(report, "pooled", "jury")) == (1.0, 1.0)
    assert report.matrix == {"A": {"A": 20, "B": 0}, "B": {"A": 0, "B": 20}}
    assert value(report, "brier") == 0.01
    assert [one.n for one in report.reliability] == [20, 0, 0, 0, 20]
    assert value(report, "people_shares", "a") == 0.5
    assert value(report, "people_shares", "closer") == 0.5


def test_a_panel_that_always_says_a_agrees_half_and_beyond_chance_not_at_all() -> None:
    report = measure_agreement([make_row(n, "AB"[n % 2], "A") for n in range(40)])
    assert value(report, "agreement") == 0.5
    assert value(report, "kappa") == 0.0
    assert value(report, "jury_shares", "a") == 1.0
    assert value(report, "jury_shares", "closer") == 0.0
    ana, ben = report.models
    assert (ana.people.value, ana.jury.value, ana.bias.value) == (0.5, 1.0, 0.5)
    assert ben.bias.value == -0.5
    assert some(ana.bias.low) < 0.5 < (ana.bias.high or 0)


def test_what_is_always_the_same_is_undefined_and_nothing_at_all_is_too_few() -> None:
    same = {"A": "near/ana", "B": "near/ana"}
    report = measure_agreement([make_row(n, models=same) for n in range(30)])
    assert value(report, "agreement") == 1.0
    assert report.kappa.value is None
    assert not report.kappa.few
    assert report.pooled.alpha_people.value is None
    assert report.models == ()
    report = measure_agreement([])
    assert (report.debates, report.compared, report.matrix) == (0, 0, {})
    assert report.agreement.few
    assert [*report.models, *report.jurors, *report.topics] == []
    assert all(one.n == 0 and one.observed is None for one in report.reliability)


@pytest.mark.slow
def test_people_are_paired_on_the_debates_that_the_panel_judged() -> None:
    split = {"A": 2, "B": 2}
    rows = [make_row(n, "tie", "A", gold=split) for n in range(30)]
    rows += [make_row(n, "A", None, gold={"A": 9}) for n in range(30, 60)]
    rows += [make_row(n, None, "A", gold={"A": 1}) for n in range(60, 90)]
    pooled = measure_agreement(rows).pooled
    assert pooled.people.value == pytest.approx(1 / 3)
    assert (pooled.people.n, pooled.jury.n, pooled.jury.value) == (30, 30, 0.5)
    assert pooled.alpha_people.n == 60


def test_groups_are_told_apart_and_topics_take_wilsons_interval() -> None:
    rows = [make_row(n, jury="B", language="tr", format="team") for n in range(31)]
    rows += [make_row(99) for _ in range(32)]
    rows += [make_row(99, jury=None)]
    report = measure_agreement(rows)
    assert [(one.name, one.agreement.value) for one in report.languages] == [("en", 1), ("tr", 0)]
    formats = [(one.name, one.agreement.n) for one in report.formats]
    assert formats == [("classic", 32), ("team", 31)]
    first, second, *_ = report.topics
    assert (first.name, first.agreement.n, first.agreement.high) == ("Topic 99", 32, 1.0)
    assert round(first.agreement.low or 0, 3) == 0.893
    assert second.agreement.few
    assert len(report.topics) == 32


def test_more_than_two_contenders_have_no_p_of_a_and_no_last_word() -> None:
    models = {side: f"near/m{side}" for side in "123"}
    rows = [
        make_row(n, "1", "23"[n % 2], models=models, families=models, p_a=None, closer=None)
        for n in range(30)
    ]
    report = measure_agreement(rows)
    assert report.brier.n == report.jury_shares.a.n == report.jury_shares.closer.n == 0
    bias = {one.model: one.bias.value for one in report.models}
    assert bias == {"near/m1": -1.0, "near/m2": 0.5, "near/m3": 0.5}


def test_a_juror_is_measured_by_its_own_ballots() -> None:
    def readings(n: int) -> tuple[JurorBallot, ...]:
        liar = juror_ballot("near/liar", "B", usd=None if n else 0.0)
        audit = juror_ballot("near/liar", "A" if n % 3 else "B", "BA", audit=True)
        broken = juror_ballot("near/mute", None)
        return (liar, audit, broken)

    report = measure_agreement([make_row(n, readings=readings(n)) for n in range(30)])
    liar, mute = report.jurors
    assert (liar.juror, liar.ballots, liar.agreement.value) == ("near/liar", 60, 0.0)
    assert liar.consistency.value == pytest.approx(1 / 3)
    assert (liar.invalid.value, liar.invalid.n, liar.usd) == (0.0, 60, None)
    assert (mute.agreement.n, mute.consistency.n) == (0, 0)
    assert (mute.invalid.value, mute.usd) == (1.0, 7.5)


def test_a_juror_that_prefers_its_family_is_found_out() -> None:
    readings = (juror_ballot("near/j", "A", family="ana"),)
    proud = [make_row(n, "B", readings=readings) for n in range(30)]
    assert measure_agreement(proud).jurors[0].self_preference.value == 1.0
    alike = make_row(1, families={"A": "ana", "B": "ana"}, readings=readings)
    assert measure_agreement([alike]).jurors[0].self_preference.n == 0


def test_a_panel_that_saw_names_is_held_against_nobody() -> None:
    rows = [make_row(n, jury=None, p_a=None, blind=False) for n in range(30)]
    report = measure_agreement(rows)
    assert report.compared == 0
    assert report.pooled.alpha_jurors.n == 0
    assert {one.agreement.n for one in report.jurors} == {0}
    assert {one.invalid.n for one in report.jurors} == {30}
