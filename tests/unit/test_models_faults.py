"""Reading statuses, headers, bodies and event streams: pure, and never surprised."""

import asyncio
import itertools
import re
import time
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given, strategies as st

from adapters.models import faults
from adapters.models.attempts import CallAnswer, CallFault
from adapters.models.backends import PRESETS, Backend, Habits
from adapters.models.completions import read_answer
from adapters.models.discovery import model_entries, read_prices
from adapters.models.events import MOST_DATA, MOST_TEXT, Completion, _Event, _EventReader
from adapters.models.faults import complaint, redact, retry_after, status_fault
from adapters.models.pace import Gate
from engine.delivery.reasons import MODEL_FAILED, refusal_of
from engine.stage.steps import Pace
from engine.values.errors import ModelError
from engine.values.failures import failure_in, without_words
from tests.kit import HANG_SECONDS, some

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


@given(JSON.map(orjson.dumps) | st.binary(max_size=60))
def test_no_body_is_too_strange_to_judge(content: bytes) -> None:
    outcome = read_answer(content, "m")
    assert isinstance(outcome, CallAnswer) <= bool(getattr(outcome, "text", ""))
    complaint(content)
    status_fault(400, content, {})
    status_fault(500, content, {})
    model_entries(content)
    read_prices(content)


def test_parts_of_a_text_are_joined() -> None:
    parts = [{"type": "text", "text": "tea "}, {"type": "text", "text": "wins"}]
    content = orjson.dumps({"choices": [{"message": {"content": parts}}]})
    outcome = read_answer(content, "m")
    assert isinstance(outcome, CallAnswer)
    assert outcome.text == "tea wins"


def test_a_refusal_teaches_only_what_it_names_and_a_parameter_is_swapped_once() -> None:
    # A validator that repeats the request.
    repeated = {"temperature": 0.7, "response_format": {}}
    detail = [{"loc": ["body", "max_tokens"], "msg": "unexpected", "input": repeated}]
    learned = Habits().without(complaint(orjson.dumps({"detail": detail})))
    assert learned == Habits(cap="max_completion_tokens", swapped=True)
    error = {"message": "temperature of the topic", "param": "messages"}
    assert Habits().without(complaint(orjson.dumps({"error": error}))) is None
    once = some(Habits().without("max_tokens"))
    assert once.without("max_completion_tokens and max_tokens") is None


def test_what_looks_like_a_key_is_not_repeated_and_megabytes_cost_little() -> None:
    assert redact("key sk-abcdefgh123 and my-secret", "my-secret") == "key *** and ***"
    assert len(redact("x" * 5000)) == 300
    assert len(redact("sk-" * 5_000_000, "secret-key")) <= 300


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


# --- Reading event streams: whatever is cut, commented, spread over lines or wrong ----------------


STREAMS: list[tuple[bytes, list[_Event]]] = [
    (b"data: one\n\ndata: two\n\n", [_Event("message", "one"), _Event("message", "two")]),
    (b"data: one\r\n\r\ndata: two\r\n\r\n", [_Event("message", "one"), _Event("message", "two")]),
    (b"data: one\r\rdata: two\r\r", [_Event("message", "one"), _Event("message", "two")]),
    (b": keep-alive\n\n:\n\ndata:one\n\n", [_Event("message", "one")]),
    (b"data: a\ndata:  b\ndata\n\n", [_Event("message", "a\n b\n")]),
    (b"event: error\r\nid: 7\r\nretry: 9\r\ndata: {}\r\n\r\n", [_Event("error", "{}")]),
    (b"event: ping\n\ndata: one\n\n", [_Event("message", "one")]),
    (b"\xef\xbb\xbfdata: one\n\n", [_Event("message", "one")]),
    ("data: çay 茶 🍵\n\n".encode(), [_Event("message", "çay 茶 🍵")]),
    (b"data: caf\xff\n\n", [_Event("message", "caf�")]),
    (b"data: never finished\n", []),
    (b"", []),
]


def read(stream: bytes, cuts: set[int]) -> list[_Event]:
    reader = _EventReader()
    borders = [0, *sorted(cuts), len(stream)]
    pieces = [stream[a:b] for a, b in itertools.pairwise(borders)]
    return [event for piece in pieces for event in reader.feed(piece)]


@pytest.mark.parametrize(("stream", "events"), STREAMS)
def test_a_stream_is_read_byte_by_byte_and_at_once(stream: bytes, events: list[_Event]) -> None:
    assert read(stream, set()) == events
    assert read(stream, set(range(1, len(stream)))) == events


