"""Statistics in words and pictures: intervals, too few, what is missing, alternative text."""

from xml.etree import ElementTree as ET

import pytest

from engine.chat.answers import to_markdown
from engine.chat.answers.statistics import LeaderboardAnswer
from engine.stats.agreement import measure_agreement
from engine.stats.presentation import draw_pictures
from engine.stats.ratings import rank_models
from engine.stats.row import Row
from tests.kit import juror_ballot, make_row

SVG = "{http://www.w3.org/2000/svg}"


# People choose A, A, B in turn and the jury A, B, B.
FORTY = [make_row(n, "AAB"[n % 3], "ABB"[n % 3]) for n in range(40)]


def test_a_long_leaderboard_is_cut_and_says_so() -> None:
    rows = [
        make_row(n, "AB"[n % 2], models={"A": f"near/m{n // 2:02}", "B": "near/hub"})
        for n in range(50)
    ]
    said = to_markdown(LeaderboardAnswer(leaderboard=rank_models(rows))).splitlines()
    assert (len(said), said[-2]) == (23, "Models not shown: 6.")


def pictures(rows: list[Row]) -> dict[str, ET.Element]:
    drawn = draw_pictures(measure_agreement(rows), rank_models(rows))
    return {name: ET.fromstring(xml) for name, xml in drawn.items()}  # noqa: S314 - our own


def words(picture: ET.Element, tag: str) -> list[str]:
    return ["".join(one.itertext()) for one in picture.iter(f"{SVG}{tag}")]


@pytest.mark.parametrize("name", ["agreement.svg", "reliability.svg", "leaderboard.svg"])
@pytest.mark.parametrize("rows", [[], FORTY[:1], FORTY], ids=["none", "one", "forty"])
def test_a_picture_has_alternative_text_and_both_schemes(name: str, rows: list[Row]) -> None:
    picture = pictures(rows)[name]
    labels = {one.get("id"): one for one in picture.iter() if one.get("id")}
    assert picture.get("role") == "img"
    by = (picture.get("aria-labelledby") or "").split()
    assert [labels[label].tag for label in by] == [f"{SVG}title", f"{SVG}desc"]
    assert all(labels[label].text for label in by)
    assert "prefers-color-scheme: dark" in words(picture, "style")[0]
    assert ("Nothing to show yet." in words(picture, "desc")[0]) == (not rows)


def test_everything_drawn_is_inside_the_pictures_and_they_say_the_numbers() -> None:
    drawn = pictures(FORTY)
    for picture in drawn.values():
        width, height = float(picture.get("width", 0)), float(picture.get("height", 0))
        for shape in picture.iter():
            across = [float(shape.get(name, 0)) for name in ("x", "x1", "x2", "cx")]
            down = [float(shape.get(name, 0)) for name in ("y", "y1", "y2", "cy")]
            assert 0 <= min(across) <= max(across) <= width, shape.attrib
            assert 0 <= min(down) <= max(down) <= height, shape.attrib
    [matrix] = words(drawn["agreement.svg"], "desc")
    assert "people A and jury B: 13" in matrix
    assert "agreement 68 %" in matrix
    [reliability] = words(drawn["reliability.svg"], "desc")
    assert "26 debates at 10% predicted, 50% observed" in reliability
    assert "n = 26" in words(drawn["reliability.svg"], "text")
    [board] = words(drawn["leaderboard.svg"], "desc")
    assert "near/ana · people: 10" in board


def test_names_are_data_in_a_picture() -> None:
    models = {"A": "near/<script>&\x00'\"", "B": "near/" + "long" * 30}
    rows = [make_row(1, models=models, readings=(juror_ballot("near/j", "A"),))]
    texts = words(pictures(rows)["leaderboard.svg"], "text")
    assert "<script>&'\"" in texts
    assert max(map(len, texts)) < 70
    [missing] = {text for text in texts if text.startswith("people: ")}
    assert missing.startswith("people: no two model")
    why = "people: no two models have beaten each other, even indirectly"
    assert f"near/<script>&'\" · {why}" in words(pictures(rows)["leaderboard.svg"], "desc")[0]
