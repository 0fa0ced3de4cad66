"""How far a series is, while it is held: a bar in a terminal, else a line now and then."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import structlog
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.text import Text

from bot.console import BETWEEN, pack
from engine.series.runner import SeriesProgress
from engine.series.spec import Series
from engine.store import Store
from engine.store.usage import CallUsage, UsageFilter
from engine.values.text import dollars

LINE_SECONDS = 30.0  # between two lines without a terminal
TOTALS_SECONDS = 2.0  # between two readings of what calls took
TOTALS_SHARE = 20  # of the time that a reading takes: as long it is not repeated
WIDEST = 100  # columns of the bar and what is below it
NARROWEST_BAR = 8
log = structlog.get_logger(__name__)

Watch = Callable[[SeriesProgress], None]


class Display:
    """What people see of a series; `now` is in seconds.

    `standing` is None until something is known. Once `percent` of its cap are reserved or spent,
    it says so.
    """

    def __init__(
        self,
        series: Series,
        store: Store,
        percent: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._series, self._store, self._percent, self._now = series, store, percent, now
        self._began = self._read_again = now()
        self._printed: float | None = None
        self._over = False
        self._first: int | None = None
        self._usage = CallUsage()
        self._reading: asyncio.Task[None] | None = None
        self._warning, self._warned = "", False
        self.standing: SeriesProgress | None = None

    def update(self, standing: SeriesProgress) -> None:
        """Take in how far the series is, and what its calls took."""
        if self._first is None:
            self._first = standing.held
        self.standing = standing
        due = self._reading is None or self._reading.done()
        if due and self._now() >= self._read_again:
            self._reading = asyncio.ensure_future(self._read_usage())

    def print_line(self, standing: SeriesProgress) -> None:
        """Print the state, at most every half minute, and once when nothing is left."""
        self.update(standing)
        if warning := self.warning():
            print(warning, flush=True)
        now, over = self._now(), _is_over(standing)
        due = self._printed is None or now - self._printed >= LINE_SECONDS
        if due or (over and not self._over):
            self._printed = now
            counted = f"{standing.held:,} of {standing.total:,} debates"
            print(BETWEEN.join((counted, *self.parts())), flush=True)
        self._over = over

    def warning(self) -> str:
        """Return, once, that the series is near its cap; else nothing."""
        said, self._warning = self._warning, ""
        return said

    def parts(self) -> Iterator[str]:
        """Yield the state in short pieces, with what calls took until it is over."""
        standing = self.standing
        if standing is None:
            return
        yield f"{standing.running:,} running"
        if standing.failed:
            yield f"{standing.failed:,} failed"
        if standing.refused:
            yield f"{standing.refused:,} refused"
        if not _is_over(standing):
            done = standing.held - (self._first or 0)
            left = standing.total - standing.held - standing.refused
            eta = span((self._now() - self._began) / done * left) if done else "unknown"
            yield f"ETA {eta}"
        for model, number in standing.waiting.items():
            yield f"{number:,} waiting for {model}"
        if _is_over(standing):
            return  # the totals were read before the last debates ended
        used = self._usage.sum
        yield f"{used('calls'):,} {'call' if used('calls') == 1 else 'calls'}"
        yield f"tokens {used('tokens_in'):,} in"
        yield f"{used('tokens_out'):,} out"
        yield f"{used('tokens_reasoning'):,} reasoning"
        yield f"{used('tokens_cached'):,} cached"
        yield f"{'≥ ' if used('unpriced') else ''}{used('usd'):.2f} USD"

    async def _read_usage(self) -> None:
        """Read what calls took, beside the series and not too often."""
        began = self._now()
        self._usage = await self._store.usage.read(UsageFilter(series=self._series.name))
        taken = await self._store.series.taken(self._series.name)
        cap, percent = self._series.limits.usd, self._percent
        if cap and percent is not None and not self._warned and taken >= cap * percent / 100:
            self._warned = True
            self._warning = (
                f"At least {percent:g} % of the cap of {dollars(cap)} USD is used or reserved."
            )
            log.info("series near its cap", series=self._series.name, percent=percent, usd=cap)
        took = self._now() - began
        self._read_again = began + max(TOTALS_SECONDS, TOTALS_SHARE * took)


def _is_over(standing: SeriesProgress) -> bool:
    """Return whether nothing is left to hold; what failed is tried again by another run."""
    over = standing.held + standing.failed + standing.refused >= standing.total
    return over and not standing.running and not standing.waiting


def open_display(display: Display) -> AbstractContextManager[Watch]:
    """Return what shows the progress of a series while it is held."""
    return (
        _Bar(display, Console(highlight=False))
        if sys.stdout.isatty()
        else nullcontext(display.print_line)
    )


class _Bar:
    """A bar with the state below it, around the body; each line as wide as the terminal."""

    def __init__(self, display: Display, console: Console) -> None:
        self._display, self._console = display, console
        self._live = Live(self, console=console, refresh_per_second=4)

    def __enter__(self) -> Watch:
        self._live.start()
        return self._show

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def _show(self, standing: SeriesProgress) -> None:
        self._display.update(standing)
        if warning := self._display.warning():
            self._console.print(warning, style="yellow")

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the bar and the state below it."""
        standing, width = self._display.standing, min(options.max_width, WIDEST)
        if standing is None:
            return
        counted = f" {standing.held:,}/{standing.total:,} debates"
        room = max(NARROWEST_BAR, width - len(counted))
        bar = ProgressBar(total=max(1, standing.total), completed=standing.held, width=room)
        yield from console.render(bar, options)
        yield Text(counted, no_wrap=True, overflow="ellipsis")
        for line in pack(self._display.parts(), width):
            yield Text(line, no_wrap=True, overflow="ellipsis")


def span(seconds: float) -> str:
    """Return a time in hours and minutes."""
    minutes = max(1, round(seconds / 60))
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02} min" if hours else f"{minutes} min"
