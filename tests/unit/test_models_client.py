"""The HTTP client against a server that misbehaves."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Any

import pytest
from pydantic import SecretStr

from adapters.models.attempts import RetryPolicy
from adapters.models.backends import Backend
from adapters.models.discovery import probe
from adapters.models.router import ModelRouter, open_models
from engine.values.debate import Model, Price, Sampling, Usage
from engine.values.errors import ModelError, RefusedError
from engine.values.ports import AnswerSchema, Call, ChatMessage, Reply
from tests.doubles import model_server as acts
from tests.doubles.command import printed_by
from tests.doubles.deadlines import deadlines_by_event
from tests.doubles.model_server import ModelServer
from tests.kit import RecordedAttempts

KEY = "sk-canary-0123456789abcdef"
# OpenSSL then knows no authority, as on a machine where Python brings its own OpenSSL.
NO_AUTHORITIES = {"SSL_CERT_FILE": "/nowhere.pem", "SSL_CERT_DIR": "/nowhere"}
QUICK = RetryPolicy(tries=3, first_wait=0.001, max_retry_after=120)
SCHEMA = AnswerSchema("thing", {"type": "object", "properties": {"a": {"type": "string"}}})


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """Start a model server."""
    async with ModelServer() as running:
        yield running


@asynccontextmanager
async def opened(
    server: ModelServer, patience: RetryPolicy = QUICK, **given: Any
) -> AsyncIterator[ModelRouter]:
    """Open the models of one backend on the server; `prices` and backend settings as given."""
    prices = given.pop("prices", {})
    settings: dict[str, Any] = {"base_url": server.base_url, "api_key": SecretStr(KEY)}
    backend = Backend.of("online", **(settings | given))
    models = open_models({"online": backend}, prices, patience)
    try:
        yield models
    finally:
        await models.aclose()


def call_of(name: str = "m", **changes: Any) -> Call:
    """Make a call; its prompt says JSON."""
    given: dict[str, Any] = {
        "session": "debate-1",
        "step": "turn/opening/A",
        "model": Model.parse(f"online/{name}"),
        "messages": (ChatMessage(role="user", content="Answer in JSON."),),
        "sampling": Sampling(temperature=0.7, max_tokens=500),
    }
    return Call(**(given | changes))


async def ask(server: ModelServer, log: RecordedAttempts, **given: Any) -> Reply:
    """Make one call over fresh connections."""
    call = given.pop("call", call_of())
    async with opened(server, **given) as models:
        return await models.complete(call, log)


@pytest.mark.parametrize(
    ("act", "cost"),
    [
        (acts.status(429, retry_after=0), 0.0),
        (acts.status(408), None),
        (acts.status(409), 0.0),
        (acts.status(500), 0.0),
        (acts.status(503), 0.0),
        (acts.error_body(), None),
        (acts.garbage(), None),
        (acts.page(), None),
        (acts.says("half", extra={"choices": []}), None),
        (acts.says("half", finish="error"), None),
        (acts.reset("before"), None),
        (acts.reset("middle"), None),
    ],
)
async def test_a_passing_failure_is_survived(
    server: ModelServer, act: acts.Act, cost: float | None
) -> None:
    server.script(act)
    log = RecordedAttempts()
    reply = await ask(server, log)
    assert reply.text == "An answer to 1 messages."
    assert reply.attempts == 2
    assert log.attempts[0].error
    assert log.costs[0] == cost
    assert log.balanced()


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (acts.status(401), "refused the key"),
        (acts.status(402), "add credit"),
        (acts.status(429, kind="insufficient_quota"), "add credit"),
        (acts.status(403), "may use this model"),
        (acts.status(404), "ROSTRUM_MODELS"),
        (acts.status(400, message="context too long"), "context too long"),
    ],
)
async def test_a_lasting_failure_is_final(server: ModelServer, act: acts.Act, said: str) -> None:
    server.always(act)
    log = RecordedAttempts()
    with pytest.raises(ModelError, match=said) as caught:
        await ask(server, log)
    assert "“online”" in str(caught.value)
    assert "“m”" in str(caught.value)
    assert len(server.requests) == 1
    assert log.costs == [0.0]


@pytest.mark.parametrize(
    "act",
    [
        acts.refusal(),
        acts.empty("content_filter"),
        acts.status(400, kind="content_policy_violation"),
        acts.status(400, message="triggered the content management policy"),
        acts.status(403, message="requires moderation and your input was flagged"),
    ],
)
async def test_a_model_that_declines_is_not_asked_again(server: ModelServer, act: acts.Act) -> None:
    server.always(act)
    with pytest.raises(RefusedError, match="reword the topic") as caught:
        await ask(server, RecordedAttempts())
    assert caught.value.model == "online/m"
    assert not caught.value.passing
    assert len(server.requests) == 1


async def test_patience_ends(server: ModelServer) -> None:
    server.always(acts.status(503, message="busy"))
    with pytest.raises(ModelError, match=r"overloaded \(503\): busy \(model “m”, 3 tries\)"):
        await ask(server, RecordedAttempts())
    assert len(server.requests) == 3


async def test_a_wait_that_is_asked_for_is_obeyed(server: ModelServer) -> None:
    server.script(acts.status(429, retry_after=0.3))
    started = perf_counter()
    await ask(server, RecordedAttempts())
    assert perf_counter() - started >= 0.3


async def test_a_wait_over_the_limit_is_final_and_says_so(server: ModelServer) -> None:
    server.always(acts.status(429, retry_after=300))
    with pytest.raises(ModelError, match="asks to wait 300 s, more than 120 s"):
        await ask(server, RecordedAttempts())
    assert len(server.requests) == 1


def test_the_default_patience_survives_twenty_seconds() -> None:
    patience = RetryPolicy()
    assert sum(patience.wait(n, 0.0) for n in range(1, patience.tries)) > 20


async def test_a_server_that_comes_back_is_waited_for(server: ModelServer) -> None:
    patience = RetryPolicy(tries=10, first_wait=0.05, longest_wait=0.2)
    async with opened(server, patience) as models:
        await models.complete(call_of(), RecordedAttempts())
        await server.down(0.4)
        log = RecordedAttempts()
        reply = await models.complete(call_of(), log)
    assert reply.attempts > 1
    assert any("could not be reached at http://127.0.0.1:" in error for error in log.errors)
    assert 0.0 in log.costs


async def test_a_connection_that_nobody_answers_is_no_answer_that_was_late(
    server: ModelServer,
) -> None:
    """Nothing was sent, so that it surely costs nothing, however short the deadline is."""
    await server.leave("deaf")
    log = RecordedAttempts()
    with pytest.raises(ModelError, match=r"could not be reached at http://127\.0\.0\.1:"):
        await ask(server, log, timeout_s=1.5)
    assert log.costs == [0.0] * QUICK.tries


async def test_a_deadline_covers_the_whole_try(server: ModelServer) -> None:
    server.always(acts.hang())
    log = RecordedAttempts()
    with deadlines_by_event(), pytest.raises(ModelError, match=r"within 20 s.*TIMEOUT_S"):
        await ask(server, log, timeout_s=20)
    assert log.costs == [None] * 3


@pytest.mark.parametrize(
    ("refused", "gone", "instead"),
    [
        ("max_tokens", "max_tokens", "max_completion_tokens"),
        ("temperature", "temperature", None),
    ],
)
async def test_a_refused_parameter_is_changed_and_that_is_remembered(
    server: ModelServer, refused: str, gone: str, instead: str | None
) -> None:
    server.always(acts.refuse(refused), model="m")
    log, later, other = RecordedAttempts(), RecordedAttempts(), RecordedAttempts()
    async with opened(server) as models:
        await models.complete(call_of(), log)
        await models.complete(call_of(), later)
        await models.complete(call_of("other"), other)
    assert [len(x.attempts) for x in (log, later, other)] == [2, 1, 1]
    assert log.costs[0] == 0.0
    assert gone not in server.requests[-2]
    assert gone in server.requests[-1]
    assert instead is None or server.requests[-2][instead] == 500


async def test_calls_side_by_side_learn_a_refusal_together(server: ModelServer) -> None:
    server.latency = 0.05
    server.always(acts.refuse("max_tokens"))
    async with opened(server) as models:
        logs = [RecordedAttempts() for _ in range(5)]
        await asyncio.gather(*(models.complete(call_of(), log) for log in logs))
    assert all(len(log.attempts) == 2 for log in logs)


async def test_the_json_ladder_goes_down_a_rung_at_a_time(server: ModelServer) -> None:
    server.always(acts.refuse("json_schema"), acts.refuse("json_object"))
    call = call_of(schema=SCHEMA)
    async with opened(server) as models:
        await models.complete(call, RecordedAttempts())
        await models.complete(call, RecordedAttempts())
    formats = [body.get("response_format", {}).get("type") for body in server.requests]
    assert formats == ["json_schema", "json_object", None, None]


async def test_json_object_is_not_asked_of_a_prompt_without_the_word(server: ModelServer) -> None:
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


async def test_a_cap_used_up_by_reasoning_is_doubled_once(server: ModelServer) -> None:
    server.script(acts.empty("length"))
    log = RecordedAttempts()
    reply = await ask(server, log)
    assert reply.text
    assert [body["max_tokens"] for body in server.requests] == [500, 1000]
    assert [attempt.doubles_cap for attempt in log.attempts] == [True, False]


async def test_a_cap_used_up_twice_says_which_setting_to_raise(server: ModelServer) -> None:
    server.always(acts.empty("length"))
    with pytest.raises(ModelError, match="ROSTRUM_SAMPLING__DEBATER__MAX_TOKENS"):
        await ask(server, RecordedAttempts())
    assert len(server.requests) == 2


async def test_text_comes_back_as_it_is(server: ModelServer) -> None:
    text = ' \n{"broken": [1, \u202e "茶🫖" '
    server.always(acts.says(text, finish="length"))
    reply = await ask(server, RecordedAttempts(), call=call_of(schema=SCHEMA))
    assert (reply.text, reply.finish) == (text, "length")


async def test_a_megabyte_is_taken(server: ModelServer) -> None:
    server.script(acts.big())
    assert len((await ask(server, RecordedAttempts())).text) == 1_000_000


async def test_an_answer_without_end_is_left_and_not_asked_for_again(server: ModelServer) -> None:
    server.always(acts.big(17_000_000))
    with pytest.raises(ModelError, match="answered with more than 16 MB"):
        await ask(server, RecordedAttempts())
    assert len(server.requests) == 1


async def test_the_model_that_really_answered_is_named(server: ModelServer) -> None:
    server.script(acts.says("yes", model="m-2025-11"))
    assert (await ask(server, RecordedAttempts())).model == "m-2025-11"


async def test_every_kind_of_token_is_recorded(server: ModelServer) -> None:
    details = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 64},
        "completion_tokens_details": {"reasoning_tokens": 8},
    }
    server.script(acts.says("yes", usage_extra=details))
    reply = await ask(server, RecordedAttempts())
    assert reply.usage == Usage(tokens_in=100, tokens_out=20, tokens_cached=64, tokens_reasoning=8)


@pytest.mark.parametrize("amount", ["1e999", "-1e999", "-1", "1e300", "true", '"many"'])
async def test_an_amount_that_cannot_be_counted_with_is_unknown(
    server: ModelServer, amount: str
) -> None:
    """Infinity beside half a character was a defect of Rostrum, which ended the debate."""
    usage = f'"prompt_tokens": {amount}, "completion_tokens": {amount}, "cost": {amount}'
    choice = '{"message": {"content": "yes \\ud800"}}'
    server.script(acts.Act(body=f'{{"choices": [{choice}], "usage": {{{usage}}}}}'.encode()))
    reply = await ask(server, RecordedAttempts())
    assert (reply.usage, reply.cost) == (Usage(), None)


async def test_the_cost_a_reply_states_counts_where_it_is_the_greater(server: ModelServer) -> None:
    server.script(acts.says("yes", usage_extra={"cost": 0.0125}))
    reply = await ask(server, RecordedAttempts(), prices={"m": Price(usd_in=9, usd_out=9)})
    assert reply.cost == 0.0125


async def test_a_debate_pays_the_price_that_it_began_with(server: ModelServer) -> None:
    server.script(acts.says("yes", usage_extra={"prompt_tokens": 1000, "completion_tokens": 500}))
    call = call_of(price=Price(usd_in=2, usd_out=4))
    dearer = {"m": Price(usd_in=9, usd_out=9)}
    reply = await ask(server, RecordedAttempts(), call=call, prices=dearer)
    assert reply.cost == pytest.approx(0.004)


async def test_then_price_times_tokens_by_the_table_then_by_the_list(server: ModelServer) -> None:
    server.models = [
        {"id": "m", "pricing": {"prompt": "0.000002", "completion": "0.000004"}},
        {"id": "auto", "pricing": {"prompt": "-1", "completion": "-1"}},
        {"id": "odd", "pricing": {"prompt": "free"}},
    ]
    tokens = {"prompt_tokens": 1000, "completion_tokens": 500}
    server.always(acts.says("yes", usage_extra=tokens))
    async with opened(server, prices={"online/set": Price(usd_in=1, usd_out=1)}) as models:
        names = ("m", "set", "auto", "odd")
        replies = [await models.complete(call_of(n), RecordedAttempts()) for n in names]
    assert [reply.cost for reply in replies] == [pytest.approx(0.004), 0.0015, None, None]
    assert server.lists == 1


async def test_a_call_without_usage_has_no_known_cost(server: ModelServer) -> None:
    server.script(acts.says("yes", usage=False))
    reply = await ask(server, RecordedAttempts(), prices={"m": Price(usd_in=1, usd_out=1)})
    assert reply.cost is None
    assert reply.usage == Usage()


async def test_a_local_backend_costs_nothing_even_when_it_fails(server: ModelServer) -> None:
    server.script(acts.garbage(), acts.says("yes", usage=False))
    log = RecordedAttempts()
    await ask(server, log, preset="ollama", api_key=None)
    assert log.costs == [0.0, 0.0]


async def test_openrouter_is_told_the_session_and_asked_for_the_cost(server: ModelServer) -> None:
    await ask(server, RecordedAttempts(), preset="openrouter")
    assert server.requests[0]["session_id"] == "debate-1"
    assert server.requests[0]["usage"] == {"include": True}


async def test_openai_is_told_which_debate_shares_a_cache_unless_it_refuses(
    server: ModelServer,
) -> None:
    async with opened(server, preset="openai") as models:
        await models.complete(call_of(), RecordedAttempts())
        server.always(acts.refuse("prompt_cache_key"))
        for _ in range(2):
            await models.complete(call_of(), RecordedAttempts())
    keys = [body.get("prompt_cache_key") for body in server.requests]
    assert keys == ["debate-1", "debate-1", None, None]
    assert "session_id" not in server.requests[0]


async def test_the_cue_is_never_sent(server: ModelServer) -> None:
    await ask(server, RecordedAttempts(), call=call_of(cue={"topic": "canary-cue"}))
    assert "canary-cue" not in str(server.requests)


async def test_concurrency_stays_within_the_setting(server: ModelServer) -> None:
    server.latency = 0.01
    async with opened(server, max_concurrency=3) as models:
        calls = (models.complete(call_of(), RecordedAttempts()) for _ in range(20))
        await asyncio.gather(*calls)
    assert server.most_in_flight == 3


async def test_requests_per_minute_are_spread(server: ModelServer) -> None:
    async with opened(server, requests_per_minute=300) as models:
        calls = (models.complete(call_of(), RecordedAttempts()) for _ in range(31))
        started = perf_counter()
        await asyncio.gather(*calls)
    assert perf_counter() - started >= 0.2  # 30 at once, the next after 60 s / 270


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


async def test_connections_are_reused(server: ModelServer) -> None:
    async with opened(server) as models:
        for _ in range(20):
            await models.complete(call_of(), RecordedAttempts())
    assert len(server.peers) == 1


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


async def test_of_two_proxies_the_one_for_the_address_is_used(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks4://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", server.base_url.removesuffix("/v1"))
    server.models = [{"id": "maple"}]
    assert (await ask(server, RecordedAttempts(), base_url="http://models.example/v1")).text
    assert await probe(Backend.of("online", base_url="http://models.example/v1")) == ["maple"]


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
