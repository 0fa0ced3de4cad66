"""HTTP mode: Slack's signed requests to our own address, for replicas behind a load balancer."""

from __future__ import annotations

import asyncio
import time

import structlog
from aiohttp import web
from pydantic import SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.signature import SignatureVerifier

from adapters.site import Site
from adapters.slack.connection import Missed
from adapters.slack.install.manifest import EVENTS_PATH
from adapters.slack.wellformed import is_wellformed
from engine.values.errors import MISFITS

VALID_SECONDS = 600.0  # of a signature: five minutes before Slack's stamp, and as many after
REPEATED = ("event_callback", "url_verification")
STAMP_DIGITS = 12  # of seconds since 1970, with room to spare
log = structlog.get_logger(__name__)


class HttpTransport:
    """Events as requests to a site."""

    def __init__(self, signing_secret: SecretStr, site: Site) -> None:
        self.signing_secret = signing_secret.get_secret_value().strip()
        self._site = site

    @property
    def connected(self) -> bool:
        """Whether requests are accepted now."""
        return self._site.address is not None

    def routes(self, app: AsyncApp) -> list[web.RouteDef]:
        """Return the route that passes requests to Bolt."""

        verifier, seen = SignatureVerifier(self.signing_secret), _Seen()

        async def take(request: web.Request) -> web.Response:
            return await _take(app, verifier, seen, request)

        return [web.post(EVENTS_PATH, take)]

    async def serve(self, app: AsyncApp, missed: Missed) -> None:
        """Wait until cancelled; requests arrive through the route."""
        await missed()
        await asyncio.Event().wait()


class _Seen:
    """The signatures that came of late; Slack signs each repeat with a new signature.

    A process knows its own alone. They are kept for as long as they are valid.
    """

    def __init__(self) -> None:
        self._until: dict[str, float] = {}  # in order

    def add(self, signature: str) -> bool:
        """Note a signature; False if it came before."""
        now = time.monotonic()
        while self._until and self._until[first := next(iter(self._until))] <= now:
            del self._until[first]
        if signature in self._until:
            return False
        self._until[signature] = now + VALID_SECONDS
        return True

    def drop(self, signature: str) -> None:
        """Let a request that failed be sent again."""
        self._until.pop(signature, None)


async def _take(
    app: AsyncApp, verifier: SignatureVerifier, seen: _Seen, request: web.Request
) -> web.Response:
    """Answer one request; verifies it first, as Bolt would parse it before verifying."""
    stamp = request.headers.get("X-Slack-Request-Timestamp", "")
    if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= STAMP_DIGITS):
        return _refuse(401, "its timestamp is no number")
    if not request.headers.get("X-Slack-Signature", "").isascii():  # the SDK raises there
        return _refuse(401, "its signature is wrong or too old")
    try:
        body = await request.read()
        if not verifier.is_valid_request(body, dict(request.headers)):
            return _refuse(401, "its signature is wrong or too old")
        asked = AsyncBoltRequest(
            body=body.decode(), query=request.query_string, headers=dict(request.headers)
        )
    except MISFITS:
        return _refuse(400, "it cannot be read")
    if not is_wellformed(asked.body):
        return _refuse(400, "it is not of Slack's form")
    signature = request.headers["X-Slack-Signature"]
    # Events are stored once by their ids, and Slack may repeat one within a second.
    if asked.body.get("type") not in REPEATED and not seen.add(signature):
        return _refuse(409, "it was sent before")
    answer = await app.async_dispatch(asked)
    if answer.status >= 500:
        seen.drop(signature)
    return await to_aiohttp_response(answer)


def _refuse(status: int, why: str) -> web.Response:
    """Refuse a request, and log why without what it contained."""
    log.warning("request refused", status=status, why=why)
    return web.Response(status=status)
