"""Streamed answers over real HTTP: heard while they come, and counted like any other."""

from __future__ import annotations

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
from tests.doubles.deadlines import deadlines_by_event
from tests.doubles.model_server import ModelServer
from tests.kit import RecordedAttempts, make_call, opened_models

PRICES = {"online/m": Price(usd_in=1, usd_out=2)}
TEXT = "Tea is calmer, cheaper and older than coffee."


class Ear:
    """Hears what is written."""

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


async def test_a_streamed_answer_is_the_same_reply_and_costs_the_same(server: ModelServer) -> None:
    ear, streamed, whole = Ear(), RecordedAttempts(), RecordedAttempts()
    first = await ask(server, ear, streamed)
    second = await ask(server, None, whole)
    assert first.model_copy(update={"latency": 0.0}) == second.model_copy(update={"latency": 0.0})
    assert first.cost is not None
    assert streamed.costs == whole.costs
    assert ear.texts[0] == ""
    assert ear.texts[-1] == TEXT
    assert all(TEXT.startswith(text) for text in ear.texts)
    assert [body.get("stream") for body in server.requests] == [True, None]


async def test_an_answer_is_heard_while_it_is_written(server: ModelServer) -> None:
    server.script(acts.says(TEXT, pause=0.05))
    ear = Ear()
    async with opened(server) as models:
        asking = asyncio.create_task(models.complete(call_of(ear), RecordedAttempts()))
        while len(ear.texts) < 4:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        assert not asking.done()
        await asking
    assert len(ear.texts) > 6


async def test_the_model_that_writes_is_told_with_its_text(server: ModelServer) -> None:
    server.script(acts.says(TEXT, model="really/another"))
    ear = Ear()
    reply = await ask(server, ear)
    assert reply.model == "really/another"
    assert {model for text, model in ear.heard if text} == {"really/another"}


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


async def test_a_stream_that_stalls_ends_at_the_deadline(server: ModelServer) -> None:
    server.always(acts.says(TEXT, pause=acts.HANGS))
    log = RecordedAttempts()
    with deadlines_by_event(), pytest.raises(ModelError, match=r"did not answer within 20 s"):
        await ask(server, Ear(), log, timeout_s=20)
    assert log.costs == [None] * 3


async def test_a_cancelled_stream_is_journaled_as_one(server: ModelServer) -> None:
    server.script(acts.says(TEXT, pause=5))
    ear, log = Ear(), RecordedAttempts()
    async with opened(server) as models:
        asking = asyncio.create_task(models.complete(call_of(ear), log))
        while not ear.texts:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.05)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
    assert log.attempts[0].error == "cancelled"
    assert log.balanced()


async def test_an_answer_in_one_piece_all_the_same_is_understood(server: ModelServer) -> None:
    server.script(acts.says(TEXT, plain=True))
    assert (await ask(server, Ear())).text == TEXT


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


async def test_a_refusal_that_speaks_of_upstream_names_no_stream(server: ModelServer) -> None:
    server.always(acts.status(400, message="upstream error: context too long"))
    with pytest.raises(ModelError, match="context too long"):
        await ask(server, Ear())
    assert len(server.requests) == 1


async def test_money_that_nobody_can_count_is_not_streamed_again(server: ModelServer) -> None:
    server.script(acts.says(TEXT, usage=False))
    async with opened(server) as models:
        first = await models.complete(call_of(Ear()), RecordedAttempts())
        second = await models.complete(call_of(Ear()), RecordedAttempts())
    assert first.cost is None
    assert second.cost is not None
    assert [body.get("stream", False) for body in server.requests] == [True, False]


async def test_a_rehearsal_model_is_heard_over_its_latency() -> None:
    models, ear = open_models({}), Ear()
    call = replace(call_of(ear), model=Model.parse("rehearsal/maple?latency=0.4"))
    reply = await models.complete(call, RecordedAttempts())
    assert len(ear.texts) >= 5
    assert ear.texts[-1] == reply.text
    assert sorted(ear.texts, key=len) == ear.texts
    quiet = await models.complete(replace(call, on_text=None), RecordedAttempts())
    assert quiet.text == reply.text
