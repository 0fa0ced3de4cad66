"""The HTTP client against a server that misbehaves, and what its calls cost."""

import asyncio
import logging
import os
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Any
from unittest.mock import Mock

import pytest
from pydantic import SecretStr

from adapters.models import discovery
from adapters.models.attempts import RetryPolicy
from adapters.models.backends import MOST, PRESETS, Backend, places
from adapters.models.connection import ConnectionPool
from adapters.models.discovery import PriceBook, bundled_price, probe, read_prices
from adapters.models.router import ModelRouter, open_models
from bench.wheel.line import defaults_with, open_line
from engine.run.order import Order
from engine.store import Store
from engine.values.debate import Model, Origin, Price, Tier, Usage
from engine.values.errors import ModelError
from engine.values.ports import AnswerSchema, Attempt, Call, ChatMessage, Reply
from tests.doubles import model_server as acts
from tests.doubles.command import printed_by
from tests.doubles.model_server import EVENT_STREAM as STREAM, MarkedCache, ModelServer, text_of
from tests.kit import (
    RecordedAttempts,
    cancelled,
    make_call,
    make_start,
    opened_models,
    run,
    some,
    until,
)
from tests.kit.stages import QUICK

KEY = "sk-canary-0123456789abcdef"
# OpenSSL then knows no authority, as on a machine where Python brings its own OpenSSL.
NO_AUTHORITIES = {"SSL_CERT_FILE": "/nowhere.pem", "SSL_CERT_DIR": "/nowhere"}
SCHEMA = AnswerSchema("thing", {"type": "object", "properties": {"a": {"type": "string"}}})


def opened(
    server: ModelServer, patience: RetryPolicy = QUICK, **given: Any
) -> AbstractAsyncContextManager[ModelRouter]:
    """Open the models of one backend on the server; `prices` and backend settings as given."""
    settings: dict[str, Any] = {"base_url": server.base_url, "api_key": SecretStr(KEY)}
    return opened_models(patience=patience, **(settings | given))


def call_of(name: str = "m", **changes: Any) -> Call:
    return make_call(**({"model": Model.parse(f"online/{name}")} | changes))


async def ask(server: ModelServer, log: RecordedAttempts, **given: Any) -> Reply:
    call = given.pop("call", call_of())
    async with opened(server, **given) as models:
        return await models.complete(call, log)


@pytest.mark.parametrize(
    ("act", "cost"),
    [
        (acts.status(408), None),
        (acts.status(409), 0.0),
        (acts.says("half", extra={"choices": []}), None),
        (acts.says("half", finish="error"), None),
    ],
)
async def test_passing_failures_end(server: ModelServer, act: acts.Act, cost: float | None) -> None:
    server.script(act)
    log = RecordedAttempts()
    reply = await ask(server, log)
    assert reply.text == "An answer to 1 messages."
    assert reply.attempts == 2
    assert log.attempts[0].error
    assert log.costs[0] == cost
    assert log.balanced()


def test_the_default_patience_survives_twenty_seconds() -> None:
    patience = RetryPolicy()
    assert sum(patience.wait(n, 0.0) for n in range(1, patience.tries)) > 20


async def test_an_unanswered_connection_is_no_late_answer(server: ModelServer) -> None:
    """Nothing was sent, so that it surely costs nothing, however short the deadline is."""
    await server.leave("deaf")
    log = RecordedAttempts()
    with pytest.raises(ModelError, match=r"could not be reached at http://127\.0\.0\.1:"):
        await ask(server, log, timeout_s=1.5)
    assert log.costs == [0.0] * QUICK.tries


async def test_calls_side_by_side_learn_a_refusal_together(server: ModelServer) -> None:
    server.latency = 0.05
    server.always(acts.refuse("max_tokens"))
    async with opened(server) as models:
        logs = [RecordedAttempts() for _ in range(5)]
        await asyncio.gather(*(models.complete(call_of(), log) for log in logs))
    assert all(len(log.attempts) == 2 for log in logs)


