"""What differs between databases, as `Database` sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from engine.store.database import SqlConnection
from engine.values.errors import StoreError

T = TypeVar("T")
VERSIONS = "alembic_version"
REVISION = "SELECT version_num FROM alembic_version"
MIN_VERSION = "SELECT value FROM installation WHERE name = 'min_version'"
Operation: TypeAlias = Callable[[SqlConnection], Any]


class Inspection(NamedTuple):
    """What a database contains: its tables, and Alembic's revision.

    `min_version` is the oldest revision whose version of Rostrum may go on with it, if that was
    noted.
    """

    tables: frozenset[str]
    revision: str | None
    min_version: str | None = None


class Dialect(ABC):
    """One database of one kind: how it is opened, written, read and explained.

    `name` is what a person reads of its address, and `kind` what that names. `exclusive` says that
    no other process may run on it, so that older leases are void; `upgrades` that whatever runs on
    it may migrate it at its start; `emptied` that its file was there before, without a byte.
    `batches_reads` says that short queries go with the writes that are on their way. `away`: a
    server does not answer now, or a disk is full, and is waited for. `faults` are what the driver
    raises.
    """

    name: str
    kind = "database"
    path: Path | None = None
    exclusive = False
    upgrades = False
    batches_reads = True
    emptied = False
    away = False
    faults: tuple[type[Exception], ...]

    @abstractmethod
    def commit(self, operations: Sequence[Operation]) -> list[Any]:
        """Run writes as one transaction, and return their results once it is durable.

        Called by the writer's thread alone. Of several that cannot be written together, each is
        then written alone.
        """

    @abstractmethod
    async def fetch(self, sql: str, values: Mapping[str, Any]) -> list[Any]:
        """Return a query's rows as named tuples."""

    @abstractmethod
    def view(self) -> AbstractContextManager[SqlConnection]:
        """Open one consistent view, for a worker thread."""

    @abstractmethod
    def read_snapshot(self, operation: Callable[[SqlConnection], T]) -> T:
        """Run reads on a view, in a worker thread; they may run twice."""

    @abstractmethod
    def exists(self) -> bool:
        """Whether there is anything to open."""

    @abstractmethod
    def inspect(self) -> Inspection:
        """Inspect the database without changing anything."""

    @abstractmethod
    async def is_sound(self, *, thorough: bool = False) -> bool:
        """Check the form of what is stored, as far as the database can."""

    @abstractmethod
    def upgrade(self, run: Callable[[Any], None]) -> None:
        """Run Alembic on an SQLAlchemy connection, in one transaction that no other joins."""

    @abstractmethod
    def explain(self, error: Exception) -> StoreError:
        """Return the message for a driver's error, without any stored data."""

    @abstractmethod
    def close(self) -> None:
        """Close what the writer's thread used, once that has ended."""

    def dump_command(self, out: Path) -> str | None:
        """Return the command of the database's own that copies it into a file, if it has one."""
        return None

    @abstractmethod
    async def close_readers(self) -> None:
        """Let every read finish; further reads are refused."""

    @abstractmethod
    def fail_fast(self) -> None:
        """Wait no longer than a moment for a database that is away: the process ends."""

    @abstractmethod
    def chmod_private(self) -> None:
        """Remove others' access to files."""

    @abstractmethod
    def discard_new_files(self) -> None:
        """Delete what opening created beside another program's database."""

    def empty_log(self) -> bool:
        """Empty what still holds older pages; False while that is in use. By the writer."""
        return True

    def damage(self) -> StoreError:
        """Return the error for a damaged database."""
        return StoreError(
            f"The database {self.name} is damaged; stop Rostrum and restore it from a backup."
        )
