"""The bot's permissions in a server, as Discord's API says them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import discord

from adapters.discord.errors import Act
from adapters.discord.permissions import in_channel
from adapters.discord.rest import Rest


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


async def rights_in(rest: Rest, guild: str) -> Rights:
    """Read the bot's permissions in a server. Raises VenueError."""
    me = await rest.whoami()
    member = await rest.request(Act.READ, "GET", f"/guilds/{guild}/members/{me}")
    roles = await rest.request(Act.READ, "GET", f"/guilds/{guild}/roles")
    own = {guild, *member["roles"]}  # @everyone's role has the server's id
    held = discord.Permissions.none()
    for role in roles:
        if role["id"] in own:
            held |= discord.Permissions(int(role["permissions"]))
    return Rights(guild, me, tuple(member["roles"]), held)
