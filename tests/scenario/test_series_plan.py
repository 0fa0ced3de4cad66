"""What a plan says is what the run then uses: calls exactly, tokens and cost within 10 %.

`SERIES_DEBATES=200` holds more debates than the 18 of every day.
"""

import os
from dataclasses import replace
from typing import Any

import pytest

from adapters.models.attempts import CallAnswer
from adapters.models.rehearsal import RehearsalModels, _RehearsedCall
from engine.series.runner import Ending, SeriesPlan, plan_series
from engine.series.spec import Series, read_series
from engine.store.usage import UsageFilter
from engine.values.debate import Model, Price
from tests.doubles.rehearsed import DEFAULTS
from tests.scenario.conftest import Running
from tests.scenario.test_series import hold

FORMATS = ("classic", "oxford", "structured")
A_TOPIC = 18  # debates: three pairs, both sides, three formats
PRICE = Price(usd_in=1.0, usd_out=5.0)
CLOSE = 0.1
FILE: dict[str, Any] = {
    "name": "planned",
    "models": [f"rehearsal/{name}" for name in ("maple", "cedar", "oak")],
    "jury": {"models": [f"rehearsal/{name}" for name in ("birch", "elm", "rowan")], "mode": "all"},
    "limits": {"debates_at_once": 20},
}


def series(**changes: Any) -> Series:
    topics = max(1, round(int(os.environ.get("SERIES_DEBATES", A_TOPIC)) / A_TOPIC))
    asked = {"topics": [f"Tea beats coffee, part {number}" for number in range(topics)]}
    return read_series(FILE | asked | changes, ())


@pytest.fixture(autouse=True)
def priced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rehearsal models cost something."""
    free = _RehearsedCall._answer

    def billed(call: _RehearsedCall, text: str) -> CallAnswer:
        answer = free(call, text)
        read, written = answer.usage.tokens_in, answer.usage.tokens_out
        return replace(answer, cost=PRICE.cost(read or 0, written or 0))

    async def price(models: RehearsalModels, model: Model) -> Price:
        return PRICE

    monkeypatch.setattr(_RehearsedCall, "_answer", billed)
    monkeypatch.setattr(RehearsalModels, "price", price)


async def plan_of(line: Running, held: Series) -> SeriesPlan:
    return await plan_series(held, line.service, DEFAULTS)


async def test_a_plan_foresees_calls_exactly_and_tokens_and_cost_closely(line: Running) -> None:
    planned = {
        one: await plan_of(line, series(formats=[one], name=f"planned-{one}")) for one in FORMATS
    }
    whole = await plan_of(line, series(formats=list(FORMATS)))
    used: list[tuple[float, ...]] = []
    for one in FORMATS:
        standing = await hold(line, series(formats=[one], name=f"planned-{one}"), defaults=DEFAULTS)
        assert standing.ending is Ending.COMPLETE
        usage = await line.store.usage.read(UsageFilter(series=f"planned-{one}"))
        used.append(tuple(map(usage.sum, ("calls", "tokens_in", "tokens_out", "usd"))))
        check(planned[one], *used[-1])
    check(whole, *(sum(column) for column in zip(*used, strict=True)))


async def test_a_plan_is_a_maximum_where_agreement_may_end_a_debate(line: Running) -> None:
    table: dict[str, Any] = {"format": "roundtable", "agents": 2, "rounds": 3}
    plan = await plan_of(line, series(formats=[table]))
    await hold(line, series(formats=[table]), defaults=DEFAULTS)
    usage = await line.store.usage.read(UsageFilter(series="planned"))
    assert plan.ends_early
    assert usage.sum("calls") <= plan.calls
    assert not (await plan_of(line, series(formats=list(FORMATS)))).ends_early


def check(plan: SeriesPlan, calls: float, tokens_in: float, tokens_out: float, usd: float) -> None:
    assert plan.calls == calls
    assert plan.tokens_in == pytest.approx(tokens_in, rel=CLOSE)
    assert plan.tokens_out == pytest.approx(tokens_out, rel=CLOSE)
    assert usd > 0
    assert plan.usd == pytest.approx(usd, rel=CLOSE)
