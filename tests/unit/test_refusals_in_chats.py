"""What platforms refuse, as people read it: whole sentences in their language, without ids."""

import re
from collections.abc import Iterator
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import discord
import pytest
from slack_sdk.errors import SlackApiError

from adapters.discord import errors as of_discord
from adapters.slack import errors as of_slack
from engine.delivery.reasons import refusal_of, without_settings
from engine.formats import FORMATS
from engine.formats.format import Format, read_own
from engine.values.errors import UsageError, VenueError
from engine.values.language import ENGLISH, Text, from_stored, speaking, to_stored
from engine.words.phrases import WAITS_TO_POST
from engine.words.translation import LANGUAGES, say
from tests.doubles.facts import Code
from tests.slow import slow_after

BAD = ("ghi", "-1", "1e9", "")
PLACE, MESSAGE = "C0471100815", "1718.000042"
SLACKS_NAMES = (
    "account_inactive", "cannot_reply_to_message", "channel_not_found", "ekm_access_denied",
    "expired_trigger_id", "fatal_error", "invalid_blocks", "is_archived", "is_inactive",
    "message_not_found", "messages_tab_disabled", "missing_scope", "not_in_channel",
    "ratelimited", "restricted_action", "restricted_action_thread_locked", "thread_not_found",
    "token_revoked",
)  # fmt: skip


def by_slack(*names: str) -> Iterator[VenueError]:
    make: Any = SlackApiError  # which has no types
    for name in names or SLACKS_NAMES:
        data = {"ok": False, "error": name, "needed": "reactions:read"}
        answer = SimpleNamespace(data=data, status_code=200, headers={})
        for act, place in product(of_slack.SlackAct, (PLACE, "")):
            refused = cast(SlackApiError, make("refused", answer))
            yield of_slack.explain(refused, act, place, MESSAGE)


def by_discord(*codes: Code) -> Iterator[VenueError]:
    for code in codes or Code:
        answer: Any = SimpleNamespace(status=code.status, reason="refused")
        for act, place in product(of_discord.DiscordAct, (PLACE, "")):
            refused = discord.HTTPException(answer, {"code": code, "message": "No."})
            yield of_discord.explain(refused, act, place, MESSAGE)


@pytest.mark.parametrize("language", slow_after(2, [ENGLISH, *LANGUAGES]))
@pytest.mark.parametrize("refusals", [by_slack, by_discord])
def test_a_platforms_refusal_has_no_ids_and_no_gaps_in_any_language(
    refusals: Any, language: str
) -> None:
    """Slack's named channels by their ids, and "The thread of  was deleted" where there was none.

    What a thread waits for was said in English, with the platform's own word for it.
    """
    errors = list(refusals())
    assert len(errors) > 200
    for error in errors:
        with speaking(language):
            said = refusal_of(error)
            stored = to_stored(Text(WAITS_TO_POST, why=error.text))
            waits = without_settings(say(from_stored(stored)))
        shown = said.replace(f"<#{PLACE}>", "the channel")  # which Discord shows by its name
        assert not re.search(rf"[{{}}]|<|{PLACE}|{MESSAGE}|  | [.,;]", shown), said
        assert said in waits, (said, waits)
        assert language == ENGLISH or said != str(error.text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_wrong_option_of_a_format_is_said_in_one_language(language: str) -> None:
    """It was the English sentence of a library: "Input should be greater than or equal to 2"."""
    wrong = [(script, name) for script in FORMATS.values() for name in script.options.model_fields]
    said = {_refused(script, name, text, language) for script, name in wrong for text in BAD}
    assert len(said) > 5
    assert not [one for one in said if "Input" in one]


def _refused(script: Format, option: str, text: str, language: str) -> str:
    """Return how an option is refused in a language; empty if it is taken."""
    try:
        read_own(script.name, script.options, {option: text})
    except UsageError as error:
        refused = error
    else:
        return ""
    with speaking(language):
        shown = refusal_of(refused)
    assert shown != str(refused)
    assert option in shown
    return shown
