"""Pictures of a report: no text leaves them or covers another; alt texts have the numbers."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from importlib.resources import as_file, files
from itertools import combinations
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
from hypothesis import given, strategies as st
from PIL import ImageFont

from adapters.pictures.png import FONT, to_png
from engine.drawing.svg import DARK, darken, fit, short_names, width_of
from engine.series.report.pictures import Picture, draw_report, round_scale, round_step
from engine.series.report.report import make_report
from engine.values.ports import utc_now
from tests.slow import slow_after
from tests.unit.report_cases import make_file, make_series

SIZES = {"heading": 16.0, "small": 12.0}
LONG = (
    "online/deepseek/deepseek-v3.2-exp-thinking-2026-08",
    "online/anthropic/claude-opus-4.5",
    "local/WWWWWWWWMMMMMMMMWWWWWWWW",
)
ASCII = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=30)

with as_file(files("adapters.pictures").joinpath(FONT)) as path:
    FONTS = {size: ImageFont.truetype(str(path), int(10 * size)) for size in (12.0, 14.0, 16.0)}


class Written(NamedTuple):
    """A text of a picture, and the rectangle that it covers."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


def measure(text: str, size: float) -> float:
    return float(FONTS[size].getlength(text)) / 10


def texts(picture: Picture) -> Iterator[Written]:
    for element in ElementTree.fromstring(picture.svg).iter():  # noqa: S314 - our own picture
        if element.tag.endswith("}text"):
            kinds = str(element.get("class")).split()
            size = next((SIZES[kind] for kind in kinds if kind in SIZES), 14.0)
            text, x, y = element.text or "", float(element.get("x", 0)), float(element.get("y", 0))
            width = measure(text, size)
            left = {"start": x, "middle": x - width / 2, "end": x - width}[
                str(element.get("text-anchor"))
            ]
            yield Written(text, left, y - 0.76 * size, left + width, y + 0.24 * size)


def drawn(models: int, **fields: Any) -> dict[str, Picture]:
    named = (*LONG, *(f"online/vendor{n}/model-number-{n}-instruct" for n in range(27)))[:models]
    topics = [f"Topic {n}" for n in range(2 if models > 9 else 5)]
    found = make_series(make_file(named, topics=topics), **fields)
    return draw_report(make_report(found, utc_now()))


@pytest.mark.parametrize("models", slow_after(2, [3, 9, 2, 12, 30]))
def test_no_text_leaves_its_picture_or_covers_another(models: int) -> None:
    pictures = drawn(models) | {f"people {k}": v for k, v in drawn(models, people="A").items()}
    assert set(pictures) >= {"ratings", "wins", "sides", "jurors", "cost"}
    for name, picture in pictures.items():
        root = ElementTree.fromstring(picture.svg)  # noqa: S314 - our own picture
        width, height = float(root.get("width", 0)), float(root.get("height", 0))
        assert width == 400
        written = list(texts(picture))
        for one in written:
            inside = one.left >= 0 and one.right <= width and one.bottom <= height
            assert inside, (name, one)
        for one, other in combinations(written, 2):
            apart = (
                one.right <= other.left
                or other.right <= one.left
                or one.bottom <= other.top
                or other.bottom <= one.top
            )
            assert apart, (name, one, other)


def test_pictures_say_their_numbers_in_words() -> None:
    pictures = drawn(3)
    for picture in pictures.values():
        assert f'<desc id="description">{picture.alt[:20]}' in picture.svg
    assert "online/anthropic/claude-opus-4.5 by jury: 1" in pictures["ratings"].alt
    assert "USD" in pictures["cost"].alt


def test_a_png_is_twice_as_large_in_both_schemes() -> None:
    picture = drawn(2)["wins"]
    light, dark = to_png(picture.svg), to_png(darken(picture.svg))
    for png in (light, dark):
        assert png.startswith(b"\x89PNG")
        assert struct.unpack(">I", png[16:20]) == (800,)
    assert light != dark
    assert "@media" not in darken(picture.svg)
    assert DARK in darken(picture.svg)


@given(ASCII)
def test_texts_are_never_wider_than_is_counted_on(text: str) -> None:
    assert measure(text, 12.0) <= width_of(text, 12.0) + 0.01
    assert width_of(fit(text, 90)) <= 90 or fit(text, 90) == "…"


def test_names_that_would_look_alike_are_told_apart() -> None:
    names = short_names(
        [f"x/vendor/a-very-long-name-of-model-{n}-instruct" for n in range(30)], 120
    )
    assert len(set(names.values())) == 30
    assert short_names(["x/a", "y/a"], 120) == {"x/a": "x/a", "y/a": "y/a"}
    assert short_names(["x/a", "y/b"], 120) == {"x/a": "a", "y/b": "b"}


def test_scales_have_round_ticks_around_their_values() -> None:
    assert round_scale(752, 1177, 0, 100, 3).ticks == (600, 800, 1000, 1200)
    assert round_scale(0, 0, 0, 100, 3).ticks == (0, 1)
    assert [round_step(least) for least in (0.011, 0.3, 7, 100)] == [0.02, 0.5, 10, 100]
    scale = round_scale(0, 10, 0, 100, 5)
    assert (scale.at(5), scale.at(-3), scale.at(99)) == (50, 0, 100)
    assert [scale.word(value) for value in (-0.5, 1000, -50_000)] == ["−0.5", "1000", "−50k"]


def test_a_series_that_cost_nothing_has_no_picture_of_its_cost() -> None:
    found = make_series(make_file(LONG[:2]))
    found.paid = dict.fromkeys(found.paid, 0.0)
    assert "cost" not in draw_report(make_report(found, utc_now()))
