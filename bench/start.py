"""`python -m bench.start`: one debate as a whole process, from its command to its end.

Each run is a new `rostrum debate` against a model server on the loopback, which records when calls
arrive and are answered. Model time is the time with at least one call in flight. A reference
process in the same run only imports pydantic, SQLAlchemy, aiohttp and the SDK: ratios to it hardly
depend on the machine and its load.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Annotated, NamedTuple

import orjson
import typer

from bench.command import command
from bench.wheel.loopback import Answering, asks_for_ballot
from bench.wheel.machine import print_result
from bot.commands.bench import SECONDS
from engine.values.errors import RostrumError

TOPIC = "Remote work is more productive than working from an office"
COMMAND = "from bot.cli import main; main()"
REFERENCE = "import pydantic, sqlalchemy, aiohttp, openai"
MODELS = "bench/maple#maple, bench/cedar#cedar"
JURORS = "bench/birch#birch, bench/elm#elm, bench/rowan#rowan"
LATENCIES = (
    "SELECT latency FROM calls WHERE latency IS NOT NULL "
    "AND debate = (SELECT max(id) FROM debates) ORDER BY started_at"
)
DATABASE = "rostrum.db"
# This shell's settings; and Python must cache compiled files, as in any installation.
DROPPED = ("ROSTRUM_", "PYTHONDONTWRITEBYTECODE")


@dataclass(slots=True)
class _Traffic:
    """When calls arrived and were answered, by the monotonic clock."""

    came: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    ballots: list[float] = field(default_factory=list)  # arrivals of jurors' calls

    def clear(self) -> None:
        """Delete all records."""
        for noted in (self.came, self.answered, self.ballots):
            noted.clear()

    def waves(self) -> list[tuple[float, float]]:
        """Return the (start, end) intervals with calls in flight."""
        marks = sorted([(at, 1) for at in self.came] + [(at, -1) for at in self.answered])
        stretches: list[tuple[float, float]] = []
        out, began = 0, 0.0
        for at, change in marks:
            began = at if out == 0 else began
            out += change
            if out == 0:
                stretches.append((began, at))
        return stretches


class _Noting(Answering):
    """A connection that records its calls."""

    def __init__(self, seconds: float, traffic: _Traffic) -> None:
        super().__init__(seconds, {})
        self._traffic = traffic

    def take(self, body: bytes) -> None:
        """Record a call's arrival."""
        now = time.perf_counter()
        self._traffic.came.append(now)
        if asks_for_ballot(body):
            self._traffic.ballots.append(now)
        super().take(body)

    def answer(self, body: bytes) -> None:
        """Record a call's answer."""
        super().answer(body)
        self._traffic.answered.append(time.perf_counter())

    def _reply(self, body: bytes) -> bytes:
        """Return the reply with the requested model's name."""
        asked: bytes = orjson.dumps(orjson.loads(body)["model"])
        return super()._reply(body).replace(b'"model":"bench"', b'"model":' + asked, 1)


class Run(NamedTuple):
    """One process's figures; names end in their units."""

    first_call_after_s: float
    model_s: float
    exit_after_reveal_s: float
    wall_s: float
    over_model_s: float
    cpu_s: float
    first_handover_ms: float
    handover_ms: float
    to_jurors_ms: float
    first_call_takes_ms: float
    later_calls_take_ms: float


class Times(NamedTuple):
    """Times of a process by the monotonic clock, and its processor time."""

    began: float
    revealed: float
    ended: float
    cpu: float


class Reference(NamedTuple):
    """The figures of a process that only imports the libraries."""

    wall_s: float
    cpu_s: float


