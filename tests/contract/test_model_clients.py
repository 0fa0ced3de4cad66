"""Both clients of a backend, Rostrum's own and the SDK's, against the same misbehaving server."""

import asyncio
import gzip
from contextlib import AbstractAsyncContextManager
from time import perf_counter
from typing import Any, NamedTuple

import pytest
from pydantic import SecretStr

from adapters.models import ClientName
from adapters.models.attempts import RetryPolicy
from adapters.models.backends import Backend
from adapters.models.discovery import probe
from adapters.models.router import ModelRouter
from engine.values.configuration import parse_model
from engine.values.debate import Model, Price
from engine.values.errors import ModelError
from engine.values.ports import AnswerSchema, Call, ChatMessage
from tests.doubles import model_server as acts
from tests.doubles.deadlines import deadlines_by_event
from tests.doubles.model_server import Act, ModelServer
from tests.kit import RecordedAttempts, make_call, opened_models, until

KEY = "sk-canary-0123456789abcdef"
CLIENTS: tuple[ClientName, ...] = ("rostrum", "openai")
POLICY = RetryPolicy(tries=3, first_wait=0.001, max_retry_after=60)
SCHEMA = AnswerSchema("thing", {"type": "object", "properties": {"a": {"type": "string"}}})
TOO_MUCH = b" " * 17_000_000
SAME = ("Accept", "Authorization", "Content-Type", "Host", "User-Agent")


def opened(server: ModelServer, **given: Any) -> AbstractAsyncContextManager[ModelRouter]:
    prices = {"online/m": Price(usd_in=1, usd_out=2)}
    return opened_models(server.base_url, POLICY, prices, api_key=SecretStr(KEY), **given)


def call_of(**changes: Any) -> Call:
    """Make a call; its prompt says JSON."""
    asked = ChatMessage(role="user", content="Answer in JSON: “tea ☕ beats coffee”.")
    given: dict[str, Any] = {"model": Model.parse("online/m"), "messages": (asked,)}
    return make_call(**(given | changes))


class Seen(NamedTuple):
    """All that a call left behind, but for how long it took."""

    reply: Any
    error: str
    attempts: list[Any]
    heard: list[str]
    requests: list[acts.Body]
    headers: list[dict[str, str]]


async def see(server: ModelServer, call: Call, heard: list[str], **given: Any) -> Seen:
    log, reply, error = RecordedAttempts(), None, ""
    server.requests.clear()
    server.headers.clear()
    async with opened(server, **given) as models:
        try:
            reply = await models.complete(call, log)
        except ModelError as raised:
            error = f"{raised} {raised.passing} {raised.failure}"
    assert log.balanced()
    untimed: dict[str, Any] = {"latency": 0.0, "waited": 0.0}
    return Seen(
        reply and reply.model_dump(exclude={"latency"}),
        error,
        [attempt.model_copy(update=untimed) for attempt in log.attempts],
        heard,
        list(server.requests),
        [{name: sent[name] for name in SAME} for sent in server.headers],
    )


