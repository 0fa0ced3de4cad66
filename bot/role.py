"""What joins a process with others on one database: role, queue, notifier, parts of limits."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ulid import ULID

from adapters.database.database import SqlDatabase
from bot.settings.settings import Settings
from engine.fleet.leases import LeaseManager, Notifier
from engine.store import Store
from engine.values.debate import RETRIEVAL

if TYPE_CHECKING:
    from engine.fleet.limits import Fleet
    from engine.values.protocols import Dispatcher

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
    from adapters.database.notifications import NotificationExchange
    from engine.fleet.limits import Fleet

    url = settings.database_direct_url or settings.database_url
    services = (database, sharing.notifier, sharing.holder)
    sharing.carry = NotificationExchange(url.get_secret_value(), *services).run
    sharing.fleet = Fleet() if role.thinks else None
    if role.queues:
        from adapters.database.jobs import JobTable
        from adapters.dispatch.procrastinate import ProcrastinateDispatcher

        database.queues = True
        backends = {backend.name for backend in settings.endpoints()}
        backends |= {RETRIEVAL} if settings.retrieval.url else set()
        sharing.dispatcher = ProcrastinateDispatcher(
            JobTable(database), sharing.notifier, backends, settings.worker.debates
        )
    return sharing
