"""What is kept of a provider's words, and what everyone may read of a failure."""

from __future__ import annotations

import re
from collections.abc import Iterator

import orjson
import pytest
from hypothesis import given, strategies as st

from adapters.models import faults
from adapters.models.answers import read_answer
from adapters.models.backends import PRESETS
from adapters.models.outcomes import CallAnswer, CallFault
from adapters.models.redaction import redact
from engine.delivery.ending import MODEL_FAILED, refusal_of
from engine.values.errors import ModelError, failure_in, without_words

KEYS = {
    "openai": "sk-proj-Ab12Cd34Ef56",
    "openrouter": "sk-or-v1-0123456789abcdef",
    "anthropic": "sk-ant-api03-AbCdEf_123",
    "gemini": "AIzaSyA-1234567890",
    "deepseek": "sk-0123456789abcdef",
    "zhipu": "0123456789abcdef0123456789abcdef.AbCdEf1234567890",
    "mistral": "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW",
    "groq": "gsk_AbCdEf123456",
    "hugging face": "hf_AbCdEf123456",
    "slack": "xoxb-12-34-AbCdEf",
    "xai": "xai-AbCdEf123456",
    "masked": "sk-proj-****wxyz",
}


def test_every_preset_that_needs_a_key_has_a_sample() -> None:
    assert {name for name, preset in PRESETS.items() if preset.key} <= KEYS.keys()


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_keys_go_however_they_stand(key: str) -> None:
    for said in (f"bad key {key}.", f'{{"k":"{key}"}}', f"?q={key}&x=1", f"<{key}>"):
        assert key[-5:] not in redact(said)


@pytest.mark.parametrize(
    "said",
    [
        "Authorization: Bearer canary",
        "got bearer canary here",
        "at https://ops:canary@10.0.0.7/v1",
        "at https://canary@host/v1",
        "at redis://:can/canary@host",
        "x-api-key: canary",
        "{'api_key': 'canary'}",
        "password=canary",
    ],
)
def test_what_stands_where_secrets_stand_goes(said: str) -> None:
    assert "canary" not in redact(said)


@given(st.text("abcXYZ019-_.", min_size=6, max_size=40), st.text(max_size=40), st.data())
def test_no_part_of_a_configured_key_stays(key: str, around: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(key) - 6))
    part = key[start : data.draw(st.integers(start + 6, len(key)))]
    told = redact(f"{around} {part.swapcase()} {around}{part}", "other-secret", key).lower()
    found = {told[at : at + 6] for at in range(len(told) - 5)}
    assert not found & {key.lower()[at : at + 6] for at in range(len(key) - 5)}


@given(st.text(), st.text("\x1b\x9b\x07\x08\r\u202e\u2066\u200b[]52;m", max_size=30))
def test_a_line_of_it_is_short_and_obeyed_by_no_terminal(said: str, odd: str) -> None:
    told = redact(said + odd + said * 50)
    assert len(told) <= 300
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", told)


def test_a_body_of_megabytes_costs_little() -> None:
    assert len(redact("sk-" * 5_000_000, "secret-key")) <= 300


# --- what everyone may read ---------------------------------------------------------------

BODY = orjson.dumps({"error": {"message": "canary: (999) (model “x”); words"}})


def every_fault() -> Iterator[CallFault]:
    for status in (307, 400, 401, 402, 403, 404, 408, 409, 413, 422, 425, 429, 451, 500, 503, 504):
        yield faults.status_fault(status, BODY, {})
    yield faults.status_fault(400, orjson.dumps({"error": "content policy"}), {})
    yield faults.endless_fault(5)
    yield faults.deadline_fault(300)
    yield faults.unreachable_fault("http://10.0.0.7:8000")
    yield faults.proxy_fault("socks5", "all", "https", "10.0.0.7")
    yield faults.broken_fault()
    choices: tuple[dict[str, str], ...] = (
        {},
        {"finish_reason": "error"},
        {"finish_reason": "length"},
        {"finish_reason": "content_filter"},
        {"finish_reason": "stop"},
    )
    for body in (BODY, b"x", b"[]", *(orjson.dumps({"choices": [one]}) for one in choices)):
        fault = read_answer(body, "m")
        assert not isinstance(fault, CallAnswer)
        yield fault


@pytest.mark.parametrize("fault", list(every_fault()), ids=lambda fault: fault.whole)
def test_a_failure_is_told_by_kind_and_status_from_what_is_kept(fault: CallFault) -> None:
    assert failure_in(fault.whole) == fault.failure
    sentence = f"Backend “near” {fault.whole} (model “m”, 6 tries); {fault.advice}."
    problem = without_words(f"it is empty; {sentence}")
    assert problem == f"it is empty; no answer: {fault.failure}"
    assert not re.search("canary|999|10.0.0.7|near|ROSTRUM", problem)


def test_a_chat_is_told_that_a_model_failed_and_no_more() -> None:
    told = "Backend “near” is overloaded (503): canary “x” (model “y”); try again."
    assert refusal_of(ModelError(told, failure="overloaded (503)")) == MODEL_FAILED


def test_a_models_name_and_end_are_one_short_line() -> None:
    body = {
        "model": "m\x1b[2J\u202e" + "x" * 10_000,
        "choices": [{"message": {"content": "Yes."}, "finish_reason": "\x1b]0;" + "y" * 10_000}],
    }
    answer = read_answer(orjson.dumps(body), "m")
    assert isinstance(answer, CallAnswer)
    assert max(len(answer.model), len(answer.finish)) <= 200
    assert (answer.model + answer.finish).isprintable()
