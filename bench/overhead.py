"""`rostrum bench overhead`: what Rostrum adds to its models' time.

The critical path is the time of the calls that wait for one another: rounds, then the panel, whose
jurors are asked concurrently. Rehearsal models take a fixed time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from typing import Any

from adapters.models.router import open_models
from bench.wheel.line import defaults_with, open_line
from bench.wheel.machine import percentile, print_result, watch_loop
from bot import log
from bot.settings.settings import Settings
from engine.debate import Request, Status, TurnOrder
from engine.errors import RostrumError
from engine.formats import find_format
from engine.line.intake import Defaults, Order

JURORS = 3
ALONE = 5  # debates, one after another
STANCE_SECONDS = 0.001  # waiting for people is not measured
TOPIC = "Remote work is more productive than working from an office"


async def run_overhead(format_name: str, seconds: float, crowd: int) -> None:
    """Print the ratios of wall time to critical path, alone and in a crowd."""
    log.configure(Settings(log={"level": "warning"}).log)
    alone = [await _measure(format_name, seconds, order, ALONE, at_once=1) for order in TurnOrder]
    in_crowd = None
    if crowd:
        in_crowd = await _measure(format_name, 1.0, TurnOrder.SEQUENTIAL, crowd, at_once=crowd)
    print_result(
        {
            "bench": "overhead",
            "format": format_name,
            "jurors": JURORS,
            "alone": alone,
            "crowd": in_crowd,
        }
    )


async def _measure(
    format_name: str, seconds: float, turn_order: TurnOrder, debates: int, *, at_once: int
) -> dict[str, Any]:
    """Hold `debates` debates, `at_once` concurrently, and return the figures."""
    defaults = _defaults(seconds)
    async with open_line(open_models({})) as (service, dispatcher):
        order = Order(
            platform="memory",
            community="bench",
            place="bench",
            topic=TOPIC,
            format=format_name,
            turn_order=turn_order,
            seed=1,
        )
        # An unmeasured debate without latency warms the process up.
        warm_up = await service.start(order, _defaults(0))
        await dispatcher.measure(warm_up.debate.id)
        started = [await service.start(order, defaults) for _ in range(debates)]
        request = started[0].debate.request
        async with watch_loop() as lags:
            cpu = time.process_time()
            ids = [begun.debate.id for begun in started]
            walls: list[float] = []
            for first in range(0, debates, at_once):
                group = ids[first : first + at_once]
                walls += await asyncio.gather(*map(dispatcher.measure, group))
            cpu = time.process_time() - cpu
        for debate_id in ids:
            ended = await service.store.debates.get(debate_id)
            if ended.status is not Status.VOTING:
                raise RostrumError(f"Debate {debate_id} ended {ended.status}: {ended.reason}")
        steps = (await service.store.journal.load(ids[0])).steps
    return _report(request, steps, seconds, walls, lags.seconds, cpu)


def _report(
    request: Request,
    steps: Collection[str],
    seconds: float,
    walls: list[float],
    lags: list[float],
    cpu: float,
) -> dict[str, Any]:
    path = (_chain(request, steps) + 1) * seconds
    calls = len(walls) * len(steps)
    return {
        "turn_order": request.turn_order,
        "debates": len(walls),
        "seconds_a_call": seconds,
        "critical_path_s": path,
        "wall_over_path_p50": round(percentile(walls, 0.5) / path, 4),
        "wall_over_path_p99": round(percentile(walls, 0.99) / path, 4),
        "cpu_ms_a_call": round(1000 * cpu / calls, 3),
        "cores_used": round(cpu / max(walls), 3),
        "loop_lag_ms_p99": round(1000 * percentile(lags, 0.99), 1),
        "loop_lag_ms_worst": round(1000 * max(lags), 1),
    }


def _chain(request: Request, steps: Collection[str]) -> int:
    """Return how many calls waited for one another before the panel.

    In formats with a clock only the journal says how many speeches there were: speeches and
    captains take turns, and only the last of the concurrent scores is waited for.
    """
    script = find_format(request.format)
    if script.clocked:
        return sum(step.startswith(("turn/", "captain/")) for step in steps) + 1
    return script.waves(request)


def _defaults(seconds: float) -> Defaults:
    return defaults_with(
        lambda name: f"rehearsal/{name}?latency={seconds:g}#{name}", stance_seconds=STANCE_SECONDS
    )
