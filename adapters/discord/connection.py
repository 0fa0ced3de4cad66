"""Keeps a connection for each shard that this process holds (adapters/discord/connection.py)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

import discord
import structlog
import yarl
from discord.gateway import DiscordWebSocket
from pydantic import SecretStr

from adapters.discord import texts
from adapters.discord.client import DiscordClient, IdentifyLimit, ShardPresence, shorten_logs
from adapters.discord.errors import KNOWN
from adapters.discord.interactions import DiscordInteractionHandler, Hears
from adapters.discord.rest import DiscordRest
from adapters.discord.venue import DiscordVenue
from engine.chat.commands import Commands
from engine.fleet.shares import PartitionLeases
from engine.values.errors import (
    LeaseLostError,
    SettingsError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
    why_of,
)
from engine.values.ports import Backoff, Listener, utc_now

# Keeps one shard connected: a client that ends for any reason is replaced by a new one.
#
# discord.py resumes a dropped connection itself. It does not survive a failed first connection, nor
# an event that it cannot parse; here that costs one client and a pause. A shard that another
# process takes over stays connected until that one hears, so that no command finds no one.


LONGEST_PAUSE = 60.0
CANCEL_AGAIN_SECONDS = 1.0
STEADY_SECONDS = 60.0  # a client that lasted this long was healthy
LOOK_SECONDS = 0.2
# For the next holder to connect: it may introduce itself for one shard in five seconds. A stop is
# over sooner (bot/serve/run.py).
LINGER_SECONDS = 120.0
ANSWER_SECONDS = 5.0
OVERLAP = timedelta(seconds=180)  # after a takeover, in which two processes may hear a shard
# Discord's final close codes: wrong token, sharding, version or intents.
FINAL_CODES = frozenset({4004, 4010, 4011, 4012, 4013, 4014})
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _ShardContext:
    """What all shards of a process share; pauses and patience are in seconds."""

    token: SecretStr
    guild_ids: tuple[int, ...]
    rest: DiscordRest
    identify_limit: IdentifyLimit
    first_pause: float
    patience: float


@dataclass(slots=True)
class _Shard:
    """One shard of the bot, for as long as this process answers for it."""

    number: int
    line: _ShardContext
    shares: PartitionLeases
    open_handler: Callable[[Callable[[], Hears]], DiscordInteractionHandler]
    presence: ShardPresence = field(default_factory=ShardPresence)
    leaving: bool = False
    over: bool = False  # another process answers from now on
    _handler: DiscordInteractionHandler | None = None

    async def run(self) -> None:
        """Stay connected until another process hears this shard, or until cancelled.

        Raises SettingsError when Discord refuses for good.
        """
        staying = asyncio.create_task(self._stay())
        leaving = asyncio.create_task(self._hand_over())
        telling = asyncio.create_task(self._tell())
        try:
            await asyncio.wait([staying, leaving], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (tasks := [staying, leaving, telling]):
                task.cancel()
            await asyncio.wait(tasks)
        for task in tasks:
            if not task.cancelled():
                task.result()

    # --- handing over ----------------------------------------------------------------------

    async def _hand_over(self) -> None:
        """Return once the shard is another process's, and heard there."""
        async for held in self.shares.follow():
            self.leaving = self.number not in held
            if self.leaving and await self._is_heard_elsewhere():
                # Wait, not for long, until what is being answered here is answered.
                self.over, until = True, time.monotonic() + ANSWER_SECONDS
                while (  # noqa: ASYNC110 - it is looked at
                    self._handler and self._handler.at_work and time.monotonic() < until
                ):
                    await asyncio.sleep(LOOK_SECONDS)
                return

    async def _is_heard_elsewhere(self) -> bool:
        """Wait for the next holder; False if this process holds the shard again.

        While the database is away no process can take it over, and a look does not return.
        """
        for _ in range(round(LINGER_SECONDS / LOOK_SECONDS)):
            if self.number in self.shares.held:
                return False
            if await self.shares.others(f"{self.number}/"):
                return True
            await asyncio.sleep(LOOK_SECONDS)
        return True

    async def _tell(self) -> None:
        """Let other processes know while this shard is heard here, until cancelled."""
        while True:
            # The process before this one may be no member any more, and still wait for this.
            if self._hears() and (self._is_shared() or not self.shares.alone):
                with suppress(LeaseLostError):
                    async with self.shares.telling(f"{self.number}/"):
                        while self._hears():  # noqa: ASYNC110 - it is looked at
                            await asyncio.sleep(LOOK_SECONDS)
            await asyncio.sleep(LOOK_SECONDS)

    def _who_hears(self) -> Hears:
        if self.over:
            return "handed over"
        return "shared" if self._is_shared() else "alone"

    def _hears(self) -> bool:
        return self.presence.connected and not self.leaving

    def _is_shared(self) -> bool:
        """Return whether another process may hear this shard as well."""
        taken = self.shares.taken(self.number)
        return self.leaving or (taken is not None and utc_now() < taken + OVERLAP)

    # --- connected -------------------------------------------------------------------------

    async def _stay(self) -> None:
        """Run one client after another."""
        backoff = Backoff(self.line.first_pause, LONGEST_PAUSE)
        while True:
            began = time.monotonic()
            try:
                await self._live()
            except (VenueGoneError, discord.LoginFailure) as error:
                raise SettingsError(texts.TOKEN_REFUSED) from error
            except VenueAwayError as error:
                log.warning("gateway unavailable", why=str(error))
            except KNOWN as error:
                # Reconnecting would only repeat this end: it is a SettingsError.
                final = isinstance(error, discord.PrivilegedIntentsRequired)
                if isinstance(error, discord.ConnectionClosed):
                    final = error.code in FINAL_CODES
                if final:
                    raise SettingsError(texts.GATEWAY_REFUSED.format(why=error)) from error
                log.warning("gateway connection ended", why=why_of(error))
            except Exception:  # an event that discord.py cannot parse ends its client
                log.exception("unhandled error in the gateway connection")
            if time.monotonic() - began - self.presence.silence > STEADY_SECONDS:
                backoff.reset()
            await asyncio.sleep(backoff.next())

    async def _live(self) -> None:
        """Run one client until it ends."""
        found = await self.line.rest.gateway()
        if found.remaining < max(1, len(self.shares.held)):
            log.error("IDENTIFY limit reached", seconds=found.reset_seconds)
            await asyncio.sleep(found.reset_seconds)
        # discord.py uses its constant whenever it reconnects with a new session.
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(found.url)
        bucket = self.number % found.concurrency

        async def identify() -> None:
            shares = self.shares
            await self.line.identify_limit.wait(bucket, shares.turn, among=shares.members)

        self._handler = self.open_handler(self._who_hears)
        client = DiscordClient(
            self._handler,
            identify,
            self.line.guild_ids if self.number == 0 else None,
            (self.number, self.shares.count),
            self.line.rest,
            self.presence,
        )
        token = self.line.token.get_secret_value().strip()
        living, patience = asyncio.create_task(client.start(token)), self.line.patience
        try:
            while not living.done() and (left := patience - self.presence.silence) > 0:
                await asyncio.wait([living], timeout=left)
        finally:
            silent = not living.done()
            # Discord.py connects within `asyncio.wait_for`, which before Python 3.12 loses a
            # cancellation that arrives at the moment of success.
            while not living.done():
                living.cancel()
                await asyncio.wait([living], timeout=CANCEL_AGAIN_SECONDS)
            await client.close()
            await client.finish()
            self.presence.lost()
        if silent:
            raise VenueAwayError(texts.SILENT.format(seconds=patience))
        living.result()


