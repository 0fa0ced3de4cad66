"""The dependencies of chat commands."""

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
    # One at a time: each keeps a thread busy with Python, and debates need the interpreter too.
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    # Per thread: the second of two concurrent starts must see the first.
    starts: WeakValueDictionary[object, asyncio.Lock] = field(default_factory=WeakValueDictionary)
