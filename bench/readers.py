"""Whether people who read public pages slow the debates of the same process.

`python -m bench.readers [READERS [DEBATES [BLOCKS]]]`: one process holds debates of rehearsal
models over SQLite and serves the pages; readers are another. Blocks with and without readers take
turns in one run, so that whatever else the machine does is in both. A reader loads the list or a
debate, waits about two seconds, and loads the next. It prints the time from a message's commit to
its post, and the ratio of the two p99.
"""

from __future__ import annotations

import asyncio
import logging
import random
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import orjson
import structlog
from aiohttp import ClientSession, TCPConnector

from adapters.database.database import SqlDatabase
from adapters.database.migrate import migrate
from adapters.pictures import drawn
from adapters.site import Site
from adapters.web.application import furnish
from adapters.web.public import PublicPages
from bench.wheel.machine import percentile
from bot.exits import run
from engine.pages.public import PublicReader
from engine.run.order import Order
from engine.store.communities import PublicPart
from engine.values.debate import Model, short_code
from engine.values.ports import Part, Permalinks, SystemClock, VenueLimits
from tests.doubles.hall import DEFAULTS, LOBBY, Hall, Session
from tests.doubles.venue import MemoryVenue

LATENCY = 0.25  # seconds of a model call
THINK_SECONDS = 2.0
LIMITS = VenueLimits(typing_seconds=60, send_seconds=5, state_seconds=1.0)


class Sent(NamedTuple):
    """When a message could be posted, and when it was."""

    queued: float
    posted: float


class _WatchedVenue(MemoryVenue):
    """A platform that notes when each first piece of a message arrives."""

    def __init__(self) -> None:
        super().__init__(limits=LIMITS)
        self.arrived: dict[str, float] = {}

    async def post(self, place: str, part: Part, *, notify: str = "") -> str:
        """Post one piece."""
        self.arrived.setdefault(part.reference.rpartition("·")[0], time.time())
        return await super().post(place, part, notify=notify)


async def read_pages(url: str, paths: list[str], readers: int) -> None:
    """Read as that many people do, until killed; print how many pages and the slowest ones."""
    taken: list[float] = []

    async def reader(client: ClientSession) -> None:
        while True:
            await asyncio.sleep(random.uniform(0, 2 * THINK_SECONDS))
            began = time.monotonic()
            async with client.get(url + random.choice(paths)) as answer:
                await answer.read()
            taken.append(time.monotonic() - began)

    async with (
        ClientSession(connector=TCPConnector(limit=0)) as client,
        asyncio.TaskGroup() as group,
    ):
        tasks = [group.create_task(reader(client)) for _ in range(readers)]
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)  # until it is closed
        for task in tasks:
            task.cancel()
    slow = [round(1000 * percentile(taken, q), 1) for q in (0.5, 0.99)] if taken else []
    print(orjson.dumps({"pages": len(taken), "ms_p50_p99": slow}).decode())


async def hold(session: Session, debates: int) -> list[str]:
    """Hold debates side by side; return their ids."""
    sides = {
        s: Model.parse(f"rehearsal/{m}?latency={LATENCY}") for s, m in zip("AB", "mw", strict=True)
    }
    jurors = tuple(Model.parse(f"rehearsal/j{n}?latency={LATENCY}#k{n}") for n in range(3))
    defaults = DEFAULTS.model_copy(
        update={
            "sides": sides,
            "jurors": jurors,
            "models": tuple(sides.values()),
            "vote_minutes": 0.01,
        }
    )
    where = {"platform": "memory", "community": "club", "place": LOBBY}
    begun = []
    for _ in range(debates):
        begun.append((await session.service.start(Order(**where), defaults)).debate.id)
        await asyncio.sleep(0.1)
    await asyncio.gather(*map(session.ended, begun))
    return begun


async def delays(session: Session, venue: _WatchedVenue, debates: list[str]) -> list[float]:
    """Return the seconds from commit to post of every message of some debates."""
    rows = await session.store.database.rows(
        "SELECT debate, number, queued_at FROM outbox WHERE debate IN :debates AND target IS NULL",
        debates=debates,
    )
    found = []
    for row in rows:
        arrived = venue.arrived.get(f"{short_code(row.debate)}·{row.number}")
        if arrived is not None and isinstance(row.queued_at, datetime):
            found.append(arrived - row.queued_at.timestamp())
    return found


async def measure(readers: int, debates: int, blocks: int) -> dict[str, object]:
    """Return the delays with and without readers."""
    plain: list[float] = []
    read: list[float] = []
    pages = []
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite+aiosqlite:///{Path(folder, 'rostrum.db')}"
        database = SqlDatabase(url)
        await migrate(database)
        await database.close()
        venue = _WatchedVenue()
        async with Hall(url, venue).open() as session:
            communities = session.store.communities
            await communities.change(
                "memory",
                "club",
                lambda old: old.model_copy(update={"public": tuple(PublicPart)}),
                SystemClock().now(),
            )
            key = await communities.page("memory", "club")
            routes = PublicPages(
                PublicReader(session.store, SystemClock(), "bench"), Permalinks("http://x"), drawn
            ).routes()
            site = Site("127.0.0.1", 0)
            async with site.serving(routes, furnish):
                assert site.address
                base = "http://{}:{}".format(*site.address)
                known = await hold(session, debates)  # unmeasured: everything is warm then
                for block in range(2 * blocks):
                    reads = block % 2 == 1
                    client = None
                    if reads:
                        paths = [f"/c/{key}/debates", *(f"/d/{one.lower()}" for one in known[-12:])]
                        client = await asyncio.create_subprocess_exec(
                            *(sys.executable, "-m", "bench.readers", "read"),
                            *(base, str(readers), *paths),
                            stdin=asyncio.subprocess.PIPE,
                            stdout=asyncio.subprocess.PIPE,
                        )
                        await asyncio.sleep(3)
                    held = await hold(session, debates)
                    known += held
                    (read if reads else plain).extend(await delays(session, venue, held))
                    if client is not None:
                        said, _ = await client.communicate(b"")
                        pages.append(orjson.loads(said))
    without, with_them = (percentile(one, 0.99) for one in (plain, read))
    return {
        "messages": [len(plain), len(read)],
        "without_ms_p50_p99": [round(1000 * percentile(plain, 0.5), 1), round(1000 * without, 1)],
        "with_ms_p50_p99": [round(1000 * percentile(read, 0.5), 1), round(1000 * with_them, 1)],
        "ratio_p99": round(with_them / without, 3),
        "readers": pages,
    }


async def report(readers: int, debates: int, blocks: int) -> None:
    """Print the delays with and without readers."""
    found = await measure(readers, debates, blocks)
    print(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())


if __name__ == "__main__":
    if sys.argv[1:2] == ["read"]:
        asyncio.run(read_pages(sys.argv[2], sys.argv[4:], int(sys.argv[3])))
    else:
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
        given = [int(one) for one in sys.argv[1:]]
        run(lambda: report(*given, *(100, 12, 3)[len(given) :]))  # as `rostrum run` begins
