"""Keeps a connection for each shard that this process holds (adapters/discord/shard.py)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog
from pydantic import SecretStr

from adapters.discord import texts
from adapters.discord.answering import FrontDesk, Hears
from adapters.discord.identify import Identifies
from adapters.discord.presence import shorten_logs
from adapters.discord.rest import Rest
from adapters.discord.shard import LONGEST_PAUSE, Line, Shard
from adapters.discord.venue import DiscordVenue
from engine.chat.commands import Commands
from engine.chat.person import Trial
from engine.fleet.shares import Shares
from engine.values.errors import SettingsError, VenueAwayError, VenueError, VenueGoneError
from engine.values.ports import Listener

FIRST_PAUSE = 1.0
PATIENCE = 60.0  # with a silent client: discord.py's own pauses grow to 1,024 s
log = structlog.get_logger(__name__)


class Connection:
    """The bot's gateway connections."""

    def __init__(
        self,
        token: SecretStr,
        guild_ids: tuple[int, ...],
        rest: Rest,
        *,
        identifies: Identifies | None = None,
        first_pause: float = FIRST_PAUSE,
        patience: float = PATIENCE,
        trial: Trial | None = None,
    ) -> None:
        identifies = identifies or Identifies()
        self._line = Line(token, guild_ids, rest, identifies, first_pause, patience)
        self._trial = trial
        self._shards: dict[int, Shard] = {}
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
        self, commands: Commands, listener: Listener, venue: DiscordVenue, shares: Shares
    ) -> None:
        """Stay connected until cancelled. Raises SettingsError when Discord refuses for good."""

        def open_desk(hears: Callable[[], Hears]) -> FrontDesk:
            return FrontDesk(commands, listener, venue, hears, trial=self._trial)

        shorten_logs()
        await self._reach()
        try:
            async with asyncio.TaskGroup() as group:
                async for held in shares.follow():
                    self._line.rest.way_out.narrow(shares.part)
                    for number in sorted(held - self._shards.keys()):
                        shard = Shard(number, self._line, shares, open_desk)
                        self._shards[number] = shard
                        task = group.create_task(self._serve(shard))
                        self._serving.add(task)
                        task.add_done_callback(self._serving.discard)
        except* SettingsError as refused:
            raise refused.exceptions[0] from None

    async def handed_over(self) -> None:
        """Wait until every shard is heard by another process; they have been given up."""
        while serving := list(self._serving):
            await asyncio.wait(serving)

    async def _serve(self, shard: Shard) -> None:
        try:
            await shard.run()
        finally:
            del self._shards[shard.number]

    async def _reach(self) -> None:
        """Wait until Discord answers; a process that stands by must know its token."""
        pause = self._line.first_pause
        while True:
            try:
                await self._line.rest.gateway()
            except VenueGoneError as error:
                raise SettingsError(texts.TOKEN_REFUSED) from error
            except VenueError as error:
                log.warning("gateway unavailable", why=str(error))
                after = error.retry_after if isinstance(error, VenueAwayError) else 0.0
                await asyncio.sleep(max(pause, after))
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                self._reached = True
                return
