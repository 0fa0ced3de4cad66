"""Statistics in words and pictures: intervals, too few, what is missing, alternative text."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from engine.chat.answers.answers import to_markdown
from engine.chat.answers.statistics import AgreementAnswer, LeaderboardAnswer
from engine.stats.agreement import measure_agreement
from engine.stats.figure import Figure
from engine.stats.presentation import (
    MISSING,
    draw_pictures,
    word_coefficient,
    word_points,
    word_rating,
    word_record,
    word_share,
)
from engine.stats.ratings import Missing, Rating, rank_models
from engine.stats.row import Row
from tests.kit import juror_ballot, make_row

SVG = "{http://www.w3.org/2000/svg}"


def judged(n: int) -> Row:
    """People choose A, A, B in turn and the jury A, B, B."""
    return make_row(n, "AAB"[n % 3], "ABB"[n % 3])


FORTY = [judged(n) for n in range(40)]


@pytest.mark.parametrize(
    ("figure", "share", "coefficient", "points"),
    [
        (Figure(n=12), "too few (12)", "too few (12)", "too few (12)"),
        (Figure(n=30), *["undefined (always the same)"] * 3),
        (Figure(n=30, value=0.5), "50 %", "0.50", "+50.0"),
        (
            Figure(n=30, value=0.127, low=0.1, high=0.2),
            "13 % (10 % to 20 %)",
            "0.13 (0.10 to 0.20)",
            "+12.7 (+10.0 to +20.0)",
        ),
    ],
)
def test_a_figure_is_never_more_certain_than_its_debates(
    figure: Figure, share: str, coefficient: str, points: str
) -> None:
    assert word_share(figure) == share
    assert word_coefficient(figure) == coefficient
    assert word_points(figure) == points


def test_a_minus_is_written_as_one_and_never_before_a_zero() -> None:
    figure = Figure(n=30, value=-0.127, low=-0.2, high=-0.00001)
    assert word_coefficient(figure) == "−0.13 (−0.20 to 0.00)"
    assert word_points(figure) == "−12.7 (−20.0 to 0.0)"


def test_a_rating_has_its_interval_or_says_why_there_is_none() -> None:
    rated = Rating(won=3, lost=1, tied=2, value=1085.4, low=980.2, high=1190.6)
    assert (word_rating(rated), word_record(rated)) == ("1085 (980 to 1191)", "3–1–2")
    assert (word_rating(None), word_record(None)) == ("not judged", "")
    assert {word_rating(Rating(missing=why)) for why in Missing} == set(MISSING.values())


# --- chat --------------------------------------------------------------------------------


def test_an_agreement_is_told_with_people_beside_people() -> None:
    answer = AgreementAnswer(agreement=measure_agreement(FORTY))
    said = to_markdown(answer)
    assert "Debates revealed here: 40; judged by both people and jury: 40." in said
    assert re.search(r"Jury and people agree: 68 % \(\d+ % to \d+ %\)", said)
    assert re.search(r"Two people choose the same: 100 % \(.+\); a person and the jury: 68 %", said)
    assert re.search(r"- `near/ana`: −32\.5 \(−\d+\.\d to −\d+\.\d\)", said)
    assert "- `near/j1`: agrees with people 68 %" in said
    assert "favours its own family" not in said


def test_few_debates_are_called_few_and_nobody_is_judged_by_them() -> None:
    said = to_markdown(AgreementAnswer(agreement=measure_agreement(FORTY[:3])))
    assert "Jury and people agree: too few (3); without ties: too few (3)" in said
    assert "near/" not in said
    empty = to_markdown(AgreementAnswer(agreement=measure_agreement([])))
    assert empty.startswith("There is nothing to compare: no debate was revealed here yet. Hold")
    rehearsed = to_markdown(AgreementAnswer(agreement=measure_agreement([]), rehearsals=2))
    assert rehearsed.startswith("Only rehearsal debates were revealed here. They do not count")
    some = to_markdown(LeaderboardAnswer(leaderboard=rank_models(FORTY), rehearsals=2))
    assert some.endswith(
        "2 rehearsal debates are left out: their speakers or jurors are not language models."
    )


def test_a_leaderboard_is_told_with_both_judges_side_by_side() -> None:
    said = to_markdown(LeaderboardAnswer(leaderboard=rank_models(FORTY))).splitlines()
    assert said[0].startswith("**Ratings by people and by the jury** (debates: people 40, jury 40)")
    assert re.fullmatch(
        r"1\. `near/ana` · people: 10\d\d \(.+\), 27–13–0 · jury: 9\d\d \(.+\), 14–26–0", said[1]
    )
    few = to_markdown(LeaderboardAnswer(leaderboard=rank_models([make_row(1)])))
    assert "people: no two models have beaten each other, even indirectly, 1–0–0" in few
    empty = LeaderboardAnswer(leaderboard=rank_models([]))
    assert "nothing to compare" in to_markdown(empty)


def test_a_long_leaderboard_is_cut_and_says_so() -> None:
    rows = [
        make_row(n, "AB"[n % 2], models={"A": f"near/m{n // 2:02}", "B": "near/hub"})
        for n in range(50)
    ]
    said = to_markdown(LeaderboardAnswer(leaderboard=rank_models(rows))).splitlines()
    assert (len(said), said[-2]) == (23, "Models not shown: 6.")


# --- pictures ----------------------------------------------------------------------------


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


def test_everything_drawn_is_inside_the_picture() -> None:
    for picture in pictures(FORTY).values():
        width, height = float(picture.get("width", 0)), float(picture.get("height", 0))
        for shape in picture.iter():
            across = [float(shape.get(name, 0)) for name in ("x", "x1", "x2", "cx")]
            down = [float(shape.get(name, 0)) for name in ("y", "y1", "y2", "cy")]
            assert 0 <= min(across) <= max(across) <= width, shape.attrib
            assert 0 <= min(down) <= max(down) <= height, shape.attrib


def test_the_pictures_say_the_numbers() -> None:
    drawn = pictures(FORTY)
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
