"""Who a browser is: a sealed cookie, the door of one's own machine, the tries at links."""

from __future__ import annotations

import hmac
import time
from base64 import urlsafe_b64encode
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from secrets import token_bytes, token_urlsafe
from typing import Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import parse_qsl, urlsplit

import orjson
from aiohttp import web
from aiohttp.web import Request, Response
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from adapters.web.application import ASSETS_PATH, PageFailure, failure_page
from engine.values.language import N_

FORM_TOKEN = "token"  # noqa: S105 - the name of a form's field
LIFETIME_SECONDS = 30 * 24 * 3600
PURPOSE = b"rostrum web sessions"


class BrowserSession(NamedTuple):
    """A browser that showed who it is; its forms carry `token`."""

    who: str
    token: str


class Sessions:
    """Sessions in cookies that only holders of the installation's `secret` can make or read.

    `secure` restricts them to HTTPS. Nothing is stored: every process with the same secret knows
    them. Sessions of another `kind` stand beside them and are never taken for one.
    """

    def __init__(
        self, secret: bytes, *, secure: bool, lifetime: int = LIFETIME_SECONDS, kind: str = ""
    ) -> None:
        info = PURPOSE + kind.encode()
        key = HKDF(SHA256(), length=32, salt=None, info=info).derive(secret)
        self._sealer = Fernet(urlsafe_b64encode(key))
        self._secure, self._lifetime = secure, lifetime
        # A name with this prefix can be set by no other host, and not over plain HTTP.
        name = f"rostrum-{kind}" if kind else "rostrum"
        self._cookie = f"__Host-{name}" if secure else name

    def read(self, request: Request) -> BrowserSession | None:
        """Return the session of a request; None without one, or if it is forged or too old."""
        try:
            sealed = request.cookies.get(self._cookie, "").encode("ascii")
            who, token = orjson.loads(self._sealer.decrypt(sealed, ttl=self._lifetime))
        except (InvalidToken, UnicodeEncodeError, ValueError, TypeError):
            return None
        return BrowserSession(who, token)

    def begin(self, response: web.StreamResponse, who: str) -> BrowserSession:
        """Begin a session, always a new one: what a browser brought along is never taken over."""
        session = self.draw(who)
        self.put(response, session)
        return session

    @staticmethod
    def draw(who: str) -> BrowserSession:
        """Return a new session, which no browser has yet."""
        return BrowserSession(who, token_urlsafe(16))

    def put(self, response: web.StreamResponse, session: BrowserSession) -> None:
        """Hand a session to a browser."""
        response.set_cookie(
            self._cookie,
            self._sealer.encrypt(orjson.dumps(tuple(session))).decode(),
            max_age=self._lifetime,
            path="/",
            secure=self._secure,
            httponly=True,
            samesite="Lax",
        )

    def end(self, response: web.StreamResponse) -> None:
        """End the session."""
        response.del_cookie(
            self._cookie, path="/", secure=self._secure, httponly=True, samesite="Lax"
        )


def holds_token(session: BrowserSession, form: Mapping[str, object]) -> bool:
    """Return whether a form came from a page of this session."""
    given = form.get(FORM_TOKEN)
    return isinstance(given, str) and hmac.compare_digest(given.encode(), session.token.encode())


# What handlers of the site ask for: who a browser is, and a form that is its own.


URLENCODED = "application/x-www-form-urlencoded"
MOST_FIELDS = 10_000
Form: TypeAlias = Mapping[str, str]
S = TypeVar("S")
Answer: TypeAlias = Awaitable[Response]
Route: TypeAlias = Callable[[Any, Request], Answer]
Filled: TypeAlias = Callable[[Any, Request, BrowserSession, Form], Answer]


async def read_form(request: Request) -> Form:
    """Return the fields of a form. Raises HTTPBadRequest for a body without fields."""
    if request.content_type != URLENCODED:
        raise web.HTTPBadRequest
    body = await request.read()
    try:
        fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise web.HTTPBadRequest from None
    return dict(fields)


