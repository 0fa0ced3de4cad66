"""Keeps the gateway connected: a client that ends for any reason is replaced by a new one.

discord.py resumes a dropped connection itself. It does not survive a failed first connection, nor
an event that it cannot parse; here that costs one client and a pause.
"""

from __future__ import annotations

import asyncio
import time

import discord
import structlog
import yarl
from discord.gateway import DiscordWebSocket
from pydantic import SecretStr

from adapters.discord import texts
from adapters.discord.answering import FrontDesk
from adapters.discord.client import Client
from adapters.discord.errors import KNOWN, Act
from adapters.discord.identify import Identifies
from adapters.discord.presence import Presence, shorten_logs
from adapters.discord.rest import Rest
from adapters.discord.venue import DiscordVenue
from engine.chat.commands import Commands
from engine.errors import SettingsError, VenueAwayError, VenueGoneError, why_of
from engine.ports import Listener

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
CANCEL_AGAIN_SECONDS = 1.0
STEADY_SECONDS = 60.0  # a client that lasted this long was healthy
PATIENCE = 60.0  # with a silent client: discord.py's own pauses grow to 1,024 s
# Discord's final close codes: wrong token, sharding, version or intents.
FINAL_CODES = frozenset({4004, 4010, 4011, 4012, 4013, 4014})
log = structlog.get_logger(__name__)


class Connection:
    """The bot's gateway connection."""

    def __init__(
        self,
        token: SecretStr,
        guild_ids: tuple[int, ...],
        rest: Rest,
        *,
        identifies: Identifies | None = None,
        first_pause: float = FIRST_PAUSE,
        patience: float = PATIENCE,
    ) -> None:
        self._token, self._guild_ids, self._rest = token, guild_ids, rest
        self._identifies = identifies or Identifies()
        self._first_pause, self._patience = first_pause, patience
        self._presence = Presence()

    @property
    def connected(self) -> bool:
        """Whether every shard is connected now."""
        return self._presence.connected

    async def run(self, commands: Commands, listener: Listener, venue: DiscordVenue) -> None:
        """Stay connected until cancelled. Raises SettingsError when Discord refuses for good."""
        desk, pause = FrontDesk(commands, listener, venue), self._first_pause
        shorten_logs()
        while True:
            began = time.monotonic()
            try:
                await self._live(desk)
            except (VenueGoneError, discord.LoginFailure) as error:
                raise SettingsError(texts.TOKEN_REFUSED) from error
            except VenueAwayError as error:
                log.warning("gateway unavailable", why=str(error))
            except KNOWN as error:
                _refuse_final(error)
                log.warning("gateway connection ended", why=why_of(error))
            except Exception:  # an event that discord.py cannot parse ends its client
                log.exception("unhandled error in the gateway connection")
            if time.monotonic() - began - self._presence.silence > STEADY_SECONDS:
                pause = self._first_pause
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _live(self, desk: FrontDesk) -> None:
        """Run one client until it ends."""
        shards = await self._find_gateway()
        client = Client(desk, self._identifies, self._guild_ids, shards, self._rest, self._presence)
        living = asyncio.create_task(client.start(self._token.get_secret_value().strip()))
        try:
            while not living.done() and (left := self._patience - self._presence.silence) > 0:
                await asyncio.wait([living], timeout=left)
        finally:
            silent = not living.done()
            await _end(living)
            await client.close()
            await client.finish()
            self._presence.lost()
        if silent:
            raise VenueAwayError(texts.SILENT.format(seconds=self._patience))
        living.result()

    async def _find_gateway(self) -> int:
        """Ask for the gateway's address and the number of shards."""
        found = await self._rest.request(Act.READ, "GET", "/gateway/bot")
        # discord.py uses its constant whenever it reconnects with a new session.
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(found["url"])
        limit = found.get("session_start_limit") or {}
        if limit.get("remaining", 1) < found["shards"]:
            seconds = limit.get("reset_after", 0) / 1000
            log.error("IDENTIFY limit reached", seconds=seconds)
            await asyncio.sleep(seconds)
        return int(found["shards"])


async def _end(living: asyncio.Task[None]) -> None:
    """Cancel a task repeatedly until it has ended.

    discord.py connects within `asyncio.wait_for`, which before Python 3.12 loses a cancellation
    that arrives at the moment of success.
    """
    while not living.done():
        living.cancel()
        await asyncio.wait([living], timeout=CANCEL_AGAIN_SECONDS)


def _refuse_final(error: BaseException) -> None:
    """Raise SettingsError for an end that reconnecting would only repeat."""
    final = isinstance(error, discord.PrivilegedIntentsRequired)
    if isinstance(error, discord.ConnectionClosed):
        final = error.code in FINAL_CODES
    if final:
        raise SettingsError(texts.GATEWAY_REFUSED.format(why=error)) from error
