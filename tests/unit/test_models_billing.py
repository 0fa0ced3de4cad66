"""What a backend says that a call cost is not believed where it cannot be true."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from engine.values.debate import Origin, Price
from engine.values.ports import Reply
from tests.doubles import model_server as acts
from tests.doubles.model_server import EVENT_STREAM as STREAM, ModelServer
from tests.kit import RecordedAttempts
from tests.unit.test_models_client import call_of, opened

# A call of `call_of` costs at most 0.0021: 15 tokens in, and 500 out.
PRICE = Price(usd_in=2, usd_out=4, origin=Origin.SETTINGS)
TABLE = 0.0024  # of the tokens below
TOKENS = {"prompt_tokens": 1000, "completion_tokens": 100}
FREE = Price(usd_in=0, usd_out=0, origin=Origin.BACKEND)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """Start a model server."""
    async with ModelServer() as running:
        yield running


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def streamed(request: pytest.FixtureRequest) -> bool:
    """Whether the answer comes as a stream."""
    return bool(request.param)


def _deaf(text: str, model: str) -> None:
    """Hear the text of a stream, which is what asks for one."""


async def ask(
    server: ModelServer, streamed: bool, usage: dict[str, Any], price: Price | None = PRICE
) -> tuple[Reply, RecordedAttempts]:
    """Make one call that is answered with a text and this usage."""
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
    reply, log = await ask(server, streamed, usage)
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
    reply, log = await ask(server, streamed, usage)
    assert reply.cost is None
    assert [attempt.origin for attempt in log.attempts] == [None]
    assert max(reply.usage.tokens_in or 0, reply.usage.tokens_out or 0) <= 10_000
    assert reply.usage.tokens_out != 0


@pytest.mark.parametrize("usage", [{"cost": 50.0}, {"cost": 1e300}, {"cost": -1}], ids=str)
async def test_without_a_price_a_cost_has_a_bound_too(
    server: ModelServer, streamed: bool, usage: dict[str, Any]
) -> None:
    reply, _ = await ask(server, streamed, usage, None)
    assert reply.cost is None


@pytest.mark.parametrize(("cost", "counts"), [(0.02, 0.02), (50.0, 0.0), (-1, 0.0), (0, 0.0)])
async def test_a_model_without_a_price_that_bills_after_all_is_believed_within_reason(
    server: ModelServer, streamed: bool, cost: float, counts: float
) -> None:
    reply, _ = await ask(server, streamed, {"cost": cost}, FREE)
    assert reply.cost == counts


@pytest.mark.parametrize("amount", ["1e999", "-1e999", f"1{'0' * 400}", f"1{'0' * 9999}", "NaN"])
async def test_numbers_that_no_computer_holds_end_no_call(
    server: ModelServer, streamed: bool, amount: str
) -> None:
    """Beside half a character they are read by a second parser, which takes them."""
    usage = f'"usage": {{"prompt_tokens": 9, "completion_tokens": {amount}, "cost": {amount}}}'
    said = '"choices": [{"NAME": {"content": "yes \\ud800"}, "finish_reason": "stop"}]'
    part = f"{{{said.replace('NAME', 'delta' if streamed else 'message')}, {usage}}}"
    event = acts.Act(body=f"data: {part}\n\ndata: [DONE]\n\n".encode(), content_type=STREAM)
    server.script(event if streamed else acts.Act(body=part.encode()))
    log = RecordedAttempts()
    call = call_of(price=PRICE, on_text=_deaf if streamed else None)
    async with opened(server) as models:
        reply = await models.complete(call, log)
    assert reply.text
    assert log.costs[0] is None
