"""The permissions that Rostrum needs in a server, and those it lacks; pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

import discord

from adapters.discord import texts
from adapters.discord.errors import DiscordAct
from engine.run.plan import PlaceCapabilities
from engine.values.errors import SettingsError
from engine.values.language import N_, Text

NEEDED = discord.Permissions(
    view_channel=True,
    send_messages=True,
    send_messages_in_threads=True,
    create_public_threads=True,
    add_reactions=True,
    read_message_history=True,
    embed_links=True,
    attach_files=True,
)
FOR_FILES = discord.Permissions(attach_files=True)
FOR_A_DEBATE = discord.Permissions(NEEDED.value & ~FOR_FILES.value)
# Posting inside a thread needs another permission, and no thread is opened.
INSIDE_A_THREAD = discord.Permissions(
    FOR_A_DEBATE.value & ~discord.Permissions(send_messages=True, create_public_threads=True).value
)
# Permissions that Discord removes where a member may not post.
VIEW = "View Channel"
WITH_POSTING = ("Embed Links", "Attach Files")
FOR_NAMES = discord.Permissions(manage_webhooks=True)  # debates go on without it
FOR_SECRET = discord.Permissions(manage_messages=True)
NAMES = {
    "read_messages": "View Channel",  # as discord.py lists it
    "send_messages": "Send Messages",
    "send_messages_in_threads": N_("Send Messages in Threads"),
    "create_public_threads": N_("Create Public Threads"),
    "add_reactions": "Add Reactions",
    "read_message_history": "Read Message History",
    "embed_links": "Embed Links",
    "attach_files": "Attach Files",
    "manage_messages": N_("Manage Messages"),
    "manage_webhooks": N_("Manage Webhooks"),
}


def needed_for(act: DiscordAct, *, inside: bool) -> discord.Permissions:
    """Return what a request needs in a channel, or `inside` a thread."""
    reading = discord.Permissions(view_channel=True, read_message_history=True)
    match act:
        case DiscordAct.POST:
            sending = discord.Permissions(send_messages_in_threads=inside, send_messages=not inside)
            return sending | discord.Permissions(
                view_channel=True, embed_links=True, attach_files=True
            )
        case DiscordAct.REACT:
            return reading | discord.Permissions(add_reactions=True)
        case DiscordAct.REMOVE:
            return reading | FOR_SECRET
        case DiscordAct.THREAD:
            return discord.Permissions(view_channel=True, create_public_threads=True)
    return reading


def invite_link(application_id: int, *, secret_ballots: bool = False) -> str:
    """Return the link by which an admin adds Rostrum, with the permissions that it can use."""
    asked = NEEDED | FOR_NAMES | (FOR_SECRET if secret_ballots else discord.Permissions.none())
    return discord.utils.oauth_url(
        application_id, permissions=asked, scopes=("bot", "applications.commands")
    )


def application_id_of(token: str) -> int:
    """Return the application id in a bot's token. Raises SettingsError."""
    head = token.strip().split(".", 1)[0]
    try:
        return int(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)).decode())
    except (ValueError, binascii.Error) as error:
        raise SettingsError(
            "ROSTRUM_DISCORD__TOKEN is not a bot's token; copy it from the page “Bot” of your "
            "application at discord.com/developers."
        ) from error


def missing(held: discord.Permissions, wanted: discord.Permissions = NEEDED) -> list[str]:
    """Return the names of the wanted permissions that are not held."""
    lacking = discord.Permissions(wanted.value & ~held.value)
    return [NAMES.get(name, name) for name, on in lacking if on and name in NAMES]


def lacking(held: discord.Permissions, wanted: discord.Permissions = FOR_A_DEBATE) -> str:
    """Return the names of the wanted permissions that are not held, without those they imply."""
    names = missing(held, wanted)
    if VIEW in names:  # without it Discord denies all others too
        names = [VIEW]
    elif any(name.startswith("Send Messages") for name in names):
        names = [name for name in names if name not in WITH_POSTING]
    return ", ".join(names)


def in_channel(
    base: discord.Permissions,
    overwrites: Iterable[Mapping[str, Any]],
    *,
    guild: str,
    roles: Iterable[str],
    me: str,
) -> discord.Permissions:
    """Return what a member may do in a channel, as Discord documents it.

    `base` is what its roles allow in the server; overwrites are @everyone's, then those of its
    roles together, then its own.
    """
    if base.administrator:
        return discord.Permissions.all()
    by_id = {str(overwrite["id"]): overwrite for overwrite in overwrites}
    allowed = base.value
    for layer in ([guild], [role for role in roles if role != guild], [me]):
        found = [by_id[id] for id in layer if id in by_id]
        for overwrite in found:
            allowed &= ~int(overwrite["deny"])
        for overwrite in found:
            allowed |= int(overwrite["allow"])
    return discord.Permissions(allowed)


# Checks, before anything is paid, whether a debate can run where a command was used; pure.


Interaction = discord.Interaction[discord.Client]
VOICE = (discord.ChannelType.voice, discord.ChannelType.stage_voice)
POSTS_ONLY = (discord.ChannelType.forum, discord.ChannelType.media)


def capabilities_of(interaction: Interaction) -> PlaceCapabilities:
    """Return the obstacles in a command's channel or thread, from the bot's permissions in it."""
    channel, held = interaction.channel, interaction.app_permissions
    place, inside = interaction.channel_id, isinstance(channel, discord.Thread)
    files = missing(held, FOR_FILES) and Text(texts.NO_FILES, place=place)
    removal = missing(held, FOR_SECRET) and Text(texts.NO_REMOVAL, place=place)
    kind = getattr(channel, "type", None)
    said = ""
    if kind in VOICE:
        said = texts.NO_VOICE
    elif kind in POSTS_ONLY:
        said = texts.NO_FORUM
    elif isinstance(channel, discord.Thread) and channel.locked and not held.manage_threads:
        said = texts.LOCKED_HERE
    names = lacking(held, INSIDE_A_THREAD if inside else FOR_A_DEBATE)
    return PlaceCapabilities(
        unfit=(Text(said, place=str(getattr(channel, "id", ""))) if said else "")
        or (names and Text(texts.LACKING, place=place, permissions=names)),
        no_files=files or "",
        no_removal=removal or "",
    )
