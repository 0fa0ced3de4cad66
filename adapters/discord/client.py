"""The gateway's client: what Discord tells of goes to the engine, commands and buttons to the desk.

It needs no privileged intent and keeps no messages or members: every event it uses is a raw one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import discord
import structlog
from discord import app_commands

from adapters.discord import votes
from adapters.discord.answering import PLATFORM, Desk, Interaction
from adapters.discord.commands import DebateCommands
from adapters.discord.identify import Identifies
from adapters.discord.in_order import InOrder
from adapters.discord.registration import register
from adapters.discord.translation import Translator
from adapters.discord.way_out import WayOut
from engine.buttons import read_button
from engine.invocation import CancelCommand, ReviewCommand, StatusCommand
from engine.ports import CommunityLost, EventsMissed, ReactionSeen, ThreadDeleted, ThreadShut

log = structlog.get_logger(__name__)


def intents() -> discord.Intents:
    """Return the intents that are needed; none of them is privileged."""
    return discord.Intents(guilds=True, guild_reactions=True)


class Client(discord.AutoShardedClient):
    """One life of the gateway's connection, from login until it ends."""

    def __init__(
        self,
        desk: Desk,
        identifies: Identifies,
        guild_ids: tuple[int, ...],
        shards: int,
        way_out: WayOut,
    ) -> None:
        # Rostrum never speaks, so nobody needs to be warned that it cannot.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        super().__init__(
            intents=intents(),
            shard_count=shards,
            http_trace=way_out.trace(),
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            allowed_mentions=discord.AllowedMentions.none(),
            enable_debug_events=False,
        )
        self._desk, self._identifies, self._guild_ids = desk, identifies, guild_ids
        self._tasks: set[asyncio.Task[None]] = set()
        self._events = InOrder(desk.listener, self._spawn)
        self._ready_shards: set[int] = set()
        self.tree = app_commands.CommandTree(self)
        self.tree.add_command(DebateCommands(desk))

    @property
    def connected(self) -> bool:
        """Whether every shard is connected now."""
        return bool(self._ready_shards) and len(self._ready_shards) == self.shard_count

    async def setup_hook(self) -> None:
        """Register the commands, where they have changed."""
        await self.tree.set_translator(Translator())
        await register(self.tree, self.http, self._guild_ids)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Wait as long as the day's number of IDENTIFYs asks for."""
        await self._identifies.wait()

    async def finish(self) -> None:
        """Wait until every event that was received is handled."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    # --- connection ----------------------------------------------------------------------

    async def on_shard_connect(self, shard_id: int) -> None:
        """A new session: nobody told what happened before it."""
        self._ready_shards.add(shard_id)
        self._events.put("missed", EventsMissed())

    async def on_shard_resumed(self, shard_id: int) -> None:
        """An old session goes on, and what happened meanwhile is told."""
        self._ready_shards.add(shard_id)

    async def on_shard_disconnect(self, shard_id: int) -> None:
        """A shard's connection was lost."""
        self._ready_shards.discard(shard_id)

    # --- votes ---------------------------------------------------------------------------

    async def on_raw_reaction_add(self, event: discord.RawReactionActionEvent) -> None:
        """Somebody reacted."""
        self._heard(votes.reaction_seen(event, self._me, added=True))

    async def on_raw_reaction_remove(self, event: discord.RawReactionActionEvent) -> None:
        """Somebody took a reaction back, or a moderator did."""
        self._heard(votes.reaction_seen(event, self._me, added=False))

    async def on_raw_reaction_clear(self, event: discord.RawReactionClearEvent) -> None:
        """A moderator took every reaction away."""
        self._events.put(event.message_id, votes.all_cleared(event))

    async def on_raw_reaction_clear_emoji(self, event: discord.RawReactionClearEmojiEvent) -> None:
        """A moderator took one emoji away."""
        cleared = votes.emoji_cleared(event)
        if cleared is not None:
            self._events.put(event.message_id, cleared)

    # --- places --------------------------------------------------------------------------

    async def on_raw_thread_delete(self, event: discord.RawThreadDeleteEvent) -> None:
        """A thread was deleted."""
        self._events.put(event.thread_id, ThreadDeleted(str(event.thread_id)))

    async def on_raw_thread_update(self, event: discord.RawThreadUpdateEvent) -> None:
        """A thread was archived, locked, or opened again."""
        shut = event.data["thread_metadata"]
        archived, locked = shut["archived"], shut.get("locked", False)
        self._events.put(event.thread_id, ThreadShut(str(event.thread_id), archived, locked))

    async def on_guild_join(self, guild: discord.Guild) -> None:
        """A server invited Rostrum."""
        await self._desk.commands.joined(PLATFORM, str(guild.id))

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """A server removed Rostrum, or was deleted."""
        self._events.put(guild.id, CommunityLost(str(guild.id)))
        await self._desk.commands.left(PLATFORM, str(guild.id))

    # --- buttons -------------------------------------------------------------------------

    async def on_interaction(self, interaction: Interaction) -> None:
        """Somebody pressed a button; its custom id says which, whoever sent the message."""
        if interaction.type is not discord.InteractionType.component:
            return
        data: dict[str, Any] = dict(interaction.data or {})
        pressed = read_button(str(data.get("custom_id")))
        if pressed is None:
            return
        match pressed.what:
            case "stop":
                await self._desk.carry_out(interaction, CancelCommand(debate=pressed.of))
            case "status":
                await self._desk.carry_out(interaction, StatusCommand(debate=pressed.of))
            case "review":
                chosen = ReviewCommand(debate=pressed.of, vote=data["values"][0])
                await self._desk.carry_out(interaction, chosen)
            case "vote":
                await self._desk.vote(interaction, pressed.of)
            case _:
                await self._desk.vote(interaction, None)

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        """Log a defect of a handler, without what it was called with."""
        log.exception("event failed by a defect", handler=event_method)

    # --- inside --------------------------------------------------------------------------

    @property
    def _me(self) -> int | None:
        return self.user.id if self.user else None

    def _heard(self, seen: ReactionSeen | None) -> None:
        if seen is not None:
            self._events.put((seen.message, seen.user), seen)

    def _spawn(self, work: Awaitable[None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
