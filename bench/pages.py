"""How soon pages begin to arrive, and how large they are, beside ten thousand debates.

`python -m bench.pages [DEBATES [TURNS]]`: on a file and on a PostgreSQL server of its own,
each path is asked for once, then ten times; printed are the first byte of the first load in the
process, then the median and the slowest of the others, in milliseconds, with the processor's time
for one of these, this client's included, and the page's size in kB. One debate has a thousand turns
and their calls. All debates are of one community, whose public pages follow; no answer of theirs is
shared with the next reader.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from statistics import median

from aiohttp import ClientSession

from adapters.database.database import SqlDatabase
from adapters.database.migrate import migrate
from adapters.web import crowd
from bench.past_debates import SYLLABLES, Past
from engine.pages.stored import StoredLibrary
from engine.store import Store
from engine.store.database import SqlConnection
from engine.store.debates import keep_listing
from engine.values.debate import Debate, Fit, JurorFit, Status
from tests.doubles.databases import PostgresDouble
from tests.kit import ballot, new_debate, run, turn, turn_post, verdict
from tests.scenario.test_public_debates import post, shown, tell
from tests.scenario.test_reading import reading

TRIES = 10
CLUB = {"platform": "chat", "community": "club"}
TEXT = 'It is a matter of *record* that [this](https://example.com) holds, "as said". ' * 14
PATHS = {
    "list": "/",
    "last page of the list": "/?page={pages}",
    "search": "/?q=mo%20te",
    "search that finds nothing": "/?q=zzzz",
    "by model": "/?model=bench/acme-1",
    "by state and language": "/?state=closed&language=en",
    "disagreement": "/?disagreement=1",
    "first part of a long debate": "/debates/{long}",
    "last part of a long debate": "/debates/{long}?part=999",
    "a turn in it": "/debates/{long}?turn=500",
    "its calls": "/debates/{long}/calls",
    "a call": "/debates/{long}/calls/77",
}
PUBLIC = {
    "public list": "/c/{page}/debates",
    "its last page": "/c/{page}/debates?page={pages}",
    "a long public debate": "/d/{id}",
    "its last part": "/d/{id}?part=999",
}


async def main(debates: int, turns: int) -> None:
    """Measure on both databases."""
    with addresses() as urls:
        for kind, url in urls:
            print(f"{kind}, {debates:,} debates, one of {turns:,} turns")
            await measure_all(url, debates, turns)


async def measure_all(url: str, debates: int, turns: int) -> None:
    """Measure every page over one database."""
    async with filled(url, debates, turns) as (store, long):
        async with reading(StoredLibrary(store)) as client:
            await measure(client, PATHS, {"long": long.code, "pages": str(debates // 50)})
        crowd.SHARED_SECONDS = 0.0
        async with shown(store) as reader:
            page = await store.communities.page(**CLUB) or ""
            named = {"page": page, "pages": str(debates // 50), "id": long.id.lower()}
            await measure(reader.client, PUBLIC, named)


@contextmanager
def addresses() -> Iterator[Iterator[tuple[str, str]]]:
    """Provide the address of an empty database of each kind."""
    server = PostgresDouble()
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = f"sqlite+aiosqlite:///{folder}/rostrum.db"
            yield iter((("SQLite", file), ("PostgreSQL", server.url(server.create()))))
    finally:
        server.stop()


@asynccontextmanager
async def filled(url: str, debates: int, turns: int) -> AsyncIterator[tuple[Store, Debate]]:
    """Fill a database, and open the store on it."""
    database = SqlDatabase(url)
    await migrate(database)
    store = Store(database)
    try:
        for first in range(0, debates, 500):
            await database.write(partial(_insert, numbers=range(first, first + 500)))
        yield store, await _hold_long(store, turns)
    finally:
        await store.close()


def _insert(connection: SqlConnection, numbers: range) -> None:
    """Store ended debates, their setups as large as with the model of twenty jurors."""
    jurors = {f"bench/juror-{n}": JurorFit(family=f"j{n}") for n in range(20)}
    fit = Fit(version=1, shared=0.2, kin=0.1, people=0.6, jurors=jurors)
    for number in numbers:
        past = Past(number, 0, list(SYLLABLES))
        panel = past.setup.panel.model_copy(update={"fit": fit})
        setup = past.setup.model_copy(update={"panel": panel})
        row = past.debate() | CLUB | {"setup": setup.model_dump_json()}
        columns, values = (", ".join(map(form.format, row)) for form in ('"{}"', ":{}"))
        connection.run(f"INSERT INTO debates ({columns}) VALUES ({values})", **row)  # noqa: S608
        keep_listing(connection, row["id"], setup)


async def _hold_long(store: Store, turns: int) -> Debate:
    running = await run(store, new_debate(number=1_000_000))
    await store.outbox.set_thread(running.lease, running.id, "thread")
    for number in range(1, turns + 1):
        side = "AB"[number % 2]
        said = turn(number, TEXT, step=f"turn/{number}/{side}", side=side, seat=side)
        await store.journal.record_turn(running.lease, running.id, said, turn_post(number))
        await running.call(said.step, text=TEXT)
        await post(running)
    read = {f"panel/{n}": ballot(f"rehearsal/oak-{n}") for n in range(6)}
    await store.journal.record_verdict(running.lease, running.id, verdict(), read)
    await running.advance(Status.VOTING)
    await tell(running)
    return await running.get()


async def measure(client: ClientSession, paths: dict[str, str], named: dict[str, str]) -> None:
    """Ask for every page, and print how soon it came."""
    for title, path in paths.items():
        first, size = await load(client, path.format(**named))
        began = time.process_time()
        took = [(await load(client, path.format(**named)))[0] for _ in range(TRIES)]
        spent = 1000 * (time.process_time() - began) / TRIES
        times = f"{first:6.1f} ms, then {median(took):6.1f} ms {max(took):6.1f} ms"
        print(f"  {title:<28} {times} {spent:6.1f} ms of processor {size / 1000:6.1f} kB")


async def load(client: ClientSession, path: str) -> tuple[float, int]:
    """Load a page; return the milliseconds to its first byte, and its bytes."""
    began = time.perf_counter()
    async with client.get(path) as answer:
        took = 1000 * (time.perf_counter() - began)
        assert answer.status == 200, (path, answer.status)
        return took, len(await answer.read())


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    asyncio.run(main(*(given + [10_000, 1_000][len(given) :])))
