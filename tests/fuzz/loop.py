"""One event loop for parsers that are coroutines: a new one an example would take longer."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


def wait(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end."""
    return _loop().run_until_complete(work)
