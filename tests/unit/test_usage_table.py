"""What calls took, as a table where that fits the terminal, else in lines that do."""

from functools import partial

import pytest
from rich.console import Console

import bot.record.tables
from bot.record.tables import print_usage
from engine.store.usage import CallUsage, UsageTotals

NEAR = UsageTotals(
    "near/ana", "debater", 12, 11_000, 7, 0, 23_456_789, 3_456_789, 456_789, 56_789, 27.5, 0
)
FAR = UsageTotals("far/ben", "juror", 12, 3_000, 0, 0, 1_000_000, 50_000, 0, 0, 1.25, 4)
NUMBERS = ("23,456,789", "456,789", "56,789", "27.5000", "24,456,789", "≥ 1.2500", "≥ 28.7500")


@pytest.mark.parametrize("width", [120, 80, 40])
def test_no_line_is_wider_than_the_terminal_and_no_figure_is_cut(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    console = partial(Console, force_terminal=True, color_system=None, width=width)
    monkeypatch.setattr(bot.record.tables, "TableConsole", console)
    print_usage(CallUsage((NEAR, FAR), 12))
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert max(map(len, lines)) <= width
    assert all(number in said for number in NUMBERS)
    assert lines[-1] == "USD leaves out 4 calls of unknown cost."
    assert lines[0].startswith("model" if width == 120 else "near/ana")
    assert ("role debater · debates 12" in said) == (width != 120)
    assert "…" not in said
