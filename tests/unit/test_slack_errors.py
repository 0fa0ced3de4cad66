"""What Slack's refusals mean: gone for good, away for now, or about this one message."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError

from adapters.slack.errors import Act, explain, limited_for
from engine.delivery.ending import refusal_of
from engine.values.errors import (
    MessageGoneError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
    VenueLockedError,
)
from engine.values.language import speaking


def refusal(name: str, status: int = 200, headers: Any = None, **more: str) -> SlackApiError:
    answer = {"ok": False, "error": name} | more if name else "an error page"
    response = SimpleNamespace(data=answer, status_code=status, headers=headers or {})
    make: Any = SlackApiError  # which has no types
    return cast(SlackApiError, make("refused", response))


@pytest.mark.parametrize(
    ("name", "kind", "told"),
    [
        ("channel_not_found", VenueGoneError, "unless it was deleted, write /invite"),
        ("is_archived", VenueGoneError, "unarchive it"),
        ("is_inactive", VenueGoneError, "unarchive it"),
        ("not_in_channel", VenueGoneError, "/invite"),
        ("thread_not_found", VenueGoneError, "The thread was deleted"),
        ("restricted_action", VenueGoneError, "ask an admin to allow it there"),
        ("restricted_action_thread_locked", VenueLockedError, "unlock it"),
        ("ekm_access_denied", VenueGoneError, "ask an admin to allow it there"),
        ("account_inactive", VenueGoneError, "install it again"),
        ("token_revoked", VenueGoneError, "install it again"),
        ("message_not_found", MessageGoneError, "message was deleted"),
        ("expired_trigger_id", VenueError, "type the command again"),
        ("invalid_blocks", VenueError, "Slack refused that; "),
    ],
)
def test_a_refusal_is_a_sentence_that_says_what_it_is_about(
    name: str, kind: type[VenueError], told: str
) -> None:
    error = explain(refusal(name), Act.POST, "C1", "1.5")
    assert type(error) is kind
    assert told in str(error)
    assert str(error.text).endswith(".")


def test_what_slack_calls_a_refusal_is_in_the_log_and_not_in_a_chat() -> None:
    error = explain(refusal("invalid_blocks"), Act.POST, "C1", "1.5")
    assert str(error).endswith(". (post C1 1.5: invalid blocks)")
    with speaking("de"):
        said = refusal_of(error)
    assert said == "Slack hat das abgelehnt; wer Rostrum betreibt, sieht den Grund im Log."


def test_a_scope_that_lacks_is_named() -> None:
    error = explain(refusal("missing_scope", needed="reactions:read"), Act.READ, "C1")
    assert type(error) is VenueError
    assert "lacks the scope reactions:read" in str(error)


@pytest.mark.parametrize(
    ("error", "maybe_stored"),
    [
        (refusal("ratelimited", 429, {"Retry-After": "7"}), False),
        (refusal("ratelimited", 200, {"Retry-After": "7"}), False),
        (refusal("", 503), True),
        (refusal("internal_error"), True),
        (TimeoutError(), True),
        (aiohttp.ServerDisconnectedError(), True),
    ],
)
def test_what_passes_is_waited_for_and_says_whether_a_message_may_be_there(
    error: Exception, maybe_stored: bool
) -> None:
    away = explain(error, Act.POST, "C1")
    assert isinstance(away, VenueAwayError)
    assert away.maybe_stored is maybe_stored
    limited = limited_for(error)
    assert limited == (None if maybe_stored else 7)
    assert maybe_stored or away.retry_after == 7


@pytest.mark.parametrize("said", ["", "soon"])
def test_a_limit_without_a_time_is_kept_for_half_a_minute(said: str) -> None:
    assert limited_for(refusal("ratelimited", 429, {"Retry-After": said})) == 30
