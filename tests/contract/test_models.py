"""What every implementation of the Models port does alike: rehearsal, and HTTP on loopback."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

import orjson
import pytest
from pydantic import BaseModel, Field

from adapters.models import ClientName
from adapters.models.attempts import RetryPolicy
from adapters.models.backends import Backend
from adapters.models.rehearsal import structured_answer
from adapters.models.router import ModelRouter, open_models
from adapters.models.scenes import RehearsalOptions, Scene
from engine.values.debate import Model, Origin, Price
from engine.values.errors import BudgetError, LeaseLostError, ModelError, UsageError
from engine.values.ports import AnswerSchema, Call, ChatMessage
from tests.doubles import model_server as acts
from tests.doubles.model_server import ModelServer
from tests.kit import RecordedAttempts, cancelled, make_call, until

QUICK = RetryPolicy(tries=4, first_wait=0.001)


class Choice(BaseModel):
    """A structured answer like a captain's."""

    speaker: Literal["A2", "A3"]
    direction: str = Field(min_length=5)
    marks: list[Annotated[int, Field(ge=1, le=9)]] = Field(min_length=2, max_length=4)


class Rig:
    """One implementation, and how to make a model of it that behaves in a given way."""

    def __init__(self, models: ModelRouter, server: ModelServer | None) -> None:
        self.models = models
        self._server = server

    def model(self, options: str = "", *script: acts.Act) -> Model:
        """Name a model that behaves so: by options in rehearsal, by a script on the server."""
        if self._server is None:
            return Model.parse(f"rehearsal/maple?{options}" if options else "rehearsal/maple")
        name = f"m{len(options)}" if options else "plain"
        self._server.script(*script, model=name)
        return Model.parse(f"near/{name}")

    def hanging(self) -> Model:
        return self.model("latency=60", acts.hang())

    async def asked(self, log: RecordedAttempts) -> None:
        """Wait until a try is out."""
        await until(lambda: self._server.in_flight if self._server else log.events)


def call_of(model: Model, **changes: Any) -> Call:
    message = ChatMessage(role="user", content="Argue that tea beats coffee. Answer in JSON.")
    hint = {"topic": "Tea beats coffee", "side": "A", "round": "opening"}
    return make_call(model=model, messages=(message,), hint=hint, **changes)


def respond(body: acts.Body) -> str:
    """Satisfy a schema when one is asked for."""
    if "response_format" not in body:
        return "Tea beats coffee."
    schema = body["response_format"]["json_schema"]
    asked = AnswerSchema(schema["name"], schema["schema"])
    call = call_of(Model.parse("rehearsal/oak"), schema=asked)
    return structured_answer(call, asked, Scene.of(call), RehearsalOptions.of("oak"))


@pytest.fixture(params=["rehearsal", "http", "openai"])
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    async with ModelServer(respond) as server:
        client: ClientName = "openai" if request.param == "openai" else "rostrum"
        backend = Backend.of("near", base_url=server.base_url, client=client)
        prices = {"near/plain": Price(usd_in=1, usd_out=2)}
        models = open_models({"near": backend}, prices, QUICK)
        yield Rig(models, None if request.param == "rehearsal" else server)
        await models.aclose()


async def test_an_answer_comes_with_text_usage_cost_and_who_gave_it(rig: Rig) -> None:
    log, model = RecordedAttempts(), rig.model()
    reply = await rig.models.complete(call_of(model), log)
    assert "Tea beats coffee" in reply.text
    assert (reply.finish, reply.model, reply.attempts) == ("stop", model.name, 1)
    assert reply.usage.tokens_in
    assert reply.usage.tokens_out
    assert reply.cost is not None
    assert log.replies == [reply]
    assert log.errors == [""]
    assert log.balanced()


