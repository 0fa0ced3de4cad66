"""Pictures of docs: one command makes them all, and the film of a terminal is what it showed."""

import re
from pathlib import Path

import pytest

from tests.pages.terminal_cast import COLUMNS, Event, draw, frames, read_cast, write_cast

ROOT = Path(__file__).parents[2]
MOST_BYTES = 300_000


def test_every_picture_of_docs_is_made_by_the_one_command() -> None:
    """Some were screenshots by hand, older than what they showed."""
    made = "".join(file.read_text("utf-8") for file in (ROOT / "tests/pages").glob("*.py"))
    for picture in (*ROOT.glob("docs/*.png"), *ROOT.glob("docs/*.svg")):
        assert re.sub("-phone$", "", picture.stem) in made, picture.name


def test_the_film_in_the_readme_is_small_and_asks_for_nothing() -> None:
    film = (ROOT / "docs/terminal.svg").read_text("utf-8")
    assert len(film.encode()) < MOST_BYTES
    assert not re.search(r"<script|<foreignObject|@import|url\(|@font-face", film)
    assert set(re.findall(r'"(https?:[^"]+)"', film)) == {"http://www.w3.org/2000/svg"}
    assert re.search(r"#film\{animation:film (2\d|3\d)\.\ds step-end", film)


def text_of(svg: str) -> list[str]:
    """Return each line of each frame, in order."""
    found = re.findall(r'<text id="(l\d+)">(.*?)</text>', svg)
    lines = {name: re.sub("<[^>]+>", "", spans) for name, spans in found}
    return [lines[name] for name in re.findall(r'href="#(l\d+)"', svg)]


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("one\r\ntwo\r\n", ["one", "two"]),
        ("thinking\r\x1b[2Kdone\r\n", ["done"]),
        ("draft\r\nmore\r\n\x1b[2A\x1b[2Ksaid\r\n", ["said", "more"]),
        ("\x1b[1;34m🔵 A\x1b[0m <&>\r\n", ["● A &lt;&amp;&gt;"]),
    ],
)
def test_a_terminal_is_drawn_as_it_looks_after_what_was_sent(
    tmp_path: Path, sent: str, shown: list[str]
) -> None:
    cast = tmp_path / "a.cast"
    write_cast([Event(1.5, sent)], cast)
    assert read_cast(cast) == [Event(1.5, sent)]
    made = frames(read_cast(cast))
    assert text_of(draw(made))[-len(shown) :] == shown
    assert [frame.at for frame in made] == [0, 1.5]


def test_a_wide_mark_takes_two_cells() -> None:
    svg = draw(frames([Event(1, "🔵 A" + "x" * (COLUMNS - 4))]))
    assert 'textLength="16.9"' not in svg
    ((start, width),) = re.findall(r'x="([\d.]+)" textLength="([\d.]+)"[^>]*> Ax', svg)
    assert float(start) + float(width) == pytest.approx(12 + COLUMNS * 8.43, abs=0.2)
