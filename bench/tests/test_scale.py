"""`python -m bench.scale`: a tiny run, its bounds, and sentences for what is not there."""

from __future__ import annotations

import asyncio

import pytest

from bench import scale, server
from bench.scale import ALONE, Bench, Measured, Plan, Size, measure, run_scale
from bench.wheel.live import LiveFigures
from engine.values.errors import RostrumError, UsageError
from tests.doubles.databases import PostgresDouble

TINY = Size(workers=(1,), debates=2, slots=4, seconds=0.05)


def test_a_gateway_and_a_worker_are_measured_on_a_real_server(postgres: PostgresDouble) -> None:
    result = asyncio.run(measure(("throughput",), TINY, postgres.url()))
    [row] = result["throughput"]
    assert (row["workers"], row["debates"]) == (1, TINY.debates)
    assert row["calls"] >= 12 * TINY.debates
    assert row["cpu_ms_a_call"].keys() == {"gateway", "worker", "postgresql"}
    assert all(spent > 0 for spent in row["cpu_ms_a_call"].values())
    assert row["start_to_first_turn_ms"]["p50"] > 0
    assert row["journal_to_post_ms"]["p50"] > 0
    assert row["database"]["transactions_a_call"] > 0
    assert row["database"]["log_kb_a_debate"] > 0
    assert result["bounds"].keys() == {"postgresql_ms_a_call"}


class Given(Bench):
    """A benchmark that measures what it is given, by the number of workers or the way."""

    async def _on_postgres(self, plan: Plan) -> Measured:
        if plan.roles == ALONE:
            return measured(posted=0.010, began=0.020, run=0.9, postgresql=0.06)
        if not plan.notifier:
            return measured(posted=1.000, began=2.000, worker=0.3, gateway=0.4)
        workers = plan.roles.count("worker")
        seconds = 10.0 / (workers * 0.95 if workers > 1 else 1.0)
        return measured(seconds, 0.030, 0.200, worker=0.3, gateway=0.4, postgresql=0.08 * workers)

    async def _on_sqlite(self, plan: Plan) -> Measured:
        return measured(posted=0.010, began=0.020, run=0.5)


def measured(
    seconds: float = 10.0, posted: float = 0.0, began: float = 0.0, **cpu: float
) -> Measured:
    return Measured(100, seconds, 12.0, cpu, {}, [began] * 8, [posted] * 64, 8)


async def test_figures_stand_beside_their_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    async def measure_rostrum(*_: object) -> LiveFigures:
        return LiveFigures(cpu=0.25, calls=100)

    monkeypatch.setattr(scale, "measure_rostrum", measure_rostrum)
    bench = Given(None, "", "", Size(workers=(1, 2)))  # type: ignore[arg-type]
    await bench.measure_throughput()
    await bench.measure_latency()
    assert bench.bounds == {
        "postgresql_ms_a_call": {"figure": 1.6, "most": 1.0, "met": False},
        "two_workers_over_one": {"figure": 1.9, "least": 1.8, "met": True},
        "start_to_first_turn_added_ms": {"figure": 180.0, "most": 150.0, "met": False},
        "journal_to_post_added_ms": {"figure": 20.0, "most": 150.0, "met": True},
        "worker_over_thinking_on_sqlite": {"figure": 1.2, "most": 1.5, "met": True},
        "worker_and_gateway_over_sqlite": {"figure": 1.4, "most": 1.5, "met": True},
    }
    assert bench.figures["latency"]["without_the_bell"]["journal_to_post_ms"]["p50"] == 1000.0


@pytest.mark.parametrize("workers", ["", "0", "1,x", "1,,2"])
async def test_wrong_numbers_of_workers_are_refused(workers: str) -> None:
    with pytest.raises(UsageError, match="--workers takes numbers"):
        await run(workers=workers)


async def test_a_server_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(RostrumError, match=r"cannot be measured: .*\.$") as caught:
        await run(to="postgresql://someone:secret@127.0.0.1:1/nothing")
    assert "secret" not in str(caught.value)


async def test_without_a_server_of_its_own_it_says_what_to_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "find_spec", lambda name: None)
    with pytest.raises(RostrumError, match="--to postgresql://"):
        await run()


async def run(workers: str = "1", to: str | None = None) -> None:
    await run_scale(
        "throughput", workers=workers, debates=2, slots=2, seconds=0.05, pause=0.0, to=to
    )
