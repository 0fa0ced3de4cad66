"""How pages are read for many at once: few reads together, and an answer that several share.

A page costs reads of the database and some milliseconds of Python, which debates in the same
process need too. So a page that is asked for again within a moment is not made again, and only so
many are made at a time; beyond that, readers are asked to come back.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import NamedTuple

import structlog
from aiohttp import web

from adapters.web.application import DRAWN, SVG, PageFailure, failure_page
from adapters.web.session import client_of
from engine.values.errors import NotFoundError, StoreError
from engine.values.language import N_

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
BUSY = PageFailure(N_("Too many people read here right now"), N_("Try again in a moment."))


class _BusyError(Exception):
    """More readers wait than can be served soon, or the database does not answer."""


class PageContent(NamedTuple):
    """What is answered: its bytes and media type, and whether anything in it is sealed."""

    body: bytes
    media: str = "text/html"
    sealed: bool = False
    name: str = ""  # of a file to download
    shows: tuple[str, ...] = ()  # the debates whose models or result are in it
    etag: str = ""


class Crowd:
    """Makes pages, a few at a time, and shares each for a moment, `most` of them."""

    def __init__(self, most: int = MOST_SHARED) -> None:
        self._most, self._waiting = most, 0
        self._free = asyncio.Semaphore(AT_ONCE)
        self._made: OrderedDict[Hashable, tuple[float, asyncio.Task[PageContent]]] = OrderedDict()

    async def answer(
        self,
        request: web.Request,
        key: Hashable,
        make: Callable[[], Awaitable[PageContent]],
        seconds: float = READ_SECONDS,
    ) -> web.Response:
        """Return the answer to a request, made by `make` unless that was done just now.

        Its item `SHOWS` has the debates whose results it shows. While too many wait it asks to come
        back. Raises what `make` raises.
        """
        try:
            content = await self._share(key, make, seconds)
        except _BusyError:
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
        if content.media == SVG:
            headers |= DRAWN
        charset = "utf-8" if content.media.startswith("text/") else None
        whole = web.Response(
            body=content.body, content_type=content.media, charset=charset, headers=headers
        )
        return _showing(content, whole)

    async def _share(
        self, key: Hashable, make: Callable[[], Awaitable[PageContent]], seconds: float
    ) -> PageContent:
        at, task = self._made.get(key, (0.0, None))
        if task is None or (task.done() and time.monotonic() - at > SHARED_SECONDS):
            if self._waiting >= MOST_WAITING:
                raise _BusyError
            task = asyncio.create_task(self._make(make, seconds), name="page")
            self._made[key] = (time.monotonic(), task)
            task.add_done_callback(partial(self._note, key))
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        # One reader who goes away must not take the page from the others.
        return await asyncio.shield(task)

    def _note(self, key: Hashable, task: asyncio.Task[PageContent]) -> None:
        """Share what was made from now on; a failure is for those alone who waited for it."""
        failed = task.cancelled() or task.exception() is not None
        if key in self._made and self._made[key][1] is task:
            if failed:
                del self._made[key]
            else:
                self._made[key] = (time.monotonic(), task)

    async def _make(
        self, make: Callable[[], Awaitable[PageContent]], seconds: float
    ) -> PageContent:
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds), self._free:
                made = await make()
                # In a thread: a dataset is large.
                digest = await asyncio.to_thread(lambda: sha256(made.body).hexdigest())
                return made._replace(etag=digest[:24])
        except TimeoutError:
            raise _BusyError from None
        finally:
            self._waiting -= 1


def _showing(content: PageContent, answer: web.Response) -> web.Response:
    answer[SHOWS] = content.shows
    return answer


# Tells open pages that their debate has grown: one look at the database for all that watch it.


LOOK_SECONDS = 1.0
MOST_WATCHED = 64  # debates at once; pages beyond them do not grow by themselves
MOST_READERS = 512  # of all of them, as each keeps a connection
MOST_OF_ONE = 24  # of one address
QUIET_SECONDS = 15.0  # after which a stream says that it is still there
STREAM = {"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
RETRY = b"retry: 3000\n\n"
log = structlog.get_logger(__name__)


class _Watched:
    """A debate that pages wait for; `pulse` is None until it was looked at."""

    def __init__(self) -> None:
        self.pulse: str | None = None
        self.readers, self.ended = 0, False
        self.changed = asyncio.Event()
        self.looking: asyncio.Task[None] | None = None


class LiveUpdates:
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

    async def wait(self, debate: str, seen: str, seconds: float) -> tuple[str, bool]:
        """Return a debate's pulse, and whether it may change again.

        Returns once it is another than was `seen`, or after some seconds.
        """
        known = self._watched[debate]
        if known.pulse in (None, seen) and not known.ended:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await known.changed.wait()
        return seen if known.pulse is None else known.pulse, not known.ended

    async def stream(
        self, request: web.Request, debate: str, pause: float = 0.0
    ) -> web.StreamResponse:
        """Tell a page whenever its debate has grown, until its reader goes away.

        A page says which pulse it has `seen`, so that nothing is lost between the two. `pause` are
        the seconds for which an answer from before may still be given.
        """
        now = await self._pulse(debate)  # only what exists is watched
        client = client_of(request)
        if self._held[client] >= MOST_OF_ONE or not self.join(debate):
            raise web.HTTPServiceUnavailable
        self._held[client] += 1
        try:
            stream = web.StreamResponse(headers=STREAM)
            await stream.prepare(request)
            await stream.write(RETRY)
            seen, goes_on = request.query.get("seen", now), True
            while goes_on and not (request.transport is None or request.transport.is_closing()):
                now, goes_on = await self.wait(debate, seen, QUIET_SECONDS)
                if now != seen:
                    await asyncio.sleep(pause)
                told = b"event: grown\ndata: 1\n\n" if now != seen else b": still here\n\n"
                await stream.write(told)
                seen = now
        except ConnectionError:
            pass  # its reader has gone
        finally:
            self.leave(debate)
            self._held -= Counter([client])  # which drops who has none left
        return stream

    def end(self) -> None:
        """Let every reader go: the server stops."""
        for known in self._watched.values():
            known.ended = True
            known.changed.set()

    async def _look(self, debate: str, known: _Watched) -> None:
        while not known.ended:
            now = known.pulse
            try:
                now = await self._pulse(debate)
            except NotFoundError:  # it was deleted
                known.ended = True
                now = ""
            except StoreError as error:
                log.debug("page not watched", why=error.text)
            if now != known.pulse:
                known.pulse = now
                known.changed.set()
                known.changed = asyncio.Event()
            await asyncio.sleep(self._seconds)