async def test_the_json_ladder_goes_down_a_rung_at_a_time_and_needs_the_word_json(
    server: ModelServer,
) -> None:
    server.always(acts.refuse("json_schema"), acts.refuse("json_object"))
    call = call_of(schema=SCHEMA)
    async with opened(server) as models:
        await models.complete(call, RecordedAttempts())
        await models.complete(call, RecordedAttempts())
    formats = [body.get("response_format", {}).get("type") for body in server.requests]
    assert formats == ["json_schema", "json_object", None, None]
    server.always(acts.refuse("json_schema"))
    plain = (ChatMessage(role="user", content="Choose."),)
    await ask(server, RecordedAttempts(), call=call_of(schema=SCHEMA, messages=plain))
    assert "response_format" not in server.requests[-1]


async def test_only_a_closed_schema_is_asked_strictly(server: ModelServer) -> None:
    closed = {**SCHEMA.json_schema, "required": ["a"], "additionalProperties": False}
    for schema in (SCHEMA, AnswerSchema("closed", closed)):
        await ask(server, RecordedAttempts(), call=call_of(schema=schema))
    strict = [body["response_format"]["json_schema"]["strict"] for body in server.requests]
    assert strict == [False, True]


async def test_text_comes_back_as_it_is_with_every_kind_of_token(server: ModelServer) -> None:
    text = ' \n{"broken": [1, \u202e "茶🫖" '
    details = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 8},
    }
    server.always(acts.says(text, finish="length", usage_extra=details))
    reply = await ask(server, RecordedAttempts(), call=call_of(schema=SCHEMA))
    assert (reply.text, reply.finish) == (text, "length")
    assert reply.usage == Usage(tokens_in=100, tokens_out=20, tokens_cached=64, tokens_reasoning=8)


async def test_an_answer_without_end_is_left_and_not_asked_for_again(server: ModelServer) -> None:
    server.always(acts.big(17_000_000))
    with pytest.raises(ModelError, match="answered with more than 16 MB"):
        await ask(server, RecordedAttempts())
    assert len(server.requests) == 1


