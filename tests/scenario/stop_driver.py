"""`rostrum run` with a PART that hangs, and stops of a tenth of the time: `… stop_driver PART`."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any

from adapters import site
from adapters.database import postgres
from adapters.discord import client
from adapters.dispatch import procrastinate
from adapters.slack import client as slack_client, connection
from bot import cli, exits
from bot.app import App
from bot.serve import run
from bot.settings.settings import STOP_SECONDS

TENTH = 0.1
CALLS = exits.calls_seconds(STOP_SECONDS) * TENTH
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"


async def read_for_ever(app: App) -> None:
    """Read without an end, as in a huge export."""
    await app.store.database.rows(ENDLESS)


async def hold_a_thread(_: App) -> None:
    """Be stuck in a thread that no one can end, as in a name that is looked up."""
    await asyncio.to_thread(time.sleep, 60)


async def hang_at_nothing(_: App) -> None:
    """Leave it to the servers outside."""


HANGING: Mapping[str, Callable[[App], Coroutine[Any, Any, None]]] = {
    "reader": read_for_ever,
    "thread": hold_a_thread,
    "nothing": hang_at_nothing,
    "database": hang_at_nothing,
}


def main(part: str) -> None:
    exits.END_SECONDS = STOP_SECONDS - CALLS
    exits.CLOSE_SECONDS *= TENTH
    run.LEFT_SECONDS *= TENTH
    if part in ("thread", "database"):  # of the others none may need it, on a busy machine neither
        os.environ["ROSTRUM_STOP_SECONDS"] = str(STOP_SECONDS * TENTH)
        exits.END_SECONDS = STOP_SECONDS * TENTH - CALLS
        exits.CUT_SECONDS *= TENTH
        postgres.LAST_SECONDS *= TENTH
        procrastinate.AGAIN_SECONDS *= TENTH
    for adapter in (client, slack_client, connection, site):
        adapter.FINISH_SECONDS *= TENTH  # type: ignore[attr-defined]
    serving = run.serving

    @asynccontextmanager
    async def with_it(*given: Any, **more: Any) -> AsyncIterator[App]:
        async with serving(*given, **more) as app:
            hanging = asyncio.create_task(HANGING[part](app))
            yield app
            del hanging

    run.serving = with_it
    sys.argv = ["rostrum", "run"]
    cli.main()


if __name__ == "__main__":
    main(sys.argv[1])