async def test_a_structured_answer_satisfies_its_schema(rig: Rig) -> None:
    call = call_of(rig.model(), schema=AnswerSchema("Choice", Choice.model_json_schema()))
    reply = await rig.models.complete(call, RecordedAttempts())
    Choice.model_validate(orjson.loads(reply.text))


async def test_a_backend_that_fails_twice_is_tried_a_third_time(rig: Rig) -> None:
    log = RecordedAttempts()
    model = rig.model("fail=503x2", acts.status(503), acts.status(503))
    reply = await rig.models.complete(call_of(model), log)
    assert reply.attempts == 3
    assert [bool(error) for error in log.errors] == [True, True, False]
    assert log.costs[:2] == [0.0, 0.0]
    assert log.balanced()


async def test_a_refused_key_is_final_and_the_sentence_says_what_to_do(rig: Rig) -> None:
    log = RecordedAttempts()
    model = rig.model("fail=401", acts.status(401))
    with pytest.raises(ModelError) as caught:
        await rig.models.complete(call_of(model), log)
    assert model.backend in str(caught.value)
    assert model.name in str(caught.value)
    assert "check its key" in str(caught.value)
    assert log.costs == [0.0]
    assert log.balanced()


async def test_empty_answers_are_retried_and_then_given_up(rig: Rig) -> None:
    log = RecordedAttempts()
    model = rig.model("empty", *[acts.empty()] * 4)
    with pytest.raises(ModelError, match=r"without any text .*4 tries"):
        await rig.models.complete(call_of(model), log)
    assert len(log.attempts) == 4
    assert log.balanced()


async def test_a_cancelled_try_is_written_down_before_the_caller_ends(rig: Rig) -> None:
    log = RecordedAttempts(slow=0.02)
    task = asyncio.create_task(rig.models.complete(call_of(rig.hanging()), log))
    await rig.asked(log)
    await cancelled(task)
    assert log.errors == ["cancelled"]
    assert log.balanced()


async def test_a_try_cancelled_while_it_is_announced_costs_nothing_and_while_forbidden_was_none(
    rig: Rig,
) -> None:
    log = RecordedAttempts(slow=0.05)
    task = asyncio.create_task(rig.models.complete(call_of(rig.model()), log))
    await log.announced.wait()
    task.cancel()
    await cancelled(task)
    assert log.errors == ["cancelled"]
    assert log.costs == [0.0]
    assert log.balanced()
    log = RecordedAttempts(forbid=BudgetError("spent"), slow=0.05)
    task = asyncio.create_task(rig.models.complete(call_of(rig.model()), log))
    await log.announced.wait()
    await cancelled(task)
    assert log.events == []
    assert log.attempts == []


@pytest.mark.parametrize("error", [LeaseLostError("lost"), BudgetError("spent")])
async def test_a_try_that_the_log_forbids_is_never_sent(rig: Rig, error: Exception) -> None:
    log = RecordedAttempts(forbid=error)
    with pytest.raises(type(error)):
        await rig.models.complete(call_of(rig.model()), log)
    assert log.events == []


async def test_the_price_and_the_pace_of_a_model_are_known(rig: Rig) -> None:
    price = await rig.models.price(rig.model())
    local, here = Origin.LOCAL, Origin.SETTINGS
    known = (Price(usd_in=0, usd_out=0, origin=local), Price(usd_in=1, usd_out=2, origin=here))
    assert price in known
    model = rig.model("latency=0.05")
    before = rig.models.pace(model)
    await rig.models.complete(call_of(model), RecordedAttempts())
    assert 0 <= rig.models.pace(model) <= before


async def test_an_unknown_backend_is_named_with_the_known_ones(rig: Rig) -> None:
    call = call_of(Model.parse("elsewhere/x"))
    with pytest.raises(UsageError, match=r"no backend “elsewhere”.*known are rehearsal, near"):
        await rig.models.complete(call, RecordedAttempts())
    with pytest.raises(UsageError, match="did you mean near"):
        await rig.models.price(Model.parse("neer/x"))
