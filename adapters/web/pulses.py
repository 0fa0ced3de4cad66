"""Tells open pages that their debate has grown: one look at the database for all that watch it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog
from aiohttp import web

from adapters.web.tries import client_of
from engine.values.errors import NotFoundError, StoreError

LOOK_SECONDS = 1.0
MOST_WATCHED = 64  # debates at once; pages beyond them do not grow by themselves
MOST_READERS = 512  # of all of them, as each keeps a connection
MOST_OF_ONE = 24  # of one address
QUIET_SECONDS = 15.0  # after which a stream says that it is still there
STREAM = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
RETRY = b"retry: 3000\n\n"
log = structlog.get_logger(__name__)


class _Watched:
    """A debate that pages wait for; `changes` counts how often it was seen to change."""

    def __init__(self) -> None:
        self.changes, self.readers, self.ended = 0, 0, False
        self.changed = asyncio.Event()
        self.looking: asyncio.Task[None] | None = None


class Pulses:
    """Watches debates that somebody reads; `pulse` returns what changes with a page.

    Once the last reader of a debate has gone, nothing looks for it any more.
    """

    def __init__(
        self, pulse: Callable[[str], Awaitable[str]], seconds: float = LOOK_SECONDS
    ) -> None:
        self._pulse, self._seconds = pulse, seconds
        self._watched: dict[str, _Watched] = {}
        self._held: Counter[str] = Counter()  # streams, by who reads them

    @property
    def watched(self) -> int:
        """How many debates are watched."""
        return len(self._watched)

    def join(self, debate: str) -> bool:
        """Begin to watch for one more reader; False if too many read, or too many debates."""
        if sum(one.readers for one in self._watched.values()) >= MOST_READERS:
            return False
        known = self._watched.get(debate)
        if known is None:
            if len(self._watched) >= MOST_WATCHED:
                return False
            known = self._watched[debate] = _Watched()
            known.looking = asyncio.create_task(self._look(debate, known), name="pulse")
        known.readers += 1
        return True

    def leave(self, debate: str) -> None:
        """Watch no more for a reader that has gone."""
        known = self._watched[debate]
        known.readers -= 1
        if not known.readers:
            del self._watched[debate]
            if known.looking is not None:
                known.looking.cancel()

    async def wait(self, debate: str, seen: int, seconds: float) -> tuple[int, bool]:
        """Return how often a debate has changed, and whether it may again.

        Returns once it has changed more often than was `seen`, or after some seconds.
        """
        known = self._watched[debate]
        if known.changes == seen and not known.ended:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await known.changed.wait()
        return known.changes, not known.ended

    async def stream(
        self, request: web.Request, debate: str, pause: float = 0.0
    ) -> web.StreamResponse:
        """Tell a page whenever its debate has grown, until its reader goes away.

        `pause` are the seconds for which an answer from before may still be given.
        """
        await self._pulse(debate)  # only what exists is watched
        client = client_of(request)
        if self._held[client] >= MOST_OF_ONE or not self.join(debate):
            raise web.HTTPServiceUnavailable
        self._held[client] += 1
        try:
            stream = web.StreamResponse(headers=STREAM)
            await stream.prepare(request)
            await stream.write(RETRY)
            await self._tell(request, stream, debate, pause)
        except ConnectionError:
            pass  # its reader has gone
        finally:
            self.leave(debate)
            self._held -= Counter([client])  # which drops who has none left
        return stream

    async def _tell(
        self, request: web.Request, stream: web.StreamResponse, debate: str, pause: float
    ) -> None:
        seen, goes_on = 0, True
        while goes_on and not (request.transport is None or request.transport.is_closing()):
            changes, goes_on = await self.wait(debate, seen, QUIET_SECONDS)
            if changes != seen:
                await asyncio.sleep(pause)
            told = b"event: grown\ndata: 1\n\n" if changes != seen else b": still here\n\n"
            await stream.write(told)
            seen = changes

    def end(self) -> None:
        """Let every reader go: the server stops."""
        for known in self._watched.values():
            known.ended = True
            known.changed.set()

    async def _look(self, debate: str, known: _Watched) -> None:
        before: str | None = None
        while not known.ended:
            try:
                now = await self._pulse(debate)
            except NotFoundError:  # it was deleted
                known.ended = True
                now = ""
            except StoreError as error:
                log.debug("page not watched", why=error.text)
                now = before or ""
            if (before is not None and now != before) or known.ended:
                known.changes += 1
                known.changed.set()
                known.changed = asyncio.Event()
            before = now
            await asyncio.sleep(self._seconds)
