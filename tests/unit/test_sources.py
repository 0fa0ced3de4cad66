"""Sources as files: what is refused in one sentence, and how quotations from them are looked up."""

from pathlib import Path

import pytest

from bot.local.single import read_files
from engine.chat.context import Requester
from engine.chat.invocation import StartArguments
from engine.chat.settings import order_of
from engine.values.debate import Source
from engine.values.errors import UsageError
from engine.values.language import speaking
from engine.values.overlap import check_quotations
from engine.values.source_files import check_files, pasted, read_sources
from engine.values.sources import SourceFile, SourceLimits, named, outcome_of
from engine.words.cards import card_of
from engine.words.phrases import source_name
from engine.words.pieces import markdown_of
from tests.doubles.rehearsed import DEFAULTS
from tests.kit import announcement

LIMITS = SourceLimits(files=2, bytes=300, characters=60, total=80)
TRAM = Source(title="tram", text="In 2019 the city counted 41,000 riders a day on the new line.")
BUS = Source(title="bus", text="Buses need no rails and can be moved within a week.")


def file(content: bytes | str = "Rails last.", name: str = "a.txt") -> SourceFile:
    return SourceFile(name=name, content=content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ([file(), file(), file()], "at most 2 sources, and these are 3"),
        ([file(name="scan.pdf")], "“scan.pdf” is not a source that debaters can read"),
        ([file(name="none")], "“none” is not a source that debaters can read"),
        ([file("x" * 301)], "“a.txt” has 301 bytes; a source may have at most 300"),
        ([file("Straße".encode("latin-1"))], "“a.txt” is not text in UTF-8"),
        ([file(b"GIF\0\0")], "“a.txt” is not text;"),
        ([file("")], "“a.txt” is empty"),
        ([file("\u200b \u2800\n")], "“a.txt” is empty"),
        ([file("x" * 61)], "“a.txt” has 61 characters; a source may have at most 60"),
        ([file("x" * 50), file("y" * 31)], "81 characters together; at most 80"),
        ([file("", name="<@U1> **all**.md")], "“U1 all.md” is empty"),
    ],
)
def test_what_no_debater_can_read_is_refused(files: list[SourceFile], why: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_sources(files, LIMITS)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_long_file_is_refused_by_its_size_alone_and_a_turn_full_of_marks_takes_no_time() -> None:
    with pytest.raises(UsageError, match="4,000,000,000 bytes"):
        check_files([("a.txt", 4_000_000_000)], LIMITS)
    long = Source(title="long", text="word " * 8_000)
    assert len(check_quotations("“a b c” [Source 1] " * 5_000, (long,))) == 20
    assert check_quotations("“" * 50_000 + "[Source 1]" * 5_000, (long,)) == ()


def test_a_source_is_its_text_without_control_characters_under_a_plain_title() -> None:
    given = [
        file("\ufeffRails\r\nlast.\x07\u202e", name="../x/Tram & @everyone “study” [v2].MD"),
        file("轨道耐用。", name="有轨电车.txt"),
    ]
    sources = read_sources(given, LIMITS)
    assert [source.text for source in sources] == ["Rails\nlast.", "轨道耐用。"]
    assert named(sources) == ("Source 1: Tram & everyone study v2", "Source 2: 有轨电车")


def test_a_folder_with_a_picture_is_read_and_what_is_left_out_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Rails last.")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\0")
    (tmp_path / "c.txt").write_bytes("Straße".encode("latin-1"))
    (tmp_path / "d.txt").write_text(" ")
    (tmp_path / "e").mkdir()
    (tmp_path / "f.txt").write_text("Buses bend.")
    (tmp_path / ".hidden").write_text("x")
    files, left_out = read_files([str(tmp_path)], LIMITS)
    assert [file.name for file in files] == ["a.md", "f.txt"]
    names = [line.split(" is ")[0] for line in left_out]
    assert names == ["“b.png”", "“c.txt”", "“d.txt”", f"{tmp_path}/e"]


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("b.png", b"\x89PNG", "“b.png” is not a source"),
        ("c.txt", b"\xdf", "is not text in UTF-8"),
        ("", b"", "a folder without text or Markdown files"),
        ("none.txt", b"", "none.txt is not a file; give text or Markdown files, or a folder"),
    ],
)
def test_a_file_that_is_named_is_never_left_out(
    tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    if content:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=why):
        read_files([str(tmp_path / name)], LIMITS)


