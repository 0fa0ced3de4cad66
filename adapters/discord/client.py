"""The gateway's client: events go to the engine, commands and buttons to their handler.

It needs no privileged intent and keeps no messages or members: every event it uses is a raw one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import discord
import structlog
from discord import app_commands

from adapters.discord import render
from adapters.discord.commands import keep_registered, offer
from adapters.discord.interactions import (
    PLATFORM,
    DiscordInteractionHandler,
    Interaction,
    is_wellformed,
)
from adapters.discord.render import typed_in
from adapters.discord.rest import DiscordRest
from adapters.discord.texts import Translator
from adapters.wire import Bucket, InOrder
from engine.chat.invocation import pressed_invocation, submitted_invocation
from engine.values.errors import RostrumError, why_of
from engine.values.ports import (
    CommunityChanged,
    ConnectionGap,
    Inbound,
    ReactionSeen,
    ThreadChanged,
)
from engine.words.buttons import opens_form, read_button

# Tracks which shards are connected, and for how long one has been silent.
#
# discord.py reconnects itself, each time with a traceback of 3 KB and a pause that grows to
# 1,024 s. Here each try is logged in one line, and the connection's owner gives up after a while.


# Discord's limits on IDENTIFYs: one in five seconds, and 1,000 a day or it resets the token.


DAY = 86_400.0
SHARE = 0.45  # a leaky bucket may let twice its rate through in one day
GAP_SECONDS = 5.0  # Discord takes one in five seconds from each bucket of shards
TOTAL = 1000

Turn = Callable[[str, float], Awaitable[None]]


class IdentifyLimit:
    """Spaces IDENTIFYs over the whole life of the process; `total` is what Discord allows a day."""

    def __init__(self, total: int = TOTAL, gap: float = GAP_SECONDS) -> None:
        self._gap = gap
        self._most = max(1.0, total * SHARE)
        self._day = Bucket(lambda: (self._most / DAY, self._most))
        self._turns = defaultdict[int, asyncio.Lock](asyncio.Lock)
        self._free_at = defaultdict[int, float](float)

    async def wait(self, bucket: int = 0, turn: Turn | None = None, among: int = 1) -> None:
        """Wait until the next one is allowed.

        `turn` waits until no process has had a turn of this name for so many seconds; the day's
        limit is divided `among` so many processes.
        """
        loop = asyncio.get_running_loop()
        async with self._turns[bucket]:
            await asyncio.sleep(max(0.0, self._free_at[bucket] - loop.time()))
            await self._day.take(min(among, self._most))
            if turn is not None and self._gap:
                await turn(f"identify/{bucket}", self._gap)
            self._free_at[bucket] = loop.time() + self._gap


TRIES = ("Attempting a reconnect", "Failed to connect")  # how discord.py's records begin
LOGGERS = ("discord.client", "discord.shard")
log = structlog.get_logger(__name__)


class ShardPresence:
    """The shards of one client after another."""

    def __init__(self) -> None:
        self._count = 0
        self._here: set[int] = set()
        self._lost_at: float | None = None  # None: no loss since all were connected
        self._silent_since: float | None = None  # None: no shard is expected
        self._pauses = 0  # our own pauses in progress

    @property
    def connected(self) -> bool:
        """Whether every shard is connected now."""
        return bool(self._here) and len(self._here) == self._count

    @property
    def silence(self) -> float:
        """Seconds since the last sign of a shard, while one is missing."""
        if self._silent_since is None or self._pauses:
            return 0.0
        return time.monotonic() - self._silent_since

    def begin(self, count: int) -> None:
        """Start over with a new client; nothing is expected before `expect`."""
        self._count, self._silent_since = count, None
        self._here.clear()

    def expect(self) -> None:
        """Count the silence from now: a shard is connecting."""
        if not self.connected:
            self._silent_since = time.monotonic()

    @contextmanager
    def pausing(self) -> Iterator[None]:
        """Count no silence during a pause of our own, as before an IDENTIFY."""
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            self.expect()

    def heard(self, shard: int) -> None:
        """A shard is connected."""
        self._here.add(shard)
        self._silent_since = None
        self.expect()
        if self.connected and self._lost_at is not None:
            seconds = round(time.monotonic() - self._lost_at, 1)
            self._lost_at = None
            log.info("gateway reconnected", seconds=seconds)

    def lost(self, shard: int | None = None) -> None:
        """A shard's connection was lost; None: all of them."""
        self._lost_at = self._lost_at or time.monotonic()
        self._silent_since = self._silent_since or time.monotonic()
        self._here -= self._here if shard is None else {shard}


class _OneLine(logging.Filter):
    """Replaces discord.py's traceback of each reconnect by one line."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Pass all other records."""
        if not str(record.msg).startswith(TRIES):
            return True
        error = record.exc_info[1] if record.exc_info else None
        why = why_of(error) if error else ""
        log.warning("gateway unavailable", why=why, tried=record.getMessage())
        return False


