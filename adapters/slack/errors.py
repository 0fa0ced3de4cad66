"""What Slack's refusals mean: the one place that turns them into Rostrum's errors.

Names are those of Slack's documentation, "Errors" of each method.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError

from adapters.slack import texts
from engine.errors import MessageGoneError, VenueAwayError, VenueError, VenueGoneError

NETWORK = (aiohttp.ClientError, OSError, asyncio.TimeoutError)
KNOWN = (SlackClientError, *NETWORK)
# What the SDK raises over an answer that is no JSON object, such as the sign-in page of a proxy.
UNREADABLE = (AttributeError, RecursionError, TypeError, ValueError)
RETRY_SECONDS = 30.0  # where Slack says to wait, and not how long

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
_LATE = frozenset(("exchanged_trigger_id", "expired_trigger_id", "trigger_expired"))
_LIMITED = frozenset(("ratelimited", "rate_limited", "message_limit_exceeded"))
_FAILED = frozenset(("fatal_error", "internal_error", "request_timeout", "service_unavailable"))


class Act(StrEnum):
    """What is asked of Slack; texts.py says each in words."""

    POST = "post"
    EDIT = "edit"
    READ = "read"
    REACT = "react"
    ASK = "ask"
    OPEN = "open"
    UPLOAD = "upload"


class Answered:
    """What Slack answered when it refused: a status, and a name where it is Slack's own answer."""

    def __init__(self, error: SlackApiError) -> None:
        response: Any = error.response
        data = getattr(response, "data", None)
        fields: dict[str, Any] = data if isinstance(data, dict) else {}
        status = getattr(response, "status_code", None) or getattr(response, "status", 0)
        self.status = int(status or 0)
        self.name = str(fields.get("error", ""))
        self.needed = str(fields.get("needed", ""))
        self.after = _seconds(getattr(response, "headers", None) or {})


def explain(error: Exception, act: Act, place: str, message: str = "") -> VenueError:
    """Return the error that the engine knows, with a sentence that says what to do."""
    match error:
        case SlackApiError():
            return _refusal(Answered(error), act, place, message)
        case aiohttp.ClientConnectorError():
            return VenueAwayError(texts.AWAY.format(why=_why(error)))
        case SlackClientError() | aiohttp.ClientError() | OSError() | TimeoutError():
            return VenueAwayError(texts.UNANSWERED.format(why=_why(error)), maybe_stored=True)
        case _:
            return unreadable()


def unreadable() -> VenueAwayError:
    """Return the error for an answer that is not Slack's; what was asked for may be done."""
    return VenueAwayError(texts.NOT_SLACK, maybe_stored=True)


def slow_down(seconds: float) -> VenueAwayError:
    """Return the error for a request that was not carried out because of a rate limit."""
    return VenueAwayError(texts.SLOW_DOWN.format(seconds=seconds), retry_after=seconds)


def limited_for(error: Exception) -> float | None:
    """Return for how many seconds Slack refuses to be asked that again, None if it does not."""
    if not isinstance(error, SlackApiError):
        return None
    answered = Answered(error)
    limited = answered.status == 429 or answered.name in _LIMITED
    return answered.after if limited else None


def name_of(error: BaseException) -> str:
    """Return Slack's own name of a refusal, empty where there is none."""
    cause = error.__cause__
    return Answered(cause).name if isinstance(cause, SlackApiError) else ""


def _refusal(answered: Answered, act: Act, place: str, message: str) -> VenueError:
    said = {"place": place, "message": message, "doing": texts.DOING[act]}
    name = answered.name
    if answered.status == 429 or name in _LIMITED:
        return slow_down(answered.after)
    if not name and answered.status < 500:
        return unreadable()
    if answered.status >= 500 or name in _FAILED:
        why = name or f"status {answered.status}"
        return VenueAwayError(texts.FAILING.format(why=why), maybe_stored=True)
    if name in _TOKEN:
        return VenueGoneError(texts.TOKEN_REFUSED)
    if name in _GONE and not (act is Act.REACT and name in _RESTRICTED):
        return VenueGoneError(_GONE[name].format(**said))
    if name == "message_not_found":
        return MessageGoneError(texts.MESSAGE_GONE.format(**said))
    if name == "messages_tab_disabled":
        return VenueError(texts.MESSAGES_TAB)
    if name in _LATE:
        return VenueError(texts.FORM_TOO_LATE)
    if name == "missing_scope":
        return VenueError(texts.MISSING_SCOPE.format(needed=answered.needed, **said))
    return VenueError(texts.REFUSED.format(why=name.replace("_", " "), **said))


def _seconds(headers: Any) -> float:
    try:
        return float(headers.get("Retry-After") or RETRY_SECONDS)
    except ValueError:
        return RETRY_SECONDS


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
