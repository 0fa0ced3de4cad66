"""What joins a process with others on the same database: the queue, the bell, parts of limits."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ulid import ULID

from adapters.storage.database import SqlDatabase
from bot.role import Role
from bot.settings.settings import Settings
from engine.fleet.leases import Bell, Keeper
from engine.store import Store
from engine.values.debate import RETRIEVAL
from engine.values.ports import Dispatcher

if TYPE_CHECKING:
    from engine.fleet.limits import Fleet


@dataclass
class Sharing:
    """The joints of a process with others; one that is alone has only the bell.

    `holder` is this process, as leases name it. Without a `dispatcher` it thinks for its own
    debates; with one, for any that waits. `fleet` is None where no model is called, and `carry`
    takes the bell's rings to other processes.
    """

    bell: Bell = field(default_factory=Bell)
    holder: str = field(default_factory=lambda: str(ULID()))
    dispatcher: Dispatcher | None = None
    fleet: Fleet | None = None
    carry: Callable[[], Coroutine[Any, Any, None]] | None = None

    def works(self, store: Store, keeper: Keeper) -> Iterator[Coroutine[Any, Any, None]]:
        """Yield what runs in the background."""
        if self.carry is not None:
            yield self.carry()
        if self.fleet is not None:
            from engine.fleet.limits import Member

            yield Member(self.fleet, store, keeper, self.bell).run()


def open_sharing(settings: Settings, database: SqlDatabase, role: Role) -> Sharing:
    """Return the joints of a process with a role."""
    sharing = Sharing()
    if not settings.shared:
        return sharing
    # Only here: PostgreSQL's driver and Procrastinate come with the extra `scale`.
    from adapters.storage.listening import Exchange
    from engine.fleet.limits import Fleet

    url = settings.database_direct_url or settings.database_url
    joints = (database, sharing.bell, sharing.holder)
    sharing.carry = Exchange(url.get_secret_value(), *joints).run
    sharing.fleet = Fleet() if role.thinks else None
    if role.queues:
        from adapters.dispatch.procrastinate import ProcrastinateDispatcher
        from adapters.storage.jobs import JobTable

        database.queues = True
        backends = {backend.name for backend in settings.endpoints()}
        backends |= {RETRIEVAL} if settings.retrieval.url else set()
        sharing.dispatcher = ProcrastinateDispatcher(
            JobTable(database), sharing.bell, backends, settings.worker.debates
        )
    return sharing
