"""Streamed answers over real HTTP: heard while they come, and counted like any other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest

from adapters.models.router import ModelRouter, open_models
from engine.values.debate import Model, Price
from engine.values.errors import ModelError
from engine.values.ports import Call, Reply
from tests.doubles import model_server as acts
from tests.doubles.model_server import ModelServer
from tests.kit import RecordedAttempts, cancelled, make_call, opened_models, until

PRICES = {"online/m": Price(usd_in=1, usd_out=2)}
TEXT = "Tea is calmer, cheaper and older than coffee."


class Ear:
    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []

    def __call__(self, text: str, model: str) -> None:
        self.heard.append((text, model))

    @property
    def texts(self) -> list[str]:
        return [text for text, _ in self.heard]


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(lambda _: TEXT) as running:
        yield running


def opened(server: ModelServer, **given: Any) -> AbstractAsyncContextManager[ModelRouter]:
    return opened_models(server.base_url, prices=PRICES, **given)


def call_of(ear: Ear | None) -> Call:
    return make_call(model=Model.parse("online/m"), on_text=ear)


async def ask(
    server: ModelServer, ear: Ear | None, log: RecordedAttempts | None = None, **given: Any
) -> Reply:
    async with opened(server, **given) as models:
        return await models.complete(call_of(ear), log or RecordedAttempts())


@pytest.mark.parametrize("plain", [False, True], ids=["streamed", "in one piece all the same"])
async def test_a_streamed_answer_is_the_same_reply_and_costs_the_same(
    server: ModelServer, plain: bool
) -> None:
    server.always(acts.says(TEXT, model="really/another", plain=plain))
    ear, streamed, whole = Ear(), RecordedAttempts(), RecordedAttempts()
    first = await ask(server, ear, streamed)
    second = await ask(server, None, whole)
    assert first.model_copy(update={"latency": 0.0}) == second.model_copy(update={"latency": 0.0})
    assert (first.text, first.model) == (TEXT, "really/another")
    assert first.cost is not None
    assert streamed.costs == whole.costs
    assert [body.get("stream") for body in server.requests] == [True, None]
    if not plain:
        assert (ear.texts[0], ear.texts[-1]) == ("", TEXT)
        assert all(TEXT.startswith(text) for text in ear.texts)
        assert {model for text, model in ear.heard if text} == {"really/another"}


async def test_an_answer_is_heard_while_it_is_written_and_cancelled_it_is_journaled_as_that(
    server: ModelServer,
) -> None:
    server.script(acts.says(TEXT, pause=0.05))
    ear, log = Ear(), RecordedAttempts()
    async with opened(server) as models:
        asking = asyncio.create_task(models.complete(call_of(ear), RecordedAttempts()))
        await until(lambda: len(ear.texts) >= 4)
        assert not asking.done()
        await asking
        assert len(ear.texts) > 6
        server.script(acts.says(TEXT, pause=5))
        late = Ear()
        asking = asyncio.create_task(models.complete(call_of(late), log))
        await until(lambda: late.texts)
        await asyncio.sleep(0.05)
        await cancelled(asking)
    assert log.attempts[0].error == "cancelled"
    assert log.balanced()


@pytest.mark.parametrize(
    ("act", "cost", "said"),
    [
        (acts.reset("middle"), None, "broke the connection"),
        (acts.reset("before"), None, "broke the connection"),
        (acts.status(503), 0.0, "overloaded"),
        (acts.error_body(), None, "upstream failed"),
        (acts.events({"error": {"message": "upstream failed"}}), None, "upstream failed"),
        (acts.says("half", finish="error"), None, "in the middle of an answer"),
        (acts.empty(), None, "without any text"),
        (
            acts.events({"choices": [{"delta": {"content": "half"}}]}, done=False),
            None,
            "broke the connection",
        ),
        (acts.events(), None, "without any text"),
        (acts.Act(body=b"", content_type=acts.EVENT_STREAM), None, "not JSON"),
    ],
)
async def test_a_failed_stream_is_tried_again_and_its_text_forgotten(
    server: ModelServer, act: acts.Act, cost: float | None, said: str
) -> None:
    server.script(replace(act, usage=False))
    ear, log = Ear(), RecordedAttempts()
    reply = await ask(server, ear, log)
    assert (reply.text, reply.attempts) == (TEXT, 2)
    assert said in log.attempts[0].error
    assert log.costs[0] == cost
    assert log.balanced()
    assert ear.texts[-1] == TEXT
    again = len(ear.texts) - 1 - ear.texts[::-1].index("")
    assert again > 0
    assert all(TEXT.startswith(text) for text in ear.texts[again:])


async def test_an_error_in_mid_stream_bears_what_it_cost(server: ModelServer) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "cost": 0.0075}
    broken = acts.events(
        {"choices": [{"delta": {"content": "half"}}]},
        {"error": {"message": "upstream failed"}, "usage": usage},
    )
    server.script(broken)
    log = RecordedAttempts()
    await ask(server, Ear(), log)
    assert log.costs[0] == 0.0075


@pytest.mark.parametrize(
    ("parameter", "kept", "left"),
    [("stream_options", "stream", "stream_options"), ("stream", "model", "stream")],
)
async def test_what_of_a_stream_is_refused_is_not_asked_for_again(
    server: ModelServer, parameter: str, kept: str, left: str
) -> None:
    server.always(acts.refuse(parameter))
    async with opened(server, local=True) as models:
        for _ in range(2):
            reply = await models.complete(call_of(Ear()), RecordedAttempts())
            assert reply.text == TEXT
    assert [left in body for body in server.requests] == [True, False, False]
    assert all(kept in body for body in server.requests)


async def test_money_that_nobody_can_count_is_not_streamed_again(server: ModelServer) -> None:
    server.script(acts.says(TEXT, usage=False))
    async with opened(server) as models:
        costs = [(await models.complete(call_of(Ear()), RecordedAttempts())).cost for _ in range(2)]
    assert [cost is None for cost in costs] == [True, False]
    assert [body.get("stream", False) for body in server.requests] == [True, False]
    server.always(acts.status(400, message="upstream error: context too long"))
    with pytest.raises(ModelError, match="context too long"):
        await ask(server, Ear())
    assert len(server.requests) == 3  # “upstream” names no stream that was refused


async def test_a_rehearsal_model_is_heard_over_its_latency() -> None:
    models, ear = open_models({}), Ear()
    call = replace(call_of(ear), model=Model.parse("rehearsal/maple?latency=0.4"))
    reply = await models.complete(call, RecordedAttempts())
    assert len(ear.texts) >= 5
    assert ear.texts[-1] == reply.text
    assert sorted(ear.texts, key=len) == ear.texts
    quiet = await models.complete(replace(call, on_text=None), RecordedAttempts())
    assert quiet.text == reply.text
