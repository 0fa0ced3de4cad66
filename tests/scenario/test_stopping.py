"""A stop ends in time, whatever hangs: real processes, with a tenth of the real times."""

import asyncio
import os
import signal
import sqlite3
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path
from typing import NamedTuple

import pytest
from aiohttp import ClientError, ClientSession, web

from adapters import site
from bot import exits
from bot.settings.settings import STOP_SECONDS
from tests.doubles import command
from tests.doubles.databases import PostgresDouble
from tests.doubles.discord import DiscordServer, hang
from tests.doubles.model_server import ModelServer
from tests.doubles.slack import SlackServer
from tests.doubles.wire import wired
from tests.kit import HANG_SECONDS, Starved
from tests.scenario.discord_stage import until
from tests.scenario.stop_driver import CALLS, TENTH

ROOT = Path(__file__).parents[2]
ALL = (STOP_SECONDS - exits.CUT_SECONDS) * TENTH
SLACK = 2.0  # seconds that a busy machine may add
STANDING = "SELECT count(*) FROM leases WHERE until > :now"


class Stopped(NamedTuple):
    """How a process ended: its code, the seconds it took, how many of them were its own, its log.

    Its own are those in which it had a processor or needed none.
    """

    code: int | None
    seconds: float
    own: float
    log: str


