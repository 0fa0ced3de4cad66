"""`python -m bench.series`: a series of many debates, in whole processes killed on the way.

Each run is a real `rostrum series run` against a model server in this process, which logs every
request with its tokens. Its log is the judge: it says whether a stored call was made again, and
whether the totals of `rostrum series status` are right to the token. Calls that were in flight at
a kill have reached the server, and no answer of them was stored; they are told apart.

The limit that concurrency sets is when the last debate would end if calls alone took time: debates
begin in order, each in the first free place, and take their waves × the seconds of a call. The
waves of a debate are its calls that wait for one another.
"""

from __future__ import annotations

import asyncio
import heapq
import http.client
import math
import os
import resource
import sqlite3
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from operator import sub
from pathlib import Path
from random import Random
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

import orjson
import typer

from bench.command import command
from bench.start import COMMAND, DATABASE, DROPPED
from bench.wheel.loopback import Answering
from bench.wheel.machine import print_result
from bot.commands.bench import SECONDS
from bot.commands.options import MOST
from engine.store.journal import prompt_hash
from engine.values.errors import RostrumError
from engine.values.ports import ChatMessage

NAME = "bench"
MODELS = [f"bench/{name}#{name}" for name in ("maple", "cedar", "aspen", "alder", "hazel")]
JURORS = [f"bench/{name}#{name}" for name in ("birch", "elm", "rowan")]
PAIRS = len(MODELS) * (len(MODELS) - 1) // 2
MODE = "adaptive"
ONE_BY_ONE = 2  # debates that are held again, one call after another
CALLS = """
SELECT debate, step, attempt, state, model, prompt_hash, tokens_in, tokens_out, request FROM calls
"""

Key = tuple[str, str]  # a model, and the hash of what it was asked


class _Logged(NamedTuple):
    """A request that the server answered or was to answer, with the tokens that it states."""

    key: Key
    tokens_in: int
    tokens_out: int


class Journaled(NamedTuple):
    """A try as the journal has it."""

    debate: str
    step: str
    attempt: int
    state: str
    model: str
    prompt_hash: str
    tokens_in: int | None
    tokens_out: int | None
    request: str

    @property
    def key(self) -> Key:
        """What the server knows it by."""
        return self.model.partition("/")[2], self.prompt_hash


@dataclass(slots=True)
class _ServerLog:
    """Every request that arrived, in order; `reached` is set once there are `awaited`."""

    requests: list[_Logged] = field(default_factory=list)
    awaited: float = math.inf
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    def note(self, request: _Logged) -> None:
        """Log a request."""
        self.requests.append(request)
        if len(self.requests) >= self.awaited:
            self.reached.set()

    def wait_for(self, requests: float) -> asyncio.Event:
        """Return what is set once so many requests have arrived."""
        self.awaited, self.reached = requests, asyncio.Event()
        return self.reached


class Logging(Answering):
    """A connection that logs its requests, and states tokens by what was read and written."""

    def __init__(self, seconds: float, log: _ServerLog) -> None:
        super().__init__(seconds, {})
        self._log = log

    def take(self, body: bytes) -> None:
        """Log a request as it arrives."""
        asked = orjson.loads(body)
        reply = super()._reply(body)
        key = asked["model"], _hash(asked["messages"])
        self._log.note(_Logged(key, *_tokens(body, reply)))
        super().take(body)

    def _reply(self, body: bytes) -> bytes:
        reply = super()._reply(body)
        read, written = _tokens(body, reply)
        stated = b'"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d'
        asked: bytes = orjson.dumps(orjson.loads(body)["model"])
        head, _, _ = reply.partition(b'"usage":')
        head = head.replace(b'"model":"bench"', b'"model":' + asked, 1)
        return head + b'"usage":{' + stated % (read, written, read + written) + b"}}"


def _tokens(body: bytes, reply: bytes) -> tuple[int, int]:
    return len(body) // 4, len(reply) // 4


def _hash(messages: Sequence[Mapping[str, str]]) -> str:
    return prompt_hash([ChatMessage.model_validate(message) for message in messages])