WHOLE = {
    "answers": (),
    "answers with its cost in a header": (
        Act(headers={"x-litellm-response-cost": "0.25"}, usage=False),
    ),
    "answers compressed": (
        Act(
            headers={"Content-Encoding": "gzip"},
            body=gzip.compress(b'{"choices": [{"message": {"content": "Tea."}}]}'),
        ),
    ),
    "is cut off at its token cap": (acts.says("Tea is", finish="length"),),
    "declines": (acts.refusal(),),
    "answers nothing": (acts.empty(), acts.empty()),
    "refuses the key": (acts.status(401, message=f"bad key {KEY}"),),
    "refuses the temperature": (acts.refuse("temperature"),),
    "has no credit": (acts.status(429, kind="insufficient_quota"),),
    "is limited for no time": (acts.status(429, retry_after=0),),
    "is limited for milliseconds": (Act(status=429, headers={"retry-after-ms": "5"}, body=b"{}"),),
    "is limited for an hour": (acts.status(429, retry_after=3600),),
    "is limited until a date": (acts.status(503, retry_after="Sun, 06 Nov 1994 08:49:37 GMT"),),
    "times out by itself": (acts.status(408),),
    "conflicts": (acts.status(409),),
    "fails once": (acts.status(500),),
    "fails always": tuple(acts.status(500) for _ in range(3)),
    "redirects": (Act(status=307, headers={"Location": "http://127.0.0.1:9/v1"}, body=b""),),
    "answers garbage": (acts.garbage(),),
    "answers a web page": (acts.page(),),
    "answers an error as if all were well": (acts.error_body(),),
    "breaks the connection before the answer": (acts.reset("before"),),
    "breaks the connection in the middle": (acts.reset("middle"),),
    "answers without end": (Act(body=TOO_MUCH),),
    "answers without end once it is unpacked": (
        Act(headers={"Content-Encoding": "gzip"}, body=gzip.compress(TOO_MUCH)),
    ),
    "refuses without end": (Act(status=400, body=TOO_MUCH),),
}
STREAMED = {
    "writes": (),
    "writes in its own pieces": (
        acts.events(
            {"choices": [{"delta": {"content": "Te"}}]},
            {"choices": [{"delta": {"content": "a."}, "finish_reason": "stop"}]},
            {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}},
        ),
    ),
    "writes at once": (acts.says("Tea.", plain=True),),
    "refuses to stream": (acts.refuse("stream"),),
    "breaks off in the middle": (acts.reset("middle"),),
    "ends without an end": (
        acts.events({"choices": [{"delta": {"content": "half"}}]}, done=False),
    ),
    "fails in the middle": (
        acts.events(
            {"choices": [{"delta": {"content": "half"}}]},
            {"error": {"message": "upstream failed"}},
        ),
    ),
    "is limited": (acts.status(429, retry_after=0),),
}
STRUCTURED = {
    "fills in a form": (acts.says('{"a": "b"}'),),
    "refuses the schema": (acts.refuse("json_schema"),),
    "refuses every form": (acts.refuse("json_schema"), acts.refuse("json_object")),
}


@pytest.mark.parametrize("script", WHOLE.values(), ids=WHOLE)
async def test_a_server_that(server: ModelServer, script: tuple[Act, ...]) -> None:
    seen = []
    for client in CLIENTS:
        server.script(*script)
        seen.append(await see(server, call_of(), [], client=client))
    assert seen[0] == seen[1]
    assert seen[0].requests


@pytest.mark.parametrize("script", STREAMED.values(), ids=STREAMED)
async def test_a_server_that_streams_and(server: ModelServer, script: tuple[Act, ...]) -> None:
    seen = []
    for client in CLIENTS:
        server.script(*script)
        heard: list[str] = []
        call = call_of(on_text=lambda text, model, heard=heard: heard.append(text))
        seen.append(await see(server, call, heard, client=client))
    # How much of a text comes at once is up to the machine.
    own, sdk = (one._replace(heard=[one.heard[0], one.heard[-1]]) for one in seen)
    assert own == sdk
    assert own.requests[0]["stream"]


@pytest.mark.parametrize("script", STRUCTURED.values(), ids=STRUCTURED)
async def test_a_server_that_is_asked_for_a_form_and(
    server: ModelServer, script: tuple[Act, ...]
) -> None:
    seen = []
    for client in CLIENTS:
        server.script(*script)
        seen.append(await see(server, call_of(schema=SCHEMA), [], client=client))
    assert seen[0] == seen[1]
    assert seen[0].requests[0]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("away", ["hangs", "stalls in the middle", "refusing", "deaf"])
async def test_a_server_out_of_reach(server: ModelServer, away: str) -> None:
    seen = []
    if away in ("refusing", "deaf"):
        await server.leave("deaf" if away == "deaf" else "refusing")
    server.always(acts.says("Tea", pause=acts.HANGS) if "stalls" in away else acts.hang())
    for client in CLIENTS:
        call = call_of(on_text=(lambda text, model: None) if "stalls" in away else None)
        with deadlines_by_event():
            seen.append(await see(server, call, [], client=client, timeout_s=20))
    assert seen[0] == seen[1]
    assert ("within 20 s" in seen[0].error) == (away not in ("refusing", "deaf"))
    assert [attempt.number for attempt in seen[0].attempts] == [1, 2, 3]


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_cancelled_call_is_journaled_and_makes_room_for_the_next(
    server: ModelServer, client: ClientName
) -> None:
    server.script(acts.hang())
    log = RecordedAttempts()
    async with opened(server, client=client, max_concurrency=1) as models:
        asking = asyncio.create_task(models.complete(call_of(), log))
        await until(lambda: server.in_flight)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert (await models.complete(call_of(), RecordedAttempts())).text
    assert log.errors == ["cancelled"]


