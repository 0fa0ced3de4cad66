"""One life after the other: how a process that its test kills comes back, and tells where it is.

Each life is a fork, which makes a restart cheap. Their process ids are in `lives`, and in
`connected` those that a platform has greeted.
"""

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psycopg
import structlog

from adapters.models.speeches import load_script
from engine.formats import FORMATS
from engine.run.run import warm_up
from engine.values.ports import VenueLimits
from tests.crash.fate import SERVER, Fate, FatedStore, append, url_of
from tests.crash.inputs import FIRST, PROMPTS

READY = f"{__name__}:prepare"
LIVES, CONNECTED, LOG = "lives", "connected", "log"
# A send may take long on a busy machine; one in doubt is looked for when its time is over.
LIMITS = VenueLimits(typing_seconds=60, send_seconds=2.0, state_seconds=0.05)
END_OTHERS = """
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
SAID = (
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(),
    structlog.processors.format_exc_info,
    structlog.processors.KeyValueRenderer(key_order=["timestamp", "level", "event"]),
)
Life = Callable[[], Coroutine[Any, Any, None]]


def chain(folder: Path, life: Life) -> int:
    """Live again after every kill, and return the exit code of the life that was not killed."""
    while True:
        child = os.fork()
        if child == 0:
            run_out(url_of(folder))
            os._exit(live(folder, life))
        append(folder / LIVES, str(child))
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != -signal.SIGKILL:
            return code


def prepare() -> None:
    """Load and compile what every life would; no thread may run before a fork."""
    for name in ("aiosqlite", "tests.crash.driver"):
        import_module(name)
    assert all(FORMATS[name] for name in FORMATS)
    warm_up(PROMPTS, frozenset(model.ref for model in FIRST.defaults.sides.values()))
    for part in ("for", "against", "table"):
        load_script("en", part)


def run_out(url: str) -> None:
    """Let the leases of the life before run out at once: it is dead for certain.

    The server may still work on its last statement, which would renew them. On a file they are
    void, as no other process may run on it.
    """
    if url.startswith(SERVER):
        with psycopg.connect(url, autocommit=True) as connection:
            while connection.execute(END_OTHERS).rowcount:  # until a look finds none
                pass
            connection.execute("UPDATE leases SET until = clock_timestamp() - interval '1 second'")


def live(folder: Path, life: Life) -> int:
    """Live once, and return the exit code; what it says goes to the folder's log."""
    factory = structlog.WriteLoggerFactory((folder / LOG).open("a", buffering=1))
    structlog.configure(processors=SAID, logger_factory=factory)
    try:
        asyncio.run(life())
    except Exception:  # noqa: BLE001 - a child must not run on as its parent
        traceback.print_exc()
        return 1
    return 0


@contextmanager
def fated(folder: Path) -> Iterator[str]:
    """Have the bot that the body joins die as its folder says; return its database's address."""
    with patch("bot.app.Store", partial(FatedStore, fate=Fate(folder))):
        yield url_of(folder)


async def stay(folder: Path) -> None:
    """Tell that the platform has greeted this process, and wait for the kill.

    It ends by itself only when its test has gone, who would have killed it.
    """
    append(folder / CONNECTED, str(os.getpid()))
    alone = asyncio.Event()
    asyncio.get_running_loop().add_reader(sys.stdin, alone.set)
    await alone.wait()