@asynccontextmanager
async def running(
    discord: DiscordServer, folder: Path, part: str, **settings: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Serve Discord with a part that hangs; the bot is connected when the body begins."""
    async with driven(folder, part, **discord.settings, **settings) as process:
        await discord.gateway.until_connected()
        await until(lambda: discord.world.commands[None])
        yield process


def driven(
    folder: Path, part: str, **settings: str
) -> AbstractAsyncContextManager[asyncio.subprocess.Process]:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
    }
    return command.running(
        sys.executable,
        "-m",
        "tests.scenario.stop_driver",
        part,
        cwd=folder,
        env=environment | settings,
    )


async def stop(process: asyncio.subprocess.Process, *, times: int = 1) -> Stopped:
    began, starved, waited = time.monotonic(), Starved([process.pid]), 0.0
    for number in range(times):
        await asyncio.sleep(0.3 if number else 0)
        process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(HANG_SECONDS):
        ended = asyncio.create_task(process.communicate())
        while not ended.done():
            waited = starved.seconds  # nobody knows it of a process that has ended
            await asyncio.wait([ended], timeout=0.05)
    took, (_, said) = time.monotonic() - began, ended.result()
    return Stopped(process.returncode, took, took - waited, said.decode())


def thinking_at(backend: ModelServer) -> dict[str, str]:
    names = "near/ana#a,near/ben#b,near/cy#c,near/dee#d"
    return {
        "ROSTRUM_BACKENDS__NEAR__BASE_URL": backend.base_url,
        "ROSTRUM_BACKENDS__NEAR__LOCAL": "on",
        "ROSTRUM_MODELS": names,
    }


def left_in_order(stopped: Stopped, folder: Path, code: int = 0) -> None:
    """Check that a process ended with a code, in time, and left no lease."""
    assert stopped.code == code, stopped.log
    assert stopped.own < ALL + SLACK
    now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    with closing(sqlite3.connect(folder / "rostrum.db")) as database:
        assert database.execute(STANDING, {"now": now}).fetchone()[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("signals", [1, 2])
async def test_a_backend_that_never_answers_is_left_after_its_time_or_at_a_second_signal(
    discord: DiscordServer, tmp_path: Path, signals: int
) -> None:
    async with ModelServer() as backend:
        backend.gate.clear()
        async with running(discord, tmp_path, "nothing", **thinking_at(backend)) as process:
            await discord.slash("ada", "debate start", {"topic": "Tea"}).answered()
            await until(lambda: backend.in_flight == 1)
            stopped = await stop(process, times=signals)
    left_in_order(stopped, tmp_path)
    if signals == 1:
        assert stopped.seconds >= CALLS
        assert "rostrum stopped" in stopped.log
    else:
        assert stopped.own < CALLS


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/channels/*/messages"),  # a post of a debate
        ("PATCH", "/webhooks/**"),  # the answer to a command
    ],
)
async def test_a_platform_that_never_answers_is_left_after_its_time(
    discord: DiscordServer, tmp_path: Path, method: str, path: str
) -> None:
    async with running(discord, tmp_path, "nothing") as process:
        discord.fail(hang(), method, path, times=99)
        discord.slash("ada", "debate start", {"topic": "Tea"})
        await until(lambda: discord.faults.hanging)
        stopped = await stop(process)
    left_in_order(stopped, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["chat.postMessage", "response_url"])
async def test_a_slack_that_never_answers_is_left_after_its_time(
    tmp_path: Path, method: str
) -> None:
    async with SlackServer() as slack:
        given = {
            "ROSTRUM_SLACK__BOT_TOKEN": slack.bot_token,
            "ROSTRUM_SLACK__APP_TOKEN": slack.app_token,
            "ROSTRUM_SLACK__API_URL": slack.api_url,
        }
        async with driven(tmp_path, "nothing", **given) as process:
            await slack.socket.until_connected(60)
            slack.fail(hang(), method, times=99)
            await slack.slash("ada", '/debate start "Tea"')
            await until(lambda: slack.faults.hanging)
            stopped = await stop(process)
    left_in_order(stopped, tmp_path)


async def test_a_request_that_is_never_answered_does_not_hold_a_site(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(site, "FINISH_SECONDS", 0.2)
    asked = asyncio.Event()

    async def never(_: web.Request) -> web.Response:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    one = site.Site("127.0.0.1", 0)
    async with ClientSession() as session, asyncio.timeout(HANG_SECONDS):
        async with one.serving([web.get("/", never)]):
            assert one.address is not None
            asking = asyncio.create_task(session.get(f"http://127.0.0.1:{one.address[1]}/"))
            await asked.wait()
        with pytest.raises(ClientError):
            await asking


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "code", "said"), [("reader", 0, "part=database"), ("thread", 1, "stop cut off")]
)
async def test_a_reader_that_never_ends_is_left_behind_and_what_no_one_can_end_cut_off(
    discord: DiscordServer, tmp_path: Path, part: str, code: int, said: str
) -> None:
    async with running(discord, tmp_path, part) as process:
        stopped = await stop(process)
    left_in_order(stopped, tmp_path, code)
    assert said in stopped.log
    assert code == 0 or stopped.seconds >= ALL


@pytest.mark.slow
@pytest.mark.parametrize("away", ["cut", "hold"])
async def test_a_database_that_is_away_does_not_hold_a_stop_up(
    discord: DiscordServer, tmp_path: Path, postgres: PostgresDouble, migrated_name: str, away: str
) -> None:
    """Refused, or never answered, in the middle of a call to a model that never answers."""
    name = postgres.create(migrated_name)
    with wired(postgres.port) as wire:
        at = {"ROSTRUM_DATABASE_URL": postgres.tcp(name, port=wire.port)}
        async with ModelServer() as backend:
            backend.gate.clear()
            settings = thinking_at(backend) | at
            async with running(discord, tmp_path, "database", **settings) as process:
                await discord.slash("ada", "debate start", {"topic": "Tea"}).answered()
                await until(lambda: backend.in_flight == 1)
                getattr(wire, away)()
                stopped = await stop(process)
        wire.mend()
    # One that only waited for a processor is cut off like one that hangs.
    ends = away == "cut"
    assert stopped.own < (ALL if ends else ALL + SLACK), stopped.log
    assert stopped.code in ((0,) if ends and stopped.seconds < ALL else (0, 1)), stopped.log
    assert "Traceback" not in stopped.log, stopped.log
