"""Sources as files: what is refused in one sentence, and how quotations from them are looked up."""

import pytest

from engine.values.debate import Source
from engine.values.errors import UsageError
from engine.values.sources import (
    SourceFile,
    SourceLimits,
    check_files,
    check_quotations,
    named,
    outcome_of,
    read_sources,
)

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


def test_a_long_file_is_refused_by_its_size_alone() -> None:
    with pytest.raises(UsageError, match="4,000,000,000 bytes"):
        check_files([("a.txt", 4_000_000_000)], LIMITS)


def test_a_source_is_its_text_without_control_characters_under_a_plain_title() -> None:
    given = [
        file("\ufeffRails\r\nlast.\x07\u202e", name="../x/Tram & @everyone “study” [v2].MD"),
        file("轨道耐用。", name="有轨电车.txt"),
    ]
    sources = read_sources(given, LIMITS)
    assert [source.text for source in sources] == ["Rails\nlast.", "轨道耐用。"]
    assert named(sources) == ("Source 1: Tram & everyone study v2", "Source 2: 有轨电车")


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


def test_a_turn_full_of_marks_takes_no_time() -> None:
    long = Source(title="long", text="word " * 8_000)
    assert len(check_quotations("“a b c” [Source 1] " * 5_000, (long,))) == 20
    assert check_quotations("“" * 50_000 + "[Source 1]" * 5_000, (long,)) == ()
