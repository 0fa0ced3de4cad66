"""Waits for conditions, deadlines that pass at once, and how long something may take."""

import asyncio
import io
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from adapters.models.attempts import Outcome
from adapters.models.rehearsal import _RehearsedCall
from engine.values.ports import utc_now

T = TypeVar("T")
# What only ends a hang: on a busy machine all takes longer. Yet less than a minute, after which the
# product itself looks for what no notification told.
HANG_SECONDS = 55.0
# The same where processes start, and die, that compete for the processors.
PROCESS_SECONDS = 300.0
LATE = 1e-6  # seconds: no timer rings early


async def until(look: Callable[[], T | None], seconds: float = HANG_SECONDS) -> T:
    """Wait until something is there, and return it; raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while not (found := look()):  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    return found


async def until_asked(
    ask: Callable[[], Awaitable[T]], done: Callable[[T], object], seconds: float = HANG_SECONDS
) -> T:
    """Wait until an answer will do, and return it; raises TimeoutError.

    The longer it takes, the rarer it asks: who waits on a busy machine makes it no busier.
    """
    pause = 0.005
    async with asyncio.timeout(seconds):
        while not done(answer := await ask()):
            await asyncio.sleep(pause)
            pause = min(1.2 * pause, 0.1)
    return answer


async def until_true(ask: Callable[[], Awaitable[object]], seconds: float = HANG_SECONDS) -> None:
    """Wait until the answer to a question is true; raises TimeoutError."""
    await until_asked(ask, bool, seconds)


async def cancelled(task: asyncio.Task[Any]) -> None:
    """Cancel a task, and see it end by that."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@asynccontextmanager
async def beside(*works: Coroutine[Any, Any, object]) -> AsyncIterator[list[asyncio.Task[object]]]:
    """Let something run while the body does; it is cancelled then, and how it ended is ignored."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def held_at(step: str) -> Iterator[asyncio.Event]:
    """Hold rehearsal models at a step until this ends, or the event is set."""
    go_on, send = asyncio.Event(), _RehearsedCall.send

    async def wait(asked: _RehearsedCall) -> Outcome:
        if asked._call.step == step:
            await go_on.wait()
        return await send(asked)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_RehearsedCall, "send", wait)
        try:
            yield go_on
        finally:
            go_on.set()


class Starved:
    """How long processes were ready to run and had no processor, since this was made.

    Counted are this process and others by their ids; 0 where the system does not say.
    """

    def __init__(self, processes: Iterable[int] = ()) -> None:
        self._before = {pid: _starved(pid) for pid in (os.getpid(), *processes)}

    @property
    def seconds(self) -> float:
        return sum(max(0.0, _starved(pid) - known) for pid, known in self._before.items())


@contextmanager
def within(seconds: float, processes: Iterable[int] = ()) -> Iterator[None]:
    """Check that the body takes less time, without what the machine's other work costs it."""
    starved, began = Starved(processes), time.monotonic()
    yield
    took = time.monotonic() - began - starved.seconds
    assert took < seconds, f"it took {took:.1f} s"


def _starved(pid: int) -> float:
    waited = 0
    for told in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # the thread has ended
            waited += int(told.read_text().split()[1])
    return waited / 1e9


async def until_shown(what: str, screen: io.StringIO) -> str:
    await until(lambda: what in screen.getvalue())
    return screen.getvalue()


class FixedClock:
    """A clock that stands still until it is moved; waits take their real time."""

    def __init__(self, beginning: datetime | None = None) -> None:
        self._now = beginning or utc_now()

    def now(self) -> datetime:
        return self._now

    def pass_seconds(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@contextmanager
def skipped_time() -> Iterator[None]:
    """Skip what the running loop would wait for its timers; `time.monotonic` follows.

    For code that waits for timers alone: a network or a thread would be given no time.
    """
    loop: Any = asyncio.get_running_loop()
    now, select = time.monotonic(), loop._selector.select

    def skip(seconds: float | None) -> object:
        nonlocal now
        if seconds:
            now += seconds + LATE
        return select(seconds and 0)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loop._selector, "select", skip)
        patched.setattr(time, "monotonic", lambda: now)
        yield