async def test_the_price_that_a_debate_began_with_counts_then_the_table_then_the_list(
    server: ModelServer,
) -> None:
    server.models = [
        {"id": "m", "pricing": {"prompt": "0.000002", "completion": "0.000004"}},
        {"id": "auto", "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "odd", "pricing": {"prompt": "free"}},
    ]
    tokens = {"prompt_tokens": 1000, "completion_tokens": 500}
    server.always(acts.says("yes", usage_extra=tokens))
    calls = [call_of(n) for n in ("m", "set", "auto", "odd")]
    calls.append(call_of("set", price=Price(usd_in=2, usd_out=4)))
    async with opened(server, prices={"online/set": Price(usd_in=1, usd_out=1)}) as models:
        costs = [(await models.complete(call, RecordedAttempts())).cost for call in calls]
    assert costs == [pytest.approx(0.004), 0.0015, None, None, pytest.approx(0.004)]
    assert server.lists == 1


async def test_openrouter_is_told_the_session_and_asked_for_the_cost(server: ModelServer) -> None:
    call = call_of(hint={"topic": "canary-cue"})
    await ask(server, RecordedAttempts(), call=call, preset="openrouter")
    assert server.requests[0]["session_id"] == "debate-1"
    assert server.requests[0]["usage"] == {"include": True}
    assert "canary-cue" not in str(server.requests)


async def test_openai_is_told_whose_cache_it_is_unless_it_refuses(server: ModelServer) -> None:
    async with opened(server, preset="openai") as models:
        await models.complete(call_of(), RecordedAttempts())
        server.always(acts.refuse("prompt_cache_key"))
        for _ in range(2):
            await models.complete(call_of(), RecordedAttempts())
    keys = [body.get("prompt_cache_key") for body in server.requests]
    assert keys == ["debate-1", "debate-1", None, None]
    assert "session_id" not in server.requests[0]


async def test_a_key_reaches_its_backend_and_nothing_else(
    server: ModelServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-canary")
    caplog.set_level(logging.DEBUG)
    server.always(acts.status(400, message=f"bad key {KEY} in sk-proj-abcdefghij"))
    log = RecordedAttempts()
    with pytest.raises(ModelError) as caught:
        await ask(server, log)
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "org-canary" not in str(server.headers)
    for text in (str(caught.value), *log.errors, caplog.text):
        assert KEY not in text
        assert "abcdefghij" not in text


@pytest.mark.parametrize("scheme", ["http://", ""])
async def test_a_proxy_of_the_environment_is_for_the_world_and_never_for_this_machine(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    address = server.base_url.removesuffix("/v1")
    monkeypatch.setenv("http_proxy", scheme + address.removeprefix("http://"))
    await ask(server, RecordedAttempts())
    assert server.headers[-1]["Host"] in address
    async with opened(server, base_url="http://models.example/v1") as models:
        reply = await models.complete(call_of(), RecordedAttempts())
    assert reply.text
    assert server.headers[-1]["Host"] == "models.example"
    # Of two proxies the one for the address is used.
    monkeypatch.setenv("ALL_PROXY", "socks4://127.0.0.1:9")
    server.models = [{"id": "maple"}]
    assert (await ask(server, RecordedAttempts(), base_url="http://models.example/v1")).text
    assert await probe(Backend.of("online", base_url="http://models.example/v1")) == ["maple"]


@pytest.mark.parametrize("kind", ["socks5", "socks5h", "socks4"])
@pytest.mark.parametrize("name", ["ALL_PROXY", "HTTP_PROXY"])
async def test_a_proxy_that_is_no_http_proxy_is_refused_by_name_and_never_spoken_to_or_gone_around(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    proxy = server.base_url.removesuffix("/v1").replace("http", kind, 1)
    monkeypatch.setenv(name, proxy)
    with pytest.raises(ModelError) as caught:
        await ask(server, RecordedAttempts(), base_url="http://models.example/v1")
    assert str(caught.value) == (
        f"Backend “online” is behind the {kind} proxy of {name}, and only HTTP proxies can be used "
        "(model “m”); set HTTP_PROXY to an HTTP proxy, or add models.example to NO_PROXY."
    )
    with pytest.raises(ModelError, match=f"{kind} proxy of {name}"):
        await probe(Backend.of("online", base_url="http://models.example/v1"))
    assert server.headers == []
    assert (await ask(server, RecordedAttempts())).text  # on this machine


@pytest.mark.parametrize("authorities", [{}, NO_AUTHORITIES], ids=["found", "not found"])
def test_the_first_call_does_not_wait_for_the_sdk(authorities: dict[str, str]) -> None:
    code = (
        "import asyncio, sys\n"
        "from adapters.models.backends import Backend\n"
        "from adapters.models.connection import ConnectionPool\n"
        "async def main():\n"
        "    connection = ConnectionPool(1)\n"
        "    backend = Backend.of('x', base_url='http://127.0.0.1:9/v1')\n"
        "    await connection.post(backend, '/chat/completions', b'{}')\n"
        "    print([m for m in ('openai', 'httpx2') if m in sys.modules])\n"
        "    await connection.aclose()\n"
        "asyncio.run(main())\n"
    )
    assert printed_by(code, env=os.environ | authorities).strip() == "[]"


# --- What a backend says that a call cost is not believed where it cannot be true -----------------


# A call of `call_of` costs at most 0.0021: 15 tokens in, and 500 out.
PRICE = Price(usd_in=2, usd_out=4, origin=Origin.SETTINGS)
TABLE = 0.0024  # of the tokens below
TOKENS = {"prompt_tokens": 1000, "completion_tokens": 100}
FREE = Price(usd_in=0, usd_out=0, origin=Origin.BACKEND)


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def streamed(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def _deaf(text: str, model: str) -> None:
    """Hear the text of a stream, which is what asks for one."""


async def ask_billed(
    server: ModelServer, streamed: bool, usage: dict[str, Any], price: Price | None = PRICE
) -> tuple[Reply, RecordedAttempts]:
    server.script(
        acts.says("A text of some words, which go on and on." * 3, usage_extra={**TOKENS, **usage})
    )
    log = RecordedAttempts()
    call = call_of(price=price, on_text=_deaf if streamed else None)
    async with opened(server) as models:
        reply = await models.complete(call, log)
    assert bool(server.requests[0].get("stream")) is streamed
    assert log.costs == [reply.cost]
    return reply, log


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({}, TABLE),
        ({"cost": 0.003}, 0.003),
        ({"cost": 0}, TABLE),
        ({"cost": 0.0001}, TABLE),
        ({"cost": 0.0001, "cost_details": {"upstream_inference_cost": 0.004}}, 0.0041),
        ({"cost": 0, "cost_details": {"upstream_inference_cost": 0.004}}, 0.004),
        ({"cost": None, "cost_details": {"upstream_inference_cost": None}}, TABLE),
        # Without a key of one's own, OpenRouter states the same amount twice.
        (
            {
                "cost": 0.003,
                "is_byok": False,
                "cost_details": {"upstream_inference_cost": 0.003},
            },
            0.003,
        ),
        ({"cost": 0.003, "cost_details": "odd"}, 0.003),
    ],
)
async def test_the_greater_of_the_stated_cost_and_the_tables_counts(
    server: ModelServer, streamed: bool, usage: dict[str, Any], cost: float
) -> None:
    reply, log = await ask_billed(server, streamed, usage)
    assert reply.cost == pytest.approx(cost)
    origin = Origin.SETTINGS if cost == TABLE else Origin.REPLY
    assert [attempt.origin for attempt in log.attempts] == [origin]


@pytest.mark.parametrize(
    "usage",
    [
        {"completion_tokens": 0},
        {"completion_tokens": 0, "cost": 0.003},
        {"completion_tokens": -5, "cost": 0.003},
        {"prompt_tokens": 1e300, "completion_tokens": 1e300},
        {"prompt_tokens": 1e300, "completion_tokens": 1e300, "cost": 1e300},
        {"prompt_tokens": 1e12, "completion_tokens": 1e12},
        {"completion_tokens": 3_000_000_000},
        {"completion_tokens": 60_000},
        {"prompt_tokens": 1, "completion_tokens": 1},
        {"prompt_tokens": 2_000_000, "cost": 0.003},
        {"cost": -0.01},
        {"cost": 1e300},
        {"cost": 5.0},
        {"cost": "0.003"},
        {"cost": True},
        {"cost": 0.003, "cost_details": {"upstream_inference_cost": -1}},
        {"cost": 0.003, "cost_details": {"upstream_inference_cost": 1e300}},
        {"prompt_tokens": None, "completion_tokens": None, "cost": 0},
    ],
    ids=str,
)
async def test_figures_that_cannot_be_true_leave_the_cost_unknown(
    server: ModelServer, streamed: bool, usage: dict[str, Any]
) -> None:
    """An unknown cost counts at its highest."""
    reply, log = await ask_billed(server, streamed, usage)
    assert reply.cost is None
    assert [attempt.origin for attempt in log.attempts] == [None]
    assert max(reply.usage.tokens_in or 0, reply.usage.tokens_out or 0) <= 10_000
    assert reply.usage.tokens_out != 0


@pytest.mark.parametrize(
    ("price", "cost", "counts"),
    [
        *((None, cost, None) for cost in (50.0, 1e300, -1)),
        (FREE, 0.02, 0.02),
        *((FREE, cost, 0.0) for cost in (50.0, -1, 0)),
    ],
)
async def test_a_model_without_a_price_that_bills_after_all_is_believed_within_reason(
    server: ModelServer, streamed: bool, price: Price | None, cost: float, counts: float | None
) -> None:
    reply, _ = await ask_billed(server, streamed, {"cost": cost}, price)
    assert reply.cost == counts


@pytest.mark.parametrize(
    "amount",
    ["1e999", "-1e999", f"1{'0' * 400}", f"1{'0' * 9999}", "NaN", "-1", "1e300", "true", '"many"'],
)
async def test_an_amount_that_is_no_number_is_unknown_and_ends_no_call(
    server: ModelServer, streamed: bool, amount: str
) -> None:
    """Beside half a character they are read by a second parser, which takes them."""
    usage = '"usage": {"prompt_tokens": N, "completion_tokens": N, "cost": N}'.replace("N", amount)
    said = '"choices": [{"NAME": {"content": "yes \\ud800"}, "finish_reason": "stop"}]'
    part = f"{{{said.replace('NAME', 'delta' if streamed else 'message')}, {usage}}}"
    event = acts.Act(body=f"data: {part}\n\ndata: [DONE]\n\n".encode(), content_type=STREAM)
    server.script(event if streamed else acts.Act(body=part.encode()))
    call = call_of(price=PRICE, on_text=_deaf if streamed else None)
    log = RecordedAttempts()
    assert (await ask(server, log, call=call)).text
    assert (log.attempts[0].usage.tokens_in, log.costs[0]) == (None, None)


# --- Marks in prompts for providers that cache nothing unmarked, and what cached tokens cost ------


def kept_call(name: str, *texts: str) -> Call:
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
    said = [
        [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}] if marks else text
        for text in ("Rules.", "Speak.")
    ]
    assert [message["content"] for message in server.requests[0]["messages"]] == said


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
async def test_refused_marks_stay_left_out(server: ModelServer, refusal: acts.Act) -> None:
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
    for price, used, cost in (
        (known, {"cached": 800}, 200 * 3 + 800 * 0.3),
        (known, {"written": 800}, 200 * 3 + 800 * 3.75),
        (unknown, {"cached": 800}, 1000 * 3),
        (unknown, {"written": 800}, 200 * 3 + 800 * 3.75),
    ):
        assert price.cost(1000, 0, **used) == pytest.approx(cost / 1e6)
    assert known.cost(10, 0, cached=90, written=90) >= 0  # a gateway that counts them apart
    pricing = '{"prompt": "3e-6", "completion": "15e-6", "input_cache_read": "3e-7"}'
    found = some(read_prices(f'{{"data": [{{"id": "m", "pricing": {pricing}}}]}}'.encode())["m"])
    assert found.usd_cached == pytest.approx(0.3)
    assert found.usd_written is None


async def test_each_turn_of_a_debate_reads_what_the_last_one_wrote(server: ModelServer) -> None:
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


# --- Prices: whose word counts, what a free call costs that is broken off, and nothing guessed ----


OPENAI, GEMINI = PRESETS["openai"].base_url, PRESETS["gemini"].base_url
WINTER = datetime(2026, 11, 22, 3, tzinfo=UTC)


def backend(base_url: str = OPENAI, preset: str | None = "openai") -> Backend:
    return Backend.of("online", preset=preset, base_url=base_url, api_key=SecretStr("k"))


async def price_of(
    name: str, given: Backend, table: dict[str, Price] | None = None
) -> Price | None:
    connection = ConnectionPool(4)
    try:
        return await PriceBook(table or {}, connection).price(Model.parse(f"online/{name}"), given)
    finally:
        await connection.aclose()


@pytest.mark.parametrize("price", [FREE, None], ids=["free", "unknown"])
async def test_a_free_models_interrupted_call_costs_nothing(
    server: ModelServer, price: Price | None
) -> None:
    server.always(acts.hang())
    log = RecordedAttempts()
    async with opened(server) as models:
        asked = asyncio.create_task(models.complete(call_of(price=price), log))
        await until(lambda: server.in_flight)
        await cancelled(asked)
    assert log.errors == ["cancelled"]
    assert log.costs == [None if price is None else 0.0]


@pytest.mark.parametrize(
    ("given", "price"), [({"preset": "ollama", "api_key": None}, None), ({}, FREE)], ids=str
)
async def test_a_free_answer_costs_nothing_even_when_it_fails(
    server: ModelServer, given: dict[str, Any], price: Price | None
) -> None:
    server.script(acts.garbage(), acts.reset(), acts.says("yes", usage=False))
    log = RecordedAttempts()
    await ask(server, log, call=call_of(price=price), **given)
    assert log.costs == [0.0, 0.0, 0.0]
    assert {attempt.origin for attempt in log.attempts} <= {Origin.BACKEND, Origin.LOCAL, None}


async def test_a_free_call_that_a_crash_cut_off_costs_nothing_and_origins_are_stored(
    store: Store,
) -> None:
    r = await run(store)
    free = make_start(r.id)._replace(cost_max=0.0, cost=0.0, origin=Origin.LOCAL)
    await store.journal.began(r.lease, free, make_call(r.id))
    assert await store.journal.spending(r.id) == (1, 0.0)
    again = free._replace(number=2)
    await store.journal.began(r.lease, again, make_call(r.id))
    await store.journal.ended(r.lease, again, Attempt(number=2, cost=0.0), None)
    assert await store.journal.spending(r.id) == (2, 0.0)
    for number, origin in enumerate((None, Origin.REPLY)):
        start = make_start(r.id, f"turn/{number}/A")._replace(origin=Origin.BUNDLED)
        await store.journal.began(r.lease, start, make_call(r.id, start.step))
        ended = Attempt(number=1, cost=0.5, origin=origin)
        await store.journal.ended(r.lease, start, ended, None)
    assert await store.usage.cost_origins(r.id) == {"local": 2, "bundled": 1, "reply": 1}


async def test_settings_override_every_list_and_a_backends_own_list_the_bundled_one() -> None:
    mine = {"online/gpt-5-mini": Price(usd_in=7, usd_out=7)}
    for table, origin in ((mine, Origin.SETTINGS), ({}, Origin.BUNDLED)):
        found = some(await price_of("gpt-5-mini", backend(), table))
        assert (found.origin, found.usd_in) == (origin, 7 if table else 0.25)
    async with ModelServer() as server:
        server.models = [{"id": "m", "pricing": {"prompt": "0.000002", "completion": "0"}}]
        listed = await price_of("m", backend(server.base_url, None))
    assert listed is not None
    assert listed.origin is Origin.BACKEND
    assert listed.usd_in == pytest.approx(2)
    local = await price_of("gpt-5-mini", Backend.of("online", preset="ollama"))
    assert local == Price(usd_in=0, usd_out=0, origin=Origin.LOCAL)


@pytest.mark.parametrize(
    ("known", "base_url", "name"),
    [
        (True, OPENAI, "gpt-5-mini"),
        (True, OPENAI, "gpt-5-mini-2025-08-07"),
        (True, PRESETS["anthropic"].base_url, "claude-sonnet-4-5"),
        (True, PRESETS["anthropic"].base_url, "claude-sonnet-4-5-20250929"),
        (True, GEMINI, "gemini-2.5-flash"),
        (True, GEMINI, "models/gemini-2.5-pro"),
        (True, PRESETS["deepseek"].base_url, "deepseek-chat"),
        (True, PRESETS["zhipu"].base_url, "GLM-5.3"),
        (True, "https://api.mistral.ai/v1", "mistral-large-latest"),
        (False, "https://gateway.example/v1", "gpt-5-mini"),
        (False, "https://api.openai.com.gateway.example/v1", "gpt-5-mini"),
        (False, "https://gateway.example/x.googleapis.com/", "gemini-2.5-pro"),
        (False, "http://api.openai.com/v1", "gpt-5-mini"),
        (False, "https://api.openai.com:8443/v1", "gpt-5-mini"),
        (False, OPENAI, "gpt-5-mini-turbo-xl"),
        (False, OPENAI, "claude-sonnet-4-5"),
        (False, GEMINI, "gemini-2.5-pro-of-tomorrow"),
        (False, "https://api.perplexity.ai", "sonar"),  # billed by request as well
    ],
)
def test_a_known_providers_model_has_a_bundled_price_and_nothing_is_guessed_of_others(
    known: bool, base_url: str, name: str
) -> None:
    price = bundled_price(base_url, name, WINTER)
    assert (price is not None) is known
    if price is not None:
        assert price.origin is Origin.BUNDLED
        assert min(price.usd_in, price.usd_out) > 0


def test_a_price_that_changes_by_the_hour_counts_at_its_highest() -> None:
    early, late = (
        bundled_price(PRESETS["deepseek"].base_url, "deepseek-chat", WINTER.replace(hour=h))
        for h in (3, 20)
    )
    assert early is not None
    assert early == late
    assert (early.usd_in, early.usd_out, early.usd_cached) == (0.27, 1.1, 0.07)
    claude = some(bundled_price(PRESETS["anthropic"].base_url, "claude-sonnet-4-5", WINTER))
    assert claude.usd_cached is None  # its OpenAI-compatible endpoint caches nothing


def test_a_long_prompt_pays_its_tier_which_never_makes_it_cheaper_and_is_no_free_price() -> None:
    price = some(bundled_price(GEMINI, "gemini-2.5-pro", WINTER))
    assert price.cost(200_000, 1000) == pytest.approx(0.25 + 0.01)
    assert price.cost(200_001, 1000) == pytest.approx(0.5 + 0.015, rel=1e-4)
    # Together they are longer than the tier, and none of them is.
    assert price.cost(400_000, 2000, longest=100_000) == pytest.approx(0.5 + 0.02)
    cheaper = Price(usd_in=2, usd_out=2, tiers=(Tier(above=10, usd_in=1, usd_out=3),))
    assert cheaper.cost(1_000_000, 0) == 2
    assert not Price(usd_in=0, usd_out=0, tiers=cheaper.tiers).free
    assert FREE.free


@pytest.mark.parametrize(
    ("refused", "instead"), [("max_tokens", "max_completion_tokens"), ("temperature", None)]
)
async def test_a_refused_parameter_is_changed_and_that_is_remembered(
    server: ModelServer, refused: str, instead: str | None
) -> None:
    server.always(acts.refuse(refused), model="m")
    log, later, other = RecordedAttempts(), RecordedAttempts(), RecordedAttempts()
    async with opened(server) as models:
        await models.complete(call_of(), log)
        await models.complete(call_of(), later)
        await models.complete(call_of("other"), other)
    assert [len(x.attempts) for x in (log, later, other)] == [2, 1, 1]
    assert log.costs[0] == 0.0
    assert [refused in body for body in server.requests[-2:]] == [False, True]
    assert instead is None or server.requests[-2][instead] == 500


async def test_a_models_bundled_price_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    look_up = Mock(side_effect=bundled_price)
    monkeypatch.setattr(discovery, "bundled_price", look_up)
    book = PriceBook({}, ConnectionPool(4))
    for name in ("gpt-5-mini", "unheard-of", "gpt-5-mini", "unheard-of"):
        found = await book.price(Model.parse(f"online/{name}"), backend())
        assert (found is None) == (name == "unheard-of")
    assert [call.args[1] for call in look_up.mock_calls] == ["gpt-5-mini", "unheard-of"]


def test_the_bundled_list_is_read_without_a_network_or_a_thread() -> None:
    code = (
        "import socket, threading\n"
        "def refuse(*a, **k): raise SystemExit('it connects')\n"
        "socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse\n"
        "from adapters.models.discovery import bundled_price\n"
        f"print(bundled_price({OPENAI!r}, 'gpt-5-mini').usd_in, threading.active_count())"
    )
    assert printed_by(code).split() == ["0.25", "1"]
