"""Turns Discord's refusals into Rostrum's errors; the only place that does.

Codes are those of Discord's documentation, "JSON error codes".
"""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import aiohttp
import discord

from adapters.discord import texts
from engine.run.order import PlaceCapabilities
from engine.values.errors import (
    MessageGoneError,
    SettingsError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
    VenueLockedError,
    why_of,
)
from engine.values.language import N_, Text

UNKNOWN_CHANNEL, UNKNOWN_GUILD, UNKNOWN_MESSAGE = 10003, 10004, 10008
UNKNOWN_EMOJI, UNKNOWN_WEBHOOK = 10014, 10015
UNKNOWN_PEOPLE = (10007, 10013)  # as members of a server, and at all
WEBHOOKS_FULL, NOT_THE_AUTHOR, NO_SUCH_TOKEN, INVALID_FORM = 30007, 50005, 50027, 50035
EDITED_TOO_OFTEN = 30046
ACKNOWLEDGED = 40060
NO_ACCESS, NO_PERMISSION, ARCHIVED = 50001, 50013, 50083
WRONG_KIND = 50024
IN_DIRECT_MESSAGES = 50003  # which have no threads
THREAD_EXISTS, LOCKED, TOO_MANY_THREADS = 160004, 160005, 160006

RETRY_SECONDS = 0.5  # if Discord did not say; callers back off on their own


class DiscordAct(StrEnum):
    """The kinds of requests; texts.py has the words and permissions of each."""

    POST = "post"
    EDIT = "edit"
    READ = "read"
    THREAD = "thread"
    REACT = "react"
    UNREACT = "unreact"
    REMOVE = "remove"
    TYPING = "typing"
    NAME = "name"
    ERASE = "erase"
    ERASE_THREAD = "erase_thread"


WRITING = frozenset(
    {DiscordAct.POST, DiscordAct.EDIT, DiscordAct.REACT}
)  # refused in a locked thread


class UnreadyError(Exception):
    """Discord answered 429 or 5xx: retry after some seconds.

    `everywhere`: the limit is on all of the bot's requests; `code` is Discord's own, 0 for none.
    """

    def __init__(self, status: int, after: float, everywhere: bool, code: int = 0) -> None:
        super().__init__(f"status {status}")
        self.code = code
        self.status = status
        self.after = after
        self.everywhere = everywhere


def explain(error: Exception, act: DiscordAct, place: str, message: str = "") -> VenueError:
    """Return the engine's error for an exception, with a message that says what to do."""
    match error:
        case UnreadyError(code=code) if code == EDITED_TOO_OFTEN:
            return VenueError(texts.TOO_OLD)
        case UnreadyError(status=429):
            return slow_down(error.after)
        case UnreadyError():
            said = Text(texts.FAILING, status=error.status)
            return VenueAwayError(said, retry_after=RETRY_SECONDS, maybe_stored=True)
        case discord.LoginFailure():
            return VenueGoneError(texts.TOKEN_REFUSED)
        case discord.HTTPException():
            said = Text(
                _sentence(error, place),
                place=place,
                doing=Text(texts.DOING[act]),
                permissions=Text(texts.PERMISSIONS[act]),
            )
            if error.code == UNKNOWN_MESSAGE:
                return MessageGoneError(said).because(message)
            if error.code in (ARCHIVED, LOCKED) and act in WRITING:
                return VenueLockedError(said)
            refused = VenueGoneError(said) if _for_good(error, act) else VenueError(said)
            if said.template != texts.REFUSED:
                return refused
            why = " ".join(error.text.split()).rstrip(".") or f"status {error.status}"
            return refused.because(f"{' '.join(filter(None, (act, place)))}: {why}")
        case aiohttp.ClientConnectorError():
            away = VenueAwayError(texts.AWAY, retry_after=RETRY_SECONDS)
        case _:
            away = VenueAwayError(texts.UNANSWERED, retry_after=RETRY_SECONDS, maybe_stored=True)
    return away.because(why_of(error))


def locked(place: str) -> VenueLockedError:
    """Return the error for a thread that a moderator locked."""
    return VenueLockedError(Text(texts.LOCKED, place=place))


def forbidden(act: DiscordAct, place: str, permissions: str) -> VenueError:
    """Return the error for an act without some permissions."""
    kind = VenueGoneError if act is DiscordAct.POST else VenueError
    doing = Text(texts.DOING[act])
    return kind(Text(texts.FORBIDDEN, doing=doing, place=place, permissions=permissions))


def unreadable() -> VenueAwayError:
    """Return the error for an answer that is not Discord's; the request may have succeeded."""
    return VenueAwayError(texts.UNANSWERED, retry_after=RETRY_SECONDS, maybe_stored=True)


NETWORK = (aiohttp.ClientError, OSError, asyncio.TimeoutError)
KNOWN = (discord.DiscordException, UnreadyError, *NETWORK)


def code_of(error: VenueError) -> int:
    """Return Discord's own code of a refusal, 0 if it has none."""
    cause = error.__cause__
    return cause.code if isinstance(cause, discord.HTTPException) else 0


def slow_down(seconds: float) -> VenueAwayError:
    """Return the error for a request that was not carried out because of a rate limit."""
    return VenueAwayError(Text(texts.SLOW_DOWN, seconds=seconds), retry_after=seconds)


def _sentence(error: discord.HTTPException, place: str) -> str:
    known = {
        UNKNOWN_CHANNEL: texts.CHANNEL_GONE,
        UNKNOWN_GUILD: texts.NO_ACCESS,
        UNKNOWN_MESSAGE: texts.MESSAGE_GONE,
        NO_ACCESS: texts.NO_ACCESS,
        NO_PERMISSION: texts.FORBIDDEN,
        ARCHIVED: texts.LOCKED,
        LOCKED: texts.LOCKED,
        TOO_MANY_THREADS: texts.THREADS_FULL,
    }
    if error.status == 401 and error.code != NO_SUCH_TOKEN:
        return texts.TOKEN_REFUSED
    return known.get(error.code, texts.REFUSED) if place else texts.REFUSED


def _for_good(error: discord.HTTPException, act: DiscordAct) -> bool:
    """Return whether nothing can be posted there until a person changes that."""
    if error.code == NO_SUCH_TOKEN:  # of a webhook, not the bot's
        return False
    if error.status == 401 or error.code in (UNKNOWN_CHANNEL, UNKNOWN_GUILD, NO_ACCESS):
        return True
    return act is DiscordAct.POST and error.code == NO_PERMISSION


# The permissions that Rostrum needs in a server, and those it lacks; pure.


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
