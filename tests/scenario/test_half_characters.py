"""Halves of characters in what models write: replaced, recorded, and nothing fails over them."""

import json
from typing import Any

import orjson
import pytest

from adapters.models.faults import decode, decode_raw, join
from engine.stage.structured import read_object
from engine.values.debate import Status, Violation
from engine.values.ports import Attempt, Reply
from engine.values.text import clean
from tests.doubles import model_server as acts
from tests.doubles.model_server import ModelServer
from tests.kit import RecordedAttempts
from tests.scenario.conftest import Stage, judging
from tests.unit.test_models_streaming import Ear, call_of, opened

HALVES = "Tea \ud83d\ude00 wins \ud800 here, \udc00 too."
WHOLE = "Tea 😀 wins � here, � too."


def test_halves_are_joined_or_replaced_and_what_is_no_json_stays_none() -> None:
    for text, read, replaced in (
        ('"plain 😀"', "plain 😀", 0),
        ('"\\ud83d\\ude00"', "😀", 0),
        ('"\\ud800"', "�", 1),
        ('{"\\ud800": ["\\udc00\\ud800", 1]}', {"�": ["��", 1]}, 3),
    ):
        assert decode(text) == decode(text.encode()) == (read, replaced)
    halves = [decode_raw('"\\ud83d"'), decode_raw('"\\ude00"')]
    assert join("".join(halves)) == ("😀", 0)
    for text in ("", "{", "NaN", '["\\ud800", NaN]', "[" * 100_000, '"\\ud800'):
        for reading in (decode, decode_raw):
            with pytest.raises(orjson.JSONDecodeError):
                reading(text)
    parsed = read_object('{"a": "x\\ud800y"}')
    assert (parsed.value, parsed.repaired, parsed.replaced) == ({"a": "x�y"}, True, 1)
    assert not read_object('{"a": "x�y"}').repaired


async def test_a_turn_keeps_its_text_and_says_that_characters_were_replaced(stage: Stage) -> None:
    def speak(body: dict[str, Any]) -> str:
        return HALVES if body["model"] == "ana" and not judging(body) else answer(body)

    answer, stage.server.respond = stage.server.respond, speak
    async with stage.process() as line:
        debate = await line.hold()
        record = await line.record(debate.id)
    assert debate.status is Status.CLOSED
    turns = [turn for turn in record.turns if turn.side == "A"]
    assert {turn.text for turn in turns} == {WHOLE}
    marked = Violation(kind="replaced_characters", measured=2, limit=0)
    assert all(marked in turn.violations for turn in turns)
    others = [turn for turn in record.turns if turn.side == "B"]
    assert all(found.kind != "replaced_characters" for t in others for found in t.violations)


async def test_a_streamed_answer_is_the_same(stage: Stage) -> None:
    ear, log = Ear(), RecordedAttempts()
    pieces = [
        json.loads(f'"{piece}"') for piece in ("Tea \\ud83d", "\\ude00 wins ", "\\ud800 here")
    ]
    chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    async with ModelServer() as server:
        server.script(acts.events(*chunks, end))
        async with opened(server) as models:
            reply = await models.complete(call_of(ear), log)
    assert (reply.text, reply.replaced) == ("Tea 😀 wins � here", 1)
    assert all(text.encode() or not text for text in ear.texts)
    assert ear.texts[-1] == "Tea 😀 wins � here"


async def test_every_word_of_a_backend_may_be_half_a_character() -> None:
    async with ModelServer(lambda _: "yes") as server:
        server.script(
            acts.says("\ud800", finish="\ud800", extra={"model": "\udfff"}),
            acts.Act(body=b'{"error": {"message": "\\ud800", "code": "\\ud800"}}'),
            acts.Act(status=503, body=b'{"error": {"message": "\\ud800"}}'),
        )
        log = RecordedAttempts()
        async with opened(server) as models:
            replies = [await models.complete(call_of(None), log) for _ in range(2)]
    kept: list[Reply | Attempt] = [*replies, *log.attempts]
    for each in kept:
        assert each.model_dump_json().encode()
        assert clean(each.model) == each.model
    assert [reply.replaced for reply in replies] == [3, 0]
