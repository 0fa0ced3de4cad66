"""Debates as tasks of one process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from adapters.dispatch import LocalDispatcher
from adapters.dispatch.procrastinate import ProcrastinateDispatcher
from engine.fleet.leases import Notifier
from tests.kit import beside

Think = Callable[[str], Awaitable[None]]


@asynccontextmanager
async def dispatching(think: Think) -> AsyncIterator[LocalDispatcher]:
    dispatcher = LocalDispatcher()
    async with beside(dispatcher.run(think)):
        yield dispatcher


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_debate_submitted_while_it_runs_is_looked_at_once_more() -> None:
    begun: list[str] = []
    go_on = asyncio.Event()

    async def think(debate: str) -> None:
        begun.append(debate)
        await go_on.wait()

    async with dispatching(think) as dispatcher:
        for _ in range(3):
            await dispatcher.submit("one")
            await settle()
        assert begun == ["one"]
        go_on.set()
        await settle()
        assert begun == ["one", "one"]


async def test_stopping_takes_nothing_new_and_interrupts_what_does_not_end_in_time() -> None:
    ended: list[str] = []

    async def think(debate: str) -> None:
        try:
            await asyncio.sleep(60 if debate == "long" else 0.05)
            ended.append(debate)
        except asyncio.CancelledError:
            ended.append(f"{debate}, interrupted")
            raise

    async with dispatching(think) as dispatcher:
        await dispatcher.submit("one")
        await dispatcher.submit("long")
        await settle()
        await dispatcher.stop(0.2)
        assert ended == ["one", "long, interrupted"]
        await dispatcher.submit("two")
        await asyncio.sleep(0.1)
    assert ended == ["one", "long, interrupted"]


async def test_a_task_that_dies_is_seen_by_its_owner() -> None:
    async def think(debate: str) -> None:
        raise ZeroDivisionError

    dispatcher = LocalDispatcher()
    await dispatcher.submit("one")
    with pytest.raises(ExceptionGroup):
        await dispatcher.run(think)


class SlowJobs:
    def __init__(self) -> None:
        self.looked, self.go_on = asyncio.Event(), asyncio.Event()

    async def submit(self, debate_id: str) -> str | None:
        return None

    async def queues(self) -> Sequence[Any]:
        self.looked.set()
        await self.go_on.wait()
        return ()

    async def explain(self, queue: str, reason: str, seconds: float) -> None: ...

    async def sweep(self) -> None: ...

    async def execute(self, text: str, values: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
        return [{"worker_id": 1, "id": None}]


async def test_a_process_that_is_stopped_as_it_starts_ends_at_once() -> None:
    jobs = SlowJobs()
    dispatcher = ProcrastinateDispatcher(jobs, Notifier(), (), slots=2)

    async def think(debate: str) -> None: ...

    running = asyncio.create_task(dispatcher.run(think))
    await jobs.looked.wait()
    with capture_logs() as logs:
        stopping = asyncio.create_task(dispatcher.stop(0.1))
        await settle()
        jobs.go_on.set()
        await stopping
    assert logs == []
    assert running.done()
