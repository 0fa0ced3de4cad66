"""Tables of commands that read."""

from __future__ import annotations

import json
import re

import pytest
from rich.table import Table

from bot.console import PIPE_WIDTH, TableConsole, print_json, print_lines


def test_what_people_wrote_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """`rostrum list` made a picture of every `:smile:` in a topic."""
    table = Table("topic")
    table.add_row("Is :smile: [bold]a word[/bold]?")
    TableConsole().print(table)
    assert "Is :smile: [bold]a word[/bold]?" in capsys.readouterr().out


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


def test_a_pipe_gets_whole_lines(capsys: pytest.CaptureFixture[str]) -> None:
    TableConsole(10).print("x " * (PIPE_WIDTH // 2 - 1))
    assert len(capsys.readouterr().out.splitlines()) == 1
