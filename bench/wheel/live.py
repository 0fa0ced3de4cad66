"""`rostrum bench live`: many debates at once, against a model server on the loopback.

The same calls are made three times in one run: by Rostrum with its journal, outbox and panel;
by a bare loop on the SDK's `create`; and by one on aiohttp alone. The critical path is the time
of the calls that wait for one another.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from adapters.models.connection import pool_size
from adapters.models.router import open_models
from bench.wheel.line import defaults_with, open_line
from bench.wheel.loopback import SPEECH, model_server
from bench.wheel.machine import percentile, print_result, watch_loop
from bot import log
from bot.settings.settings import Settings
from engine.run.order import Order
from engine.run.service import Service
from engine.values.debate import Status
from engine.values.errors import RostrumError

JURORS = 3
SPEECHES = 8
WAVES = SPEECHES + 1
READERS = 2 * JURORS + 1  # each juror in both orders, as in first debates; one sums up
CALLS = SPEECHES + READERS
TOPIC = "Remote work is more productive than working from an office"
CONNECTIONS = 4000
PAGE = 4096

Post = Callable[[list[dict[str, str]]], Awaitable[None]]
Hold = Callable[[], Coroutine[Any, Any, None]]


@dataclass(slots=True)
class Load:
    """How many debates start over how many seconds, and the seconds per call."""

    debates: int
    over: float
    seconds: float

    @property
    def path(self) -> float:
        """The critical path of one debate, in seconds."""
        return WAVES * self.seconds


@dataclass(slots=True)
class LiveFigures:
    """The measurements of one way of making the calls."""

    ratios: list[float] = field(default_factory=list)
    calls: int = 0
    acknowledged: list[float] = field(default_factory=list)
    lags: list[float] = field(default_factory=list)
    cpu: float = 0.0
    elapsed: float = 0.0
    kilobytes: float = 0.0

    @property
    def cpu_a_call(self) -> float:
        """Seconds of processor time for each call."""
        return self.cpu / self.calls

    def report(self, load: Load) -> dict[str, Any]:
        """Return the figures to print."""
        figures = {
            "wall_over_path_p50": round(percentile(self.ratios, 0.5), 4),
            "wall_over_path_p99": round(percentile(self.ratios, 0.99), 4),
            "cores_used": round(self.cpu / self.elapsed, 3),
            "cpu_ms_a_call": round(1000 * self.cpu_a_call, 3),
            "kb_a_live_debate": round(self.kilobytes / load.debates, 1),
            "loop_lag_ms_p99": round(1000 * percentile(self.lags, 0.99), 1),
            "loop_lag_ms_worst": round(1000 * max(self.lags), 1),
        }
        if self.acknowledged:
            figures["start_ms_p99"] = round(1000 * percentile(self.acknowledged, 0.99), 1)
        return figures


async def run_live(debates: int, over: float, seconds: float) -> None:
    """Print the figures of Rostrum beside those of the bare SDK and of aiohttp."""
    log.configure(Settings(log={"level": "error"}).log)
    load = Load(debates, over, seconds)
    async with model_server(seconds) as url:
        rostrum = await measure_rostrum(load, url)
        sdk = await _measure_sdk(load, url)
        bare = await _measure_aiohttp(load, url)
    print_result(
        {
            "bench": "live",
            "debates": debates,
            "started_over_s": over,
            "seconds_a_call": seconds,
            "critical_path_s": load.path,
            "calls_a_debate": CALLS,
            "rostrum": rostrum.report(load),
            "sdk_create": sdk.report(load),
            "aiohttp": bare.report(load),
            "cpu_a_call_over_sdk": round(rostrum.cpu_a_call / sdk.cpu_a_call, 2),
            "cpu_a_call_over_aiohttp": round(rostrum.cpu_a_call / bare.cpu_a_call, 2),
        }
    )


async def measure_rostrum(load: Load, url: str) -> LiveFigures:
    """Hold debates with Rostrum, on a temporary SQLite file and with a venue in memory."""
    settings = Settings(
        backends={"bench": {"base_url": url, "max_concurrency": CONNECTIONS, "timeout_s": 600}}
    )
    defaults = defaults_with(lambda name: f"bench/{name}#{name}")
    models = open_models({backend.name: backend for backend in settings.endpoints()}, {})
    async with open_line(models) as (service, dispatcher):
        order = Order(
            platform="memory", community="bench", place="bench", topic=TOPIC, format="classic"
        )
        measured = LiveFigures()

        async def hold() -> None:
            asked = time.perf_counter()
            begun = await service.start(order, defaults)
            measured.acknowledged.append(time.perf_counter() - asked)
            wall = await dispatcher.measure(begun.debate.id)
            measured.ratios.append(wall / (WAVES * load.seconds))
            measured.calls += CALLS

        await _measure(load, measured, hold)
        await _check(service, load)
    return measured


async def _check(service: Service, load: Load) -> None:
    for debate in await service.store.listings.recent(limit=load.debates):
        calls = (await service.store.journal.spending(debate.id))[0]
        if debate.status is not Status.VOTING or calls != CALLS:
            raise RostrumError(f"Debate {debate.code} took {calls} calls and is {debate.status}.")


async def _measure_sdk(load: Load, url: str) -> LiveFigures:
    """Make the same calls in a bare loop with the SDK's `create`."""
    import httpx2
    import openai

    pool = pool_size(CONNECTIONS)
    limits = httpx2.Limits(max_connections=pool, max_keepalive_connections=pool)
    http = httpx2.AsyncClient(limits=limits, timeout=httpx2.Timeout(600), trust_env=False)
    async with openai.AsyncOpenAI(
        base_url=url, api_key="bench", http_client=http, max_retries=0
    ) as client:

        async def post(messages: list[dict[str, str]]) -> None:
            given: Any = messages
            await client.chat.completions.create(model="bench", messages=given)

        return await _measure_calls(load, post)


