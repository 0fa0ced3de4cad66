"""What the commands of a chat work with."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from engine.line.intake import Defaults
from engine.line.service import Service
from engine.store import Store


@dataclass(slots=True)
class Context:
    """The engine as commands use it; `defaults` are the operator's."""

    service: Service
    store: Store
    defaults: Defaults
    version: str
    export_key: bytes | None = None
    # One at a time: each is a thread full of Python, and debates need theirs.
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    # By thread: of two starts in one thread the second has to see the first.
    starts: WeakValueDictionary[object, asyncio.Lock] = field(default_factory=WeakValueDictionary)
