"""Notifications across processes, by LISTEN and NOTIFY of PostgreSQL.

Each process has one connection that listens; it needs an address that leads to the server itself,
past a proxy that pools transactions. Those of a moment go out together, on the store's connections.
While either is away nothing is sent, and all that waits polls, as it does anyway.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import orjson
import psycopg
import structlog
from psycopg import conninfo

from adapters.database.database import SqlDatabase
from adapters.database.postgres import NETWORK
from engine.fleet.leases import Notification, Notifier
from engine.values.errors import StoreError, why_of
from engine.values.pace import Backoff

CHANNEL = "rostrum_bell"
# What a notification is about has been committed, so no one waits until itself is on a disk.
TELL = "SELECT set_config('synchronous_commit', 'off', TRUE), pg_notify(:channel, :payload)"
MOST_BYTES = 7_500  # PostgreSQL takes 8,000
GATHER_SECONDS = 0.01  # each costs the server a transaction here, and one in every process
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
PROBE_SECONDS = 15.0  # a connection that was cut says nothing by itself
PROBE_PATIENCE = 5.0
log = structlog.get_logger(__name__)


class NotificationExchange:
    """Carries notifications between this process and all others on its database."""

    def __init__(self, url: str, database: SqlDatabase, notifier: Notifier, sender: str) -> None:
        self._url = url
        self._database = database
        self._notifier = notifier
        self._sender = sender
        self._outgoing: dict[Notification, None] = {}
        self._told = asyncio.Event()
        self._told_so = False  # that it has not been heard for a while
        notifier.outward = self._note

    async def run(self) -> None:
        """Carry notifications until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._tell())
            group.create_task(self._listen())

    # --- out -------------------------------------------------------------------------------

    def _note(self, notification: Notification) -> None:
        self._outgoing[notification] = None
        self._told.set()

    async def _tell(self) -> None:
        while True:
            await self._told.wait()
            await asyncio.sleep(GATHER_SECONDS)
            self._told.clear()
            notifications, self._outgoing = list(self._outgoing), {}
            for payload in pack(self._sender, notifications):
                try:
                    await self._database.rows(TELL, channel=CHANNEL, payload=payload)
                except StoreError as error:
                    log.debug("bell not rung", why=str(error))

    # --- in --------------------------------------------------------------------------------

    async def _listen(self) -> None:
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while True:
            try:
                _, _, rest = self._url.partition("://")
                address = conninfo.make_conninfo(f"postgresql://{rest}", **NETWORK)
                async with await psycopg.AsyncConnection.connect(
                    address, autocommit=True
                ) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    backoff.reset()
                    self._told_so = False
                    while True:
                        async for notice in connection.notifies(timeout=PROBE_SECONDS):
                            self._receive(notice.payload)
                        async with asyncio.timeout(PROBE_PATIENCE):
                            await connection.execute("SELECT 1")
            except (psycopg.Error, TimeoutError) as error:
                if backoff.pause == LONGEST_PAUSE and not self._told_so:
                    log.warning("bell not heard", why=why_of(error).partition("\n")[0])
                    self._told_so = True
            await asyncio.sleep(backoff.next())

    def _receive(self, payload: str) -> None:
        sender, notifications = orjson.loads(payload)
        if sender != self._sender:
            for topic, key in notifications:
                self._notifier.receive(Notification(topic, key))


def pack(sender: str, notifications: Sequence[Notification]) -> list[str]:
    """Return payloads that together hold all notifications, each of a size that is taken."""
    payloads: list[str] = []
    rest = [list(notification) for notification in notifications]
    while rest:
        count = len(rest)
        while len(body := orjson.dumps([sender, rest[:count]])) > MOST_BYTES and count > 1:
            count = (count + 1) // 2
        payloads.append(body.decode())
        rest = rest[count:]
    return payloads
