"""Events that concern the same thing are handled in their order, others side by side."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Hashable

import structlog

from engine.errors import RostrumError
from engine.ports import Inbound, Listener

log = structlog.get_logger(__name__)


class InOrder:
    """Hands events to a listener; `spawn` owns the tasks that do it."""

    def __init__(
        self, listener: Listener, spawn: Callable[[Awaitable[None]], asyncio.Task[None]]
    ) -> None:
        self._listener = listener
        self._spawn = spawn
        self._lanes: dict[Hashable, deque[Inbound]] = {}

    def put(self, key: Hashable, event: Inbound) -> None:
        """Have an event handled after the earlier ones of its key."""
        if key in self._lanes:
            self._lanes[key].append(event)
            return
        self._lanes[key] = deque([event])
        self._spawn(self._work(key))

    async def _work(self, key: Hashable) -> None:
        lane = self._lanes[key]
        try:
            while lane:
                await self._hear(lane.popleft())
        finally:
            del self._lanes[key]

    async def _hear(self, event: Inbound) -> None:
        try:
            await self._listener(event)
        except RostrumError as error:
            log.error("event not stored", kind=type(event).__name__, why=str(error))
        except Exception:  # a bug in one event must not lose the next ones
            log.exception("unhandled error in an event", kind=type(event).__name__)