def test_a_text_of_a_folder_that_is_too_long_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x" * 61)
    with pytest.raises(UsageError, match="has 61 characters"):
        read_files([str(tmp_path)], LIMITS)


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("en", ["Source 1: tram", "Source 2: pasted text"]),
        ("de", ["Quelle 1: tram", "Quelle 2: eingefügter Text"]),
        ("es", ["Fuente 1: tram", "Fuente 2: texto pegado"]),
        ("tr", ["Kaynak 1: tram", "Kaynak 2: yapıştırılan metin"]),
        ("zh", ["来源 1：tram", "来源 2：粘贴的文本"]),
    ],
)
def test_readers_see_sources_by_names_in_the_language_of_the_debate(
    language: str, names: list[str]
) -> None:
    given = read_sources([file(name="tram.txt"), pasted("Buses bend.")], LIMITS)
    with speaking(language):
        titles = tuple(source.title for source in given)
        card = markdown_of(card_of(announcement(sources=titles, language=language)), {})
        assert [source_name(at, one) for at, one in enumerate(titles, 1)] == names
    assert " · ".join(names) in card


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        ("They say “the city counted 41,000 riders a day” [Source 1].", ["found"]),
        ("„the City counted 41,000 riders a day“ [Source 1]", ["found"]),
        ("« the city counted 41,000 riders a day », [Source 1]", ["found"]),
        ('"the city counted 41,000 riders … on the new line" (Source 1)', ["found"]),
        ("**“buses need no rails”** [Source 2, p. 3]", ["found"]),
        ("„Buses need no rails“ [Quelle 2]; «Buses need no rails» [Fuente 2]", ["found"] * 2),
        ("“Buses need no rails” [Source 1]", ["elsewhere"]),
        ("“Buses are twice as dear as any tram” [Source 2]", ["missing"]),
        ("“Buses need no rails” [Source 7]", ["elsewhere"]),
        ("“Nobody rides at night” [Source 7]", ["missing"]),
        ("As Source 1 shows, “nobody” rides. Costs rose [Source 1].", []),
        ("“…” [Source 1] and [Source 2]", []),
        ("no quotation, only a mark [Source 1]", []),
    ],
)
def test_a_marked_quotation_is_looked_up_in_the_sources(text: str, outcomes: list[str]) -> None:
    assert [outcome_of(one) for one in check_quotations(text, (TRAM, BUS))] == outcomes


def test_scripts_without_spaces_are_looked_up_too() -> None:
    source = Source(title="电车", text="二〇一九年，新线每天有四万一千名乘客。")
    found, missing = check_quotations(
        "“新线每天有四万一千名乘客” [Source 1]。「公交车便宜得多而且灵活」【来源 1】", (source,)
    )
    assert (outcome_of(found), outcome_of(missing)) == ("found", "missing")


def test_a_command_reads_its_files_before_anything_is_asked_or_stored() -> None:
    person = Requester(platform="chat", community="club", place="lobby", user="ada")
    asked = StartArguments(topic="Trams", sources=(file("Rails\r\nlast."),))
    assert order_of(person, asked, DEFAULTS).sources == (Source(title="a", text="Rails\nlast."),)
    strict = DEFAULTS.model_copy(update={"sources": SourceLimits(characters=3)})
    with pytest.raises(UsageError, match="has 11 characters; a source may have at most 3"):
        order_of(person, asked, strict)
