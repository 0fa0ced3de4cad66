"""Registers the commands with Discord, if they differ from the registered ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import discord
import structlog
from discord import app_commands
from discord.http import HTTPClient, Route

log = structlog.get_logger(__name__)


async def register(
    tree: app_commands.CommandTree, http: HTTPClient, guild_ids: Sequence[int]
) -> None:
    """Register for these servers, where commands appear at once, or else globally."""
    application = tree.client.application_id
    wanted = await _payload(tree)
    paths = [f"/applications/{application}/guilds/{guild}/commands" for guild in guild_ids]
    for path in paths or [f"/applications/{application}/commands"]:
        try:
            known = await http.request(Route("GET", path), params={"with_localizations": "true"})
            if same(wanted, _in_order(known)):
                continue
            await http.request(Route("PUT", path), json=wanted)
        except discord.Forbidden as error:
            # Debates on other servers continue; after a new invitation, this one gets its commands.
            log.error("commands not registered", path=path, why=error.text)


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
