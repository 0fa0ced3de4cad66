"""The database of a command or a process: opened, read beside others, and shared with them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from ulid import ULID

from adapters.database.database import START_SECONDS, SqlDatabase
from adapters.database.migrate import require_newest
from bot.settings.settings import Settings
from engine.fleet.leases import LeaseManager, Notifier
from engine.store import Store
from engine.values.debate import RETRIEVAL
from engine.values.errors import NotFoundError, RostrumError
from engine.values.options import hint

if TYPE_CHECKING:
    from engine.fleet.limits import Fleet
    from engine.store.series import StoredSeries
    from engine.values.protocols import Dispatcher

# The store for commands that only read, without the rest of the program.


SERVER_SECONDS = 60.0  # how long a process that stays waits at its start for a database server
# Errors of parsing a corrupted text.
GARBLED = (UnicodeDecodeError, JSONDecodeError, ValidationError)


def open_database(
    settings: Settings, *, writable: bool = True, start_seconds: float = START_SECONDS
) -> SqlDatabase:
    """Return the database of the settings; see `SqlDatabase`. Raises StoreError."""
    return SqlDatabase(
        settings.database_url.get_secret_value(),
        writable=writable,
        pool=settings.database_pool,
        start_seconds=start_seconds,
    )


@asynccontextmanager
async def read_store(settings: Settings, *, whole: bool = False) -> AsyncIterator[Store]:
    """Open the store for reading, beside a running process.

    `whole` verifies the whole file first: a damaged index would silently hide rows from an export.
    Raises StoreError, also for errors of the body that a damaged file causes.
    """
    database = open_database(settings, writable=False)
    store = Store(database, settings.vault_keys())
    try:
        await require_newest(database)
        if whole and not await database.is_sound(thorough=True):
            raise database.damage()
        yield store
    except (RostrumError, OSError):
        raise
    except Exception as error:
        if isinstance(error, GARBLED) or not await database.is_sound():
            raise database.damage() from error
        raise
    finally:
        await store.close()


# What joins a process with others on one database: role, queue, notifier, parts of limits.


# What a process is of a running Rostrum.


class Role(StrEnum):
    """Which part of Rostrum a process is; each value but the last is its command.

    A gateway holds the platforms' connections and all that answers people, and a worker thinks:
    formats and panels. A process that runs alone is both, and so is a command, for what it began.
    """

    ALL = "run"
    GATEWAY = "gateway"
    WORKER = "worker"
    COMMAND = "command"

    @property
    def serves(self) -> bool:
        """Whether it holds connections to platforms."""
        return self is not Role.WORKER

    @property
    def thinks(self) -> bool:
        """Whether it runs debates."""
        return self is not Role.GATEWAY

    @property
    def queues(self) -> bool:
        """Whether debates that it stores are for any process that thinks."""
        return self is not Role.COMMAND


@dataclass
class Sharing:
    """The services of a process with others; one that is alone has only the notifier.

    `holder` is this process, as leases name it. Without a `dispatcher` it thinks for its own
    debates; with one, for any that waits. `fleet` is None where no model is called, and `carry`
    takes notifications to other processes.
    """

    notifier: Notifier = field(default_factory=Notifier)
    holder: str = field(default_factory=lambda: str(ULID()))
    dispatcher: Dispatcher | None = None
    fleet: Fleet | None = None
    carry: Callable[[], Coroutine[Any, Any, None]] | None = None

    def jobs(
        self, store: Store, lease_manager: LeaseManager
    ) -> Iterator[Coroutine[Any, Any, None]]:
        """Yield what runs in the background."""
        if self.carry is not None:
            yield self.carry()
        if self.fleet is not None:
            from engine.fleet.limits import FleetMember

            yield FleetMember(self.fleet, store, lease_manager, self.notifier).run()


def open_sharing(settings: Settings, database: SqlDatabase, role: Role) -> Sharing:
    """Return the services of a process with a role."""
    sharing = Sharing()
    if not settings.shared:
        return sharing
    # Only here: PostgreSQL's driver and Procrastinate come with the extra `scale`.
    from adapters.database.processes import NotificationExchange
    from engine.fleet.limits import Fleet

    url = settings.database_direct_url or settings.database_url
    services = (database, sharing.notifier, sharing.holder)
    sharing.carry = NotificationExchange(url.get_secret_value(), *services).run
    sharing.fleet = Fleet() if role.thinks else None
    if role.queues:
        from adapters.database.processes import JobTable
        from adapters.dispatch.procrastinate import ProcrastinateDispatcher

        database.queues = True
        backends = {backend.name for backend in settings.endpoints()}
        backends |= {RETRIEVAL} if settings.retrieval.url else set()
        sharing.dispatcher = ProcrastinateDispatcher(
            JobTable(database), sharing.notifier, backends, settings.worker.debates
        )
    return sharing


async def find_series(store: Store, name: str) -> StoredSeries:
    """Return a series. Raises NotFoundError."""
    stored = await store.series.find(name)
    if stored is None:
        near = hint(name, [series.name for series in await store.series.all()])
        raise NotFoundError(
            f"There is no series “{name}”; {f'{near} A' if near else 'a'} series is known once "
            "it has run."
        )
    return stored
