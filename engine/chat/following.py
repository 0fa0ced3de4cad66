"""Following a debate that somebody started, for as long as they can be told privately of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import structlog

from engine.answers.answers import StatusAnswer
from engine.chat.commands import Commands
from engine.chat.person import Person
from engine.debate import Status
from engine.errors import RostrumError

LOOK_SECONDS = 0.25
LATER_SECONDS = 5.0
log = structlog.get_logger(__name__)
EARLY = (Status.FAILED, Status.PARTIAL, Status.CANCELLED)


async def follow(
    commands: Commands, person: Person, code: str, seconds: float
) -> AsyncIterator[StatusAnswer]:
    """Yield how a debate stands once it has a thread, and once more if it ends early."""
    bell, clock = commands.service.bell, commands.service.clock
    until, told = clock.now() + timedelta(seconds=seconds), False
    while clock.now() < until:
        status = await commands.status(person, code)
        debate = status.debate
        if debate.status in EARLY:
            yield status
            return
        if debate.thread is not None and not told:
            told = True
            yield status
        if debate.status in (Status.VOTING, Status.CLOSED):
            return
        topic, pause = ("ended", LATER_SECONDS) if told else ("delivered", LOOK_SECONDS)
        await bell.collect(f"{topic}/{debate.id}", pause)


@dataclass(frozen=True, slots=True)
class Followers:
    """The tasks that follow debates; a process that ends waits for none of them."""

    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Follow a debate beside everything else."""
        task = asyncio.ensure_future(_quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Follow nothing any more."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except RostrumError as error:
        log.warning("private answer lost", why=str(error))
    except Exception:  # what is told privately is an extra, and the log knows the rest
        log.exception("private answer failed by a defect")
