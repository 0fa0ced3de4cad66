"""The picture of a result: what it shows, in any script, and when it cannot be drawn."""

import threading
import time
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image, ImageChops, ImageStat

from adapters import pictures
from adapters.pictures import OTHER_SCRIPTS, drawn, to_png
from engine.drawing import draw, width_of, wrap, write
from engine.values.messages import File, Reveal
from engine.values.verdicts import Tally, Verdict
from engine.words.result_picture import MARGIN, MOTION, WIDTH, result_picture
from tests import kit
from tests.kit import some
from tests.slow import slow_after

MODELS = {"A": "online/vendor/first-model", "B": "online/vendor/second-model"}
MOTIONS = {
    "Arabic": "هل يجب على المدن أن تمنع السيارات الخاصة؟",
    "Hindi": "क्या शहरों को निजी कारों पर प्रतिबंध लगाना चाहिए? 🍵",
    "Chinese": "人工智能将会取代大部分程序员",
    "Japanese": "お茶はコーヒーより優れている 👩‍💻",
    "Korean": "차가 커피보다 낫다",
    "Thai": "ชาดีกว่ากาแฟ",
    "emoji": "🍵❤️🇩🇪👍🏽",
    "Cyrillic": "Чай лучше кофе",
}


def reveal(topic: str = "Tea beats coffee", **fields: Any) -> Reveal:
    votes = {"A": 6, "B": 3, "tie": 1, "weak": 0}
    given: dict[str, Any] = {
        "models": MODELS,
        "tally": Tally(counts=votes, gold=votes, quorum_met=True, winner="A"),
        "verdict": Verdict(winner="A", p={"A": 0.75, "B": 0.25}, valid=3, invalid=0),
        "agree": True,
    }
    return kit.reveal(topic=topic, **given | fields)


def bars(file: File) -> list[tuple[str, float]]:
    found = ElementTree.fromstring(file.content).iter()  # noqa: S314 - our own picture
    return [
        (str(element.get("fill")), float(element.get("width", 0)))
        for element in found
        if element.tag.endswith("}rect") and element.get("fill")
    ]


def test_bars_are_divided_as_votes_and_jury_are_and_the_alt_text_says_it() -> None:
    file = result_picture(reveal(stances={"A": "tea", "B": "coffee"}))
    people, jury = bars(file)[:3], bars(file)[3:]
    whole = WIDTH - 2 * MARGIN
    assert [width / whole for _, width in people] == pytest.approx([0.6, 0.1, 0.3], abs=1e-3)
    assert [width / whole for _, width in jury] == pytest.approx([0.75, 0.25], abs=1e-3)
    assert [people[0][0], people[2][0]] == [colour for colour, _ in jury]
    for said in ("Tea beats coffee", "6–3 · tie 1", *MODELS.values(), "tea", "coffee", ", sure"):
        assert said in file.alt
    assert not set("*`🔵🔴") & set(file.alt + file.content)
    nothing = Tally(counts={}, gold={}, quorum_met=False, winner=None)
    verdict = Verdict(winner=None, valid=0, invalid=3)
    file = result_picture(reveal(tally=nothing, verdict=verdict, agree=None))
    assert len(bars(file)) == 2
    assert "no votes" in file.alt
    assert "no verdict" in file.alt


def test_every_answer_of_a_roundtable_has_its_name_and_colour() -> None:
    names = {str(n): name for n, name in enumerate(("Ash", "Birch", "Cedar"), 1)}
    votes = {"1": 1, "2": 2, "3": 4}
    file = result_picture(
        reveal(
            models={side: f"near/model-{side}" for side in names},
            names=names,
            tally=Tally(counts=votes, gold=votes, quorum_met=True, winner="3"),
            verdict=Verdict(winner="3", p={"1": 0.1, "2": 0.2, "3": 0.7}, valid=3, invalid=0),
        )
    )
    assert len({colour for colour, _ in bars(file)}) == 3
    assert all(name in file.content for name in names.values())


@pytest.mark.parametrize("script", slow_after(1, MOTIONS))
def test_any_script_is_drawn_by_our_own_fonts(script: str) -> None:
    motion = MOTIONS[script]
    assert OTHER_SCRIPTS.search(motion) is None
    image = shape(motion)
    assert image.size[0] > 0
    # A font that lacks a character draws the same box as for one that no font has.
    boxes = shape("\uf8ff" * len(motion))
    assert ImageChops.difference(image, boxes).getbbox() is not None
    for char in motion:
        if char.isalpha():
            assert ImageChops.difference(shape(char), shape("\uf8ff")).getbbox(), char


