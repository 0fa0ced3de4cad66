"""Turns Discord's refusals into Rostrum's errors; the only place that does.

Codes are those of Discord's documentation, "JSON error codes".
"""

from __future__ import annotations

import asyncio
from enum import StrEnum

import aiohttp
import discord

from adapters.discord import texts
from engine.values.errors import (
    MessageGoneError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
    VenueLockedError,
    why_of,
)
from engine.values.language import Text

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
