"""What members read of an end or a refusal, and what only the operator does."""

import pytest

from adapters.discord import texts as discord_texts
from adapters.models.attempts import CallFault
from adapters.models.faults import full_fault, status_fault
from adapters.slack import texts as slack_texts
from engine.delivery.reasons import (
    HELD_UP,
    MODEL_FAILED,
    MODEL_FULL,
    MODEL_MISSET,
    awaited,
    reason_of,
    refusal_of,
    said_of,
    waiting_for,
    why,
)
from engine.values.debate import Debate, Status
from engine.values.errors import (
    ModelError,
    RostrumError,
    SettingsError,
    StoppedError,
    StoreError,
    UsageError,
    VenueGoneError,
)
from engine.words.phrases import WAITS_TO_BEGIN, WAITS_TO_CHECK, WAITS_TO_HEAR
from tests.kit import new_debate, stored

FULL = StoreError("The database /srv/rostrum.db could not be used: full. Free some space.")
KEYLESS = SettingsError("ROSTRUM_SECRET_KEY does not open what is stored of T1; add the key.")
GONE_FORMAT = StoreError("This debate began with version 1 of the format classic; start it anew.")
TOKENS = {
    discord_texts.TOKEN_REFUSED: "Discord refuses the bot's token.",
    slack_texts.TOKEN_REFUSED: "Slack refuses the bot's token: Rostrum was removed or the token "
    "revoked; install it again.",
}


def ended(error: RostrumError, *, gone: bool = False) -> Debate:
    return stored(new_debate(), status=Status.FAILED, reason=reason_of(error), gone=gone)


@pytest.mark.parametrize("error", [FULL, KEYLESS])
def test_a_command_that_storage_or_settings_refuse_shows_nothing_of_them(
    error: RostrumError,
) -> None:
    said = refusal_of(error)
    assert "The operator can see the reason in the log" in said
    assert "ROSTRUM_" not in said
    assert "/srv" not in said


@pytest.mark.parametrize("text", TOKENS)
def test_a_platform_that_refuses_the_token_names_no_setting_to_members(text: str) -> None:
    assert refusal_of(VenueGoneError(text)) == TOKENS[text]
    debate = ended(StoppedError(text, ends="thread"), gone=True)
    assert why(debate) == said_of(StoppedError(text, ends="thread")) == TOKENS[text]
    assert debate.reason == text  # which the operator reads


def test_an_end_that_no_model_caused_is_not_put_down_to_a_model_nor_awaited_as_one() -> None:
    debate = ended(GONE_FORMAT)
    assert why(debate) == said_of(GONE_FORMAT) == HELD_UP
    assert str(GONE_FORMAT) in debate.reason
    assert why(ended(ModelError("near/ana of backend “near” …"))) == MODEL_FAILED
    said = "jurors is “x”; write a whole number, or leave it out (1, 2 or 3)."
    assert refusal_of(UsageError(said)) == said  # which a person can mend
    away = ModelError("near/qwen3:4b of backend “near” is away.", model="near/qwen3:4b")
    assert awaited(waiting_for(away)) == "near/qwen3:4b"
    for waits in (WAITS_TO_BEGIN, WAITS_TO_HEAR, WAITS_TO_CHECK):
        assert awaited(waits.format(platform="Slack")) == ""


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        *((status_fault(status, b"", {}), MODEL_MISSET) for status in (401, 402, 403, 404)),
        (full_fault(400), MODEL_FULL),
        (full_fault(), MODEL_FULL),
        (status_fault(503, b"", {}), MODEL_FAILED),
    ],
)
def test_a_retry_is_spoken_of_only_where_one_was_made(fault: CallFault, said: str) -> None:
    told = f"Backend “near” {fault.whole} (model “m”); {fault.advice}."
    error = ModelError(told, model="near/m", failure=fault.failure)
    assert why(ended(error)) == said_of(error) == refusal_of(error) == said
