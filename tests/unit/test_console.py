"""Tables of commands that read."""

from __future__ import annotations

import pytest
from rich.table import Table

from bot.console import PIPE_WIDTH, TableConsole


def test_what_people_wrote_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """`rostrum list` made a picture of every `:smile:` in a topic."""
    table = Table("topic")
    table.add_row("Is :smile: [bold]a word[/bold]?")
    TableConsole().print(table, markup=False)
    assert "Is :smile: [bold]a word[/bold]?" in capsys.readouterr().out


def test_a_pipe_gets_whole_lines(capsys: pytest.CaptureFixture[str]) -> None:
    TableConsole(10).print("x " * (PIPE_WIDTH // 2 - 1))
    assert len(capsys.readouterr().out.splitlines()) == 1
