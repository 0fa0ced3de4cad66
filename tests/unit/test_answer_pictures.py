"""Pictures of private answers: what they show, that it fits, and when there is none."""

from typing import Any
from xml.etree import ElementTree

import pytest

from adapters.pictures import drawn
from engine.chat.answers.debates import DebateLine, ResultAnswer
from engine.chat.answers.own_data import Frequency, OwnRecordAnswer
from engine.chat.answers.statistics import LeaderboardAnswer
from engine.drawing import INK, RED
from engine.stats.presentation import MOST_MODELS
from engine.stats.ratings import Leaderboard, ModelRatings, Rating
from engine.store.privacy import GuessRecord
from engine.values.debate import Criterion, Status
from engine.values.language import speaking
from engine.values.messages import File, JurorLine, Reveal
from engine.words.details import reason_lines
from engine.words.marks_picture import marks_picture
from tests.kit import make_debate, reveal, some

NAMES = ("نموذج", "हिन्दी-मॉडल", "模型", "🍵-model", "W" * 200)
CRITERIA = ("logic", "evidence")


def juror(name: str, a: float, b: float, **fields: Any) -> JurorLine:
    marks = {"A": dict.fromkeys(CRITERIA, a), "B": dict.fromkeys(CRITERIA, b)}
    return JurorLine(juror=name, verdict="A", order=("A", "B"), marks=marks, **fields)


def judged(**fields: Any) -> Reveal:
    jurors = (juror("near/oak", 8, 4), juror("near/oak", 7, 4), juror("near/elm", 6, 2))
    marks = {"A": {"logic": 7.0, "evidence": 6.5}, "B": {"logic": 3.5, "evidence": 3.0}}
    return reveal(**{"jurors": jurors, "marks": marks} | fields)


def ratings(models: int) -> Leaderboard:
    rated = [
        ModelRatings(
            model=f"near/{NAMES[n % len(NAMES)]}-{n}",
            people=Rating(won=1, value=1200.0 - n, low=1000.0, high=1300.0) if n % 3 else None,
            jury=Rating(won=1, value=1100.0 - n, low=1000.0, high=1300.0),
        )
        for n in range(models)
    ]
    return Leaderboard(debates=9, people=8, jury=9, standings=tuple(rated))


def record(**fields: Any) -> OwnRecordAnswer:
    given = {"votes": 23, "people": Frequency(14, 23), "jury": Frequency(3, 6), "lines": ()}
    return OwnRecordAnswer(**given | fields)


def found(file: File | None, tag: str, **having: str) -> list[ElementTree.Element]:
    shapes = ElementTree.fromstring(some(file).content).iter()  # noqa: S314 - our own picture
    drawn = [one for one in shapes if one.tag.endswith("}" + tag)]
    return [one for one in drawn if having.items() <= one.attrib.items()]


def written(file: File | None) -> list[str]:
    return ["".join(one.itertext()) for one in found(file, "text")]


def in_red(file: File | None) -> list[float]:
    """Return how long red bars are, each as a share of a whole one."""
    whole = max(float(one.attrib["width"]) for one in found(file, "rect") if "fill" in one.attrib)
    return [round(float(one.attrib["width"]) / whole, 3) for one in found(file, "rect", fill=RED)]


def three() -> list[File | None]:
    guessed = GuessRecord(user="", right=5, n=12, chance=2.4)
    return [
        LeaderboardAnswer(leaderboard=ratings(40)).picture(),
        record(guessed=guessed).picture(),
        marks_picture(judged()),
    ]


async def test_everything_is_inside_and_can_be_drawn() -> None:
    for file in three():
        assert file is not None
        (svg,) = found(file, "svg")
        width, height = float(svg.attrib["width"]), float(svg.attrib["height"])
        for tag in ("text", "circle", "rect", "line"):
            for one in found(file, tag):
                for across in ("x", "x1", "x2", "cx"):
                    assert 0 <= float(one.get(across, 0)) <= width
                for down in ("y", "y1", "y2", "cy"):
                    assert 0 <= float(one.get(down, 0)) <= height
        (picture,) = await drawn([file])
        assert (picture.media, picture.alt) == ("image/png", file.alt)
        assert picture.alt