def shorten_logs() -> None:
    """Log each of discord.py's reconnects in one line; may be called again."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(known, _OneLine) for known in logger.filters):
            logger.addFilter(_OneLine())


LONGEST_LIMIT = 60.0  # seconds; a longer one ends the client, whose next waits no longer either
FINISH_SECONDS = 5.0  # for events that are being handled when it stops


def intents() -> discord.Intents:
    """Return the intents that are needed; none of them is privileged."""
    return discord.Intents(guilds=True, guild_reactions=True)


class DiscordClient(discord.AutoShardedClient):
    """One life of a shard's connection, from login until it ends.

    `shard` is its number and how many there are; `identify` waits until it may introduce itself.
    Commands are registered for these servers, or globally; with None another shard does that.
    """

    def __init__(
        self,
        handler: DiscordInteractionHandler,
        identify: Callable[[], Awaitable[None]],
        guild_ids: tuple[int, ...] | None,
        shard: tuple[int, int],
        rest: DiscordRest,
        presence: ShardPresence,
    ) -> None:
        number, shards = shard
        # Rostrum never uses voice, so the warning about it is noise.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        super().__init__(
            intents=intents(),
            shard_ids=[number],
            shard_count=shards,
            http_trace=rest.global_limit.trace(),
            max_ratelimit_timeout=LONGEST_LIMIT,
            proxy=rest.proxy,
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            allowed_mentions=discord.AllowedMentions.none(),
            enable_debug_events=False,
        )
        self._handler, self._identify, self._guild_ids = handler, identify, guild_ids
        self._rest = rest
        self._registering: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._events = InOrder(handler.listener)
        self._presence = presence
        self._joined: set[str] = set()  # since READY, which did not list them
        presence.begin(1)
        # Only READY lists the current servers; discord.py keeps the earlier ones too.
        parse = self._connection.parsers["READY"]
        self._connection.parsers["READY"] = partial(self._read_ready, parse)
        self.tree = _Tree(self, handler)
        offer(self.tree, handler)

    async def login(self, token: str) -> None:
        """Log in as discord.py does, but ask nothing about the application: READY names it.

        What a start waits for keeps the bot off Discord for as long as it is refused.
        """
        await self._async_setup_hook()
        user = await self.http.static_login(token.strip())
        self._connection.user = discord.ClientUser(state=self._connection, data=user)
        await self.setup_hook()

    async def setup_hook(self) -> None:
        """Connect, and beside that register the commands if they have changed."""
        await self.tree.set_translator(Translator())
        if self._guild_ids is not None:
            work = keep_registered(self.tree, self._rest, self._guild_ids)
            self._registering = asyncio.create_task(work, name="registration")
        self._presence.expect()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait as long as the limits on IDENTIFYs require."""
        with self._presence.pausing():
            await self._identify()

    async def finish(self) -> None:
        """Wait until every event that was received is handled; when stopping, for some seconds."""
        if self._registering is not None:
            self._registering.cancel()
        await self._handler.stop()
        task = asyncio.current_task()
        stopping = task is not None and task.cancelling() > 0
        while self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=FINISH_SECONDS if stopping else None)
            for one in late:
                one.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    # --- connection ----------------------------------------------------------------------

    async def on_shard_connect(self, shard_id: int) -> None:
        """A new session: earlier events were missed."""
        self._presence.heard(shard_id)
        self._put("missed", ConnectionGap("missed", shard_id))

    async def on_shard_resumed(self, shard_id: int) -> None:
        """An old session resumed; the events of the meantime follow."""
        self._presence.heard(shard_id)
        self._put("missed", ConnectionGap("resumed", shard_id))

    async def on_shard_disconnect(self, shard_id: int) -> None:
        """A shard's connection was lost."""
        self._presence.lost(shard_id)
        self._put("missed", ConnectionGap("lost", shard_id))

    # --- votes ---------------------------------------------------------------------------

    async def on_raw_reaction_add(self, event: discord.RawReactionActionEvent) -> None:
        """A reaction was added."""
        self._heard(render.reaction_seen(event, self._me, added=True))

    async def on_raw_reaction_remove(self, event: discord.RawReactionActionEvent) -> None:
        """A reaction was removed, by its owner or a moderator."""
        self._heard(render.reaction_seen(event, self._me, added=False))

    async def on_raw_reaction_clear(self, event: discord.RawReactionClearEvent) -> None:
        """A moderator removed every reaction."""
        self._put(event.message_id, render.all_cleared(event))

    async def on_raw_reaction_clear_emoji(self, event: discord.RawReactionClearEmojiEvent) -> None:
        """A moderator removed every reaction with one emoji."""
        cleared = render.emoji_cleared(event)
        if cleared is not None:
            self._put(event.message_id, cleared)

    # --- places --------------------------------------------------------------------------

    async def on_raw_thread_delete(self, event: discord.RawThreadDeleteEvent) -> None:
        """A thread was deleted."""
        self._put(event.thread_id, ThreadChanged(str(event.thread_id), "deleted"))

    async def on_raw_thread_update(self, event: discord.RawThreadUpdateEvent) -> None:
        """A thread was archived, locked, or opened again."""
        shut = event.data["thread_metadata"]
        self._put(
            event.thread_id,
            ThreadChanged(
                str(event.thread_id),
                "locked"
                if shut.get("locked", False)
                else ("archived" if shut["archived"] else "reopened"),
            ),
        )

    async def on_guild_channel_update(
        self, before: discord.abc.GuildChannel, after: discord.abc.GuildChannel
    ) -> None:
        """A channel changed, and maybe what Rostrum may do there."""
        self._put(after.id, CommunityChanged(str(after.guild.id)))

    async def on_guild_role_update(self, before: discord.Role, after: discord.Role) -> None:
        """A role changed, maybe one of Rostrum's."""
        self._put(after.guild.id, CommunityChanged(str(after.guild.id)))

    async def on_member_update(self, before: discord.Member, after: discord.Member) -> None:
        """Rostrum's own roles changed; no other member is kept."""
        self._put(after.guild.id, CommunityChanged(str(after.guild.id)))

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """A server invited Rostrum."""
        self._joined.add(str(guild.id))
        await self._handler.commands.joined(PLATFORM, str(guild.id))

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """A server removed Rostrum, or was deleted."""
        await self._lost(str(guild.id))

    async def on_servers_listed(self, there: frozenset[str], shard: int, shards: int) -> None:
        """A new session: record servers that left or joined while Rostrum was offline."""
        log.info(
            "discord connected", bot=str(self.user), servers=len(there), shard=shard, of=shards
        )
        known = await self._handler.commands.communities(PLATFORM)
        for server in sorted(there - known):
            await self._handler.commands.joined(PLATFORM, server)
        for server in sorted(known - there - self._joined):
            if _is_of(shard, shards, server):
                log.info("removed from a server while offline", community=server)
                await self._lost(server)

    # --- buttons -------------------------------------------------------------------------

    async def on_interaction(self, interaction: Interaction) -> None:
        """A button, menu or form was used; its custom id says which."""
        if not is_wellformed(interaction):
            return
        data: dict[str, Any] = dict(interaction.data or {})
        pressed = read_button(str(data.get("custom_id")))
        if pressed is None or not await self._handler.admits(interaction):
            return
        if interaction.type is discord.InteractionType.modal_submit:
            given = submitted_invocation(pressed.what, pressed.of, typed_in(data))
            if given is not None:
                await self._handler.carry_out(interaction, given)
            return
        if interaction.type is not discord.InteractionType.component:
            return
        if opens_form(pressed):
            await self._handler.open_form(interaction, pressed)
            return
        chosen = next(iter(data.get("values") or ()), None)
        asked = pressed_invocation(pressed.what, pressed.of, chosen)
        if asked is not None:
            await self._handler.carry_out(interaction, asked, in_place=pressed.in_place)
        else:
            await self._handler.press(interaction, pressed.of or None)

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        """Log a handler's bug, without its arguments."""
        log.exception("unhandled error in an event", handler=event_method)

    # --- inside --------------------------------------------------------------------------

    @property
    def _me(self) -> int | None:
        return self.user.id if self.user else None

    def _heard(self, seen: ReactionSeen | None) -> None:
        if seen is not None:
            self._put((seen.message, seen.user), seen)

    def _read_ready(self, parse: Callable[[Any], None], data: Any) -> None:
        match data.get("shard"):
            case [int(shard), int(shards)] if shards > 0:
                pass
            case _:
                shard, shards = 0, 1
        self._joined -= {one for one in self._joined if _is_of(shard, shards, one)}
        parse(data)
        # During an outage READY names its servers too, as unavailable ones.
        there = frozenset(str(guild["id"]) for guild in data["guilds"])
        self.dispatch("servers_listed", there, shard, shards)

    async def _lost(self, server: str) -> None:
        self._put(server, CommunityChanged(server, lost=True))
        await self._handler.commands.left(PLATFORM, server)

    def _put(self, key: Hashable, event: Inbound) -> None:
        """Handle an event in a task, after the earlier ones of its key."""
        task = asyncio.ensure_future(self._hear(key, event))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _hear(self, key: Hashable, event: Inbound) -> None:
        try:
            await self._events.hear(key, event)
        except RostrumError as error:
            log.error("event not stored", kind=type(event).__name__, why=str(error))
        except Exception:  # a bug in one event must not lose the next ones
            log.exception("unhandled error in an event", kind=type(event).__name__)


class _Tree(app_commands.CommandTree[discord.Client]):
    """The commands, in servers that are served."""

    def __init__(self, client: discord.Client, handler: DiscordInteractionHandler) -> None:
        super().__init__(client)
        self._handler = handler

    async def interaction_check(self, interaction: Interaction, /) -> bool:
        """Return whether a command may run, or its choices be shown."""
        if not is_wellformed(interaction):
            log.warning("interaction refused", why="it is not of Discord's form")
            return False
        return await self._handler.admits(interaction)


def _is_of(shard: int, shards: int, server: str) -> bool:
    """Return whether a server belongs to a shard (Discord's formula)."""
    return server.isdigit() and (int(server) >> 22) % shards == shard
