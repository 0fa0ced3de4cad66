"""Requests to Discord's REST API, apart from the gateway's client.

discord.py's HTTP client keeps to the rate limits in response headers, and `global_limit` to the
whole bot's. The client's retries are off: only the outbox retries, after checking whether the first
try was stored. It lives as long as the venue, while a gateway's client ends with its gateway.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import aiohttp
import discord
import structlog
from discord.http import HTTPClient, Route
from pydantic import SecretStr

from adapters.discord.errors import (
    KNOWN,
    NETWORK,
    DiscordAct,
    UnreadyError,
    application_id_of,
    explain,
    in_channel,
    slow_down,
    unreadable,
)
from adapters.wire import Bucket, reads
from engine.values.errors import why_of
from engine.values.ports import Backoff

# The bot-wide rate limit: at most 45 requests leave in any second, first come first served.
#
# Discord allows 50 a second per bot; answers to interactions do not count. Every request waits
# twice. `admit` is the queue, where no deadline runs. Then comes the door: requests delayed after
# their turn would otherwise leave in a bunch. The door is a little wider than the queue, so waits
# there are short.
#
# A leaky bucket may let its burst and its rate through in one second, so the burst is small. It is
# not fair: it may serve a newcomer first, so only the head of each queue uses it.


MOST = 45  # in any second
BURST = 3
NARROWER = 2  # a second
EXEMPT = ("/interactions/", "/webhooks/")


class _GlobalRateLimit:
    """Lets a bot's requests out, each in turn."""

    def __init__(self) -> None:
        self._part = 1.0
        self._queue = Bucket(partial(self._limits, 1 - NARROWER / MOST))
        self._door = Bucket(partial(self._limits, 1.0))

    def narrow(self, part: float) -> None:
        """Let this part of the bot's requests out: other processes send the others."""
        self._part = part

    async def admit(self, *, first: bool = False) -> None:
        """Wait in the queue without a limit; `first` goes before all others."""
        await self._queue.take(first=first)

    def trace(self) -> aiohttp.TraceConfig:
        """Return the hook that holds each request of a session at the door."""
        config = aiohttp.TraceConfig()
        config.on_request_start.append(self._leave)
        return config

    async def _leave(
        self, _: aiohttp.ClientSession, __: SimpleNamespace, start: aiohttp.TraceRequestStartParams
    ) -> None:
        path = str(start.url).removeprefix(Route.BASE)
        # Those of the gateway and answers to interactions do not count.
        if str(start.url).startswith(Route.BASE) and not path.startswith(EXEMPT):
            await self._door.take()

    def _limits(self, width: float) -> tuple[float, float]:
        most = MOST * self._part
        burst = max(1.0, min(BURST, most / 8))
        return max(most - burst, most / 2) * width, burst


# Retries an interaction's requests for as long as its token is valid.
#
# A repeated edit replaces what it showed before, so nothing appears twice. Later pieces of a long
# answer are separate messages: if one is shown but its response is lost, it appears twice, which is
# better than not at all.


FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
PASSING = 429  # and any 5xx
log = structlog.get_logger(__name__)

Interaction = discord.Interaction[discord.Client]


async def insist(interaction: Interaction, ask: Callable[[], Awaitable[object]]) -> bool:
    """Retry with growing pauses until Discord accepts; False if it refuses or time runs out."""
    backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
    while not interaction.client.is_closed():
        try:
            await ask()
        except (discord.HTTPException, *NETWORK) as error:
            status = error.status if isinstance(error, discord.HTTPException) else PASSING
            passes = status == PASSING or status >= 500
            if not passes or seconds_left(interaction) < backoff.pause:
                log.warning("private answer lost", why=str(error))
                return False
            log.info("private answer retried", why=why_of(error))
        else:
            return True
        await asyncio.sleep(backoff.next())
    return False


def seconds_left(interaction: Interaction) -> float:
    """Return how long an interaction's token is still valid."""
    return (interaction.expires_at - discord.utils.utcnow()).total_seconds()


MARGIN = 0.05  # seconds, so as never to retry early

FRESH_SECONDS = 1.0  # in which what Discord said of its gateway serves all that ask

Json = Any  # as discord.py parses a response


class _Gateway(NamedTuple):
    """How to connect: address, recommended number of shards, and how many sessions may start.

    `concurrency` is the number of buckets of shards that may each start one in five seconds.
    """

    url: str
    shards: int
    remaining: float
    reset_seconds: float
    concurrency: int


