"""What takes long to work out, kept for a while: figures of a community, and its dataset."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
MOST = 32  # values
FRESH_SECONDS = 60.0  # in which more debates change nothing
LONGEST_SECONDS = 600.0  # that anything is kept, as people may have opted out meanwhile
SHARE = 20.0  # times what it took to work out, it is kept while debates are added


class Extent(NamedTuple):
    """What a value rests on: how many debates, the newest moment in them, the last deletion."""

    debates: int
    newest: object = None
    deleted: str = ""


@dataclass(frozen=True, slots=True)
class _Value:
    extent: Extent
    made_at: float
    took: float
    value: Any

    def holds(self, extent: Extent, now: float) -> bool:
        """Return whether it still stands: never once a debate was deleted."""
        age = now - self.made_at
        fewer = extent.debates < self.extent.debates  # whatever took one out
        if fewer or extent.deleted != self.extent.deleted or age > LONGEST_SECONDS:
            return False
        return extent == self.extent or age < max(FRESH_SECONDS, SHARE * self.took)


class Kept:
    """Values by key, worked out one at a time, as each keeps a thread busy with Python.

    Every process has its own: they are as good as what is stored, and nothing else rests on them.
    """

    def __init__(self, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock, self._lock = most, clock, asyncio.Lock()
        self._values: OrderedDict[Hashable, _Value] = OrderedDict()

    async def get(self, key: Hashable, extent: Extent, make: Callable[[], Awaitable[T]]) -> T:
        """Return a value that stands, worked out now if need be."""
        if (found := self._find(key, extent)) is None:
            async with self._lock:
                if (found := self._find(key, extent)) is None:
                    began = self._clock()
                    value = await make()
                    now = self._clock()
                    found = _Value(extent, now, now - began, value)
                    self._values[key] = found
                    while len(self._values) > self._most:
                        self._values.popitem(last=False)
        made: T = found.value
        return made

    def _find(self, key: Hashable, extent: Extent) -> _Value | None:
        found = self._values.get(key)
        if found is None or not found.holds(extent, self._clock()):
            self._values.pop(key, None)
            return None
        self._values.move_to_end(key)
        return found
