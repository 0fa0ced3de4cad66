"""The errors of a fit, beside how often the truth is inside their intervals in simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from engine.jury.errors import with_errors
from engine.jury.fitting import fit_jurors
from engine.jury.hearing import Heard, HeardDebate
from engine.jury.likelihood import KIN, SHARED, VARIANCE_SD
from engine.values.debate import Fit

JURORS, FAMILIES = 9, 3
HERD = 4  # of the jurors, where they err together


def hold(
    seed: int, debates: int, *, shared: float, kin: float, herd: float = 0.0, labels: int = 0
) -> list[HeardDebate]:
    """Debates that four of nine jurors of three families read, by the model."""
    rng = np.random.default_rng(seed)
    skill = np.exp(rng.normal(0, 0.3, JURORS))
    held = []
    for number in range(debates):
        truth = rng.normal()
        common = truth + rng.normal(0, math.sqrt(shared))
        felt = skill * (common + np.tile(rng.normal(0, math.sqrt(kin), FAMILIES), 3))
        felt += rng.normal(size=JURORS)
        felt[:HERD] += herd * rng.normal()
        ballots = tuple(
            Heard(f"j{one}", f"f{one % FAMILIES}", (-1) ** at, float(felt[one]), 0.0)
            for at, one in enumerate(rng.permutation(JURORS)[:4])
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
def test_intervals_of_shared_and_family_errors_hold_the_truth(
    cases: list[tuple[float, float, Fit]],
) -> None:
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
        for at in range(JURORS):
            one, true = found[f"j{at}"], float(at < HERD)
            assert 0.05 < one.group_error < 0.6
            # The last of a herd may be left out, and then its interval is about 0.
            if one.group or at >= HERD:
                assert abs(abs(one.group) - true) < 3 * one.group_error