async def _measure_aiohttp(load: Load, url: str) -> LiveFigures:
    """Make the same calls with aiohttp alone."""
    import aiohttp

    connector = aiohttp.TCPConnector(limit=pool_size(CONNECTIONS))
    async with aiohttp.ClientSession(connector=connector) as session:

        async def post(messages: list[dict[str, str]]) -> None:
            body = orjson.dumps({"model": "bench", "messages": messages})
            async with session.post(f"{url}/chat/completions", data=body) as response:
                orjson.loads(await response.read())

        return await _measure_calls(load, post)


async def _measure_calls(load: Load, post: Post) -> LiveFigures:
    """Hold debates of bare calls: two growing histories, then the jurors concurrently."""
    measured = LiveFigures()

    async def hold() -> None:
        began = time.perf_counter()
        histories: tuple[list[dict[str, str]], ...] = ([_message("system")], [_message("system")])
        for number in range(SPEECHES):
            history = histories[number % 2]
            history.append(_message("user"))
            await post(history)
            history.append(_message("assistant"))
        whole = [_message("system"), *[_message("user")] * SPEECHES]
        await asyncio.gather(*(post(whole) for _ in range(READERS)))
        measured.ratios.append((time.perf_counter() - began) / load.path)
        measured.calls += CALLS

    await _measure(load, measured, hold)
    return measured


def _message(role: str) -> dict[str, str]:
    return {"role": role, "content": SPEECH}


async def _measure(load: Load, measured: LiveFigures, hold: Hold) -> None:
    """Start every debate at its time, after an uncounted first one; measure them all."""
    await hold()
    for noted in (measured.ratios, measured.acknowledged):
        noted.clear()
    measured.calls = 0
    before, peak = _resident(), 0.0
    began, cpu = time.perf_counter(), time.process_time()
    async with watch_loop() as lags, asyncio.TaskGroup() as group:
        tasks = []
        for number in range(load.debates):
            due = began + load.over * number / load.debates
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(group.create_task(hold()))
        peak = _resident()
    measured.elapsed = time.perf_counter() - began
    measured.cpu = time.process_time() - cpu
    measured.lags = lags.seconds
    measured.kilobytes = max(0.0, peak - before)


def _resident() -> float:
    """Return the memory that this process holds, in kilobytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * PAGE / 1024
