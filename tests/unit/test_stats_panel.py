"""What the model of jurors is said to know, beside an independent computation of each figure."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from itertools import pairwise

import numpy as np
import pytest

from engine.stats.jurors import best_panels, right, view_fit
from engine.store.learning import Evidence
from engine.values.debate import Fit, JurorFit

SKILLS = {"near/a": 1.4, "near/b": 1.1, "near/c": 0.9, "near/d": 0.7, "near/e": 0.5}
FAMILIES = dict(zip(SKILLS, ("x", "x", "y", "z", "w"), strict=True))
FIT = Fit(
    version=1,
    debates=200,
    ballots=900,
    shared=0.5,
    shared_error=0.3,
    kin=0.2,
    kin_error=0.5,
    people=0.8,
    evidence=60.0,
    jurors={
        name: JurorFit(
            family=FAMILIES[name],
            ballots=180,
            lean=0.3,
            lean_error=0.1,
            skill=skill,
            skill_error=0.15,
            group=0.6 if name in ("near/c", "near/d") else 0.0,
            group_error=0.2,
            scale=1.0,
            weight=1.0,
        )
        for name, skill in SKILLS.items()
    },
)


def drawn(names: tuple[str, ...], n: int = 400_000) -> tuple[np.ndarray, np.ndarray]:
    """Draw truths, and jurors' signals as the model describes them, one component after another."""
    draw = np.random.default_rng(7)
    truth = draw.standard_normal(n)
    shared = math.sqrt(FIT.shared) * draw.standard_normal(n)
    group = draw.standard_normal(n)
    kin = {name: math.sqrt(FIT.kin) * draw.standard_normal(n) for name in sorted(FAMILIES.values())}
    signals = []
    for name in names:
        one = FIT.jurors[name]
        common = truth + shared + kin[one.family]
        signals.append(one.skill * common + one.group * group + draw.standard_normal(n))
    return truth, np.array(signals)


def accuracy(names: tuple[str, ...]) -> float:
    """Return how often the best linear guess from simulated signals has the sign of the truth."""
    truth, signals = drawn(names)
    weights = np.linalg.lstsq(signals.T, truth, rcond=None)[0]
    return float(np.mean(np.sign(weights @ signals) == np.sign(truth)))


@pytest.mark.slow
def test_a_panel_is_right_as_often_as_in_a_simulation() -> None:
    panels = best_panels(FIT)
    assert [len(panel.jurors) for panel in panels] == [1, 2, 3, 4, 5]
    for panel in panels:
        assert panel.right == pytest.approx(accuracy(panel.jurors), abs=0.004)
    gains = [panel.gain for panel in panels]
    assert sum(gains) == pytest.approx(panels[-1].right - 0.5)
    assert gains == sorted(gains, reverse=True)


@pytest.mark.slow
def test_each_panel_adds_the_juror_that_helps_most() -> None:
    by_size = best_panels(FIT)
    for before, after in pairwise(by_size):
        others = set(SKILLS) - set(before.jurors)
        found = {name: accuracy((*before.jurors, name)) for name in others}
        assert found[after.jurors[-1]] >= max(found.values()) - 0.003


def test_intervals_are_on_the_scale_of_their_errors() -> None:
    shown = view_fit(FIT, 3, datetime(2026, 3, 1, tzinfo=UTC), Evidence(debates=200, ballots=900))
    one = shown.jurors[0]
    assert (one.juror, one.family, one.known) == ("near/a", "x", True)
    assert (one.lean.low, one.lean.high) == pytest.approx((0.104, 0.496))
    logs = [math.log(bound) for bound in (one.skill.low, one.skill.high)]
    assert logs == pytest.approx([math.log(1.4) - 0.294, math.log(1.4) + 0.294])
    assert one.alone == pytest.approx(accuracy(("near/a",)), abs=0.004)
    assert (one.group.value, one.group.low, one.group.high) == pytest.approx((0.0, 0.0, 0.392))
    herd = shown.jurors[2].group
    assert (herd.value, herd.low, herd.high) == pytest.approx((0.6, 0.208, 0.992))
    # 95 % of samples of so many ballots, and the ten that spreads are drawn toward, are inside.
    spreads = np.random.default_rng(5).normal(0, one.spread.value, (20_000, 190)).std(axis=1)
    inside = np.mean((spreads > one.spread.low) & (spreads < one.spread.high))
    assert inside == pytest.approx(0.95, abs=0.01)
    assert math.log(shown.shared.high / 0.5) == pytest.approx(1.96 * 0.3)
    assert math.log(0.2 / shown.family.low) == pytest.approx(1.96 * 0.5)


def test_a_further_juror_is_one_of_median_skill_from_a_family_of_its_own() -> None:
    shown = view_fit(FIT, 3, datetime(2026, 3, 1, tzinfo=UTC), Evidence())
    n, names = 400_000, tuple(SKILLS)
    truth, signals = drawn(names, n)
    draw = np.random.default_rng(7)
    draw.standard_normal(n)
    shared = math.sqrt(FIT.shared) * draw.standard_normal(n)
    other = np.random.default_rng(8)
    own = math.sqrt(FIT.kin) * other.standard_normal(n)
    wider = np.vstack([signals, 0.9 * (truth + shared + own) + other.standard_normal(n)])
    weights = np.linalg.lstsq(wider.T, truth, rcond=None)[0]
    then = float(np.mean(np.sign(weights @ wider) == np.sign(truth)))
    assert shown.further == pytest.approx(then - accuracy(names), abs=0.003)


@pytest.mark.parametrize(("variance", "chance"), [(1.0, 0.5), (0.0, 1.0), (0.5, 0.75)])
def test_what_is_known_of_the_truth_is_how_often_a_panel_is_right(
    variance: float, chance: float
) -> None:
    assert right(variance) == pytest.approx(chance)


def test_without_jurors_there_is_nothing_to_say() -> None:
    empty = Fit(version=1, shared=0.5, kin=0.2, people=0.74)
    shown = view_fit(empty, 1, datetime(2026, 3, 1, tzinfo=UTC), Evidence())
    assert (shown.jurors, shown.panels, shown.further) == ((), (), None)
