"""`rostrum check` on Discord: the token, the application, and the permissions in each server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import discord

from adapters import Finding
from adapters.discord.commands import is_registered
from adapters.discord.errors import FOR_NAMES, FOR_SECRET, DiscordAct, missing
from adapters.discord.rest import DiscordRest, Rights, rights_in
from engine.values.errors import VenueError

TEXT_CHANNELS = (0, 5)  # text and announcements
GUILDS = 200  # Discord's largest page
MOST_NAMED = 5
OPTIONAL = {
    FOR_SECRET.value: "Manage Messages, which only secret ballots need",
    FOR_NAMES.value: "Manage Webhooks, by which each side has a name and a face of its own",
}


async def check(
    rest: DiscordRest, guild_ids: Sequence[int] = (), trial: float | None = None
) -> AsyncIterator[Finding]:
    """Check everything on Discord's side; commands are those of these servers, or global ones."""
    try:
        user = await rest.request(DiscordAct.READ, "GET", "/users/@me")
        application = await rest.request(DiscordAct.READ, "GET", "/oauth2/applications/@me")
        guilds = await rest.request(
            DiscordAct.READ, "GET", "/users/@me/guilds", params={"limit": GUILDS}
        )
        registered = await is_registered(rest, guild_ids, trial)
    except VenueError as error:
        yield Finding("discord", False, str(error))
        return
    yield Finding("discord", True, f"the token is that of {user['username']}")
    yield Finding("discord intents", True, "none is needed that Discord would have to grant")
    if application.get("interactions_endpoint_url"):
        text = "an Interactions Endpoint URL is set, so commands never arrive; remove it there"
        yield Finding("discord application", False, text)
    if registered:
        yield Finding("discord commands", True, "those of this version are registered")
    else:
        text = (
            "Discord does not have those of this version yet; rostrum run registers them, and its "
            "log says so if Discord refuses"
        )
        yield Finding("discord commands", None, text)
    if not guilds:
        yield Finding("discord", None, "it is in no server yet; rostrum invite prints the link")
    for guild in guilds:
        async for checked in _check_guild(rest, guild):
            yield checked


async def _check_guild(rest: DiscordRest, guild: dict[str, Any]) -> AsyncIterator[Finding]:
    subject = f"discord server {guild['name']}"
    try:
        rights = await rights_in(rest, str(guild["id"]))
        lacking = _lacking(
            rights, await rest.request(DiscordAct.READ, "GET", f"{rights.path}/channels")
        )
    except VenueError as error:
        yield Finding(subject, False, str(error))
        return
    for names, channels in lacking.items():
        shown = ", ".join(f"#{name}" for name in channels[:MOST_NAMED])
        more = f" and {len(channels) - MOST_NAMED} more" if len(channels) > MOST_NAMED else ""
        text = f"lacks {names} in {shown}{more}; grant it there, or debates cannot be held there"
        yield Finding(subject, None, text)
    held, text = rights.held, "all permissions are there"
    said = [why for wanted, why in OPTIONAL.items() if missing(held, discord.Permissions(wanted))]
    absent = [] if held.administrator else missing(held)
    if absent:
        text = f"lacks {', '.join(absent)}; invite it again with the link of rostrum invite"
    elif said and not held.administrator:
        text = f"{text} but {', and '.join(said)}"
    yield Finding(subject, not absent, text)


def _lacking(rights: Rights, channels: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return channels by the permissions that they deny although the server grants them."""
    everywhere = set(missing(rights.held))
    found: dict[str, list[str]] = {}
    for channel in channels:
        if channel["type"] not in TEXT_CHANNELS:
            continue
        here = rights.here(channel.get("permission_overwrites", ()))
        names = [name for name in missing(here) if name not in everywhere]
        if names:
            found.setdefault(", ".join(names), []).append(channel["name"])
    return found
