"""`python -m bench.scale`: what a call costs each kind of process, and how promptly they hand over.

Real processes hold debates on Discord's double, on a real PostgreSQL and on SQLite. Posts of a
channel are not a second apart and the bot-wide rate is wider than Discord's, so that the processes
are what is measured. The journal says when calls began and turns were stored, the double when a
message arrived, /proc what processor time it took.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import orjson
import typer

from adapters.database.database import SqlDatabase
from adapters.database.migrate import migrate
from bench.command import command
from bench.server import Counters, Server, cpu_seconds, open_server, peak_megabytes
from bench.wheel.live import Load, measure_rostrum
from bench.wheel.loopback import model_server
from bench.wheel.machine import percentile, print_result
from bot import log
from bot.app import first_error
from bot.commands.bench import SECONDS
from bot.commands.options import Text
from bot.settings.settings import Settings
from engine.values.errors import RostrumError, UsageError
from tests.crash.processes import Calls, Town
from tests.doubles.discord import Remote
from tests.doubles.discord.state import EPOCH_MS
from tests.doubles.remote import Json
from tests.kit import until_true

COMMAND = """
from adapters.discord import rest
from adapters.discord.venue import DiscordVenue
rest.MOST = 1000
DiscordVenue.__init__.__kwdefaults__["gap"] = 0.02
from bot.cli import main
main()
"""
PARTS = ("throughput", "latency")
FAILED = "A process of the benchmark failed: {why}"
LONGEST_WHY = 2000
ALONE = ("run",)
PLENTY = 2000  # slots where they are not what limits
NOWHERE = "postgresql://nobody@127.0.0.1:1/nowhere"  # nothing listens there
FIRST = 4  # debates that are not counted: what is loaded and prepared once has happened then
REST_SECONDS = 1.2  # PostgreSQL's counters are up to a second old
LOOK_SECONDS = 0.25
PATIENCE = 900.0
SCANNED = 50_000  # rows, before a table counts as read row by row
# Bounds of these figures: the most, or the least where it says so.
ADDED_MS, OVER_SQLITE, SERVER_MS, LEAST_SPEEDUP = 150.0, 1.5, 1.0, 1.8

DONE = "SELECT count(*) FROM debates WHERE status = 'voting'"
UNSENT = "SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending')"
CALLS = """
SELECT calls.started_at, calls.latency FROM calls JOIN debates ON debates.id = calls.debate
WHERE calls.state = 'done' AND debates.number > :first
"""
STARTS = """
SELECT debates.created_at AS asked, min(calls.started_at) AS began
FROM debates JOIN calls ON calls.debate = debates.id
WHERE debates.number > :first GROUP BY debates.id, debates.created_at
"""
POSTS = """
SELECT outbox.queued_at, outbox.refs FROM outbox JOIN debates ON debates.id = outbox.debate
WHERE outbox.kind = 'turn' AND outbox.state = 'sent' AND debates.number > :first
"""


class Size(NamedTuple):
    """How much of it: `slots` debates at once a worker, and `pause` seconds between starts."""

    workers: Sequence[int] = (1, 2, 4)
    debates: int = 40
    slots: int = 10
    seconds: float = 1.0
    pause: float = 0.2


class Plan(NamedTuple):
    """One measurement: which processes hold how many debates, started so far apart."""

    roles: tuple[str, ...]
    debates: int
    pause: float = 0.0
    slots: int = PLENTY
    notifier: bool = True


@dataclass
class Measured:
    """What was measured; times are in seconds, and processor time is by kind of process."""

    calls: int
    seconds: float
    wall: float
    cpu: dict[str, float]
    peaks: dict[str, float]
    first_turns: list[float]
    posts: list[float]
    debates: int
    requests: int = 0
    counters: Counters | None = None
    tables: list[Json] = field(default_factory=list)

    @property
    def calls_a_second(self) -> float:
        """Calls a second, from the first call to the end of the last one."""
        return self.calls / self.seconds

    def cpu_ms(self, kind: str) -> float | None:
        """Return a kind of process's milliseconds of processor time for each call."""
        return round(1000 * self.cpu[kind] / self.calls, 3) if kind in self.cpu else None

    def latencies(self) -> Json:
        """Return how long it took from a command to a call, and from the journal to the post."""
        return {
            "start_to_first_turn_ms": _spread(self.first_turns),
            "journal_to_post_ms": _spread(self.posts),
        }

    def report(self) -> Json:
        """Return the figures to print."""
        found: Json = {
            "debates": self.debates,
            "calls": self.calls,
            "wall_s": round(self.wall, 2),
            "calls_a_second": round(self.calls_a_second, 2),
            "cpu_ms_a_call": {kind: self.cpu_ms(kind) for kind in self.cpu},
            "peak_mb": self.peaks,
            "platform_requests_a_debate": round(self.requests / self.debates, 1),
        }
        if self.counters is not None:
            found["database"] = self._database(self.counters)
        return found

    def _database(self, counted: Counters) -> Json:
        flushes = counted.flushes
        return {
            "kb_a_debate": round(counted.size / 1024 / self.debates, 1),
            "log_kb_a_debate": round(counted.log_bytes / 1024 / self.debates, 1),
            "transactions_a_call": round(counted.transactions / self.calls, 2),
            "fsyncs_a_call": round(flushes / self.calls, 2),
            "fsync_ms": round(counted.flush_ms / flushes, 2) if flushes else None,
            "hot_updates": {
                one["relname"]: f"{one['n_tup_hot_upd']}/{one['n_tup_upd']}"
                for one in self.tables
                if one["n_tup_upd"]
            },
            "read_row_by_row": {
                one["relname"]: one["seq_tup_read"]
                for one in self.tables
                if one["seq_tup_read"] > SCANNED
            },
        }