@given(st.data())
def test_where_a_stream_is_cut_changes_nothing(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(STREAMS[:7]), max_size=5))
    stream = b"".join(part for part, _ in chosen)
    cuts = data.draw(st.sets(st.integers(0, len(stream))))
    assert read(stream, cuts) == [event for _, events in chosen for event in events]


def chunk(text: str = "", finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return {"model": "served", "choices": [choice], **more}


def put_together(*chunks: dict[str, Any] | str) -> tuple[Completion, list[str]]:
    heard: list[str] = []
    completion = Completion("asked", lambda text, _: heard.append(text))
    for each in chunks:
        data = each.encode() if isinstance(each, str) else orjson.dumps(each)
        if not completion.take(b"data: " + data + b"\n\n"):
            break
    return completion, heard


def body_of(completion: Completion) -> dict[str, Any]:
    body: dict[str, Any] = orjson.loads(completion.body())
    return body


def test_a_completion_is_heard_as_it_grows_and_is_what_one_piece_would_be() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    completion, heard = put_together(
        chunk("Tea"),
        chunk(),
        chunk(" wins."),
        chunk(finish="stop"),
        {"choices": [], "usage": usage},
        "[DONE]",
        chunk("Never read."),
    )
    assert heard == ["Tea", "Tea wins."]
    assert completion.complete
    assert not put_together(chunk("Tea"))[0].complete
    assert put_together(chunk("Tea"), chunk(finish="length"))[0].complete
    body = body_of(completion)
    assert body["model"] == "served"
    assert body["usage"] == usage
    assert body["choices"][0]["message"]["content"] == "Tea wins."
    assert body["choices"][0]["finish_reason"] == "stop"


@pytest.mark.slow
def test_a_long_stream_of_single_characters_takes_seconds_not_minutes() -> None:
    heard: list[int] = []
    completion = Completion("m", lambda text, _: heard.append(len(text)))
    piece = b'data: {"choices": [{"delta": {"content": "x"}}]}\n\n'
    began = time.process_time()
    for _ in range(100_000):
        completion.take(piece)
    assert time.process_time() - began < 10  # half a minute, if each were joined with all before
    assert heard[:40] == list(range(1, 41))
    assert heard[-1] > 95_000


def test_a_stream_without_end_is_left_and_says_so_also_if_it_never_says_anything() -> None:
    completion, heard = put_together(*[chunk("word " * 20_000)] * 100)
    assert completion.complete
    assert MOST_TEXT < len(heard[-1]) < MOST_TEXT + 200_000
    assert body_of(completion)["choices"][0]["finish_reason"] == "length"
    silent = Completion("asked", lambda *_: None)
    comment = b": " + b"keep-alive " * 100_000 + b"\n\n"
    assert sum(silent.take(comment) for _ in range(100)) == MOST_DATA // len(comment)


def test_reasoning_and_other_choices_are_no_part_of_the_text() -> None:
    thought = {"index": 0, "delta": {"reasoning_content": "Hm.", "content": None}}
    parts = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Tea."}]
    spoken = {"index": 0, "delta": {"content": parts}}
    other = {"index": 1, "delta": {"content": "Coffee."}}
    _, heard = put_together({"choices": [thought]}, {"choices": [spoken, other, "?"]})
    assert heard == ["Tea."]


@pytest.mark.parametrize(
    "wrong",
    [
        {"error": {"message": "upstream failed"}},
        {"choices": [{"delta": {}, "error": {"message": "upstream failed"}}]},
        "not JSON",
        "[1]",
    ],
)
def test_an_error_in_the_stream_is_the_end_of_it(wrong: dict[str, Any] | str) -> None:
    completion, heard = put_together(chunk("Tea"), wrong, chunk(" wins."), "[DONE]")
    assert heard == ["Tea"]
    assert completion.complete
    assert body_of(completion)["error"]


@pytest.mark.parametrize("data", [b'{"message": "overloaded"}', b"overloaded"])
def test_an_event_of_the_kind_error_is_one(data: bytes) -> None:
    completion = Completion("asked", lambda *_: None)
    assert not completion.take(b"event: error\ndata: " + data + b"\n\n")
    assert "overloaded" in str(body_of(completion)["error"])


# --- What is kept of a provider's words, and what everyone may read of a failure ------------------


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
    ends = ({"finish_reason": end} for end in ("error", "length", "content_filter", "stop"))
    for body in (BODY, b"x", b"[]", *(orjson.dumps({"choices": [one]}) for one in ({}, *ends))):
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
