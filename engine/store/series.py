"""Series: what was asked for, and which of their debates were held."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import NamedTuple, Protocol

from engine.store.archive import DebateRecord
from engine.store.leases import Lease
from engine.values.debate import Cause, Status, Value


class StoredSeries(Value):
    """A series as it is stored: `body` is its checked file as JSON, `usd` its cap.

    `stop`: it was asked to begin no more debates. One that is held before people has a `platform`
    and, once its place is known, a `community`; `due_at` is when its next debate may begin, None
    once it has ended, and `problem` says what keeps it from beginning.
    """

    name: str
    body: str
    usd: float | None = None
    stop: bool = False
    begun_at: datetime
    platform: str | None = None
    community: str | None = None
    due_at: datetime | None = None
    problem: str | None = None

    @property
    def recurs(self) -> bool:
        """Whether it is a schedule, which holds none of its debates again."""
        return '"recurring":{' in self.body

    @property
    def goes_on(self) -> bool:
        """Whether it would hold a debate again that were deleted."""
        return self.due_at is not None and not self.stop and not self.recurs


class SeriesDebate(NamedTuple):
    """One debate of a series, as far as it is; `reason` says why it waits or ended early.

    `gone`: nothing more can be posted where it was held; `cause` is the kind of an early end.
    """

    key: str
    id: str
    status: Status
    reason: str
    created_at: datetime
    gone: bool = False
    cause: Cause | None = None

    @property
    def refused(self) -> bool:
        """Whether it ended because a model declined the topic."""
        return self.status is Status.FAILED and self.cause is Cause.REFUSED


class SeriesResult(NamedTuple):
    """Who won a held debate: a contender, "tie", or None; by people where they decided."""

    key: str
    jury: str | None


class Try(NamedTuple):
    """One try of a model call without its texts; None: not known. `seconds` is its latency."""

    debate: str
    model: str
    role: str
    failed: bool
    tokens_in: int | None
    tokens_out: int | None
    tokens_reasoning: int | None
    tokens_cached: int | None
    usd: float | None
    seconds: float | None


class SeriesReading(NamedTuple):
    """A series at one moment: its debates, every try of their calls, and what ended.

    `refusals` counts by model the debates in which it declined the topic. `tries` and `records` can
    be read once each, one after the other.
    """

    stored: StoredSeries
    debates: Sequence[SeriesDebate]
    refusals: Mapping[str, int]
    tries: Iterator[Try]
    records: Iterator[DebateRecord]


class SeriesStore(Protocol):
    """Series and their debates."""

    async def save(self, series: StoredSeries) -> None:
        """Store a series, or what its file now holds; it may begin debates again."""

    async def find(self, name: str) -> StoredSeries | None:
        """Return a series by its name, None if there is none."""

    async def all(self) -> list[StoredSeries]:
        """Return every series, by name."""

    async def scheduled(self, platforms: Sequence[str]) -> list[StoredSeries]:
        """Return the series that are held before people on some platforms and have not ended."""

    async def of_community(self, platform: str, community: str) -> list[StoredSeries]:
        """Return the series that a community watches, the newest first."""

    async def schedule(self, lease: Lease, series: StoredSeries) -> None:
        """Store a series that is held before people: its body, place, next time and problem."""

    async def taken(self, name: str) -> float:
        """Return how many USD of a series' cap are reserved or spent."""

    async def ask_stop(self, name: str) -> None:
        """Let a series begin no more debates."""

    async def debates(self, name: str, among: Sequence[str] | None = None) -> list[SeriesDebate]:
        """Return the debates of a series in the order of their start; `among`: of these ids."""

    async def results(self, name: str, among: Sequence[str] | None = None) -> list[SeriesResult]:
        """Return the jury's verdict on each debate that has ended; `among`: of these ids."""

    async def refusals(self, name: str, among: Sequence[str] | None = None) -> dict[str, int]:
        """Return in how many debates each model refused: a turn, or so that the debate ended.

        `among`: of the debates with these ids.
        """

    def reading(
        self, name: str, *, told: bool = False
    ) -> AbstractContextManager[SeriesReading | None]:
        """Open one consistent view of a series, for a worker thread; None if there is none.

        `told` leaves out what `ExportFilter.told` does.
        """
