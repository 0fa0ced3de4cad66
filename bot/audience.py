"""Questions to both sides from people at a terminal: given as options, or typed line by line."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress

from adapters.terminal.venue import TerminalVenue
from adapters.terminal.votes import GUEST
from bot import texts
from bot.app import App
from bot.console import has_keyboard
from engine.line.asking import ask
from engine.values.debate import Debate
from engine.values.errors import LeaseLostError, RostrumError
from engine.values.language import speaking

PLATFORM = "terminal"
LOOK_SECONDS = 0.05
MOST_BYTES = 4096  # of a line, as terminals edit them


@asynccontextmanager
async def asking_beside(
    app: App, venue: TerminalVenue, debate: Debate, given: Sequence[str] | None
) -> AsyncIterator[None]:
    """Ask both sides something while the body runs, once the debate takes questions."""
    asking = asyncio.create_task(_ask(app, venue, debate, given))
    try:
        yield
    finally:
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking


async def _ask(app: App, venue: TerminalVenue, debate: Debate, given: Sequence[str] | None) -> None:
    """Wait for the time to ask, use it, and end it: no one else can ask at this terminal."""
    while True:
        time = await app.store.asking.time(debate.id)
        if time is not None and time.opened_at is not None:
            break
        await app.service.bell.collect(f"delivered/{debate.id}", LOOK_SECONDS)
    if time.closed_at is not None:
        return
    with speaking(debate.request.language):
        if given is not None:
            for number, text in enumerate(given, start=1):
                await _put(app, venue, debate, number, text)
        elif has_keyboard():
            await _by_lines(app, venue, debate)
        else:
            venue.note(texts.NO_ASKERS)
        with suppress(LeaseLostError):  # it is ending right now
            await app.service.windows[PLATFORM].close_questions(debate.id)


async def _by_lines(app: App, venue: TerminalVenue, debate: Debate) -> None:
    """Take a question from each line until an empty one, or until the time is over."""
    venue.note(texts.ASK_BY_LINES)
    number = len(await app.store.asking.asked(debate.id))
    with typed_lines(sys.stdin.fileno()) as lines:
        while text := await lines.get():
            number += 1
            await _put(app, venue, debate, number, text)


async def _put(app: App, venue: TerminalVenue, debate: Debate, number: int, text: str) -> None:
    try:
        await ask(app.service, debate, f"{GUEST}{number}", text)
    except RostrumError as error:
        venue.note(str(error))


@contextmanager
def typed_lines(fd: int) -> Iterator[asyncio.Queue[str]]:
    """Yield a queue of the lines typed into a terminal, "" for an empty one and at the end."""
    lines, loop = asyncio.Queue[str](), asyncio.get_running_loop()

    def read() -> None:
        said = os.read(fd, MOST_BYTES).decode("utf-8", "replace")
        if not said:
            loop.remove_reader(fd)
        for line in said.splitlines() or [""]:
            lines.put_nowait(line.strip())

    loop.add_reader(fd, read)
    try:
        yield lines
    finally:
        loop.remove_reader(fd)
