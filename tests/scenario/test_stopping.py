"""A stop ends in time, whatever hangs: real processes, with a tenth of the real times."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import NamedTuple

import pytest

from bot import stopping
from tests.doubles.discord import DiscordServer, Rates, hang
from tests.doubles.model_server import ModelServer
from tests.scenario.discord_stage import until
from tests.scenario.stop_driver import TENTH

ROOT = Path(__file__).parents[2]
CALLS, ALL = stopping.CALLS_SECONDS * TENTH, stopping.ALL_SECONDS * TENTH
SLACK = 2.0  # seconds that a busy machine may add
GRACE = 45.0  # what deployments wait before they kill
STANDING = "SELECT count(*) FROM leases WHERE until > :now"


class Stopped(NamedTuple):
    """How a process ended: its code, the seconds it took, and its log."""

    code: int | None
    seconds: float
    log: str


@pytest.fixture
async def discord() -> AsyncIterator[DiscordServer]:
    async with DiscordServer(rates=Rates.generous()) as server:
        yield server


@asynccontextmanager
async def running(
    discord: DiscordServer, folder: Path, part: str, **settings: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Serve Discord with a part that hangs; the bot is connected when the body begins."""
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
        "ROSTRUM_DISCORD__TOKEN": discord.token,
        "ROSTRUM_DISCORD__API_URL": discord.api_url,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.scenario.stop_driver",
        part,
        cwd=folder,
        env=environment | settings,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        await discord.gateway.until_connected(seconds=60)
        await until(lambda: discord.world.commands[None])
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def stop(process: asyncio.subprocess.Process, *, times: int = 1) -> Stopped:
    began = time.monotonic()
    for number in range(times):
        await asyncio.sleep(0.3 if number else 0)
        process.send_signal(signal.SIGTERM)
    _, said = await asyncio.wait_for(process.communicate(), 30)
    return Stopped(process.returncode, time.monotonic() - began, said.decode())


def thinking_at(backend: ModelServer) -> dict[str, str]:
    names = "near/ana#a,near/ben#b,near/cy#c,near/dee#d"
    return {
        "ROSTRUM_BACKENDS__NEAR__BASE_URL": backend.base_url,
        "ROSTRUM_BACKENDS__NEAR__LOCAL": "on",
        "ROSTRUM_MODELS": names,
    }


def leases_left(folder: Path) -> int:
    now = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    with closing(sqlite3.connect(folder / "rostrum.db")) as database:
        return int(database.execute(STANDING, {"now": now}).fetchone()[0])


def test_what_a_stop_may_take_is_less_than_what_is_waited_for_it() -> None:
    assert CALLS < ALL < GRACE * TENTH


async def test_a_backend_that_never_answers_is_left_after_its_time(
    discord: DiscordServer, tmp_path: Path
) -> None:
    async with ModelServer() as backend:
        backend.gate.clear()
        async with running(discord, tmp_path, "nothing", **thinking_at(backend)) as process:
            await discord.slash("ada", "debate start", {"topic": "Tea"}).answered()
            await until(lambda: backend.in_flight == 1, 30)
            stopped = await stop(process)
    assert stopped.code == 0, stopped.log
    assert CALLS <= stopped.seconds < ALL + SLACK
    assert "rostrum stopped" in stopped.log
    assert leases_left(tmp_path) == 0


async def test_a_second_signal_does_not_wait_for_calls(
    discord: DiscordServer, tmp_path: Path
) -> None:
    async with ModelServer() as backend:
        backend.gate.clear()
        async with running(discord, tmp_path, "nothing", **thinking_at(backend)) as process:
            await discord.slash("ada", "debate start", {"topic": "Tea"}).answered()
            await until(lambda: backend.in_flight == 1, 30)
            stopped = await stop(process, times=2)
    assert stopped.code == 0, stopped.log
    assert stopped.seconds < CALLS
    assert leases_left(tmp_path) == 0


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
        await until(lambda: discord.faults.hanging, 30)
        stopped = await stop(process)
    assert stopped.code == 0, stopped.log
    assert stopped.seconds < ALL + SLACK
    assert leases_left(tmp_path) == 0


async def test_a_reader_that_never_ends_is_left_behind(
    discord: DiscordServer, tmp_path: Path
) -> None:
    async with running(discord, tmp_path, "reader") as process:
        stopped = await stop(process)
    assert stopped.code == 0, stopped.log
    assert stopped.seconds < ALL + SLACK
    assert "part=database" in stopped.log
    assert leases_left(tmp_path) == 0


async def test_what_no_one_can_end_is_cut_off_in_time(
    discord: DiscordServer, tmp_path: Path
) -> None:
    async with running(discord, tmp_path, "thread") as process:
        stopped = await stop(process)
    assert stopped.code == 1, stopped.log
    assert ALL <= stopped.seconds < ALL + SLACK
    assert "stop cut off" in stopped.log
    assert leases_left(tmp_path) == 0