def _spread(seconds: Sequence[float]) -> Json:
    return {
        "p50": round(1000 * percentile(seconds, 0.5), 1),
        "p99": round(1000 * percentile(seconds, 0.99), 1),
    }


async def run_scale(
    part: Annotated[
        Literal["throughput", "latency", "both"], typer.Option(help="What is measured.")
    ] = "both",
    workers: Annotated[
        str, typer.Option(help="Numbers of workers, comma-separated, for throughput.")
    ] = "1,2,4",
    debates: Annotated[int, typer.Option(min=2, max=10_000, help="Debates each time.")] = 40,
    slots: Annotated[
        int, typer.Option(min=1, max=10_000, help="Debates at once per worker, for throughput.")
    ] = 10,
    seconds: Annotated[float, SECONDS] = 1.0,
    pause: Annotated[
        float, typer.Option(min=0, max=60, help="Seconds between two starts, for latency.")
    ] = 0.2,
    to: Annotated[
        Text, typer.Option(help="Address of a PostgreSQL whose user may create databases.")
    ] = None,
) -> None:
    """Measure gateways and workers on PostgreSQL, beside one process."""
    log.configure(Settings(log={"level": "error"}).log)
    parts = PARTS if part == "both" else (part,)
    size = Size(_numbers(workers), debates, slots, seconds, pause)
    try:
        result = await measure(parts, size, to)
    except BaseExceptionGroup as group:
        raise first_error(group) from group
    except AssertionError as error:
        raise RostrumError(FAILED.format(why=str(error)[-LONGEST_WHY:])) from error
    print_result(result)


def _numbers(text: str) -> Sequence[int]:
    numbers = [int(one) for one in text.split(",") if one.strip().isdecimal()]
    if not numbers or min(numbers) < 1 or len(numbers) < len(text.split(",")):
        raise UsageError("--workers takes numbers of processes, such as 1,2,4.")
    return numbers


async def measure(parts: Sequence[str], size: Size, to: str | None) -> Json:
    """Return the figures."""
    result: Json = {
        "bench": "scale",
        "seconds_a_call": size.seconds,
        "slots_a_worker": size.slots,
        "postgresql": {},
    }
    with open_server(to) as server:
        result["postgresql"] = server.describe()
        async with model_server(size.seconds) as model_url:
            bench = Bench(server, await server.prepare(), model_url, size)
            try:
                if "throughput" in parts:
                    await bench.measure_throughput()
                if "latency" in parts:
                    await bench.measure_latency()
            finally:
                server.drop(bench.template)
    return result | bench.figures | {"bounds": bench.bounds}


