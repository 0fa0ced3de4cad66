"""The turns of a person who argues a side at a terminal, typed line by line."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from adapters.terminal.venue import TerminalVenue
from bot import texts
from bot.app import App
from bot.audience import LOOK_SECONDS, MOST_BYTES, PLATFORM
from bot.orders import HOST
from engine.store.guests import OpenTurn
from engine.values.debate import Debate
from engine.values.errors import LeaseLostError, UsageError
from engine.values.language import speaking
from engine.values.text import marked
from engine.words.phrases import round_name
from engine.words.translation import say

END = None  # in place of a line: the input ends here, for now or for good


@asynccontextmanager
async def writing_beside(app: App, venue: TerminalVenue, debate: Debate) -> AsyncIterator[None]:
    """Take turns from the keyboard while the body runs, as a person argues a side."""
    writing = asyncio.create_task(_write(app, venue, debate))
    try:
        yield
    finally:
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing


async def _write(app: App, venue: TerminalVenue, debate: Debate) -> None:
    with _typed(sys.stdin.fileno()) as lines, speaking(debate.request.language):
        while True:
            turn = await _next(app, debate)
            within = f" (≤ {turn.words})" if turn.words else ""
            named = round_name(turn.step.split("/")[1])
            side = marked(debate.request.guest)
            venue.note(texts.WRITE_BY_LINES.format(side=side, round=named) + within)
            await _give(app, venue, debate, turn, await _text(lines))


async def _next(app: App, debate: Debate) -> OpenTurn:
    while (turn := await app.store.guests.open_turn(debate.id)) is None or not turn.opened:
        await app.service.bell.collect(f"delivered/{debate.id}", LOOK_SECONDS)
    return turn


async def _text(lines: asyncio.Queue[str | None]) -> str | None:
    """Return what is typed up to an empty line or the end of the input; None for nothing at all."""
    said: list[str] = []
    while (line := await lines.get()) is not END:
        if not line.strip() and said:
            break
        said += [line] if line.strip() else []
    else:
        if not sys.stdin.isatty():
            lines.put_nowait(END)  # for every turn that follows
    return "\n".join(said) or None


async def _give(
    app: App, venue: TerminalVenue, debate: Debate, turn: OpenTurn, text: str | None
) -> None:
    """Give a turn; nothing at all gives it up."""
    try:
        if text is not None:
            await app.service.guests.give_turn(debate, HOST, text)
            return
        with suppress(LeaseLostError):  # it is ending right now
            await app.service.windows[PLATFORM].close_turn(debate.id, turn.step)
    except UsageError as error:
        venue.note(say(error.text))


@contextmanager
def _typed(fd: int) -> Iterator[asyncio.Queue[str | None]]:
    """Yield a queue of the lines typed; at a terminal more may follow an end of the input."""
    lines, loop, left = asyncio.Queue[str | None](), asyncio.get_running_loop(), bytearray()

    def read() -> None:
        said = os.read(fd, MOST_BYTES)
        left.extend(said)
        *whole, rest = bytes(left).split(b"\n")
        left[:] = rest
        if not said:
            whole += [rest] if rest else []
            left.clear()
        for line in whole:
            lines.put_nowait(line.decode("utf-8", "replace"))
        if not said:
            lines.put_nowait(END)
            if not os.isatty(fd):
                loop.remove_reader(fd)

    loop.add_reader(fd, read)
    try:
        yield lines
    finally:
        loop.remove_reader(fd)