def shape(text: str) -> Image.Image:
    drawn = to_png(draw("x", "x", 600, 50, [write(10, 35, text, "ink large")], headed=False))
    return Image.open(BytesIO(drawn)).convert("L")


@pytest.mark.parametrize("word", ["निजी", "তিনি"])
@pytest.mark.parametrize("text", ["B: {}", "“{}”", "{} B {}", "صحيح {}", "{} {}"])
def test_vowels_stand_where_they_belong_beside_any_script(word: str, text: str) -> None:
    """resvg shaped what began with a Latin letter as Latin, and put the vowel behind."""
    alone = shape(word)
    box = some(ImageChops.difference(alone, shape("")).getbbox())
    glyphs, beside = alone.crop(box), shape(text.format(word, word))
    width, height = glyphs.size
    assert any(
        near(glyphs, beside.crop((x, box[1], x + width, box[1] + height)))
        for x in range(beside.width - width)
    )


@pytest.mark.parametrize("text", ["A: هل يجب؟ (6–3)", "הדברים (6–3)"])
def test_a_result_behind_arabic_or_hebrew_is_not_read_from_the_right(text: str) -> None:
    numbers, beside = shape("(6–3)"), shape(text)
    box = some(ImageChops.difference(numbers, shape("")).getbbox())
    width, shown = box[2] - box[0], ImageChops.difference(beside, shape("")).getbbox()
    assert shown is not None
    places = range(shown[2] - width - 2, shown[2] - width + 3)
    cropped = (beside.crop((x, box[1], x + width, box[3])) for x in places)
    assert any(near(numbers.crop(box), one) for one in cropped)


def test_letters_of_several_fonts_are_not_mixed_up() -> None:
    """Isolated, resvg drew boxes for Bengali beside a full-width colon."""
    assert "\u2068" not in write(0, 0, "B：Tea ভিত্তি নিজি")
    assert "\u2068" in write(0, 0, "B: ভিত্তি")


def near(one: Image.Image, other: Image.Image) -> bool:
    """Whether two pictures differ by no more than where between two pixels they begin."""
    found = ImageStat.Stat(ImageChops.difference(one, other)).mean[0]
    return bool(found < 12)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=3000))
def test_any_motion_fits(motion: str) -> None:
    lines = wrap(motion, 640, MOTION, 3)
    assert len(lines) <= 3
    assert all(width_of(line, MOTION) <= 640 for line in lines)
    ElementTree.fromstring(result_picture(reveal(motion)).content)  # noqa: S314 - our own picture


def test_a_motion_that_is_too_long_ends_in_an_ellipsis_and_flags_are_broken_in_no_time() -> None:
    lines = wrap("a long motion with very many words " * 9, 640, MOTION, 3)
    assert len(lines) == 3
    assert lines[-1].endswith("…")
    assert wrap("W" * 100, 640, MOTION, 3)[0] == "W" * int(640 / width_of("W", MOTION))
    began = time.process_time()
    lines = wrap("🇩🇪" * 20_000, 300, 12, 3)
    assert time.process_time() - began < 1  # 30 s, if each looked back over all before it
    assert len(lines) == 3
    assert lines[0] == "🇩🇪" * 12


async def test_a_picture_is_drawn_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def draw_where(svg: str) -> bytes:
        threads.append(threading.current_thread())
        return to_png(svg)

    monkeypatch.setattr(pictures, "to_png", draw_where)
    assert len(await drawn([result_picture(reveal())])) == 1
    assert threading.current_thread() not in threads
    assert len(threads) == 1


async def test_a_picture_that_cannot_be_drawn_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def fail(_: str) -> bytes:
        raise PanicException("removal index (is 17) should be < len (is 17)")

    text = File(name="brief.md", media="text/markdown", content="# x")
    picture = result_picture(reveal())
    posted, image = await drawn([text, picture])
    assert (posted, image.media, image.alt) == (text, "image/png", picture.alt)
    assert image.data().startswith(b"\x89PNG")
    for broken in (fail, lambda _: to_png("<svg")):
        monkeypatch.setattr(pictures, "to_png", broken)
        assert await drawn([text, picture]) == (text,)