@dataclass
class Bench:
    """A run of the benchmark, and what it has found so far."""

    server: Server
    template: str
    model_url: str
    size: Size
    figures: Json = field(default_factory=dict)
    bounds: Json = field(default_factory=dict)

    async def measure_throughput(self) -> None:
        """Hold the same debates with more and more workers, which their slots limit."""
        rates: dict[int, float] = {}
        rows = []
        for workers in self.size.workers:
            roles = ("gateway", *["worker"] * workers)
            found = await self._on_postgres(Plan(roles, self.size.debates, slots=self.size.slots))
            rates[workers] = found.calls_a_second
            rows.append({"workers": workers} | found.latencies() | found.report())
            self._bound("postgresql_ms_a_call", found.cpu_ms("postgresql"), SERVER_MS)
        self.figures["throughput"] = rows
        if {1, 2} <= rates.keys():
            self._bound("two_workers_over_one", rates[2] / rates[1], LEAST_SPEEDUP, least=True)

    async def measure_latency(self) -> None:
        """Hold debates that begin one after another: apart, alone, without notifications."""
        debates, pause = self.size.debates, self.size.pause
        apart = await self._on_postgres(Plan(("gateway", "worker"), debates, pause))
        alone = await self._on_postgres(Plan(ALONE, debates, pause))
        silent = await self._on_postgres(
            Plan(("gateway", "worker"), debates, pause, notifier=False)
        )
        on_file = await self._on_sqlite(Plan(ALONE, debates, pause))
        line = await measure_rostrum(
            Load(debates, debates * pause, self.size.seconds), self.model_url
        )
        thinking = 1000 * line.cpu_a_call
        named = {
            "gateway_and_worker": apart,
            "one_process": alone,
            "without_the_bell": silent,
            "one_process_on_sqlite": on_file,
        }
        self.figures["latency"] = {
            name: one.latencies() | one.report() for name, one in named.items()
        }
        self.figures["thinking_on_sqlite_cpu_ms_a_call"] = round(thinking, 3)
        for name, ours, theirs in (
            ("start_to_first_turn", apart.first_turns, alone.first_turns),
            ("journal_to_post", apart.posts, alone.posts),
        ):
            added = 1000 * (percentile(ours, 0.5) - percentile(theirs, 0.5))
            self._bound(f"{name}_added_ms", added, ADDED_MS)
        worker = apart.cpu_ms("worker") or 0.0
        self._bound("worker_over_thinking_on_sqlite", worker / thinking, OVER_SQLITE)
        both = worker + (apart.cpu_ms("gateway") or 0.0)
        whole = on_file.cpu_ms("run") or 1.0
        self._bound("worker_and_gateway_over_sqlite", both / whole, OVER_SQLITE)
        self._bound("postgresql_ms_a_call", apart.cpu_ms("postgresql"), SERVER_MS)

    def _bound(self, name: str, figure: float | None, bound: float, *, least: bool = False) -> None:
        """Note a figure beside its bound; of several, the one that is farthest off."""
        if figure is None:
            return
        known = self.bounds.get(name, {"figure": figure})["figure"]
        worst = min(known, figure) if least else max(known, figure)
        self.bounds[name] = {
            "figure": round(worst, 3),
            "least" if least else "most": bound,
            "met": worst >= bound if least else worst <= bound,
        }

    async def _on_postgres(self, plan: Plan) -> Measured:
        with self.server.copy(self.template) as name:
            return await self._measure(plan, self.server.url(name), name)

    async def _on_sqlite(self, plan: Plan) -> Measured:
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}"
            database = SqlDatabase(url)
            await migrate(database)
            await database.close()
            return await self._measure(plan, url, None)

    async def _measure(self, plan: Plan, url: str, name: str | None) -> Measured:
        """Hold a plan's debates; `name` is a database of the server that is measured."""
        async with self._open_town(url) as town:
            settings = {"ROSTRUM_WORKER__DEBATES": str(plan.slots)}
            if not plan.notifier:
                settings["ROSTRUM_DATABASE_DIRECT_URL"] = NOWHERE
            await asyncio.gather(*(town.start(role, **settings) for role in plan.roles))
            await town.discord.until(lambda state: state["connected"], 60)
            await until_true(lambda: town.ask("debate help", {}), 30)
            await _hold(town, FIRST)
            await asyncio.sleep(REST_SECONDS)
            sent = await _requests(town)
            counted = self.server.counters(name) if name else None
            cpu, began = self._cpu(town, plan), time.perf_counter()
            await _hold(town, plan.debates, plan.pause, FIRST)
            wall = time.perf_counter() - began
            cpu = {kind: spent - cpu[kind] for kind, spent in self._cpu(town, plan).items()}
            if name is None:
                cpu.pop("postgresql", None)
            peaks = _peaks(town, plan)
            sent = await _requests(town) - sent
            found = await _read(town.database, plan.debates)
            await asyncio.gather(*(one.stop() for one in town.running))
        measured = Measured(*found[:2], wall, cpu, peaks, *found[2:], plan.debates, sent)
        if name and counted:
            measured.counters = self.server.counters(name).since(counted)
            measured.tables = self.server.tables(name, SCANNED)
        return measured

    def _cpu(self, town: Town, plan: Plan) -> dict[str, float]:
        """Return the processor time so far, by kind of process."""
        spent = dict.fromkeys(plan.roles, 0.0)
        for role, one in zip(plan.roles, town.running, strict=True):
            spent[role] += cpu_seconds(one.process.pid)
        if (server := self.server.cpu()) is not None:
            spent["postgresql"] = server
        return spent

    @asynccontextmanager
    async def _open_town(self, url: str) -> AsyncIterator[Town]:
        """Open a platform and a database for processes, which end with the body."""
        with tempfile.TemporaryDirectory(prefix="rostrum-bench-") as name:
            folder = Path(name)
            async with Remote.spawned(folder) as discord:
                database = SqlDatabase(url, writable=False)
                town = Town(folder, url, database, discord, Calls(0.0), self.model_url)
                town.command = COMMAND
                try:
                    yield town
                finally:
                    for one in town.running:
                        with suppress(ProcessLookupError):
                            await one.kill()
                    await database.close()


