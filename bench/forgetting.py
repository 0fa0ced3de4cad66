"""How long forgetting somebody holds the database's one writer, and what `/metrics` asks of it.

`python -m bench.forgetting [DEBATES]`: on a file and on a PostgreSQL server of its own, with
twenty votes a debate. Somebody who voted in a hundred debates, and whom twenty topics mention, is
forgotten; then somebody of whom nothing is stored. Printed are the longest write, and all of it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from adapters.database.database import SqlDatabase
from adapters.database.migrate import migrate
from bench.pages import CLUB, addresses
from bench.past_debates import BEGAN, SYLLABLES, Past
from engine.store import Store
from engine.store.database import SqlConnection

VOTERS, VOTES, AT_ONCE = 2000, 20, 500
TRIES = 10
USER, STRANGER = "100000000000000007", "900000000000000009"
PERSON = """
INSERT INTO people (id, platform, "user", opted_out) VALUES (:id, 'chat', :user, FALSE)
"""
VOTE = """
INSERT INTO vote_events (debate, person, option, added, how, received_at, late_seen, question, step)
VALUES (:debate, :person, 'A', TRUE, 'reaction', :at, FALSE, 'vote', '')
"""


async def main(debates: int) -> None:
    """Measure on both databases."""
    with addresses() as urls:
        for kind, url in urls:
            print(f"{kind}, {debates:,} debates, {VOTES * debates:,} votes")
            database = SqlDatabase(url)
            await migrate(database)
            await fill(database, debates)
            await measure(database)
            await database.close()


async def fill(database: SqlDatabase, debates: int) -> None:
    """Store voters, debates and votes."""
    await database.write(_people)
    for first in range(0, debates, AT_ONCE):
        await database.write(partial(_debates, numbers=range(first, first + AT_ONCE)))


def _people(connection: SqlConnection) -> None:
    for number in range(1, VOTERS + 1):
        connection.run(PERSON, id=number, user=str(100000000000000000 + number))


def _debates(connection: SqlConnection, numbers: range) -> None:
    for number in numbers:
        past = Past(number, 0, list(SYLLABLES))
        mentioned = USER if number % 500 == 0 else f"{USER}1"
        request = past.setup.request.model_copy(update={"topic": f"<@{mentioned}> is right"})
        setup = past.setup.model_copy(update={"request": request}).model_dump_json()
        row = past.debate() | CLUB | {"setup": setup}
        columns, values = (", ".join(map(form.format, row)) for form in ('"{}"', ":{}"))
        connection.run(f"INSERT INTO debates ({columns}) VALUES ({values})", **row)  # noqa: S608
        for vote in range(VOTES):
            person = (number * VOTES + vote) % VOTERS + 1
            connection.run(VOTE, debate=row["id"], person=person, at=BEGAN)


async def measure(database: SqlDatabase) -> None:
    """Print how long writes and queries take."""
    store, took = Store(database), list[float]()
    write = database.write

    async def timed(operation: Callable[[SqlConnection], Any]) -> Any:
        def run(connection: SqlConnection) -> Any:
            began = time.perf_counter()
            try:
                return operation(connection)
            finally:
                took.append(1000 * (time.perf_counter() - began))

        return await write(run)

    setattr(database, "write", timed)  # noqa: B010 - mypy allows no other way
    for who, user in (("somebody", USER), ("a stranger", STRANGER)):
        took.clear()
        began = time.perf_counter()
        await store.privacy.forget("chat", user)
        whole = 1000 * (time.perf_counter() - began)
        print(f"  forgets {who:<12} longest write {max(took):7.1f} ms, in all {whole:7.1f} ms")
    asked = (store.queue.census, store.deliveries.backlog)
    for query in (*asked, partial(store.fits.newest, rehearsal=False)):
        times = []
        for _ in range(TRIES):
            began = time.perf_counter()
            await query()
            times.append(1000 * (time.perf_counter() - began))
        name = getattr(query, "__name__", "newest fit")
        print(f"  /metrics asks for {name:<12} {min(times):6.1f} ms, at most {max(times):6.1f} ms")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
