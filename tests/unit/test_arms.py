"""Arms compared with one another: against shares worked out by hand, and in simulation."""

from random import Random
from typing import Any

import pytest

from engine.stats.comparisons import OUTCOMES, measure_arms, tell_arms
from engine.stats.row import Row
from tests.kit import make_row, some

A_WINS = "A won, a tie counting half"


def rows_of(arm: str, *winners: str | None, series: str = "spring", **fields: Any) -> list[Row]:
    return [
        make_row(n % 10, jury=jury, arm=arm, series=series, **fields)
        for n, jury in enumerate(winners)
    ]


def test_arms_are_compared_by_what_their_debates_came_to() -> None:
    first = rows_of("debate", *["A"] * 20, *["B"] * 10, *["tie"] * 10, people="A")
    second = rows_of("direct", *["A"] * 10, *["B"] * 30, people="B")
    found = some(measure_arms([*first, *second, make_row(7)]))
    (outcome,) = (one for one in found.outcomes if one.name == A_WINS)
    assert [(one.arm, one.share.value) for one in outcome.arms] == [
        ("debate", 25 / 40),
        ("direct", 0.25),
    ]
    (apart,) = outcome.differences
    assert (apart.arm, apart.other, apart.difference.n) == ("debate", "direct", 40)
    assert apart.difference.value == pytest.approx(0.375)
    assert some(apart.difference.low) <= 0.375 <= some(apart.difference.high)
    by_name = {one.name: one for one in found.outcomes}
    assert [one.share.value for one in by_name["tied, of decided"].arms] == [0.25, 0.0]
    assert [one.share.value for one in by_name["jury and people agree"].arms] == [0.5, 0.75]


def test_few_debates_are_counted_and_not_compared() -> None:
    found = some(measure_arms([*rows_of("a", "A", "B"), *rows_of("b", *["A"] * 40)]))
    (_, _, rows), (_, _, compared) = tell_arms(found)
    assert [str(cell) for cell in {row[0]: row[1:] for row in rows}[A_WINS]] == [
        "1 of 2",
        "100 % (100 % to 100 %)",
    ]
    assert not compared


def test_arms_of_several_series_stay_apart_and_a_single_arm_is_not_compared() -> None:
    two = [*rows_of("a", "A"), *rows_of("b", "B"), *rows_of("a", "B", series="autumn")]
    found = some(measure_arms([*two, *rows_of("c", "B", series="autumn")]))
    assert [one.arm for one in found.lengths] == ["autumn/a", "autumn/c", "spring/a", "spring/b"]
    assert {(one.arm, one.other) for one in found.outcomes[0].differences} == {
        ("autumn/a", "autumn/c"),
        ("spring/a", "spring/b"),
    }
    assert measure_arms([*rows_of("a", "A"), *rows_of("a", "B", series="autumn")]) is None
    assert measure_arms([make_row(1)]) is None


@pytest.mark.slow
def test_intervals_of_a_difference_cover_it_though_topics_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.stats.comparisons.OUTCOMES", {A_WINS: OUTCOMES[A_WINS]})
    random, covered, times = Random(5), 0, 200
    for _ in range(times):
        rows = []
        for topic in range(40):
            hard = random.uniform(-0.3, 0.3)
            for arm, share in (("debate", 0.65), ("direct", 0.5)):
                for _ in range(3):
                    won = "A" if random.random() < share + hard else "B"
                    rows.append(make_row(topic, jury=won, arm=arm, series="spring"))
        found = some(measure_arms(rows))
        apart = found.outcomes[0].differences[0].difference
        covered += some(apart.low) <= 0.15 <= some(apart.high)
    assert 0.92 <= covered / times <= 0.98
