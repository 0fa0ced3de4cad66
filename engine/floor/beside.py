"""Work beside a script's main line, such as scoring a speech while the next one is written."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, TypeVar

T = TypeVar("T")


class Beside:
    """Runs tasks beside the body of its `async with`, and ends none of them early.

    Leaving waits for all of them, so that paid calls are journaled. The body's own exception is
    raised first, then the first failure of a task; cancelling the body cancels the tasks.
    """

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[Any]] = []

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a piece of work; the script may await its task."""
        task = asyncio.create_task(work)
        self._tasks.append(task)
        return task

    async def __aenter__(self) -> Beside:
        """Start without work."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for all work; raise its first failure, unless the body failed."""
        if isinstance(error, asyncio.CancelledError):
            for task in self._tasks:
                task.cancel()
        for result in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(result, BaseException) and error is None:
                raise result