class DiscordRest:
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
        self._gateway: tuple[_Gateway, float] | None = None  # as found last, and when
        self.global_limit = _GlobalRateLimit()
        self.me = ""

    async def request(
        self,
        act: DiscordAct,
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
            await self.global_limit.admit()
        named = {"channel_id": place, "message_id": message, **ids}
        route = Route(method, path, **{k: v for k, v in named.items() if f"{{{k}}}" in path})
        bucket = f"{method} {path} {place}"
        now = time.monotonic()
        self._shut = {key: until for key, until in self._shut.items() if until > now}
        left = max(self._shut.get(bucket, now), self._shut.get("", now)) - now
        if left > 0:
            raise slow_down(left)
        given = {"json": body, "form": form, "params": params}
        sent: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        try:
            http = await self._connected()
            return await http.request(route, **sent)
        except (*KNOWN, ValueError) as error:  # ValueError: a truncated response
            if isinstance(error, UnreadyError) and error.status == 429:
                self._shut["" if error.everywhere else bucket] = time.monotonic() + error.after
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
            raise explain(error, DiscordAct.READ, "") from error
        return self.me

    @reads(unreadable)
    async def gateway(self) -> _Gateway:
        """Ask how to connect. Raises VenueAwayError, or VenueGoneError for a wrong token."""
        async with self._asking:
            if self._gateway is None or time.monotonic() > self._gateway[1] + FRESH_SECONDS:
                found = await self.request(DiscordAct.READ, "GET", "/gateway/bot")
                limit = found.get("session_start_limit") or {}
                self._gateway = (
                    (
                        _Gateway(
                            url=found["url"],
                            shards=max(1, int(found["shards"])),
                            remaining=limit.get("remaining", float("inf")),
                            reset_seconds=limit.get("reset_after", 0) / 1000,
                            concurrency=max(1, int(limit.get("max_concurrency", 1))),
                        )
                    ),
                    time.monotonic(),
                )
            return self._gateway[0]

    async def close(self) -> None:
        """Close every connection."""
        if self._http is not None:
            await self._http.close()
            self._http = None

    async def _connected(self) -> HTTPClient:
        async with self._login:
            if self._http is None:
                trace = self.global_limit.trace()
                trace.on_request_end.append(_refuse_unready)
                http = HTTPClient(asyncio.get_running_loop(), http_trace=trace, proxy=self.proxy)
                try:
                    user = await http.static_login(self._token.get_secret_value().strip())
                except BaseException:
                    await http.close()
                    raise
                self.me, self._http = str(user["id"]), http
            return self._http


async def _refuse_unready(
    _: aiohttp.ClientSession, __: SimpleNamespace, end: aiohttp.TraceRequestEndParams
) -> None:
    """Raise before discord.py retries a request, or sleeps past a deadline."""
    status = end.response.status
    if status != 429 and status < 500:
        return
    headers = end.response.headers
    answer: Any = None
    with suppress(ValueError):  # it came from something in between
        answer = json.loads(await end.response.text())
    if not isinstance(answer, dict):
        answer = {}
    try:
        after = float(answer.get("retry_after") or headers.get("Retry-After") or 1)
    except ValueError:
        after = 1.0
    code = int(answer.get("code") or 0)
    raise UnreadyError(status, after + MARGIN, "X-RateLimit-Global" in headers, code)


# The bot's permissions in a server, as Discord's API says them.


class Rights(NamedTuple):
    """The bot's permissions in a server, before any channel's overwrites."""

    guild: str
    me: str
    roles: tuple[str, ...]
    held: discord.Permissions

    @property
    def path(self) -> str:
        """The server's path in Discord's API."""
        return f"/guilds/{self.guild}"

    def here(self, overwrites: Iterable[Mapping[str, Any]]) -> discord.Permissions:
        """Return the bot's permissions in a channel with these overwrites."""
        return in_channel(self.held, overwrites, guild=self.guild, roles=self.roles, me=self.me)


async def rights_in(rest: DiscordRest, guild: str) -> Rights:
    """Read the bot's permissions in a server. Raises VenueError."""
    me = await rest.whoami()
    member = await rest.request(DiscordAct.READ, "GET", f"/guilds/{guild}/members/{me}")
    roles = await rest.request(DiscordAct.READ, "GET", f"/guilds/{guild}/roles")
    own = {guild, *member["roles"]}  # @everyone's role has the server's id
    held = discord.Permissions.none()
    for role in roles:
        if role["id"] in own:
            held |= discord.Permissions(int(role["permissions"]))
    return Rights(guild, me, tuple(member["roles"]), held)
