"""`rostrum init`, and the tables of commands that read."""

import io
import json
import re
from collections.abc import Mapping

import pytest
import typer
from dotenv import dotenv_values
from hypothesis import given, strategies as st
from rich.table import Table

from adapters import Finding
from bot.console import PIPE_WIDTH, TableConsole, print_json, print_lines
from bot.doctor import show
from bot.exits import WRONG_USAGE, fail
from bot.init import merge
from bot.init.backends import propose
from bot.record.tables import show_table
from engine.values.errors import SettingsError, UsageError

ONLINE = "deepseek/v3 mistralai/mistral-large openai/gpt-5-mini google/gemini-3-flash qwen/qwen3"


@pytest.mark.parametrize(
    ("listed", "debaters", "jurors"),
    [
        pytest.param(
            {"openrouter": f"openai/gpt-5-mini:free x/text-embedding-3 {ONLINE}"},
            "openrouter/deepseek/v3 openrouter/mistralai/mistral-large",
            "openrouter/openai/gpt-5-mini openrouter/google/gemini-3-flash openrouter/qwen/qwen3",
            id="many families",
        ),
        pytest.param(
            {"local": "a-1 b-1 c-1 d-1"},
            "local/a-1 local/b-1",
            "local/c-1 local/d-1",
            id="models that no roster knows",
        ),
        pytest.param(
            {"local": "llama3.3 qwen3:8b qwen3:32b gemma3"},
            "local/qwen3:8b local/qwen3:32b",
            "local/gemma3 local/llama3.3",
            id="three families: two judge what one debates",
        ),
        pytest.param(
            {"openai": "gpt-5-mini-2025-08-07 gpt-5-mini o3 gpt-5", "gemini": "gemini-2.5-flash"},
            "openai/gpt-5-mini openai/gpt-5",
            "gemini/gemini-2.5-flash openai/o3",
            id="two vendors, whatever their models are called",
        ),
        pytest.param({"local": "x"}, "local/x", "local/x", id="one model"),
        pytest.param({"local": "nomic-embed-text"}, "", "", id="none that converses"),
    ],
)
def test_jurors_are_proposed_of_families_that_do_not_debate(
    listed: Mapping[str, str], debaters: str, jurors: str
) -> None:
    presets = {name: name for name in listed if name != "local"}
    proposed = propose({name: names.split() for name, names in listed.items()}, presets)
    assert [" ".join(model.ref for model in some) for some in proposed] == [debaters, jurors]


FAMILIES = st.lists(st.sampled_from("abcdefgh"), max_size=12)


@given(FAMILIES)
def test_no_juror_is_of_a_debaters_family_where_four_families_are_listed(drawn: list[str]) -> None:
    names = [f"{family}/{number}" for number, family in enumerate(drawn)]
    debaters, jurors = propose({"x": names}, {})
    assert len(set(debaters)) == len(debaters) == min(2, len(names))
    assert len(set(jurors)) == len(jurors) >= min(2, len(names))
    if len(set(drawn)) >= 4:
        assert not {one.family for one in debaters} & {one.family for one in jurors}


NAMES = st.sampled_from(("ROSTRUM_MODELS", "ROSTRUM_DISCORD__TOKEN", "OTHER", "ROSTRUM_TOPIC"))
TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]))
LINES = st.one_of(
    st.sampled_from(("", "# a comment", "export ROSTRUM_TOPIC='tea'", 'OTHER="two\nlines"')),
    st.builds("{}={}".format, NAMES, st.sampled_from(("x", "a b", "'q'", ""))),
    st.text(),
)


def read(text: str) -> dict[str, str | None]:
    return dotenv_values(stream=io.StringIO(text), interpolate=False)


@given(st.lists(LINES).map("\n".join), st.dictionaries(NAMES, TEXTS))
def test_values_are_read_back_and_all_others_stay(text: str, values: dict[str, str]) -> None:
    try:
        merged = merge(text, values)
    except SettingsError:
        return  # the test below is about those
    kept = {name: value for name, value in read(text).items() if name.upper() not in values}
    assert read(merged) == kept | values
    assert merge(merged, values) == merged


def test_an_open_quotation_mark_is_said_before_it_swallows_a_value() -> None:
    with pytest.raises(SettingsError, match=r"Line 2 of \.env is not NAME=value"):
        merge("A=1\nB='open\n", {"ROSTRUM_TOPIC": "it's tea"})


def test_nothing_is_obeyed_by_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    odd = "a \x1b[2J \x1b]8;;http://127.0.0.1/\x1b\\x \x9b31m \b\r\x7f \u202eb \u2066c\nd"
    print_lines([odd, odd])
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) == 2
    print_json({"text": odd})
    as_json = capsys.readouterr().out
    assert json.loads(as_json) == {"text": odd}
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", printed + as_json
    )


def test_a_long_finding_ends_its_lines_between_words_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    finding = Finding("templates", False, "one that nobody can read " * 4 + "/a/" + "long/" * 20)
    show(finding)
    assert len(capsys.readouterr().out.splitlines()) == 1
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    show(finding)
    first, *others, address = capsys.readouterr().out.splitlines()
    assert first.startswith("FAIL  templates: one that")
    assert all(line.startswith("      ") and len(line) <= 60 for line in others)
    assert address == "      /a/" + "long/" * 20


def test_an_error_ends_its_lines_between_words_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    error = UsageError("There is no database yet: no debate was held, and none can be shown.")
    with pytest.raises(typer.Exit):
        fail(error, WRONG_USAGE)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    with pytest.raises(typer.Exit):
        fail(error, WRONG_USAGE)
    whole, *lines = capsys.readouterr().err.splitlines()
    assert " ".join(lines) == whole
    assert max(map(len, lines)) <= 60


def test_a_pipe_gets_whole_lines_of_what_people_wrote_as_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    TableConsole().print("x " * (PIPE_WIDTH // 2 - 1))
    assert len(capsys.readouterr().out.splitlines()) == 1
    # `rostrum list` made a picture of every `:smile:` in a topic.
    table = Table("topic")
    table.add_row("Is :smile: [bold]a word[/bold]?")
    TableConsole().print(table)
    assert "Is :smile: [bold]a word[/bold]?" in capsys.readouterr().out


WIDTHS = [60, 80, 120]
JURORS = [
    (f"local/a-model-with-a-long-name-{n}", f"{n}.0 (1.0 to 9.0)", "too few", "", f"{n} of 9")
    for n in range(4)
]
COLUMNS = ("", "mean mark, 1 to 10", "weight", "lean", "same in both orders")


@pytest.mark.parametrize("width", WIDTHS)
def test_no_width_cuts_what_tells_rows_apart(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`rostrum stats` showed seven jurors as “local/…”, all alike."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(width))
    show_table("Jurors", COLUMNS, JURORS)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    assert max(map(len, lines)) <= width
    for name, mark, *_, same in JURORS:
        (at,) = [n for n, line in enumerate(lines) if name in line]
        shown = " ".join(lines[at : at + 3])
        assert mark in shown
        assert same in shown
    assert lines[-1] == "weight: too few.", "what all say alike is said once"
    assert not any("lean" in line for line in lines), "an empty column is left out"


def test_a_table_that_says_nothing_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    show_table("Jurors", COLUMNS, [])
    show_table("Lead", ("", "by people"), [("side A", "not rated"), ("last word", "not rated")])
    assert capsys.readouterr().out == ""
