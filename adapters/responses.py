"""What a platform answers, where it is not of the platform's form: a proxy's page, a lost field."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import structlog

from engine.values.errors import MISFITS, VenueError

P = ParamSpec("P")
T = TypeVar("T")
log = structlog.get_logger(__name__)


def reads(
    unreadable: Callable[[], VenueError],
) -> Callable[[Callable[P, Coroutine[Any, Any, T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Let a method that reads answers raise `unreadable()` for one that it cannot read.

    What was asked for may have been done. The log has the details.
    """

    def dress(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @wraps(method)
        async def read(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return await method(*args, **kwargs)
            except MISFITS as error:
                log.exception("unreadable answer", method=method.__name__)
                raise unreadable() from error

        return read

    return dress