@dataclass(frozen=True, slots=True)
class Trial:
    """What is measured: so many debates, so many of them at once, so many seconds a call."""

    debates: int
    at_once: int
    seconds: float

    @property
    def file(self) -> str:
        """The file of the series: every pair of five models on each topic."""
        topics = [f"Motion {number} carries" for number in range(self.debates // PAIRS)]
        quoted = [orjson.dumps(one).decode() for one in (topics, MODELS, JURORS)]
        return "\n".join(
            (
                f'name = "{NAME}"',
                f"topics = {quoted[0]}",
                f"models = {quoted[1]}",
                'sides = "drawn"',
                'formats = ["classic"]',
                f'[jury]\nmodels = {quoted[2]}\nmode = "{MODE}"',
                f"[limits]\ndebates_at_once = {self.at_once}\n",
            )
        )


async def run_series(
    debates: Annotated[
        int, typer.Option(min=10, max=MOST, help="Number of debates, in tens: pairs of 5 models.")
    ] = 1000,
    at_once: Annotated[int, typer.Option(min=1, max=4000, help="Debates at once.")] = 100,
    seconds: Annotated[float, SECONDS] = 0.5,
    kills: Annotated[int, typer.Option(min=0, max=100, help="Number of kills.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=MOST, help="Seed of the kills.")] = 1,
) -> None:
    """Hold a series twice, once with kills, and compare it with the server's own log."""
    trial = Trial(PAIRS * max(1, round(debates / PAIRS)), at_once, seconds)
    whole = await _hold_series(trial, [], alone=True)
    at = _kill_points(whole["calls"], kills, Random(seed))
    killed = await _hold_series(trial, at) if kills else None
    single = whole.pop("one_after_another")
    print_result(
        {
            "bench": "series",
            "debates": trial.debates,
            "at_once": at_once,
            "seconds_a_call": seconds,
            "jury": f"{len(JURORS)} jurors, mode {MODE}",
            "limit": "end of the last debate if calls alone took time",
            "undisturbed": whole,
            "killed": killed,
            "one_after_another": single,
        }
    )


def _kill_points(calls: int, kills: int, rng: Random) -> list[int]:
    """Return after how many requests to kill: one point at random in each equal part."""
    part = calls / (kills + 1)
    return [int(part * (number + rng.uniform(0.6, 1.4))) for number in range(kills)]


async def _hold_series(
    trial: Trial, kill_at: Sequence[int], *, alone: bool = False
) -> dict[str, Any]:
    """Hold a series on a new database, killed at these counts of requests; return its figures."""
    log = _ServerLog()
    async with _serve(trial.seconds, log) as url:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "bench.toml").write_text(trial.file)
            began, cpu = time.perf_counter(), _cpu()
            for number in kill_at:
                await _run_and_kill(folder, url, log.wait_for(number))
            await _run(folder, url, "series", "run", "bench.toml", "--yes")
            wall, cpu = time.perf_counter() - began, _cpu() - cpu
            shown = await _run(folder, url, "series", "status", NAME, "--json")
            calls, logged = _read_journal(folder), list(log.requests)
            figures = _figures(trial, calls, logged, orjson.loads(shown), wall)
            figures |= {"kills": len(kill_at), "cpu_ms_a_call": round(1000 * cpu / len(calls), 3)}
            if alone:
                figures["one_after_another"] = await _one_by_one(trial, calls, url, wall)
    return figures


def _cpu() -> float:
    """Return the processor time of child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@asynccontextmanager
async def _serve(seconds: float, log: _ServerLog) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    made = partial(Logging, seconds, log)
    server = await loop.create_server(made, "127.0.0.1", 0, backlog=4096)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


async def _spawn(folder: Path, url: str, *arguments: str) -> asyncio.subprocess.Process:
    mine = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)}
    backend = {"base_url": url, "local": True, "max_concurrency": 4000, "timeout_s": 600}
    with (folder / "errors").open("wb") as errors:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", COMMAND, *arguments),
            cwd=folder,
            env=mine
            | {
                "PYTHONPATH": os.pathsep.join(sys.path),
                "ROSTRUM_BACKENDS": orjson.dumps({"bench": backend}).decode(),
            },
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
        )


async def _run(folder: Path, url: str, *arguments: str) -> bytes:
    """Run Rostrum to its end and return what it printed. Raises RostrumError if it fails."""
    process = await _spawn(folder, url, *arguments)
    shown, _ = await process.communicate()
    if process.returncode:
        said = (folder / "errors").read_text(errors="replace").strip()
        raise RostrumError(f"rostrum {' '.join(arguments)} ended so: {said}")
    return shown


async def _run_and_kill(folder: Path, url: str, reached: asyncio.Event) -> None:
    """Run the series until so many requests have arrived, then kill it."""
    process = await _spawn(folder, url, "series", "run", "bench.toml", "--yes")
    ended = asyncio.create_task(process.communicate())
    arrived = asyncio.create_task(reached.wait())
    await asyncio.wait((ended, arrived), return_when=asyncio.FIRST_COMPLETED)
    if not arrived.done():
        said = (folder / "errors").read_text(errors="replace").strip()
        raise RostrumError(f"The series ended before it could be killed: {said}")
    process.kill()
    await ended


def _read_journal(folder: Path) -> list[Journaled]:
    with closing(sqlite3.connect(folder / DATABASE)) as connection:
        return [Journaled(*row) for row in connection.execute(CALLS)]


def _figures(
    trial: Trial,
    calls: Sequence[Journaled],
    logged: Sequence[_Logged],
    status: Mapping[str, Any],
    wall: float,
) -> dict[str, Any]:
    done = [call for call in calls if call.state == "done"]
    limit = _limit(done, trial.at_once) * trial.seconds
    unstored = _in_flight(done, logged)
    told = _sum_up((one["model"].partition("/")[2], one) for one in status["takings"])
    served = _sum_up((one.key[0], one._asdict()) for one in logged)
    lost = _sum_up((one.key[0], one._asdict()) for one in unstored)
    equal = all(
        told[model] == tuple(map(sub, served[model], lost[model])) for model in {*served, *told}
    )
    return {
        "held": status["held"],
        "wall_s": round(wall, 2),
        "limit_s": round(limit, 2),
        "wall_over_limit": round(wall / limit, 4),
        "calls": len(done),
        "requests": len(logged),
        "in_flight_at_kills": len(unstored),
        "stored_calls_repeated": _repeated(calls, logged),
        "tokens_in": sum(read for read, _ in told.values()),
        "tokens_out": sum(written for _, written in told.values()),
        "tokens_in_flight": [sum(column) for column in zip(*lost.values(), strict=True)] or [0, 0],
        "totals_equal_the_servers_log": equal,
    }


def _limit(done: Sequence[Journaled], at_once: int) -> int:
    """Return how many calls wait for one another until the last debate ends.

    A debate's are its turns and its rounds of jurors. Debates begin in order, each in the first
    place that is free; no debate is split, so the last ones leave places empty.
    """
    turns = Counter(call.debate for call in done if call.step.startswith("turn/"))
    jury = Counter(call.debate for call in done if call.step.startswith("jury/"))
    places = [0] * at_once
    for debate in sorted(turns):
        waves = turns[debate] + math.ceil(jury[debate] / len(JURORS))
        heapq.heapreplace(places, places[0] + waves)
    return max(places)


def _in_flight(done: Sequence[Journaled], logged: Sequence[_Logged]) -> list[_Logged]:
    """Return the requests of which no answer was stored. Raises RostrumError for unknown ones."""
    stored = Counter(call.key for call in done)
    left = []
    for request in logged:
        if stored[request.key] > 0:
            stored[request.key] -= 1
        else:
            left.append(request)
    if +stored:
        raise RostrumError("The journal has calls that the server never got.")
    return left


def _repeated(calls: Sequence[Journaled], logged: Sequence[_Logged]) -> int:
    """Count calls made although their answer was stored, or without a line in the journal."""
    last = {(call.debate, call.step): call for call in sorted(calls, key=lambda one: one.attempt)}
    again = sum(call.state == "done" and last[call.debate, call.step] is not call for call in calls)
    unknown = Counter(one.key for one in logged) - Counter(call.key for call in calls)
    return again + unknown.total()


def _sum_up(counted: Iterable[tuple[str, Mapping[str, Any]]]) -> defaultdict[str, tuple[int, int]]:
    """Return tokens read and written by model."""
    sums: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for model, one in counted:
        read, written = sums[model]
        sums[model] = (read + one["tokens_in"], written + one["tokens_out"])
    return sums


async def _one_by_one(
    trial: Trial, calls: Sequence[Journaled], url: str, wall: float
) -> dict[str, Any]:
    """Make the calls of some of the debates one after another, as the first system did."""
    chosen = set(islice(dict.fromkeys(call.debate for call in calls), ONE_BY_ONE))
    bodies = [
        {"model": call.key[0], "messages": orjson.loads(call.request)["messages"]}
        for call in calls
        if call.debate in chosen
    ]
    began = time.perf_counter()
    await asyncio.to_thread(_post_all, bodies, url)
    extrapolated = (time.perf_counter() - began) / len(chosen) * trial.debates
    return {
        "way": "one debate after another, one call after another, without any other work",
        "debates_measured": len(chosen),
        "wall_s_extrapolated": round(extrapolated, 1),
        "times_as_long": round(extrapolated / wall, 1),
    }


def _post_all(bodies: Sequence[Mapping[str, Any]], url: str) -> None:
    parts = urlsplit(url)
    with closing(http.client.HTTPConnection(parts.netloc)) as connection:
        for body in bodies:
            connection.request("POST", f"{parts.path}/chat/completions", orjson.dumps(body))
            connection.getresponse().read()


if __name__ == "__main__":
    command(run_series)
