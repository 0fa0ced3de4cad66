"""`rostrum bench overhead`: what Rostrum adds to the time that its models take.

The critical path is the time of the calls that had to wait for one another: rounds, then the
panel, whose jurors are asked side by side. Models are rehearsal ones that take a fixed time.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from adapters.memory.venue import MemoryVenue
from adapters.models.router import open_models
from adapters.storage.database import Database
from adapters.storage.migrate import migrate
from adapters.storage.store import SqlStore
from bot import log
from bot.app import Line, defaults_of
from bot.bench.machine import describe_machine, percentile, watch_loop
from bot.settings import Settings
from engine.debate import Model, Request, Status, TurnOrder
from engine.errors import RostrumError
from engine.formats import find_format
from engine.intake import Defaults, Order
from engine.prompts.library import load_prompts
from engine.service import Service
from engine.store import Caps

JURORS = 3
TOPIC = "Remote work is more productive than working from an office"


@dataclass(slots=True)
class HeldBack:
    """A dispatcher that runs a debate when it is told to, so that its time can be taken."""

    think: Callable[[str], Awaitable[None]] | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    async def submit(self, debate_id: str) -> None:
        """Leave the debate to whoever measures it."""

    async def run(self, think: Callable[[str], Awaitable[None]]) -> None:
        """Note how debates are run."""
        self.think = think
        self.ready.set()
        await asyncio.Event().wait()

    async def stop(self, seconds: float) -> None:
        """Have nothing to stop."""

    async def measure(self, debate_id: str) -> float:
        """Run a debate and return the seconds it took."""
        await self.ready.wait()
        began = time.perf_counter()
        if self.think is not None:
            await self.think(debate_id)
        return time.perf_counter() - began


async def run_overhead(format_name: str, seconds: float, crowd: int) -> None:
    """Print the ratios of wall to critical path, alone and in a crowd."""
    log.configure(Settings(log={"level": "warning"}).log)
    alone = [await _measure(format_name, seconds, order, 1) for order in TurnOrder]
    result = {
        "bench": "overhead",
        "format": format_name,
        "jurors": JURORS,
        "alone": alone,
        "crowd": await _measure(format_name, 1.0, TurnOrder.SEQUENTIAL, crowd) if crowd else None,
        "machine": describe_machine(),
    }
    print(orjson.dumps(result, option=orjson.OPT_INDENT_2).decode())


async def _measure(
    format_name: str, seconds: float, turn_order: TurnOrder, debates: int
) -> dict[str, Any]:
    defaults = _defaults(seconds)
    async with _line(defaults) as (service, dispatcher):
        order = Order(
            platform="memory",
            community="bench",
            place="bench",
            topic=TOPIC,
            format=format_name,
            turn_order=turn_order,
            seed=1,
        )
        await _warm_up(service, dispatcher, order)
        started = [await service.start(order, defaults) for _ in range(debates)]
        request = started[0].debate.request
        async with watch_loop() as lags:
            cpu = time.process_time()
            ids = [begun.debate.id for begun in started]
            walls = await asyncio.gather(*map(dispatcher.measure, ids))
            cpu = time.process_time() - cpu
        for debate_id in ids:
            ended = await service.store.debates.get(debate_id)
            if ended.status is not Status.VOTING:
                raise RostrumError(f"Debate {debate_id} ended {ended.status}: {ended.reason}")
    return _report(request, seconds, walls, lags.seconds, cpu)


async def _warm_up(service: Service, dispatcher: HeldBack, order: Order) -> None:
    """Hold a debate that takes no time, as a process that runs has: it is not measured."""
    first = await service.start(order, _defaults(0))
    await dispatcher.measure(first.debate.id)


def _report(
    request: Request, seconds: float, walls: list[float], lags: list[float], cpu: float
) -> dict[str, Any]:
    script = find_format(request.format)
    path = (script.waves(request) + 1) * seconds
    calls = len(walls) * (script.turns(request) + JURORS)
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


def _defaults(seconds: float) -> Defaults:
    def model(name: str) -> Model:
        return Model.parse(f"rehearsal/{name}?latency={seconds:g}#{name}")

    return defaults_of(Settings()).model_copy(
        update={
            "models": (model("maple"), model("cedar")),
            "jurors": tuple(map(model, ("birch", "elm", "rowan"))),
            "caps": Caps(user_daily_debates=None, max_live_per_community=None),
        }
    )


@asynccontextmanager
async def _line(defaults: Defaults) -> AsyncIterator[tuple[Service, HeldBack]]:
    """Join the whole line on a database of its own, and a venue that only remembers."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}")
        await migrate(database)
        store = SqlStore(database)
        dispatcher = HeldBack()
        venue = MemoryVenue(recording=False)
        line = Line(store, open_models({}), load_prompts(), [venue], dispatcher)
        try:
            async with line.running():
                yield line.service, dispatcher
        finally:
            await store.close()
