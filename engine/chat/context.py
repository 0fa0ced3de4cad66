"""The dependencies of chat commands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from engine.chat.cooldown import Cooldown
from engine.chat.person import Person
from engine.line.intake import Defaults
from engine.line.service import Service
from engine.store import Store

READINGS = 4  # at once, of all communities


@dataclass(slots=True)
class Context:
    """The engine as commands use it; `defaults` are the operator's."""

    service: Service
    store: Store
    defaults: Defaults
    version: str
    export_key: bytes | None = None
    cooldown: Cooldown = field(default_factory=Cooldown)
    typing: Cooldown = field(default_factory=lambda: Cooldown(at_once=20, seconds=1))
    # Each keeps a thread busy with Python, and debates need the interpreter too: a community has
    # one at a time, and threads are left for everything else.
    _readings: WeakValueDictionary[tuple[str, str], asyncio.Lock] = field(
        default_factory=WeakValueDictionary
    )
    _room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(READINGS))
    # Per thread: the second of two concurrent starts must see the first.
    starts: WeakValueDictionary[object, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    @asynccontextmanager
    async def reading(self, person: Person) -> AsyncIterator[None]:
        """Wait until a person's community may read many debates; others do not wait for it."""
        community = person.platform, person.community
        async with self._readings.setdefault(community, asyncio.Lock()), self._room:
            yield