def needs(
    read: Callable[[Any, Request], Awaitable[S | None]],
    refuse: Callable[[Any, Request], Response] | None = None,
) -> Callable[[Callable[[Any, Request, S], Answer]], Route]:
    """Hand a handler who a browser is; one that is nobody gets the answer of `refuse`, or a 403."""

    def wrap(handler: Callable[[Any, Request, S], Answer]) -> Route:
        @wraps(handler)
        async def answer(pages: Any, request: Request) -> Response:
            known = await read(pages, request)
            if known is not None:
                return await handler(pages, request, known)
            if refuse is None:
                raise web.HTTPForbidden
            return refuse(pages, request)

        return answer

    return wrap


def form(
    stale: Filled | None = None,
) -> Callable[[Filled], Callable[[Any, Request, BrowserSession], Answer]]:
    """Hand a handler the fields of a form.

    One that is from no page of the session gets the answer of `stale`, or a 403.
    """

    def wrap(handler: Filled) -> Callable[[Any, Request, BrowserSession], Answer]:
        @wraps(handler)
        async def answer(pages: Any, request: Request, session: BrowserSession) -> Response:
            fields = await read_form(request)
            if holds_token(session, fields):
                return await handler(pages, request, session, fields)
            if stale is None:
                raise web.HTTPForbidden
            return await stale(pages, request, session, fields)

        return answer

    return wrap


# How often an address may try links that lead nowhere, and which address a request is from.


MOST_TRIES = 20  # that failed, of one address within the window
WINDOW_SECONDS = 60.0
MOST_ADDRESSES = 4096  # that are remembered; those that failed longest ago are dropped
FORWARDED = "X-Forwarded-For"
V6_PREFIX = 64  # of one subscriber
LOOPBACK = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))
PROXIES = web.AppKey("proxies", tuple[IPv4Network | IPv6Network, ...])
"""From where proxies of the operator connect, besides this machine."""


class LoginThrottle:
    """Counts failed tries by who makes them, in this process; what succeeds costs nothing."""

    def __init__(
        self,
        most: int = MOST_TRIES,
        seconds: float = WINDOW_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._tried: OrderedDict[str, tuple[int, float]] = OrderedDict()  # failures, until

    def check(self, who: str) -> None:
        """Raise HTTPTooManyRequests for one who failed too often of late."""
        failed, until = self._tried.get(who, (0, 0.0))
        if failed >= self._most and until > self._clock():
            raise web.HTTPTooManyRequests

    def failed(self, who: str) -> None:
        """Count a failed try."""
        now = self._clock()
        failed, until = self._tried.pop(who, (0, now))
        if until <= now:
            failed, until = 0, now + self._seconds
        self._tried[who] = (failed + 1, until)
        while len(self._tried) > MOST_ADDRESSES:
            self._tried.popitem(last=False)


def client_of(request: Request) -> str:
    """Return the address that a request is from; of IPv6 its network, which is one subscriber's.

    Behind a proxy of the operator's it is the one that the proxy added, the last in
    X-Forwarded-For. Anything before that is the client's own claim, and so is the header of a
    client that connects directly, from a private network too.
    """
    peer = _parse(request.remote or "")
    near = (*LOOPBACK, *request.app.get(PROXIES, ()))
    if peer is None or any(peer in one for one in near):
        added = ",".join(request.headers.getall(FORWARDED, [])).rpartition(",")[2]
        peer = _parse(added.strip()) or peer
    if isinstance(peer, IPv6Address):
        return str(ip_network((peer, V6_PREFIX), strict=False))
    return str(peer)


def _parse(address: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(address)
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found


# The door of pages for one reader on their own machine: a link that opens it once.


Handler = Callable[[Request], Awaitable[web.StreamResponse]]
OPEN_PATH = "/open"
READER = "reader"
OWN_HOSTS = ("127.0.0.1", "localhost", "::1")
LOCKED = PageFailure(
    N_("These pages are open to one reader"),
    N_("Open the link that rostrum view printed in your terminal."),
)
USED = PageFailure(
    N_("This link was used already"),
    N_("Go on in the browser that used it, or run rostrum view again for a new link."),
)
WRONG_HOST = PageFailure(
    N_("That address is not this server's"), N_("Open the link that rostrum view printed.")
)


class OneReaderAccess:
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

    async def open(self, request: Request) -> web.StreamResponse:
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
    async def guard(self, request: Request, handler: Handler) -> web.StreamResponse:
        """Refuse who did not open the link."""
        if _host_of(request.headers.get("Host", "")) not in OWN_HOSTS:
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
