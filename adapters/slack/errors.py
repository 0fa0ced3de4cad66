"""Turns Slack's refusals into Rostrum's errors; the only place that does.

Names are those of Slack's documentation, "Errors" of each method.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.slack import texts
from engine.values.errors import (
    MessageGoneError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
    VenueLockedError,
    why_of,
)
from engine.values.language import Text

NETWORK = (aiohttp.ClientError, OSError, asyncio.TimeoutError)
KNOWN = (SlackClientError, *NETWORK)
# Raised by the SDK for a response that is not a JSON object, such as a proxy's sign-in page.
UNREADABLE = (AttributeError, RecursionError, TypeError, ValueError)
RETRY_SECONDS = 30.0  # if Slack does not say how long to wait

_TOKEN = frozenset(
    ("account_inactive", "invalid_auth", "not_authed", "token_expired", "token_revoked")
)
_RESTRICTED = (
    "ekm_access_denied",
    "no_permission",
    "restricted_action",
    "restricted_action_non_threadable_channel",
    "restricted_action_read_only_channel",
    "restricted_action_thread_locked",
    "restricted_action_thread_only_channel",
)
_GONE = {
    "channel_not_found": texts.CHANNEL_GONE,
    "is_archived": texts.ARCHIVED,
    "is_inactive": texts.ARCHIVED,
    "not_in_channel": texts.NOT_MEMBER,
    "thread_not_found": texts.THREAD_GONE,
    "cannot_reply_to_message": texts.THREAD_GONE,
    **dict.fromkeys(_RESTRICTED, texts.RESTRICTED),
}
_LATE = ("exchanged_trigger_id", "expired_trigger_id", "trigger_expired")
_FINAL = {
    "messages_tab_disabled": texts.MESSAGES_TAB,
    "missing_scope": texts.MISSING_SCOPE,
    "no_such_subteam": texts.NO_GROUP,
    **dict.fromkeys(_LATE, texts.FORM_TOO_LATE),
}
_LIMITED = frozenset(("ratelimited", "rate_limited", "message_limit_exceeded"))
_FAILED = frozenset(("fatal_error", "internal_error", "request_timeout", "service_unavailable"))


class SlackAct(StrEnum):
    """The kinds of requests."""

    POST = "post"
    EDIT = "edit"
    READ = "read"
    REACT = "react"
    UNREACT = "unreact"
    ASK = "ask"
    OPEN = "open"
    UPLOAD = "upload"
    ERASE = "erase"


class SlackAnswer:
    """A refusal: its status, and its name if the response is Slack's own."""

    def __init__(self, error: SlackApiError) -> None:
        response: Any = error.response
        data = getattr(response, "data", None)
        fields: dict[str, Any] = data if isinstance(data, dict) else {}
        status = getattr(response, "status_code", None) or getattr(response, "status", 0)
        self.status = int(status or 0)
        self.name = str(fields.get("error", ""))
        self.needed = str(fields.get("needed", ""))
        headers: Any = getattr(response, "headers", None) or {}
        try:
            self.after = float(headers.get("Retry-After") or RETRY_SECONDS)
        except ValueError:
            self.after = RETRY_SECONDS


def explain(error: Exception, act: SlackAct, place: str, message: str = "") -> VenueError:
    """Return the engine's error for an exception, with a message that says what to do."""
    match error:
        case SlackApiError():
            return _refusal(SlackAnswer(error), act, place, message)
        case aiohttp.ClientConnectorError():
            return VenueAwayError(texts.AWAY).because(why_of(error))
        case SlackClientError() | aiohttp.ClientError() | OSError() | TimeoutError():
            away = VenueAwayError(texts.UNANSWERED, maybe_stored=True)
            return away.because(why_of(error))
        case _:
            return unreadable()


def unreadable() -> VenueAwayError:
    """Return the error for a response that is not Slack's; the request may have succeeded."""
    return VenueAwayError(texts.NOT_SLACK, maybe_stored=True)


def slow_down(seconds: float) -> VenueAwayError:
    """Return the error for a request that was not carried out because of a rate limit."""
    return VenueAwayError(Text(texts.SLOW_DOWN, seconds=seconds), retry_after=seconds)


def limited_for(error: Exception) -> float | None:
    """Return the seconds of a rate limit, None for any other error."""
    if not isinstance(error, SlackApiError):
        return None
    answered = SlackAnswer(error)
    limited = answered.status == 429 or answered.name in _LIMITED
    return answered.after if limited else None


def name_of(error: BaseException) -> str:
    """Return Slack's own name of a refusal, empty if it has none."""
    cause = error.__cause__
    return SlackAnswer(cause).name if isinstance(cause, SlackApiError) else ""


def _refusal(answered: SlackAnswer, act: SlackAct, place: str, message: str) -> VenueError:
    name = answered.name
    # Slack's ids and words are for the log: members read the rest.
    where = " ".join(filter(None, (act, place, message)))
    if answered.status == 429 or name in _LIMITED:
        return slow_down(answered.after)
    if not name and answered.status < 500:
        return unreadable()
    if answered.status >= 500 or name in _FAILED:
        failing = VenueAwayError(texts.FAILING, maybe_stored=True)
        return failing.because(name or f"status {answered.status}")
    if name in _TOKEN:
        return VenueGoneError(texts.TOKEN_REFUSED)
    if name == "restricted_action_thread_locked" and act is not SlackAct.REACT:
        return VenueLockedError(texts.LOCKED).because(where)
    if name in _GONE and not (act is SlackAct.REACT and name in _RESTRICTED):
        return VenueGoneError(_GONE[name]).because(where)
    if name == "message_not_found":
        return MessageGoneError(texts.MESSAGE_GONE).because(where)
    if name in _FINAL:
        values = {"group": place, "needed": answered.needed}
        return VenueError(Text(_FINAL[name], **values)).because(where)
    return VenueError(texts.REFUSED).because(f"{where}: {name.replace('_', ' ')}")