async def run_start(
    runs: Annotated[
        int, typer.Option(min=1, max=1000, help="Number of debates, one process each.")
    ] = 5,
    seconds: Annotated[float, SECONDS] = 0.2,
) -> None:
    """Time whole debate processes, from command to exit.

    The first is on a new database, all others on the used one.
    """
    traffic = _Traffic()
    again, references = [], []
    async with _serve(seconds, traffic) as url:
        with tempfile.TemporaryDirectory() as folder:
            first = await _hold(Path(folder), url, traffic)
            for _ in range(runs):
                references.append(await _refer())
                again.append(await _hold(Path(folder), url, traffic))
    middle = Run(*map(median, zip(*again, strict=True)))
    reference = Reference(*map(median, zip(*references, strict=True)))
    print_result(
        {
            "bench": "start",
            "runs": runs,
            "seconds_a_call": seconds,
            "median": _rounded(middle),
            "new_database": _rounded(first),
            "each": [_rounded(run) for run in again],
            "reference": _rounded(reference),
            "first_call_over_reference": round(middle.first_call_after_s / reference.wall_s, 2),
            "over_model_over_reference": round(middle.over_model_s / reference.wall_s, 2),
            "cpu_over_reference": round(middle.cpu_s / reference.cpu_s, 2),
        }
    )


def _rounded(figures: Run | Reference) -> dict[str, float]:
    return {name: round(value, 3) for name, value in figures._asdict().items()}


@asynccontextmanager
async def _serve(seconds: float, traffic: _Traffic) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Noting(seconds, traffic), "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


async def _refer() -> Reference:
    began, cpu = time.perf_counter(), _cpu()
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", REFERENCE)
    if await process.wait():
        raise RostrumError("The reference process failed; install Rostrum again.")
    return Reference(time.perf_counter() - began, _cpu() - cpu)


def _cpu() -> float:
    """Return the processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def _hold(folder: Path, url: str, traffic: _Traffic) -> Run:
    """Hold one debate and measure its process. Raises RostrumError if it fails."""
    traffic.clear()
    began, cpu = time.perf_counter(), _cpu()
    with (folder / "errors").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", COMMAND, "debate", TOPIC, "--votes", "A=3,B=2,tie=1"),
            cwd=folder,
            env=_environment(url),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )
    revealed = began
    while process.stdout is not None and await process.stdout.read(65536):
        revealed = time.perf_counter()  # the reveal comes last
    code = await process.wait()
    ended = time.perf_counter()
    if code or not traffic.ballots:
        said = (folder / "errors").read_text(errors="replace").strip()
        raise RostrumError(f"The debate's process ended with {code}: {said}")
    times = Times(began, revealed, ended, _cpu() - cpu)
    return _figures(traffic, times, _latencies(folder))


def _environment(url: str) -> dict[str, str]:
    mine = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)}
    backends = {"bench": {"base_url": url, "local": True}}
    return mine | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "ROSTRUM_BACKENDS": orjson.dumps(backends).decode(),
        "ROSTRUM_MODELS": MODELS,
        "ROSTRUM_JURORS": JURORS,
    }


def _latencies(folder: Path) -> list[float]:
    """Return the newest debate's latencies, from its journal."""
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        return [latency for (latency,) in connection.execute(LATENCIES)]


def _figures(traffic: _Traffic, times: Times, latencies: Sequence[float]) -> Run:
    waves = traffic.waves()
    model = sum(end - begin for begin, end in waves)
    gaps = [1000 * (after[0] - before[1]) for before, after in pairwise(waves)]
    jurors = next(number for number, wave in enumerate(waves) if wave[1] > traffic.ballots[0])
    return Run(
        first_call_after_s=waves[0][0] - times.began,
        model_s=model,
        exit_after_reveal_s=times.ended - times.revealed,
        wall_s=times.ended - times.began,
        over_model_s=times.ended - times.began - model,
        cpu_s=times.cpu,
        first_handover_ms=gaps[0],
        handover_ms=median(gaps[1 : jurors - 1]),
        to_jurors_ms=gaps[jurors - 1],
        first_call_takes_ms=1000 * latencies[0],
        later_calls_take_ms=1000 * median(latencies[1:]),
    )


if __name__ == "__main__":
    command(run_start)
