"""What Discord's refusals mean: the one place that turns them into Rostrum's errors.

Codes are those of Discord's documentation, "JSON error codes".
"""

from __future__ import annotations

import asyncio
from enum import StrEnum

import aiohttp
import discord

from adapters.discord import texts
from engine.errors import MessageGoneError, VenueAwayError, VenueError, VenueGoneError

UNKNOWN_CHANNEL, UNKNOWN_GUILD, UNKNOWN_MESSAGE = 10003, 10004, 10008
UNKNOWN_EMOJI = 10014
EDITED_TOO_OFTEN = 30046
ACKNOWLEDGED = 40060
NO_ACCESS, NO_PERMISSION, ARCHIVED = 50001, 50013, 50083
WRONG_KIND = 50024
THREAD_EXISTS, LOCKED, TOO_MANY_THREADS = 160004, 160005, 160006

UNTOLD = 0.5  # seconds, if Discord did not say; callers back off by themselves


class Act(StrEnum):
    """What is asked of Discord; texts.py says each in words, with the permissions it needs."""

    POST = "post"
    EDIT = "edit"
    READ = "read"
    THREAD = "thread"
    REACT = "react"
    REMOVE = "remove"
    TYPING = "typing"


class UnreadyError(Exception):
    """Discord answered 429 or 5xx: it may be asked again after some seconds.

    `everywhere` is a limit on all that the bot asks; `code` is Discord's own, 0 for none.
    """

    def __init__(self, status: int, after: float, everywhere: bool, code: int = 0) -> None:
        super().__init__(f"status {status}")
        self.code = code
        self.status = status
        self.after = after
        self.everywhere = everywhere


def explain(error: Exception, act: Act, place: str, message: str = "") -> VenueError:
    """Return the error that the engine knows, with a sentence that says what to do."""
    match error:
        case UnreadyError(code=code) if code == EDITED_TOO_OFTEN:
            return VenueError(texts.TOO_OLD)
        case UnreadyError(status=429):
            return slow_down(error.after)
        case UnreadyError():
            said = texts.FAILING.format(status=error.status)
            return VenueAwayError(said, retry_after=UNTOLD, maybe_stored=True)
        case discord.LoginFailure():
            return VenueGoneError(texts.TOKEN_REFUSED)
        case discord.HTTPException():
            return _refusal(error, act, place, message)
        case aiohttp.ClientConnectorError():
            return VenueAwayError(texts.AWAY.format(why=_why(error)), retry_after=UNTOLD)
        case _:
            said = texts.UNANSWERED.format(why=_why(error))
            return VenueAwayError(said, retry_after=UNTOLD, maybe_stored=True)


NETWORK = (aiohttp.ClientError, OSError, asyncio.TimeoutError)
KNOWN = (discord.DiscordException, UnreadyError, *NETWORK)


def slow_down(seconds: float) -> VenueAwayError:
    """Return the error for a request that was not carried out because of a rate limit."""
    return VenueAwayError(texts.SLOW_DOWN.format(seconds=seconds), retry_after=seconds)


def _refusal(error: discord.HTTPException, act: Act, place: str, message: str) -> VenueError:
    said = _sentence(error, act).format(
        place=place,
        message=message,
        doing=texts.DOING[act],
        permissions=texts.PERMISSIONS[act],
        why=" ".join(error.text.split()).rstrip(".") or f"status {error.status}",
    )
    if error.code == UNKNOWN_MESSAGE:
        return MessageGoneError(said)
    return VenueGoneError(said) if _for_good(error, act) else VenueError(said)


def _sentence(error: discord.HTTPException, act: Act) -> str:
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
    if error.status == 401:
        return texts.TOKEN_REFUSED
    return known.get(error.code, texts.REFUSED)


def _for_good(error: discord.HTTPException, act: Act) -> bool:
    """Whether nothing can be posted there any more, until somebody changes that."""
    if error.status == 401 or error.code in (UNKNOWN_CHANNEL, UNKNOWN_GUILD, NO_ACCESS):
        return True
    return act is Act.POST and error.code in (NO_PERMISSION, ARCHIVED, LOCKED)


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
