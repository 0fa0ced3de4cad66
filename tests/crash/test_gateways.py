"""Real gateways and a worker on a real PostgreSQL: one is killed in a vote, all are restarted."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.crash.processes import Running, alone
from tests.doubles.command import environment_of, streams_to
from tests.doubles.discord import DiscordServer, Rates, hang
from tests.doubles.slack import Rules, SlackServer
from tests.doubles.wire import balancing
from tests.kit import PROCESS_SECONDS, until, within
from tests.scenario.discord_stage import (
    JURORS,
    MODELS,
    OPTIONS,
    author,
    counted_in,
    free_port,
    reference as reference_of,
)

TAKEOVER = 15.0  # seconds
PROMPT = 3.0  # seconds in which people's commands have to be answered
# As `rostrum`, but neither messages of a channel are a second apart nor introductions five.
ENTRY = """
from adapters.discord.venue import DiscordVenue
from adapters.discord.client import IdentifyLimit
DiscordVenue.__init__.__kwdefaults__["gap"] = 0.05
IdentifyLimit.__init__.__defaults__ = (1000, 1.0)
from bot.cli import main
main()
"""


@dataclass
class Process(Running):
    """A process that tells of its health."""

    health: int

    @property
    def pid(self) -> int:
        return self.process.pid

    async def ready(self) -> dict[str, Any]:
        with suppress(aiohttp.ClientError, TimeoutError):
            async with (
                aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(2)) as session,
                session.get(f"http://127.0.0.1:{self.health}/readyz") as answer,
            ):
                found: dict[str, Any] = await answer.json()
                return found
        return {}

    async def until(self, platform: str, state: str, seconds: float = PROCESS_SECONDS) -> None:
        async with asyncio.timeout(seconds):
            while (await self.ready()).get("platforms", {}).get(platform, {}).get("state") != state:
                assert self.process.returncode is None, self.said
                await asyncio.sleep(0.05)


class Fleet:
    """Processes on one database, started as an operator does."""

    def __init__(self, folder: Path, stack: AsyncExitStack, **settings: str) -> None:
        self._folder, self._stack, self._settings = folder, stack, settings
        self.pids = list[int]()  # of all that were started

    async def start(self, role: str, **more: str) -> Process:
        health = free_port()
        fixed = {"ROSTRUM_HEALTH__PORT": str(health), "ROSTRUM_LOG__FORMAT": "json"}
        log = self._folder / f"{len(self.pids)}-{role}.log"
        given = environment_of(fixed | self._settings | more)
        with streams_to(log) as streams:
            running = Process(
                await alone(ENTRY, self._folder, (role,), given, streams), log, health
            )
        self.pids.append(running.pid)
        self._stack.push_async_callback(_end, running)
        return running


async def _end(running: Process) -> None:
    if running.process.returncode is None:
        await running.kill()


@asynccontextmanager
async def fleet(folder: Path, url: str, **settings: str) -> AsyncIterator[Fleet]:
    """Let processes run on a database until the body ends."""
    fixed = {
        "ROSTRUM_DATABASE_URL": url,
        "ROSTRUM_MODELS": MODELS,
        "ROSTRUM_JURORS": JURORS,
        "ROSTRUM_DEFAULT_QUORUM": "0",
        "ROSTRUM_DEFAULT_EXTEND": "false",
        "ROSTRUM_DEFAULT_VOTE_MINUTES": "30",
        "ROSTRUM_BUDGET__USER_DAILY_DEBATES": "off",
        "ROSTRUM_BUDGET__MAX_LIVE_PER_COMMUNITY": "off",
    }
    async with AsyncExitStack() as stack:
        yield Fleet(folder, stack, **fixed, **settings)


@pytest.fixture
async def discord() -> AsyncIterator[DiscordServer]:
    async with DiscordServer(rates=Rates.generous()) as server:
        yield server


@pytest.mark.slow
async def test_a_gateway_killed_in_a_vote_is_followed_within_15_s_and_nothing_is_missed(
    tmp_path: Path, url: str, discord: DiscordServer
) -> None:
    async with fleet(tmp_path, url, **discord.settings) as processes:
        first = await processes.start("gateway")
        await first.until("discord", "connected")
        second = await processes.start("gateway")
        await processes.start("worker")
        await second.until("discord", "standing by")
        await discord.slash("ada", "debate start", {"topic": "Tea beats coffee"}).finished()
        voting = await until(lambda: next(iter(discord.threads()), None), PROCESS_SECONDS)
        ballot = await until(lambda: _ballot(discord, voting.id), PROCESS_SECONDS)
        discord.react("ada", ballot.id, OPTIONS["A"])
        # A second debate is being posted when the gateway dies: stored by Discord, never answered.
        discord.fail(hang("after"), "POST", "/channels/*/messages", skip=3)
        await discord.slash("ben", "debate start", {"topic": "Cats beat dogs"}).finished()
        await until(lambda: discord.faults.hanging, PROCESS_SECONDS)
        await first.kill()
        with within(TAKEOVER, [second.pid]):
            discord.faults.release()
            discord.react("ben", ballot.id, OPTIONS["B"])  # while no one listens
            await until(lambda: discord.gateway.connected, PROCESS_SECONDS)
            await second.until("discord", "connected")
        other = next(thread for thread in discord.threads() if thread.id != voting.id)
        await until(lambda: _ballot(discord, other.id), PROCESS_SECONDS)
        closed = await discord.slash("olga", "debate close", channel=voting.id).finished()
        assert "closed" in closed.text, closed.text
        reveal = await until(lambda: _said(discord, voting.id, "Reveal"), PROCESS_SECONDS)
    posted = [r for place in discord.threads() for r in references(discord, place.id)]
    assert not {ref: times for ref, times in Counter(posted).items() if times > 1}
    assert counted_in(reveal.text)["A"] == 1
    assert counted_in(reveal.text)["B"] == 1


@pytest.mark.slow
async def test_every_gateway_restarts_and_no_command_on_discord_waits_for_3_s(
    tmp_path: Path, url: str, discord: DiscordServer
) -> None:
    asked = list[str]()

    async def ask() -> None:
        while True:
            with within(PROMPT, processes.pids):
                said = await discord.slash("ada", "debate help").answered(PROCESS_SECONDS)
            with within(PROMPT, processes.pids):
                await said.finished(PROCESS_SECONDS)
            asked.append(said.text)
            await asyncio.sleep(0.05)

    async with fleet(tmp_path, url, **discord.settings) as processes:
        old = [await processes.start("gateway")]
        await old[0].until("discord", "connected")
        old.append(await processes.start("gateway"))
        await old[1].until("discord", "standing by")
        asking = asyncio.create_task(ask())
        await _restart(processes, old[0])
        with within(12, processes.pids):  # it waits for the next one to hear, and no longer
            await old[1].stop()
        await until(lambda: discord.gateway.connected == 1, PROCESS_SECONDS)
        known = len(asked)
        await until(lambda: asking.done() or len(asked) > known + 5, PROCESS_SECONDS)
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
    assert all(asked)
    answers = Counter(len(each.messages) for each in discord.interactions.all[1:-1])
    assert set(answers) == {1}, "each command is answered once"


async def _restart(processes: Fleet, process: Process) -> None:
    """Start a gateway in place of one that is told to end, and wait until it stands by."""
    await process.stop()
    await (await processes.start("gateway")).until("discord", "standing by")


@pytest.mark.slow
async def test_every_gateway_restarts_and_no_command_on_slack_waits_for_3_s(
    tmp_path: Path, url: str
) -> None:
    ports = (free_port(), free_port())
    asked = list[str]()

    async def ask() -> None:
        while True:
            with within(PROMPT, processes.pids):
                said = await slack.slash("ada", "/debate help")
            asked.append(await said.said(seconds=PROCESS_SECONDS))
            await asyncio.sleep(0.05)

    rules = Rules.generous(ack=PROCESS_SECONDS)
    async with SlackServer(rules=rules) as slack, balancing(*ports) as balancer:
        slack.deliveries.request_url = f"{balancer.url}/slack/events"
        settings = {
            "ROSTRUM_SLACK__BOT_TOKEN": slack.bot_token,
            "ROSTRUM_SLACK__SIGNING_SECRET": slack.signing_secret,
            "ROSTRUM_SLACK__MODE": "http",
            "ROSTRUM_SLACK__API_URL": slack.api_url,
        }
        async with fleet(tmp_path, url, **settings) as processes:
            old = [
                await processes.start("gateway", ROSTRUM_SLACK__PORT=str(port)) for port in ports
            ]
            for process in old:
                await process.until("slack", "connected")
            asking = asyncio.create_task(ask())
            for process, port in zip(old, ports, strict=True):
                await process.stop()
                new = await processes.start("gateway", ROSTRUM_SLACK__PORT=str(port))
                await new.until("slack", "connected")
            known = len(asked)
            await until(lambda: asking.done() or len(asked) > known + 5, PROCESS_SECONDS)
            asking.cancel()
            with suppress(asyncio.CancelledError):
                await asking
    assert balancer.refused, "no gateway was away"
    assert all(asked)


def references(discord: DiscordServer, place: str) -> list[str]:
    return [ref for message in discord.messages(place) if (ref := reference_of(message))]


def _said(discord: DiscordServer, place: str, what: str) -> Any:
    return next((m for m in discord.messages(place) if author(m) == what), None)


def _ballot(discord: DiscordServer, place: str) -> Any:
    found = _said(discord, place, "Vote")
    return found if found and len(found.reactions) == len(OPTIONS) else None
