"""Who a browser is: a sealed cookie, and the token that its forms carry."""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from secrets import token_urlsafe
from typing import NamedTuple

import orjson
from aiohttp import web
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

FORM_TOKEN = "token"  # noqa: S105 - the name of a form's field
LIFETIME_SECONDS = 30 * 24 * 3600
PURPOSE = b"rostrum web sessions"


class Session(NamedTuple):
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

    def read(self, request: web.Request) -> Session | None:
        """Return the session of a request; None without one, or if it is forged or too old."""
        try:
            sealed = request.cookies.get(self._cookie, "").encode("ascii")
            who, token = orjson.loads(self._sealer.decrypt(sealed, ttl=self._lifetime))
        except (InvalidToken, UnicodeEncodeError, ValueError, TypeError):
            return None
        return Session(who, token)

    def begin(self, response: web.StreamResponse, who: str) -> Session:
        """Begin a session, always a new one: what a browser brought along is never taken over."""
        session = self.draw(who)
        self.put(response, session)
        return session

    @staticmethod
    def draw(who: str) -> Session:
        """Return a new session, which no browser has yet."""
        return Session(who, token_urlsafe(16))

    def put(self, response: web.StreamResponse, session: Session) -> None:
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


def holds_token(session: Session, form: Mapping[str, object]) -> bool:
    """Return whether a form came from a page of this session."""
    given = form.get(FORM_TOKEN)
    return isinstance(given, str) and hmac.compare_digest(given.encode(), session.token.encode())


def require_token(session: Session, form: Mapping[str, object]) -> None:
    """Raise HTTPForbidden unless a form came from a page of this session."""
    if not holds_token(session, form):
        raise web.HTTPForbidden
