"""Requests to Discord's REST API, apart from the gateway's client.

discord.py's HTTP client keeps to the rate limits in response headers, and `way_out` to the whole
bot's. The client's retries are off: only the outbox retries, after checking whether the first try
was stored. It lives as long as the venue, while a gateway's client ends with its gateway.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import aiohttp
from discord.http import HTTPClient, Route
from pydantic import SecretStr

from adapters.answers import reads
from adapters.discord.errors import KNOWN, Act, UnreadyError, explain, slow_down, unreadable
from adapters.discord.permissions import application_id_of
from adapters.discord.way_out import WayOut

MARGIN = 0.05  # seconds, so as never to retry early

FRESH_SECONDS = 1.0  # in which what Discord said of its gateway serves all that ask

Json = Any  # as discord.py parses a response


class Gateway(NamedTuple):
    """How to connect: address, recommended number of shards, and how many sessions may start.

    `concurrency` is the number of buckets of shards that may each start one in five seconds.
    """

    url: str
    shards: int
    remaining: float
    reset_seconds: float
    concurrency: int


class Rest:
    """Discord's REST interface with a bot's token; logs in with the first request.

    `proxy` is the address of an HTTP proxy, for this and for the gateway's client.
    """

    def __init__(self, token: SecretStr, api_url: str, *, proxy: str | None = None) -> None:
        # Class-level: discord.py has no other setting for the address.
        Route.BASE = api_url.rstrip("/")
        self._token, self.proxy = token, proxy
        self._http: HTTPClient | None = None
        self._login = asyncio.Lock()
        self._shut: dict[str, float] = {}  # routes that Discord closed, until when
        self._asking = asyncio.Lock()
        self._gateway: tuple[Gateway, float] | None = None  # as found last, and when
        self.way_out = WayOut()
        self.me = ""

    async def request(
        self,
        act: Act,
        method: str,
        path: str,
        *,
        place: str = "",
        message: str = "",
        body: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        form: Sequence[Mapping[str, Any]] | None = None,
        params: Mapping[str, Any] | None = None,
        admitted: bool = False,
        **ids: str,
    ) -> Json:
        """Send one request in turn; `admitted`: the caller has already waited for its turn.

        Raises VenueAwayError, MessageGoneError, VenueGoneError or VenueError.
        """
        if not admitted:
            await self.way_out.admit()
        named = {"channel_id": place, "message_id": message, **ids}
        route = Route(method, path, **{k: v for k, v in named.items() if f"{{{k}}}" in path})
        lane = f"{method} {path} {place}"
        self._refuse_early(lane)
        given = {"json": body, "form": form, "params": params}
        sent: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        try:
            http = await self._connected()
            return await http.request(route, **sent)
        except (*KNOWN, ValueError) as error:  # ValueError: a truncated response
            if isinstance(error, UnreadyError) and error.status == 429:
                self._shut["" if error.everywhere else lane] = time.monotonic() + error.after
            raise explain(error, act, place, message) from error

    @property
    def application(self) -> int:
        """The application's id, which the token holds. Raises SettingsError."""
        return application_id_of(self._token.get_secret_value())

    async def whoami(self) -> str:
        """Return the bot's own user id; logs in if necessary."""
        try:
            await self._connected()
        except KNOWN as error:
            raise explain(error, Act.READ, "") from error
        return self.me

    @reads(unreadable)
    async def gateway(self) -> Gateway:
        """Ask how to connect. Raises VenueAwayError, or VenueGoneError for a wrong token."""
        async with self._asking:
            if self._gateway is None or time.monotonic() > self._gateway[1] + FRESH_SECONDS:
                found = await self.request(Act.READ, "GET", "/gateway/bot")
                self._gateway = _gateway_of(found), time.monotonic()
            return self._gateway[0]

    async def close(self) -> None:
        """Close every connection."""
        if self._http is not None:
            await self._http.close()
            self._http = None

    async def _connected(self) -> HTTPClient:
        async with self._login:
            if self._http is None:
                trace = self.way_out.trace()
                trace.on_request_end.append(_refuse_unready)
                http = HTTPClient(asyncio.get_running_loop(), http_trace=trace, proxy=self.proxy)
                try:
                    user = await http.static_login(self._token.get_secret_value().strip())
                except BaseException:
                    await http.close()
                    raise
                self.me, self._http = str(user["id"]), http
            return self._http

    def _refuse_early(self, lane: str) -> None:
        """Refuse requests that Discord would refuse: ten thousand of those ban the address."""
        now = time.monotonic()
        self._shut = {key: until for key, until in self._shut.items() if until > now}
        left = max(self._shut.get(lane, now), self._shut.get("", now)) - now
        if left > 0:
            raise slow_down(left)


async def _refuse_unready(
    _: aiohttp.ClientSession, __: SimpleNamespace, end: aiohttp.TraceRequestEndParams
) -> None:
    """Raise before discord.py retries a request, or sleeps past a deadline."""
    status = end.response.status
    if status != 429 and status < 500:
        return
    headers = end.response.headers
    answer = _read(await end.response.text())
    try:
        after = float(answer.get("retry_after") or headers.get("Retry-After") or 1)
    except ValueError:
        after = 1.0
    code = int(answer.get("code") or 0)
    raise UnreadyError(status, after + MARGIN, "X-RateLimit-Global" in headers, code)


def _gateway_of(found: Json) -> Gateway:
    limit = found.get("session_start_limit") or {}
    return Gateway(
        url=found["url"],
        shards=max(1, int(found["shards"])),
        remaining=limit.get("remaining", float("inf")),
        reset_seconds=limit.get("reset_after", 0) / 1000,
        concurrency=max(1, int(limit.get("max_concurrency", 1))),
    )


def _read(text: str) -> dict[str, Any]:
    """Return a response's fields; none if it came from something in between."""
    try:
        answer = json.loads(text)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}
