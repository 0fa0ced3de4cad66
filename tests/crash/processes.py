"""Gateways and workers as real processes, on one PostgreSQL, one model server and one Discord."""

import asyncio
import hashlib
import signal
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import orjson

from adapters.database.database import SqlDatabase
from bench.wheel.loopback import Answering
from engine.store import Store
from engine.store.tables import metadata
from engine.values.debate import Model
from tests.doubles.command import Forked, environment_of, fork, streams_to
from tests.doubles.databases import PostgresDouble
from tests.doubles.discord import Remote
from tests.doubles.discord.server import TOKEN
from tests.doubles.remote import Json, RemoteError
from tests.kit import PROCESS_SECONDS, waits
from tests.scenario.discord_stage import OPTIONS

# As the command line, but leases run out sooner where a test waits for that, and messages of a
# channel are not a second apart.
COMMAND = """
import bot.serve.platforms
import bot.serve.run
from engine.fleet import leases, limits

for module in (leases, limits):
    module.LEASE_SECONDS /= {pace}
    module.RENEW_SECONDS /= {pace}
bot.serve.run.RECONCILE_SECONDS /= {pace}
bot.serve.platforms.DiscordVenue.__init__.__kwdefaults__["gap"] = 0.05
from bot.cli import main
main()
"""
until = partial(waits.until, seconds=PROCESS_SECONDS)
until_true = partial(waits.until_true, seconds=PROCESS_SECONDS)
NAMES = [f"near/{name}#{name}" for name in ("maple", "cedar")]
JURORS = [f"near/{name}#{name}" for name in ("birch", "elm", "rowan")]
OFF = {
    "ROSTRUM_BUDGET__USER_DAILY_DEBATES": "off",
    "ROSTRUM_BUDGET__MAX_LIVE_PER_COMMUNITY": "off",
    "ROSTRUM_BUDGET__DEBATE_USD": "off",
    "ROSTRUM_BUDGET__COMMUNITY_DAILY_USD": "off",
}


def key_of(model: str, messages: list[Json]) -> bytes:
    """Return what a call is known by: a hash of what is asked of whom."""
    return hashlib.sha256(orjson.dumps([model, messages])).digest()


@dataclass
class Calls:
    """What a model server was asked, by a hash of it; it answers while its gate is open."""

    seconds: float
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: Counter[bytes] = field(default_factory=Counter)
    unanswered: Counter[bytes] = field(default_factory=Counter)
    last_at: float = 0.0
    most: int = 0  # at once
    _answering: set[asyncio.Task[None]] = field(default_factory=set)

    def twice(self) -> Counter[bytes]:
        return Counter({key: count - 1 for key, count in self.asked.items() if count > 1})


class Counting(Answering):
    """A connection to the model server."""

    def __init__(self, calls: Calls) -> None:
        super().__init__(calls.seconds, {})
        self._calls = calls

    def take(self, body: bytes) -> None:
        asked = orjson.loads(body)
        key = key_of(asked["model"], asked["messages"])
        self._calls.asked[key] += 1
        self._calls.unanswered[key] += 1
        self._calls.last_at = time.monotonic()
        self._calls.most = max(self._calls.most, self._calls.unanswered.total())
        task = asyncio.create_task(self._end(key, body))
        self._calls._answering.add(task)
        task.add_done_callback(self._calls._answering.discard)

    async def _end(self, key: bytes, body: bytes) -> None:
        await asyncio.sleep(self._seconds)
        await self._calls.gate.wait()
        if self._transport is not None:
            self._calls.unanswered[key] -= 1
        self.answer(body)


Begin = Callable[
    [str, Path, Sequence[str], Mapping[str, str], Sequence[int]],
    Awaitable[asyncio.subprocess.Process | Forked],
]


async def alone(
    code: str,
    folder: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    streams: Sequence[int],
) -> asyncio.subprocess.Process:
    """Start a process that runs code on open files, and loads all of it itself."""
    command, (stdin, stdout, stderr) = (sys.executable, "-c", code, *arguments), streams
    return await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=environment, stdin=stdin, stdout=stdout, stderr=stderr
    )


@dataclass
class Running:
    """A process of Rostrum."""

    process: asyncio.subprocess.Process | Forked
    log: Path

    @property
    def said(self) -> str:
        return self.log.read_text()

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    async def started(self) -> None:
        await until(lambda: "rostrum started" in self.said or self.process.returncode is not None)
        assert self.process.returncode is None, self.said

    async def done(self) -> str:
        async with asyncio.timeout(PROCESS_SECONDS):
            assert await self.process.wait() == 0, self.said
        return self.said

    async def stop(self) -> None:
        self.signal(signal.SIGTERM)
        async with asyncio.timeout(PROCESS_SECONDS):
            assert await self.process.wait() == 0, self.said

    async def kill(self) -> None:
        self.signal(signal.SIGKILL)
        await self.process.wait()


