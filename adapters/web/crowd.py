"""How pages are read for many at once: few reads together, and an answer that several share.

A page costs reads of the database and some milliseconds of Python, which debates in the same
process need too. So a page that is asked for again within a moment is not made again, and only so
many are made at a time; beyond that, readers are asked to come back.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from functools import partial
from hashlib import sha256
from typing import NamedTuple

from aiohttp import web

from adapters.web.application import Failure, failure_page

AT_ONCE = 2  # pages that are made at a time; the store has four connections that read
MOST_WAITING = 200
READ_SECONDS = 5.0  # in which a page must be made, or its database is taken to be away
SHARED_SECONDS = 2.0  # that an answer is given again
MOST_SHARED = 64  # answers
AGE_SECONDS = 60  # that a browser or proxy may keep what is not sealed
SEALED = "no-store"
OPEN = f"public, max-age={AGE_SECONDS}"
BUSY_SECONDS = 5
SHOWS = web.ResponseKey("shows", tuple[str, ...])
BUSY = Failure("Too many people read here right now", "Try again in a moment.")


class BusyError(Exception):
    """More readers wait than can be served soon, or the database does not answer."""


class Content(NamedTuple):
    """What is answered: its bytes and media type, and whether anything in it is sealed."""

    body: bytes
    media: str = "text/html"
    sealed: bool = False
    name: str = ""  # of a file to download
    shows: tuple[str, ...] = ()  # the debates whose models or result are in it
    etag: str = ""


class Crowd:
    """Makes pages, a few at a time, and shares each for a moment, `most` of them."""

    def __init__(
        self, most: int = MOST_SHARED, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock, self._most, self._waiting = clock, most, 0
        self._free = asyncio.Semaphore(AT_ONCE)
        self._made: OrderedDict[Hashable, tuple[float, asyncio.Task[Content]]] = OrderedDict()

    async def answer(
        self,
        request: web.Request,
        key: Hashable,
        make: Callable[[], Awaitable[Content]],
        seconds: float = READ_SECONDS,
    ) -> web.Response:
        """Return the answer to a request, made by `make` unless that was done just now.

        Its item `SHOWS` has the debates whose results it shows. While too many wait it asks to come
        back. Raises what `make` raises.
        """
        try:
            content = await self._share(key, make, seconds)
        except BusyError:
            page = failure_page(request, 503, BUSY)
            page.headers["Retry-After"] = str(BUSY_SECONDS)
            return page
        cached = SEALED if content.sealed else OPEN
        headers = {
            "Cache-Control": cached,
            "Vary": "Accept-Language",
            "X-Robots-Tag": "noindex",
        }
        if not content.sealed:
            headers["ETag"] = f'"{content.etag}"'
            if any(tag.value in (content.etag, "*") for tag in request.if_none_match or ()):
                return _showing(content, web.Response(status=304, headers=headers))
        if content.name:
            headers["Content-Disposition"] = f'attachment; filename="{content.name}"'
        charset = "utf-8" if content.media.startswith("text/") else None
        whole = web.Response(
            body=content.body, content_type=content.media, charset=charset, headers=headers
        )
        return _showing(content, whole)

    async def _share(
        self, key: Hashable, make: Callable[[], Awaitable[Content]], seconds: float
    ) -> Content:
        at, task = self._made.get(key, (0.0, None))
        if task is None or (task.done() and self._clock() - at > SHARED_SECONDS):
            if self._waiting >= MOST_WAITING:
                raise BusyError
            task = asyncio.create_task(self._make(make, seconds), name="page")
            self._made[key] = (self._clock(), task)
            task.add_done_callback(partial(self._note, key))
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        # One reader who goes away must not take the page from the others.
        return await asyncio.shield(task)

    def _note(self, key: Hashable, task: asyncio.Task[Content]) -> None:
        """Share what was made from now on; a failure is for those alone who waited for it."""
        failed = task.cancelled() or task.exception() is not None
        if key in self._made and self._made[key][1] is task:
            if failed:
                del self._made[key]
            else:
                self._made[key] = (self._clock(), task)

    async def _make(self, make: Callable[[], Awaitable[Content]], seconds: float) -> Content:
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds), self._free:
                made = await make()
                # In a thread: a dataset is large.
                digest = await asyncio.to_thread(lambda: sha256(made.body).hexdigest())
                return made._replace(etag=digest[:24])
        except TimeoutError:
            raise BusyError from None
        finally:
            self._waiting -= 1


def _showing(content: Content, answer: web.Response) -> web.Response:
    answer[SHOWS] = content.shows
    return answer
