"""The arc as a picture: what can be read in it without a legend."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.messages import Arc, ArcPoint
from engine.words.arc_picture import HEIGHT, MARGIN, WIDTH, draw_arc
from tests.unit.test_format_messages import pixels

TEXT = 6


def drawn(*points: ArcPoint) -> list[bytes]:
    """Return the rows of a picture."""
    return pixels(draw_arc(Arc(title="x", points=points, alt="")))


def written(rows: list[bytes], place: int, of: int) -> tuple[int, int]:
    """Count the pixels of text in a bar's slot: above its foot, and below."""
    slot = (WIDTH - 2 * MARGIN) // of
    left = MARGIN + place * slot
    columns = [row[left : left + slot].count(TEXT) for row in rows]
    foot = HEIGHT - MARGIN
    return sum(columns[:foot]), sum(columns[foot:])


def test_each_bar_has_its_turn_below_and_its_score_above() -> None:
    scores = (64.0, 0.0, 100.0, None)
    points = [ArcPoint(number=n, side="AB"[n % 2], score=s) for n, s in enumerate(scores)]
    rows = drawn(*points)
    above, below = zip(*(written(rows, place, len(points)) for place in range(4)), strict=True)
    assert all(below)
    assert all(above[:3])
    assert above[3] == 0


@pytest.mark.parametrize("turns", [1, 2, 10, 20, 40])
def test_labels_do_not_run_into_one_another(turns: int) -> None:
    points = [ArcPoint(number=n, side="A", score=100) for n in range(1, turns + 1)]
    rows = drawn(*points)
    slot = (WIDTH - 2 * MARGIN) / turns
    for place in range(1, turns):
        edge = MARGIN + round(place * slot)
        assert not any(row[edge] == TEXT for row in rows)


def test_the_same_arc_is_the_same_picture() -> None:
    points = tuple(ArcPoint(number=n, side="AB"[n % 2], score=7 * n, docked=-n) for n in range(9))
    arc = Arc(title="x", points=points, alt="")
    with ThreadPoolExecutor(4) as pool:
        drawn = set(pool.map(draw_arc, [arc] * 8))
    assert drawn == {draw_arc(arc)}


def test_letters_differ_and_are_smaller_where_bars_are_narrow() -> None:
    a, b = (drawn(ArcPoint(number=1, side=side, score=None)) for side in "AB")
    assert a != b
    few, many = (
        drawn(*(ArcPoint(number=n, side="A", score=50) for n in range(1, turns + 1)))
        for turns in (10, 40)
    )
    lines = [sum(any(row) for row in rows[HEIGHT - MARGIN :]) for rows in (few, many)]
    assert lines[0] > lines[1] > 4