@dataclass
class Town:
    """Everything that processes run on, and those that run."""

    folder: Path
    url: str
    database: SqlDatabase
    discord: Remote
    calls: Calls
    model_url: str
    pace: float = 1.0
    at_once: int = 2000
    command: str = COMMAND
    begin: Begin = alone
    running: list[Running] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def store(self) -> Store:
        return Store(self.database)

    @property
    def pids(self) -> list[int]:
        return [one.process.pid for one in self.running if one.process.returncode is None]

    async def stored(self) -> set[bytes]:
        done = "SELECT model, request FROM calls WHERE state = 'done'"
        return {
            key_of(Model.parse(row.model).name, orjson.loads(row.request)["messages"])
            for row in await self.database.rows(done)
        }

    async def start_all(self, *roles: str) -> list[Running]:
        return list(await asyncio.gather(*map(self.start, roles)))

    async def start(self, role: str, **settings: str) -> Running:
        running = await self.run(role, **settings)
        await running.started()
        return running

    async def run(self, role: str, *arguments: str, **settings: str) -> Running:
        """Run a command; only one that serves a platform has its token."""
        backend = {"base_url": self.model_url, "local": True, "max_concurrency": self.at_once}
        number = next(self._numbers)
        platform = {
            "ROSTRUM_DISCORD__TOKEN": TOKEN,
            "ROSTRUM_DISCORD__API_URL": self.discord.api_url,
        }
        given = {
            "ROSTRUM_DATABASE_URL": self.url,
            "ROSTRUM_BACKENDS": orjson.dumps({"near": backend}).decode(),
            "ROSTRUM_MODELS": ",".join(NAMES),
            "ROSTRUM_JURORS": ",".join(JURORS),
            "ROSTRUM_DEFAULT_QUORUM": "0",
            **OFF,
            **(platform if role in ("run", "gateway") else {}),
            **settings,
        }
        log = self.folder / f"{role}-{number}.log"
        code, words = self.command.format(pace=self.pace), (role, *arguments)
        with streams_to(log) as streams:
            process = await self.begin(code, self.folder, words, environment_of(given), streams)
        running = Running(process, log)
        self.running.append(running)
        return running

    async def debate(self, number: int, about: str = "Topic") -> list[str]:
        """Have so many debates started in the chat; return their ids."""
        await self.discord.until(lambda state: state["connected"])
        before = {debate.id for debate in await self.store.listings.recent()}
        for one in range(number):
            options = {"topic": f"{about} {one}"}
            await until_true(partial(self.ask, "debate start", options))

        async def stored() -> bool:
            return len(await self.store.listings.recent()) >= len(before) + number

        await until_true(stored)
        new = [debate.id for debate in await self.store.listings.recent()]
        return [debate for debate in reversed(new) if debate not in before]

    async def ask(self, command: str, options: Json) -> bool:
        """Use a command; False while the gateway has not registered it."""
        try:
            await self.discord.act("slash", "ada", command, options)
        except RemoteError as error:
            if "is registered" not in str(error):
                raise
            return False
        return True

    async def vote(self, debate_id: str, user: str, option: str) -> None:

        async def opened() -> bool:
            return (await self.store.debates.get(debate_id)).vote_opened_at is not None

        await until_true(opened)
        message = (await self.store.debates.get(debate_id)).vote_message
        await self.discord.act("react", user, message, OPTIONS[option])

    async def until_all(self, debates: list[str], status: str) -> None:

        async def reached() -> bool:
            found = {debate.id: debate.status for debate in await self.store.listings.recent()}
            return all(found[debate] == status for debate in debates)

        await until_true(reached)

    async def holders(self) -> dict[str, str]:
        return {
            name.removeprefix("debate/"): holder
            for name, holder in (await self.store.leases.held("debate/", "")).items()
        }

    async def posts(self) -> Counter[tuple[str, str]]:
        """Return how often each message of the bot stands in each place."""
        state = await self.discord.state()
        return Counter(
            (place, orjson.dumps(_shown(message)).decode())
            for place, messages in state["messages"].items()
            for message in messages
        )

    async def tables(self) -> dict[str, list[str]]:
        """Return every row that is stored, but those of leases and of the queue."""
        found = {}
        for name in metadata.tables:
            if name != "leases":
                rows = await self.database.rows(f'SELECT * FROM "{name}"')  # noqa: S608
                found[name] = sorted(map(repr, rows))
        return found


def _shown(message: Json) -> list[Any]:
    return [message.get("content"), message.get("embeds"), message.get("components")]


@asynccontextmanager
async def model_server(calls: Calls) -> AsyncIterator[str]:
    """Serve models while the body runs; yield the address."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(partial(Counting, calls), "127.0.0.1", 0, backlog=1024)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()


@asynccontextmanager
async def town(
    folder: Path, postgres: PostgresDouble, template: str, seconds: float
) -> AsyncIterator[Town]:
    """Make all of it, with calls that take so many seconds; every process ends with the body."""
    name = postgres.create(template)
    calls = Calls(seconds)
    async with AsyncExitStack() as stack:
        stack.callback(postgres.drop, name)
        model_url = await stack.enter_async_context(model_server(calls))
        discord = await stack.enter_async_context(Remote.spawned(folder))
        database = SqlDatabase(postgres.url(name), writable=False)
        stack.push_async_callback(database.close)
        made = Town(folder, postgres.url(name), database, discord, calls, model_url, begin=fork)
        try:
            yield made
        finally:
            for one in made.running:
                with suppress(ProcessLookupError):
                    one.signal(signal.SIGCONT)
                    one.signal(signal.SIGKILL)
                await one.process.wait()