FIRST_PAUSE = 1.0
PATIENCE = 60.0  # with a silent client: discord.py's own pauses grow to 1,024 s


class DiscordConnection:
    """The bot's gateway connections."""

    def __init__(
        self,
        token: SecretStr,
        guild_ids: tuple[int, ...],
        rest: DiscordRest,
        *,
        identify_limit: IdentifyLimit | None = None,
        first_pause: float = FIRST_PAUSE,
        patience: float = PATIENCE,
        trial: float | None = None,
    ) -> None:
        identify_limit = identify_limit or IdentifyLimit()
        self._line = _ShardContext(token, guild_ids, rest, identify_limit, first_pause, patience)
        self._trial = trial
        self._shards: dict[int, _Shard] = {}
        self._serving: set[asyncio.Task[None]] = set()
        self._reached = False

    @property
    def connected(self) -> bool:
        """Whether every shard that this process holds is connected now, one at least."""
        here = [shard for shard in self._shards.values() if not shard.leaving]
        return bool(here) and all(shard.presence.connected for shard in here)

    @property
    def reached(self) -> bool:
        """Whether Discord took the token, so that this process can take a shard over."""
        return self._reached

    async def run(
        self, commands: Commands, listener: Listener, venue: DiscordVenue, shares: PartitionLeases
    ) -> None:
        """Stay connected until cancelled. Raises SettingsError when Discord refuses for good."""

        async def serve(shard: _Shard) -> None:
            try:
                await shard.run()
            finally:
                del self._shards[shard.number]

        def open_handler(hears: Callable[[], Hears]) -> DiscordInteractionHandler:
            return DiscordInteractionHandler(commands, listener, venue, hears, trial=self._trial)

        shorten_logs()
        await self._reach()
        try:
            async with asyncio.TaskGroup() as group:
                async for held in shares.follow():
                    self._line.rest.global_limit.narrow(shares.part)
                    for number in sorted(held - self._shards.keys()):
                        shard = _Shard(number, self._line, shares, open_handler)
                        self._shards[number] = shard
                        task = group.create_task(serve(shard))
                        self._serving.add(task)
                        task.add_done_callback(self._serving.discard)
        except* SettingsError as refused:
            raise refused.exceptions[0] from None

    async def handed_over(self) -> None:
        """Wait until every shard is heard by another process; they have been given up."""
        while serving := list(self._serving):
            await asyncio.wait(serving)

    async def _reach(self) -> None:
        """Wait until Discord answers; a process that stands by must know its token."""
        backoff = Backoff(self._line.first_pause, LONGEST_PAUSE)
        while True:
            try:
                await self._line.rest.gateway()
            except VenueGoneError as error:
                raise SettingsError(texts.TOKEN_REFUSED) from error
            except VenueError as error:
                log.warning("gateway unavailable", why=str(error))
                after = error.retry_after if isinstance(error, VenueAwayError) else 0.0
                await asyncio.sleep(backoff.next(after))
            else:
                self._reached = True
                return
