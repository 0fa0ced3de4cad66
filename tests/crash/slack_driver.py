"""A process that serves Slack: `… -m tests.crash.slack_driver FOLDER API_URL`.

It lives as the one of tests/crash/discord_driver.py does, in one child after the other.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback
from functools import partial
from pathlib import Path
from unittest.mock import patch

import structlog
from pydantic import SecretStr

from adapters.slack.rest import Rest
from adapters.slack.site import Site
from adapters.slack.socket import SocketTransport
from tests.crash.discord_driver import CONNECTED, LIMITS, LIVES, OVER
from tests.crash.driver import warm_up
from tests.crash.fate import Fate, FatedStore, append
from tests.doubles.slack.server import APP_TOKEN, BOT_TOKEN
from tests.scenario.discord_stage import settings_of
from tests.scenario.slack_stage import process


async def serve(folder: Path, api_url: str) -> None:
    """Serve until killed."""
    settings = settings_of(f"sqlite+aiosqlite:///{folder / 'debate.db'}")
    rest = Rest(SecretStr(BOT_TOKEN), api_url)
    transport = SocketTransport(rest, SecretStr(APP_TOKEN))
    with patch("bot.app.SqlStore", partial(FatedStore, fate=Fate(folder))):
        async with process(settings, rest, transport, Site("127.0.0.1", 0), limits=LIMITS):
            append(folder / CONNECTED, str(os.getpid()))
            await asyncio.Event().wait()


def live(folder: Path, api_url: str) -> None:
    """Run one process's life, which ends by a kill or a defect."""
    structlog.configure(processors=[], logger_factory=structlog.ReturnLoggerFactory())
    try:
        asyncio.run(serve(folder, api_url))
    except Exception:  # noqa: BLE001 - a child must not run on as its parent
        traceback.print_exc()


def chain(folder: Path, api_url: str) -> int:
    """Live again after every kill; return 1 as soon as a life ends in another way."""
    warm_up()
    while not (folder / OVER).exists():
        child = os.fork()
        if child == 0:
            live(folder, api_url)
            os._exit(1)
        append(folder / LIVES, str(child))
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != -signal.SIGKILL:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(chain(Path(sys.argv[1]), sys.argv[2]))