@pytest.mark.parametrize("language", ["de", "es", "tr", "zh"])
def test_they_are_in_the_language_of_the_person(language: str) -> None:
    english = [set(written(file)) for file in three()]
    with speaking(language):
        for file, texts in zip(three(), english, strict=True):
            assert file is not None
            told = set(written(file))
            assert not {text for text in texts & told if " " in text}
            assert "people" not in " ".join(told)
            assert " jury" not in file.alt


def test_a_leaderboard_shows_the_best_models_under_names_that_differ() -> None:
    file = LeaderboardAnswer(leaderboard=ratings(40)).picture()
    names = [text for text in written(file) if "-" in text or "…" in text]
    assert len(set(names)) == len(names) >= MOST_MODELS
    assert file is not None
    assert f"near/{NAMES[0]}-0 · people: not judged · jury: 1100 (1000 to 1300)" in file.alt
    assert LeaderboardAnswer(leaderboard=ratings(0)).picture() is None


def test_a_record_is_a_bar_as_long_as_its_share_with_a_line_where_chance_is() -> None:
    guessed = GuessRecord(user="", right=5, n=12, chance=2.4)
    file = record(guessed=guessed).picture()
    bars = [one for one in found(file, "rect") if "fill" in one.attrib]
    whole, crowd, _, jury, _, right, chance = (float(one.attrib["width"]) for one in bars)
    shares = [round(width / whole, 3) for width in (crowd, jury, right)]
    assert shares == [0.609, 0.5, 0.417]
    assert float(bars[6].attrib["x"]) == pytest.approx(32 + whole * 0.2 - chance / 2, abs=0.2)
    assert file is not None
    assert file.alt == (
        "Your votes: 23 revealed debates here. As the people did: 14 of 23 (61 %). As the "
        "jury did: 3 of 6, too few to say much. Models guessed right: 5 of 12 (42 %) · by chance "
        "about 2.4"
    )
    assert record(votes=0).picture() is None


def test_marks_are_bars_with_a_dot_for_each_juror_and_the_same_in_words() -> None:
    aside = juror("near/fir", 1, 10, recused=True)
    debate = judged(jurors=(*judged().jurors, aside))
    file = marks_picture(debate)
    # A dot a juror that has a say, for either side.
    assert len(found(file, "circle", fill=INK)) == len(CRITERIA) * 2 * 2
    assert in_red(file) == [0.35, 0.3]
    assert some(file).alt == "The jury's mean marks. logic: A 7.0, B 3.5; evidence: A 6.5, B 3.0."
    lines = list(reason_lines(debate))
    assert lines[:2] == ["- `near/oak` for **🔵 A**", "  🔵 A–🔴 B: logic 7.5–4, evidence 7.5–4"]
    # Bars begin and end where the operator's marks do.
    own = (Criterion(name="logic", weight=1, lowest=-5, highest=5),)
    marks = {"A": {"logic": 5.0}, "B": {"logic": 0.0}}
    assert in_red(marks_picture(judged(criteria=own, marks=marks, jurors=()))) == [0.5]


def test_before_the_reveal_there_is_no_picture_and_beside_numbers_neither() -> None:
    line = DebateLine.of(make_debate(1, Status.VOTING))

    def answer(shown: Reveal | None, part: Any) -> File | None:
        return ResultAnswer(debate=line, reveal=shown, part=part).picture()

    assert answer(None, "why") is None
    assert answer(judged(), "details") is None
    assert answer(judged(marks={}), "why") is None
    assert answer(judged(), "why") == marks_picture(judged())
