"""People beside people, by platform; chat, labels and jury in pairs: checked independently."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from engine.stats.agreement import measure_crowds
from engine.stats.row import Row

SIDES = ("A", "B", "tie")


def rows(random: Random) -> list[Row]:
    return [
        Row(
            topic=f"t{n}",
            title="",
            language="en",
            format="classic",
            models={"A": "a", "B": "b"},
            families={},
            people=random.choice(SIDES),
            jury=random.choice(("A", "A", "B")),
            gold={},
            p_a=None,
            closer=None,
            blind=True,
            readings=(),
            crowds={"web": {"A": random.randrange(1, 4), "B": random.randrange(3)}},
            web=random.choice(("A", "B", None)),
        )
        for n in range(120)
    ]


@pytest.mark.slow
def test_figures_agree_with_other_implementations() -> None:
    from krippendorff import alpha as krippendorff_alpha
    from sklearn.metrics import cohen_kappa_score  # type: ignore[import-untyped]

    made = rows(Random(5))
    found = measure_crowds(made)
    pairs = [(row.people, row.web) for row in made if row.web]
    [chat_web, chat_jury, _] = found.between
    assert chat_web.kappa.value == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert chat_jury.agreement.value == sum(row.people == row.jury for row in made) / 120
    counts = np.array([[row.crowds["web"].get(side, 0) for side in "AB"] for row in made])
    [web] = found.platforms
    assert web.alpha.value == pytest.approx(
        krippendorff_alpha(value_counts=counts, level_of_measurement="nominal")
    )
    three = np.array(
        [[(row.people, row.web, row.jury).count(side) for side in SIDES] for row in made]
    )
    assert found.alpha.value == pytest.approx(
        krippendorff_alpha(value_counts=three, level_of_measurement="nominal")
    )
