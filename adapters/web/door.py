"""The door of pages for one reader on their own machine: a link that opens it once."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from secrets import token_bytes, token_urlsafe
from urllib.parse import urlsplit

from aiohttp import web

from adapters.web.application import Failure, failure_page
from adapters.web.assets import ASSETS_PATH
from adapters.web.session import Sessions

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
OPEN_PATH = "/open"
READER = "reader"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
LOCKED = Failure(
    "These pages are open to one reader",
    "Open the link that rostrum view printed in your terminal.",
)
USED = Failure(
    "This link was used already",
    "Go on in the browser that used it, or run rostrum view again for a new link.",
)
WRONG_HOST = Failure(
    "That address is not this server's", "Open the link that rostrum view printed."
)


class Door:
    """Lets in who has the link, once, and then that browser.

    Other hosts' names are refused: a page elsewhere could have its name lead to this machine.
    """

    def __init__(self) -> None:
        self._token, self._used = token_urlsafe(24), False
        self._secret = token_bytes(32)
        self._sessions = Sessions(self._secret, secure=False)

    def link(self, host: str, port: int) -> str:
        """Return the link that opens these pages; from then on the cookie is of this port.

        A browser sends a machine's cookies to each of its ports.
        """
        self._sessions = Sessions(self._secret, secure=False, kind=f"view-{port}")
        return f"http://{host}:{port}{OPEN_PATH}?token={self._token}"

    def routes(self) -> list[web.RouteDef]:
        """Return the route of the link."""
        return [web.get(OPEN_PATH, self.open, allow_head=False)]

    async def open(self, request: web.Request) -> web.StreamResponse:
        """Begin the session of who has the link, and lead to the pages without it."""
        given = request.query.get("token", "").encode()
        if not hmac.compare_digest(given, self._token.encode()):
            return failure_page(request, 403, LOCKED)
        away = web.HTTPFound("/")
        if self._sessions.read(request) is not None:
            raise away
        if self._used:
            return failure_page(request, 410, USED)
        self._used = True
        self._sessions.begin(away, READER)
        raise away

    @web.middleware
    async def guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse who did not open the link."""
        if _host_of(request.headers.get("Host", "")) not in LOOPBACK:
            return failure_page(request, 403, WRONG_HOST)
        free = request.path == OPEN_PATH or request.path.startswith(f"{ASSETS_PATH}/")
        if not free and self._sessions.read(request) is None:
            return failure_page(request, 403, LOCKED)
        return await handler(request)


def _host_of(header: str) -> str:
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""
