"""Registers the commands with Discord, if they differ from the registered ones.

It runs beside the gateway: commands of an earlier version still work, and so do votes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import discord
import structlog
from discord import app_commands

from adapters.discord.commands import DebateCommands, TopicForm
from adapters.discord.errors import DiscordAct, unreadable
from adapters.discord.interactions import DiscordInteractionHandler, Interaction
from adapters.discord.rest import DiscordRest
from adapters.discord.translation import Translator, language_of
from adapters.responses import reads
from engine.chat.choices import motion_of
from engine.chat.context import Trial
from engine.values.errors import UsageError, VenueAwayError, VenueError, why_of
from engine.values.language import speaking
from engine.values.pace import Backoff

# “Debate this” in the menu of a message: opens the form with the message as its motion.
#
# Discord hands over the message's text with the command, so that no privileged intent is needed.


def debate_this(handler: DiscordInteractionHandler) -> app_commands.ContextMenu:
    """Return the entry, for everyone who can write, as `/debate`."""

    @app_commands.guild_only()
    @app_commands.default_permissions(send_messages=True)
    @app_commands.allowed_installs(guilds=True, users=False)
    async def ask(interaction: Interaction, message: discord.Message) -> None:
        with speaking(language_of(interaction)):
            try:
                motion = motion_of(message.content)
            except UsageError as error:
                await handler.refuse(interaction, error)
            else:
                await interaction.response.send_modal(TopicForm(handler, {"topic": motion}))

    return app_commands.ContextMenu(name="Debate this", callback=ask)


FIRST_PAUSE, LONGEST_PAUSE = 30.0, 3600.0
log = structlog.get_logger(__name__)


async def keep_registered(
    tree: app_commands.CommandTree, rest: DiscordRest, guild_ids: Sequence[int]
) -> None:
    """Register for these servers, where commands appear at once, or else globally.

    What Discord refuses is tried again after growing pauses.
    """
    paths, backoff = _paths_of(rest, guild_ids), Backoff(FIRST_PAUSE, LONGEST_PAUSE)
    while paths:
        refused: list[str] = []
        after = backoff.next()
        for path in paths:
            try:
                wanted = await _payload(tree)
                if not same(wanted, await _known(rest, path)):
                    await rest.request(DiscordAct.EDIT, "PUT", path, body=wanted)
                    log.info("commands registered", path=path)
            except VenueError as error:
                refused.append(path)
                after = max(after, error.retry_after if isinstance(error, VenueAwayError) else 0.0)
                why = why_of(error.__cause__ or error)  # Discord's own words
                log.error("commands not registered", path=path, why=why, seconds=round(after))
        paths = refused
        if refused:
            await asyncio.sleep(after)


def offer(tree: app_commands.CommandTree, handler: DiscordInteractionHandler) -> None:
    """Add every command to a tree."""
    tree.add_command(DebateCommands(handler))
    tree.add_command(debate_this(handler))


async def is_registered(rest: DiscordRest, guild_ids: Sequence[int], trial: Trial | None) -> bool:
    """Return whether Discord has the commands of this version. Raises VenueError."""
    nobody: Any = None
    tree = app_commands.CommandTree(discord.Client(intents=discord.Intents.none()))
    offer(tree, DiscordInteractionHandler(nobody, nobody, nobody, trial=trial))
    await tree.set_translator(Translator())
    wanted = await _payload(tree)
    known = [await _known(rest, path) for path in _paths_of(rest, guild_ids)]
    return all(same(wanted, one) for one in known)


def _paths_of(rest: DiscordRest, guild_ids: Sequence[int]) -> list[str]:
    application = f"/applications/{rest.application}"
    return [f"{application}/guilds/{guild}/commands" for guild in guild_ids] or [
        f"{application}/commands"
    ]


@reads(unreadable)
async def _known(rest: DiscordRest, path: str) -> list[Mapping[str, Any]]:
    asked = {"with_localizations": "true"}
    return _in_order(await rest.request(DiscordAct.READ, "GET", path, params=asked))


async def _payload(tree: app_commands.CommandTree) -> list[Mapping[str, Any]]:
    translator = tree.translator
    commands = tree.get_commands()
    if translator is None:
        return _in_order([command.to_dict(tree) for command in commands])
    return _in_order(
        [await command.get_translated_payload(tree, translator) for command in commands]
    )


def _in_order(commands: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return commands by kind and name; Discord lists them in an order of its own."""
    return sorted(commands, key=lambda command: (command.get("type", 1), command["name"]))


def same(wanted: object, known: object) -> bool:
    """Return whether Discord has the wanted commands; it adds fields and drops empty ones."""
    if isinstance(wanted, Mapping):
        have = known if isinstance(known, Mapping) else {}
        return all(same(value, have.get(name)) for name, value in wanted.items())
    if isinstance(wanted, list | tuple):
        have_all = known if isinstance(known, list | tuple) else ()
        if len(wanted) != len(have_all):
            return False
        return all(same(one, other) for one, other in zip(wanted, have_all, strict=True))
    return (wanted or None) == (known or None) or str(wanted) == str(known)
