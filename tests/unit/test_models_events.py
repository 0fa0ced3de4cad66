"""Reading event streams: whatever is cut, commented, spread over lines or wrong."""

from __future__ import annotations

import itertools
import time
from typing import Any

import orjson
import pytest
from hypothesis import given, strategies as st

from adapters.models.events import MOST_DATA, MOST_TEXT, Completion, Event, EventReader

STREAMS: list[tuple[bytes, list[Event]]] = [
    (b"data: one\n\ndata: two\n\n", [Event("message", "one"), Event("message", "two")]),
    (b"data: one\r\n\r\ndata: two\r\n\r\n", [Event("message", "one"), Event("message", "two")]),
    (b"data: one\r\rdata: two\r\r", [Event("message", "one"), Event("message", "two")]),
    (b": keep-alive\n\n:\n\ndata:one\n\n", [Event("message", "one")]),
    (b"data: a\ndata:  b\ndata\n\n", [Event("message", "a\n b\n")]),
    (b"event: error\r\nid: 7\r\nretry: 9\r\ndata: {}\r\n\r\n", [Event("error", "{}")]),
    (b"event: ping\n\ndata: one\n\n", [Event("message", "one")]),
    (b"\xef\xbb\xbfdata: one\n\n", [Event("message", "one")]),
    ("data: çay 茶 🍵\n\n".encode(), [Event("message", "çay 茶 🍵")]),
    (b"data: caf\xff\n\n", [Event("message", "caf�")]),
    (b"data: never finished\n", []),
    (b"", []),
]


def read(stream: bytes, cuts: set[int]) -> list[Event]:
    reader = EventReader()
    borders = [0, *sorted(cuts), len(stream)]
    pieces = [stream[a:b] for a, b in itertools.pairwise(borders)]
    return [event for piece in pieces for event in reader.feed(piece)]


@pytest.mark.parametrize(("stream", "events"), STREAMS)
def test_a_stream_is_read_byte_by_byte_and_at_once(stream: bytes, events: list[Event]) -> None:
    assert read(stream, set()) == events
    assert read(stream, set(range(1, len(stream)))) == events


@given(st.data())
def test_where_a_stream_is_cut_changes_nothing(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(STREAMS[:7]), max_size=5))
    stream = b"".join(part for part, _ in chosen)
    cuts = data.draw(st.sets(st.integers(0, len(stream))))
    assert read(stream, cuts) == [event for _, events in chosen for event in events]


# --- completions -----------------------------------------------------------------------


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


def test_a_stream_without_end_is_left_and_says_so() -> None:
    pieces = [chunk("word " * 20_000)] * 100
    completion, heard = put_together(*pieces)
    assert completion.complete
    assert MOST_TEXT < len(heard[-1]) < MOST_TEXT + 200_000
    assert body_of(completion)["choices"][0]["finish_reason"] == "length"


def test_a_stream_that_never_says_anything_is_left_too() -> None:
    completion = Completion("asked", lambda *_: None)
    comment = b": " + b"keep-alive " * 100_000 + b"\n\n"
    taken = sum(completion.take(comment) for _ in range(100))
    assert taken == MOST_DATA // len(comment)


def test_reasoning_and_other_choices_are_no_part_of_the_text() -> None:
    thought = {"index": 0, "delta": {"reasoning_content": "Hm.", "content": None}}
    parts = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Tea."}]
    spoken = {"index": 0, "delta": {"content": parts}}
    other = {"index": 1, "delta": {"content": "Coffee."}}
    _, heard = put_together({"choices": [thought]}, {"choices": [spoken, other, "?"]})
    assert heard == ["Tea."]


@pytest.mark.parametrize("end", ["[DONE]", chunk(finish="length")])
def test_a_stream_has_ended_when_it_says_so(end: dict[str, Any] | str) -> None:
    assert not put_together(chunk("Tea"))[0].complete
    assert put_together(chunk("Tea"), end)[0].complete


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
