"""The live part below the last message: turns being written, and who is thinking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.panel import Panel
from rich.spinner import Spinner
from rich.text import Text

from adapters.terminal import texts
from adapters.terminal.render import colour_of
from engine.values.language import ENGLISH, speaking
from engine.values.ports import Draft
from engine.values.text import clean
from engine.words.cards import words_used

FRAMES_PER_SECOND = 10
FRAME_ROWS = 2  # a draft's border


class _Key(NamedTuple):
    debate: str
    seat: str
    round: str


class LiveView:
    """A live view at the end of a console; messages are printed above it.

    `language` is that of the debate that is shown.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self.language = ENGLISH
        self._live: Live | None = None
        self._drafts: dict[_Key, Draft] = {}
        self._thinking: tuple[str, ...] = ()
        self._spinner = Spinner("dots", style="status.spinner")

    def write(self, draft: Draft) -> None:
        """Show a draft, in place of its earlier text."""
        # Replaced, never mutated: rich's thread may be reading it.
        self._drafts = {**self._drafts, _Key(draft.debate, draft.seat, draft.round): draft}
        self._refresh()

    def drop(self, debate: str, seat: str, round: str) -> None:
        """Remove a draft, if it is shown."""
        gone = _Key(debate, seat, round)
        self._drafts = {key: draft for key, draft in self._drafts.items() if key != gone}
        self._refresh()

    def think(self, seats: Sequence[str]) -> None:
        """Show who is thinking; empty for no one."""
        self._thinking = tuple(seats)
        self._refresh()

    def clear(self) -> None:
        """Remove everything."""
        self._drafts, self._thinking = {}, ()
        self._refresh()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Make room for a message, then continue below it."""
        self._stop()
        try:
            yield
        finally:
            self._refresh()

    def _refresh(self) -> None:
        if not self._drafts and not self._thinking:
            self._stop()
        elif self._live is None:
            self._live = Live(
                console=self._console,
                get_renderable=self._view,
                refresh_per_second=FRAMES_PER_SECOND,
                transient=True,
            )
            self._live.start(refresh=True)

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _view(self) -> RenderableType:
        with speaking(self.language):  # Rich draws in a thread of its own.
            drafts = tuple(self._drafts.values())
            shares = max(1, len(drafts))
            rows = max(1, (self._console.height - 2) // shares - FRAME_ROWS)
            views: list[RenderableType] = [_panel(draft, rows) for draft in drafts]
            written = {draft.seat for draft in drafts}
            silent = [seat for seat in self._thinking if seat not in written]
            if silent:
                said = clean(texts.thinking(silent))
                self._spinner.update(text=Text(said, style="dim"))
                views.append(self._spinner)
            return Group(*views)


def _panel(draft: Draft, rows: int) -> Panel:
    colour = colour_of(draft.side)
    title = texts.draft_title(draft)
    return Panel(
        _Tail(clean(draft.text), rows),
        title=Text(clean(title), style=f"bold {colour}"),
        subtitle=Text(words_used(draft.words, draft.limit), style="dim"),
        title_align="left",
        subtitle_align="right",
        border_style=colour,
    )


@dataclass(frozen=True, slots=True)
class _Tail:
    """The last rows of a text, as it wraps."""

    text: str
    rows: int

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Wrap the text and yield its end."""
        lines = Text(self.text).wrap(console, options.max_width)
        yield Text("\n").join(lines[-self.rows :])