@pytest.mark.parametrize("client", CLIENTS)
async def test_calls_keep_to_the_backend_s_limits(server: ModelServer, client: ClientName) -> None:
    server.latency = 0.01
    given: dict[str, Any] = {"max_concurrency": 3, "requests_per_minute": 300, "client": client}
    async with opened(server, **given) as models:
        started = perf_counter()
        calls = (models.complete(call_of(), RecordedAttempts()) for _ in range(31))
        await asyncio.gather(*calls)
    assert server.most_in_flight == 3
    assert perf_counter() - started >= 0.2  # 30 at once, the next after 60 s / 270
    assert len(server.peers) == 3  # connections are used again


@pytest.mark.parametrize("client", CLIENTS)
async def test_what_the_sdk_s_variables_say_is_sent_by_the_sdk_alone(
    server: ModelServer, client: ClientName, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = "Authorization: Basic bWFwbGU\nX-Gateway-Key: gw7Q2xk9"
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", added)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "elsewhere-1")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "elsewhere-2")
    server.always(acts.status(400, message="no gw7Q2xk9 here"))
    seen = await see_plainly(server, client)
    sent, by_sdk = {k.lower(): v for k, v in server.headers[0].items()}, client == "openai"
    assert sent["authorization"] == ("Basic bWFwbGU" if by_sdk else f"Bearer {KEY}")
    assert (sent.get("x-gateway-key") == "gw7Q2xk9") == by_sdk
    assert (sent.get("openai-organization") == "org-1") == by_sdk
    assert "elsewhere" not in str(server.headers)
    assert ("gw7Q2xk9" in seen) != by_sdk  # what is sent to a backend is not repeated


async def see_plainly(server: ModelServer, client: ClientName) -> str:
    """Make one call that fails, and return what is said of it."""
    async with opened(server, client=client) as models:
        with pytest.raises(ModelError) as caught:
            await models.complete(call_of(), RecordedAttempts())
    return str(caught.value)


async def test_headers_that_cannot_be_sent_are_named(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Team: Café")
    assert await see_plainly(server, "openai") == (
        "Backend “online” cannot be sent the headers that are set for it (model “m”); correct "
        "OPENAI_CUSTOM_HEADERS: one “Name: value” a line, in plain ASCII."
    )
    assert server.headers == []


async def test_the_sdk_s_client_lists_models_behind_a_gateway(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.models = [{"id": "maple"}]
    backend = Backend.of("online", base_url=server.base_url, client="openai")
    assert await probe(backend) == ["maple"]
    monkeypatch.setenv("HTTP_PROXY", server.base_url.removesuffix("/v1"))
    elsewhere = Backend.of("online", base_url="http://models.example/v1", client="openai")
    assert await probe(elsewhere) == ["maple"]


CONFIGURED = "online/m@effort=high,temperature=0,top_p=0.5,max_tokens=900"


@pytest.mark.parametrize("client", CLIENTS)
async def test_a_configuration_reaches_the_backend_and_is_priced_as_its_model(
    server: ModelServer, client: ClientName
) -> None:
    call = call_of(model=parse_model(CONFIGURED)).configured()
    seen = await see(server, call, [], client=client)
    (body,) = seen.requests
    sent = {name: body[name] for name in ("reasoning_effort", "temperature", "top_p", "max_tokens")}
    assert sent == {"reasoning_effort": "high", "temperature": 0, "top_p": 0.5, "max_tokens": 900}
    assert body["model"] == "m"
    assert seen.reply["cost"] > 0


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("field", ["temperature", "reasoning_effort"])
async def test_a_setting_that_is_refused_is_said_and_never_left_out(
    server: ModelServer, client: ClientName, field: str
) -> None:
    server.script(*[acts.refuse(field)] * 3)
    seen = await see(server, call_of(model=parse_model(CONFIGURED)).configured(), [], client=client)
    assert field in seen.error
    assert len(seen.requests) == 1
