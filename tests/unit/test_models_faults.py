"""Reading statuses, headers and bodies: pure, and never surprised."""

from __future__ import annotations

import asyncio

import orjson
import pytest
from hypothesis import given, strategies as st

from adapters.models.answers import read_answer
from adapters.models.backends import Backend
from adapters.models.faults import complaint, retry_after, status_fault
from adapters.models.habits import Habits
from adapters.models.outcomes import CallAnswer, Next
from adapters.models.pacing import Gate
from adapters.models.prices import model_entries, read_prices
from adapters.models.redaction import redact
from engine.floor.steps import Pace
from tests.kit import HANG_SECONDS

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 10**6) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "choices", "message", "content", "usage", "cost", "data", "id"]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 10.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_a_wait_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=90.0) == seconds


@given(JSON)
def test_no_body_is_too_strange_to_judge(body: object) -> None:
    content = orjson.dumps(body)
    outcome = read_answer(content, "m")
    assert isinstance(outcome, CallAnswer) <= bool(getattr(outcome, "text", ""))
    complaint(content)
    status_fault(400, content, {})
    model_entries(content)
    read_prices(content)


@given(st.binary(max_size=60))
def test_no_bytes_are_too_strange_to_judge(content: bytes) -> None:
    read_answer(content, "m")
    complaint(content)
    status_fault(500, content, {})


def test_parts_of_a_text_are_joined() -> None:
    parts = [{"type": "text", "text": "tea "}, {"type": "text", "text": "wins"}]
    content = orjson.dumps({"choices": [{"message": {"content": parts}}]})
    outcome = read_answer(content, "m")
    assert isinstance(outcome, CallAnswer)
    assert outcome.text == "tea wins"


def test_a_validator_that_repeats_the_request_teaches_only_what_it_names() -> None:
    detail = [
        {
            "loc": ["body", "max_tokens"],
            "msg": "unexpected",
            "input": {"temperature": 0.7, "response_format": {}},
        }
    ]
    learned = Habits().without(complaint(orjson.dumps({"detail": detail})))
    assert learned == Habits(cap="max_completion_tokens", swapped=True)


def test_a_refusal_of_something_else_teaches_nothing() -> None:
    error = {"message": "temperature of the topic", "param": "messages"}
    assert Habits().without(complaint(orjson.dumps({"error": error}))) is None


def test_a_parameter_is_swapped_once_only() -> None:
    once = Habits().without("max_tokens")
    assert once is not None
    assert once.without("max_completion_tokens and max_tokens") is None


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 405, 413, 422])
def test_a_client_error_is_final_and_free(status: int) -> None:
    fault = status_fault(status, b"", {})
    assert fault.then is Next.FINAL
    assert fault.cost == 0.0


def test_what_looks_like_a_key_is_not_repeated() -> None:
    assert redact("key sk-abcdefgh123 and my-secret", "my-secret") == "key *** and ***"
    assert len(redact("x" * 5000)) == 300


async def test_one_call_starts_in_a_turn_of_the_loop() -> None:
    pace, started = Pace(), []

    async def start(number: int) -> None:
        await pace.turn()
        started.append(number)

    tasks = [asyncio.create_task(start(number)) for number in range(5)]
    tasks[2].cancel()
    for _ in range(4):
        before = len(started)
        await asyncio.sleep(0)
        assert len(started) - before <= 1
    await asyncio.gather(*tasks, return_exceptions=True)
    assert started == [0, 1, 3, 4]


async def test_a_cancelled_wait_gives_its_place_back() -> None:
    backend = Backend.of("x", base_url="http://127.0.0.1:1", max_concurrency=1)
    gate = Gate(backend, Pace())

    async def hold() -> None:
        async with gate:
            await asyncio.sleep(60)

    holder, waiter = asyncio.create_task(hold()), asyncio.create_task(hold())
    await asyncio.sleep(0.01)
    holder.cancel()
    waiter.cancel()
    await asyncio.gather(holder, waiter, return_exceptions=True)
    async with asyncio.timeout(HANG_SECONDS), gate:
        pass
