"""Marks in prompts for providers that cache nothing unmarked, and what cached tokens cost."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.models.backends import Backend
from adapters.models.marks import MOST, places
from adapters.models.prices import read_prices
from adapters.models.router import open_models
from bench.wheel.line import defaults_with, open_line
from engine.line.intake import Order
from engine.values.debate import Price, Usage
from engine.values.ports import Call, ChatMessage
from tests.doubles import model_server as acts
from tests.doubles.model_server import MarkedCache, ModelServer, text_of
from tests.kit import RecordedAttempts
from tests.unit.test_models_client import ask, call_of, opened

MARK = {"cache_control": {"type": "ephemeral"}}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """Start a model server."""
    async with ModelServer() as running:
        yield running


def kept_call(name: str, *texts: str) -> Call:
    """Make a call that goes on: each of its messages is kept."""
    roles = ("system", *("user", "assistant") * len(texts))
    messages = tuple(
        ChatMessage.model_validate(
            {"role": role, "content": text, "kept": () if role == "assistant" else (len(text),)}
        )
        for role, text in zip(roles, texts, strict=False)
    )
    return call_of(name, messages=messages)


def marked_in(body: dict[str, Any]) -> list[str]:
    """Return the texts that a request marks."""
    lists = (m["content"] for m in body["messages"] if isinstance(m["content"], list))
    return [part["text"] for parts in lists for part in parts if "cache_control" in part]


async def test_a_claude_model_behind_a_gateway_is_told_what_to_cache(server: ModelServer) -> None:
    async with opened(server, preset="openrouter") as models:
        await models.complete(
            kept_call("anthropic/claude-x", "Rules.", "Speak."), RecordedAttempts()
        )
    assert server.requests[0]["messages"] == [
        {"role": "system", "content": [{"type": "text", "text": "Rules.", **MARK}]},
        {"role": "user", "content": [{"type": "text", "text": "Speak.", **MARK}]},
    ]


@pytest.mark.parametrize(
    ("name", "given", "marks"),
    [
        ("anthropic/claude-x", {"preset": "openrouter"}, True),
        ("bedrock/Claude-x", {}, True),  # an address without a preset, such as LiteLLM's
        ("openai/gpt-x", {"preset": "openrouter"}, False),
        ("claude-x", {"preset": "anthropic"}, False),  # it has no prompt caching there
        ("claude-x", {"local": True}, False),
        ("claude-x", {"cache_marks": False}, False),
        ("qwen-x", {"cache_marks": True}, True),
    ],
)
async def test_marks_are_for_models_that_need_them_unless_set(
    server: ModelServer, name: str, given: dict[str, Any], marks: bool
) -> None:
    await ask(server, RecordedAttempts(), call=kept_call(name, "Rules.", "Speak."), **given)
    assert [isinstance(m["content"], list) for m in server.requests[0]["messages"]] == [marks] * 2


@pytest.mark.parametrize(
    "refusal",
    [
        acts.refuse("cache_control"),
        acts.Act(
            status=400,
            body=b'{"error": {"message": "messages.0.content: Input should be a valid string"}}',
            names="cache_control",
        ),
        acts.Act(
            status=400,
            body=b'{"error": "Invalid JSON: type must be string, but is array"}',
            names="cache_control",
        ),
    ],
)
async def test_refused_marks_are_left_out_and_that_is_remembered(
    server: ModelServer, refusal: acts.Act
) -> None:
    server.always(refusal)
    logs = [RecordedAttempts(), RecordedAttempts()]
    async with opened(server) as models:
        for log in logs:
            await models.complete(kept_call("claude-x", "Rules.", "Speak."), log)
    assert [len(log.attempts) for log in logs] == [2, 1]
    assert logs[0].costs[0] == 0.0
    assert [marked_in(body) for body in server.requests] == [["Rules.", "Speak."], [], []]
    assert server.requests[-1]["messages"][0] == {"role": "system", "content": "Rules."}


async def test_at_most_four_places_are_marked_and_parts_stay_the_same(server: ModelServer) -> None:
    texts = ("Rules.", *(f"Text {number}." for number in range(9)))
    asked = kept_call("claude-x", *texts)
    user = asked.messages[-1].model_copy(update={"content": "one two three", "kept": (3, 7)})
    asked = call_of("claude-x", messages=(*asked.messages[:-1], user))
    await ask(server, RecordedAttempts(), call=asked)
    assert len(places(asked.messages)) == MOST
    assert marked_in(server.requests[0]) == ["Rules.", "Text 6.", "one", " two"]
    sent = server.requests[0]["messages"]
    assert [text_of(message) for message in sent] == [m.content for m in asked.messages]
    assert [part["text"] for part in sent[-1]["content"]] == ["one", " two", " three"]
    assert isinstance(sent[1]["content"], list)  # cut as when it was marked


@pytest.mark.parametrize(
    ("usage", "cached", "written"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 8}}, 64, 8),
        ({"prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}, 64, None),
        ({"cache_read_input_tokens": 64, "cache_creation_input_tokens": 8}, 64, 8),
        ({"prompt_tokens_details": {"cached_tokens": 0}, "cache_read_input_tokens": 64}, 64, None),
        ({"prompt_tokens_details": None}, None, None),
    ],
)
async def test_cached_tokens_are_read_as_each_provider_reports_them(
    server: ModelServer, usage: dict[str, Any], cached: int | None, written: int | None
) -> None:
    counted = {"prompt_tokens": 100, "completion_tokens": 10, **usage}
    server.script(acts.says("yes", usage_extra=counted))
    reply = await ask(server, RecordedAttempts())
    assert reply.usage == Usage(
        tokens_in=100, tokens_out=10, tokens_cached=cached, tokens_written=written
    )


def test_cached_tokens_are_billed_at_their_price_and_save_nothing_without_one() -> None:
    known = Price(usd_in=3, usd_out=15, usd_cached=0.3, usd_written=3.75)
    unknown = Price(usd_in=3, usd_out=15)
    assert known.cost(1000, 0, cached=800) == pytest.approx((200 * 3 + 800 * 0.3) / 1e6)
    assert known.cost(1000, 0, written=800) == pytest.approx((200 * 3 + 800 * 3.75) / 1e6)
    assert unknown.cost(1000, 0, cached=800) == pytest.approx(1000 * 3 / 1e6)
    assert unknown.cost(1000, 0, written=800) == pytest.approx((200 * 3 + 800 * 3.75) / 1e6)
    assert known.cost(10, 0, cached=90, written=90) >= 0  # a gateway that counts them apart


def test_a_backends_list_has_prices_of_its_cache() -> None:
    pricing = '{"prompt": "3e-6", "completion": "15e-6", "input_cache_read": "3e-7"}'
    found = read_prices(f'{{"data": [{{"id": "m", "pricing": {pricing}}}]}}'.encode())["m"]
    assert found is not None
    assert found.usd_cached == pytest.approx(0.3)
    assert found.usd_written is None


async def test_each_turn_of_a_whole_debate_reads_what_the_one_before_it_wrote(
    server: ModelServer,
) -> None:
    server.cache = MarkedCache()
    server.respond = lambda body: "Tea keeps people awake and calm, as trials show. " * 40
    backend = Backend.of("online", base_url=server.base_url)
    defaults = defaults_with(lambda name: f"online/claude-{name}#{name}", stance_seconds=0.001)
    models = open_models({"online": backend}, {})
    async with open_line(models) as (service, dispatcher):
        given = dict.fromkeys(("platform", "community", "place"), "memory")
        order = Order(**given, topic="Tea is better than coffee", format="classic", seed=1)
        begun = await service.start(order, defaults)
        await dispatcher.measure(begun.debate.id)
    asked: dict[str, list[int]] = {}
    for body, usage in zip(server.requests, server.stated, strict=True):
        assert len(marked_in(body)) <= MOST
        asked.setdefault(body["model"], []).append(usage["prompt_tokens_details"]["cached_tokens"])
    for first, *later in (asked[f"claude-{speaker}"] for speaker in ("maple", "cedar")):
        assert len(later) == 4  # the last is its closing once more, in the form asked for
        assert later == sorted(later)
        assert all(read > first for read in later)