async def _hold(town: Town, debates: int, pause: float = 0.0, before: int = 0) -> None:
    """Start debates so far apart, and wait until they and those before have been posted."""
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(before, before + debates):
            due = began + pause * (number - before)
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(town.ask("debate start", {"topic": f"Motion {number} carries"}))
    try:
        async with asyncio.timeout(PATIENCE):
            while not await _all_held(town, before + debates):  # noqa: ASYNC110 - others change it
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError:
        raise RostrumError("Debates were not held within 15 minutes.") from None


async def _all_held(town: Town, debates: int) -> bool:
    for one in town.running:
        assert one.process.returncode is None, one.said
    held = await town.database.value(DONE) >= debates
    return held and not await town.database.value(UNSENT)


async def _requests(town: Town) -> int:
    """Return how many requests count against the platform's limit of all requests, so far."""
    made = (await town.discord.state())["requests"]
    return sum(not path.startswith(("/interactions", "/webhooks")) for _, path in made)


def _peaks(town: Town, plan: Plan) -> dict[str, float]:
    """Return the most memory that a process of each kind has held."""
    found: dict[str, float] = {}
    for role, one in zip(plan.roles, town.running, strict=True):
        found[role] = max(found.get(role, 0.0), peak_megabytes(one.process.pid))
    return found


async def _read(database: SqlDatabase, debates: int) -> tuple[int, float, list[float], list[float]]:
    """Return the calls, the seconds they took in all, and the latencies."""
    calls = [(_moment(began), took) for began, took in await database.rows(CALLS, first=FIRST)]
    seconds = max(began + took for began, took in calls) - min(began for began, _ in calls)
    first = [
        _moment(row.began) - _moment(row.asked) for row in await database.rows(STARTS, first=FIRST)
    ]
    posts = []
    for queued_at, refs in await database.rows(POSTS, first=FIRST):
        if sent := orjson.loads(refs):
            posts.append(((int(sent[0]) >> 22) + EPOCH_MS) / 1000 - _moment(queued_at))
    assert len(first) == debates
    return len(calls), seconds, first, posts


def _moment(stored: Any) -> float:
    """Return a stored moment; SQLite has texts, in UTC."""
    moment = datetime.fromisoformat(stored) if isinstance(stored, str) else stored
    return float((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


if __name__ == "__main__":
    command(run_scale)
