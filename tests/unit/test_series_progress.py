"""What people see of a series while it is held: a bar as wide as the terminal, or plain lines."""

from __future__ import annotations

import asyncio
import re
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.cells import cell_len
from rich.console import Console

from bot.console import pack
from bot.series_progress import LINE_SECONDS, Bar, Display
from engine.series.runner import Standing
from engine.series.spec import read_series
from engine.store import Store
from engine.store.usage import Takings, Usage

FILE: dict[str, Any] = {
    "name": "spring",
    "topics": ["Tabs beat spaces"],
    "models": ["near/ana", "near/ben"],
    "jury": {"models": ["near/j1"]},
    "limits": {"usd": 35.0},
}
TAKEN = Takings("near/ana", "debater", 12, 11_000, 7, 23_456_789, 3_456_789, 456_789, 56_789, 27, 0)
STANDING = Standing(
    total=1000, held=250, running=48, failed=3, refused=2, waiting={"near/a-model-that-is-away": 4}
)
ON_A_LINE = (
    "250 of 1,000 debates · 48 running · 3 failed · 2 refused · ETA 1 h 00 min · "
    "4 waiting for near/a-model-that-is-away · 11,000 calls · tokens 23,456,789 in · "
    "3,456,789 out · 456,789 reasoning · 56,789 cached · 27.00 USD"
)


class Books:
    """A store of which only the totals are read, and a clock."""

    def __init__(self) -> None:
        self.seconds, self.read_times, self.usd = 0.0, 0, 0.0
        self.usage = self.series = SimpleNamespace(read=self._read, taken=self._taken)

    async def _read(self, _: object) -> Usage:
        self.read_times += 1
        return Usage((TAKEN,), 250)

    async def _taken(self, _: str) -> float:
        return self.usd

    def now(self) -> float:
        return self.seconds

    def display(self, percent: float | None = 80.0) -> Display:
        return Display(read_series(FILE, ()), cast(Store, self), percent, self.now)


async def told(display: Display, standing: Standing = STANDING) -> None:
    """Tell a display how far the series is, and let it read what that took."""
    display.print_line(standing)
    for _ in range(3):
        await asyncio.sleep(0)


async def test_a_plain_line_comes_every_half_minute(capsys: pytest.CaptureFixture[str]) -> None:
    books = Books()
    display = books.display()
    await told(display, STANDING.model_copy(update={"held": 0}))
    for second in range(1, 1201):
        books.seconds = float(second)
        await told(display)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 1200 / LINE_SECONDS
    assert lines[0].startswith("0 of 1,000 debates · 48 running")
    assert "ETA unknown" in lines[0]
    assert lines[-1] == ON_A_LINE
    assert books.read_times == 600 + 1  # every two seconds


async def test_the_last_line_has_the_true_count_and_no_time_to_wait(
    capsys: pytest.CaptureFixture[str],
) -> None:
    display = Books().display()
    await told(display, Standing(total=24))
    for _ in range(3):
        await told(display, Standing(total=24, held=24))
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("0 of 24 debates · 0 running · ETA unknown")
    assert last == "24 of 24 debates · 0 running"


async def test_totals_are_read_less_often_the_longer_that_takes() -> None:
    books = Books()

    async def slowly(_: object) -> Usage:
        books.read_times += 1
        books.seconds += 1.0
        return Usage((TAKEN,), 250)

    books.usage.read = slowly
    display = books.display()
    for _ in range(100):
        await told(display)
        books.seconds += 0.5
    assert books.read_times == 3


async def test_it_says_once_that_the_cap_is_near(capsys: pytest.CaptureFixture[str]) -> None:
    said = "At least 80 % of the cap of 35.00 USD is used or reserved."
    for percent, times in ((80.0, 1), (None, 0)):
        books = Books()
        display = books.display(percent)
        for books.usd in (0.0, 27.9, 28.0, 35.0):
            await told(display)
            await told(display)
            books.seconds += 3.0
        assert capsys.readouterr().out.count(said) == times


@pytest.mark.parametrize("width", [120, 80, 40, 20])
async def test_no_line_is_wider_than_the_terminal_and_no_figure_is_lost(width: int) -> None:
    books = Books()
    display = books.display()
    await told(display, STANDING.model_copy(update={"held": 0}))
    books.seconds = 1200.0
    await told(display)
    console = Console(width=width, force_terminal=True, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(Bar(display, console))
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capture.get()).rstrip("\n").splitlines()
    assert all(cell_len(line) <= width for line in lines)
    assert "250/1,000" in lines[0]
    shown = " · ".join(line.rstrip() for line in lines[1:])
    if width >= 40:
        assert shown == " · ".join(ON_A_LINE.split(" · ")[1:])
        assert len(lines) <= {120: 4, 80: 4, 40: 7}[width]


def test_parts_are_never_broken() -> None:
    assert list(pack(["one", "two", "three"], 9)) == ["one · two", "three"]
    assert list(pack(["longer than the line", "b"], 5)) == ["longer than the line", "b"]
    assert list(pack([], 9)) == []
