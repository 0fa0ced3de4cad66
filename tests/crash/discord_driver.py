"""A process that serves Discord: `… -m tests.crash.discord_driver FOLDER API_URL`.

It is joined as `rostrum run` joins it, and lives in one child after the other, each killed from
outside or at a point of its fate; each is a fork, which makes a restart cheap. The process ids are
in `lives`, and in `connected` once Discord has greeted them; the file `over` ends the chain.
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

from engine.ports import VenueLimits
from tests.crash.driver import warm_up
from tests.crash.fate import Fate, FatedStore, append
from tests.doubles.discord.server import TOKEN
from tests.scenario.discord_stage import process, settings_of

LIVES, CONNECTED, OVER = "lives", "connected", "over"
LIMITS = VenueLimits(typing_seconds=60, send_seconds=0.4, state_seconds=0.05)


async def serve(folder: Path, api_url: str) -> None:
    """Serve until killed."""
    settings = settings_of(f"sqlite+aiosqlite:///{folder / 'debate.db'}")
    with (
        patch("bot.app.SqlStore", partial(FatedStore, fate=Fate(folder))),
        # A send that hangs is not tried again before whoever let it hang has killed the process.
        patch("engine.delivery.LOOK_SECONDS", 20.0),
    ):
        async with process(settings, TOKEN, api_url, limits=LIMITS):
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
