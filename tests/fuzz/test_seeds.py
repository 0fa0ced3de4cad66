"""Every seed again: inputs of the doubles, and all that fuzzing once broke a parser with."""

import pytest

from tests.fuzz.target import SEEDS, Target
from tests.fuzz.targets import TARGETS


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_seed_is_read_or_refused_and_soon(target: Target) -> None:
    for seed in target.seeds():
        target.hold(seed)


def test_every_folder_of_seeds_has_its_target() -> None:
    assert set(SEEDS.iterdir()) == {target.folder for target in TARGETS}
