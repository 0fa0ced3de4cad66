"""The Archive port over records in memory, and the rows that an export has of a record."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from engine.dataset.entry import Pseudonyms, make_entry, may_be_read, newest_moment
from engine.dataset.tables import choose_tables
from engine.store import Archive, DebateRecord, ExportFilter
from engine.values.debate import Debate
from engine.values.errors import StoreError


class MemoryArchive(Archive):
    """Yields its records by id; `fails_after` breaks a reading off."""

    def __init__(self, *records: DebateRecord, fails_after: int | None = None) -> None:
        self.records = sorted(records, key=lambda record: record.debate.id)
        self._fails_after = fails_after

    @contextmanager
    def reading(self, where: ExportFilter) -> Iterator[Iterator[DebateRecord]]:
        yield self._wanted(where)

    def newest(self, where: ExportFilter) -> datetime | None:
        found = (record.debate for record in self.records if self._has(record.debate, where))
        return max(map(newest_moment, filter(may_be_read, found)), default=None)

    def last_deletion(self) -> str:
        return ""

    def size(self, where: ExportFilter) -> int:
        return sum(self._has(record.debate, where) for record in self.records)

    def ids(self, where: ExportFilter) -> tuple[str, ...]:
        return tuple(r.debate.id for r in self.records if self._has(r.debate, where))

    def _wanted(self, where: ExportFilter) -> Iterator[DebateRecord]:
        for number, record in enumerate(self.records):
            if number == self._fails_after:
                raise StoreError("The database is gone.")
            if self._has(record.debate, where):
                yield record

    def _has(self, debate: Debate, where: ExportFilter) -> bool:
        others = (record.debate for record in self.records)
        pair = {debate.id, debate.setup.mirror_of or debate.id}
        goes_on = any(
            not may_be_read(other) and {other.id, other.setup.mirror_of} & pair for other in others
        )
        return _is_wanted(debate, where) and not (where.settled and goes_on)


def _is_wanted(debate: Debate, where: ExportFilter) -> bool:
    request = debate.request
    return (
        where.platform in (None, debate.platform)
        and (debate.revealed_at is not None or not where.revealed)
        and where.community in (None, debate.community)
        and (not where.formats or request.format in where.formats)
        and (not where.languages or request.language in where.languages)
        and (where.since is None or newest_moment(debate) > where.since)
        and (where.until is None or newest_moment(debate) <= where.until)
        and not (where.without_rehearsal and debate.setup.rehearsal)
        and (not where.ids or debate.id in where.ids)
    )


def export_rows(table: str, record: DebateRecord) -> list[dict[str, Any]]:
    entry = make_entry(record, Pseudonyms(b"key", ExportFilter(), None), b"salt")
    (chosen,) = choose_tables([table])
    return list(chosen.rows(entry))
