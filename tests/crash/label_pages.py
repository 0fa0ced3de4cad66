"""The pages of labelling in a process that dies of an answer: `URL (before|after|never)`.

It dies before the answer is committed, with all of it written; or after that, before the browser
is told.
"""

import asyncio
import os
import signal
import sys
from typing import Any

from adapters.database.database import SqlDatabase
from adapters.site import Site
from adapters.web.application import furnish
from bot.research.labels import label_routes
from bot.settings.settings import Settings, WebSettings
from engine.store import Store, labels
from engine.values.ports import SystemClock
from tests.kit import some


def die_of_an_answer(when: str) -> None:
    """Have this process killed when an answer comes."""
    keep, fill = labels._keep_votes, labels.LabellingStore.fill

    def keep_and_die(*args: Any) -> None:
        keep(*args)
        os.kill(os.getpid(), signal.SIGKILL)

    async def fill_and_die(*args: Any) -> Any:
        await fill(*args)
        os.kill(os.getpid(), signal.SIGKILL)

    acts = {
        "before": (labels, "_keep_votes", keep_and_die),
        "after": (labels.LabellingStore, "fill", fill_and_die),
    }
    if when in acts:
        setattr(*acts[when])


async def main(url: str, when: str) -> None:
    die_of_an_answer(when)
    settings = Settings(web=WebSettings(url="http://127.0.0.1:1", port=0))
    routes = await label_routes(Store(SqlDatabase(url)), SystemClock(), settings)
    site = Site("127.0.0.1", 0)
    async with site.serving(routes, furnish):
        print("http://{}:{}".format(*some(site.address)), flush=True)
        await asyncio.Event().wait()


def serve() -> None:
    asyncio.run(main(*sys.argv[1:]))
