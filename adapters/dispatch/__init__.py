"""The Dispatcher port inside one process: a task for each debate."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class LocalDispatcher:
    """Runs each submitted debate as a task of this process's loop."""

    def __init__(self) -> None:
        self._submitted: asyncio.Queue[str] = asyncio.Queue()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._again: set[str] = set()
        self._open = True

    async def submit(self, debate_id: str) -> None:
        self._submitted.put_nowait(debate_id)

    async def run(self, think: Callable[[str], Awaitable[None]]) -> None:
        """Run queued debates concurrently, until cancelled; a task that raises ends them all."""

        async def run_one(debate_id: str) -> None:
            try:
                await think(debate_id)
            finally:
                del self._running[debate_id]
                if debate_id in self._again:
                    self._again.remove(debate_id)
                    self._submitted.put_nowait(debate_id)

        async with asyncio.TaskGroup() as group:
            while True:
                debate_id = await self._submitted.get()
                if debate_id in self._running:
                    # It may be about to end, so it is queued again afterwards.
                    self._again.add(debate_id)
                elif self._open:
                    task = group.create_task(run_one(debate_id), name=f"debate {debate_id}")
                    self._running[debate_id] = task

    async def stop(self, seconds: float) -> None:
        self._open = False
        running = list(self._running.values())
        if not running:
            return
        _, late = await asyncio.wait(running, timeout=seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
