"""The arc as a picture: what can be read in it without a legend."""

from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from itertools import pairwise
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from PIL import Image

from adapters.pictures import SCALE, drawn, to_png
from engine.drawing import BLUE, GOLD, GREY, RED, width_of
from engine.values.messages import Arc, ArcPoint
from engine.words.cards import card_of
from engine.words.scores import HEIGHT, MARGIN, WIDTH, arc_picture

FOOT = HEIGHT - MARGIN


class Label(NamedTuple):
    """A text of a picture: the middle of its base line, and the size of its letters."""

    text: str
    x: float
    y: float
    size: float

    @property
    def half(self) -> float:
        """Half of its width, at most."""
        return width_of(self.text, self.size) / 2


class Bar(NamedTuple):
    colour: str
    top: float
    height: float


def picture(*points: ArcPoint) -> str:
    return arc_picture(Arc(title="x", points=points, alt="")).content


def labels(svg: str) -> list[Label]:
    """Return what is written about bars; numbers of the scale stand left of them."""
    found = [each for each in ElementTree.fromstring(svg) if each.tag.endswith("}text")]  # noqa: S314 - our own picture
    return [
        Label(
            each.text or "",
            float(each.attrib["x"]),
            float(each.attrib["y"]),
            float(each.attrib["style"].removeprefix("font-size:").removesuffix("px")),
        )
        for each in found
        if each.attrib["text-anchor"] == "middle"
    ]


def bars(svg: str) -> list[Bar]:
    found = [each for each in ElementTree.fromstring(svg) if "fill" in each.attrib]  # noqa: S314 - our own picture
    return [
        Bar(each.attrib["fill"], float(each.attrib["y"]), float(each.attrib["height"]))
        for each in found
    ]


def test_each_bar_has_its_turn_below_and_its_score_above() -> None:
    scores = (64.0, 0.0, 100.0, None)
    points = [ArcPoint(number=n, side="AB"[n % 2], score=s) for n, s in enumerate(scores)]
    written = labels(picture(*points))
    assert [one.text for one in written if one.y > FOOT] == ["A0", "B1", "A2", "B3"]
    assert [one.text for one in written if one.y < FOOT] == ["64", "0", "100"]
    slot = (WIDTH - 2 * MARGIN) / len(points)
    places = [int((one.x - MARGIN) // slot) for one in written]
    assert places == [0, 0, 1, 1, 2, 2, 3]
    assert all(one.y - one.size > 0 and one.y < HEIGHT for one in written)


@pytest.mark.parametrize("turns", [1, 2, 10, 20, 40])
def test_labels_do_not_run_into_one_another(turns: int) -> None:
    points = [ArcPoint(number=n, side="A", score=100) for n in range(1, turns + 1)]
    written = labels(picture(*points))
    assert len(written) == 2 * turns
    for above in (True, False):
        row = [one for one in written if (one.y < FOOT) is above]
        for left, right in pairwise(row):
            assert left.x + left.half < right.x - right.half


def test_letters_are_smaller_where_bars_are_narrow_and_the_same_arc_is_the_same_picture() -> None:
    a, b = (picture(ArcPoint(number=1, side=side, score=None)) for side in "AB")
    assert to_png(a) != to_png(b)
    few, many = (
        labels(picture(*(ArcPoint(number=n, side="A", score=50) for n in range(1, turns + 1))))
        for turns in (10, 40)
    )
    assert few[0].size > many[0].size > 4
    points = tuple(ArcPoint(number=n, side="AB"[n % 2], score=7 * n, docked=-n) for n in range(9))
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(to_png, [picture(*points)] * 8))) == 1


async def test_an_arc_is_a_picture_with_a_bar_a_turn_in_the_colours_of_the_sides() -> None:
    points = (
        ArcPoint(number=1, side="A", score=60),
        ArcPoint(number=2, side="B", score=30, docked=-10),
        ArcPoint(number=3, side="A", score=None),
    )
    arc = Arc(title="The arc", points=points, alt="A1 60, B2 30")
    attached = card_of(arc).attached()
    (file,) = await drawn(attached)
    assert (file.name, file.media, file.alt) == ("arc.png", "image/png", "A1 60, B2 30")
    blue, gold, red, grey = bars(attached[0].content)
    assert (blue.colour, gold.colour, red.colour, grey.colour) == (BLUE, GOLD, RED, GREY)
    assert blue.height == pytest.approx(2 * red.height, rel=0.02)
    assert gold.height == pytest.approx(red.height / 3, rel=0.05)
    assert grey.height > 0
    assert blue.top < gold.top < red.top
    image = Image.open(BytesIO(file.data())).convert("RGB")
    assert image.size == (round(SCALE * WIDTH), round(SCALE * HEIGHT))
    shown = {color for _, color in image.getcolors(2**20) or ()}
    assert {tuple(bytes.fromhex(one[1:])) for one in (BLUE, GOLD, RED, GREY)} <= shown


@pytest.mark.parametrize("score", [-5.0, 0.0, 100.0, 140.0, None])
@pytest.mark.parametrize("turns", [0, 1, 40])
def test_any_arc_can_be_drawn(score: float | None, turns: int) -> None:
    points = tuple(ArcPoint(number=n, side="B", score=score, docked=-3) for n in range(turns))
    image = Image.open(BytesIO(to_png(picture(*points))))
    assert image.height == round(SCALE * 240)
