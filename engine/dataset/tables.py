"""The tables of an export in order, the request for one, and the pass that writes them.

A new table is declared in its own file and listed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any, Literal, TypeAlias

import orjson

from engine.dataset.arena import ARENA_HUMAN, ARENA_JURY
from engine.dataset.columns import Table
from engine.dataset.debate_table import DEBATES, RECORDS
from engine.dataset.entry import (
    Entry,
    LabelSource,
    Pseudonyms,
    make_entry,
    may_be_read,
    newest_moment,
)
from engine.dataset.findings_tables import (
    ADJUSTMENTS,
    ARTIFACTS,
    JUDGINGS,
    JUDGMENTS,
    QUOTATIONS,
    SCORES,
    SOURCES,
)
from engine.dataset.folder import FileFormat
from engine.dataset.people_tables import GUESSES, QUESTIONS_ASKED, VOTES
from engine.dataset.preferences import PREFERENCE, SAME_SIDE, STANDS, UNPAIRED
from engine.dataset.turn_tables import CALLS, TURNS
from engine.dataset.verdict_tables import CALIBRATION, VERDICTS
from engine.store import Archive, ExportFilter
from engine.values.errors import UsageError
from engine.values.topics import SPLITS
from engine.values.verdicts import Question

TABLES: tuple[Table[Any], ...] = (
    DEBATES,
    TURNS,
    VERDICTS,
    CALIBRATION,
    VOTES,
    GUESSES,
    PREFERENCE,
    SAME_SIDE,
    UNPAIRED,
    ARENA_HUMAN,
    ARENA_JURY,
    JUDGMENTS,
    SCORES,
    ADJUSTMENTS,
    ARTIFACTS,
    JUDGINGS,
    SOURCES,
    QUOTATIONS,
    QUESTIONS_ASKED,
    CALLS,
    RECORDS,
)
PROMPTS, SETTINGS = "prompts", "settings"  # the tables that are written only if they are named


def every_table() -> tuple[Table[Any], ...]:
    """Return the tables of an export, with those that have to be named."""
    from engine.dataset import prompt_table  # few exports have them

    return (*TABLES, prompt_table.PROMPTS, prompt_table.SETTINGS)


def choose_tables(names: Iterable[str]) -> tuple[Table[Any], ...]:
    """Return the named tables, or all that are not optional.

    Raises UsageError for an unknown name.
    """
    wanted = set(names)
    if not wanted:
        return TABLES
    tables = TABLES if wanted <= {table.name for table in TABLES} else every_table()
    if unknown := sorted(wanted - {table.name for table in tables}):
        known = ", ".join(table.name for table in tables)
        raise UsageError(f"There is no table “{unknown[0]}”; choose from {known}.")
    return tuple(table for table in tables if table.name in wanted)


Rows: TypeAlias = dict[str, dict[str, int]]


ExportStage: TypeAlias = Literal["LINES", "MIRRORS", "PARQUET"]
"""The stages of an export; Parquet is converted from the written JSON lines."""
Report: TypeAlias = Callable[[ExportStage, int, int], None]
"""Gets the progress of a stage, done and in all: debates, mirrored pairs or bytes of lines."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """The request for an export: debates, tables (empty: all), file format, licence (SPDX id).

    With a `layout` it is the folder of another tool, instead of tables. `secrets` are removed from
    prompts and replies. `labels` says whose winner makes pairs of cases, and `flawed` whether turns
    with flaws do, too.
    """

    where: ExportFilter = field(default_factory=ExportFilter)
    tables: tuple[str, ...] = ()
    file_format: FileFormat = FileFormat.JSONL
    license: str | None = None
    layout: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    labels: LabelSource = "chat"
    flawed: bool = False


@dataclass(slots=True)
class ExportFigures:
    """Counts of an export; `compared` debates were decided by both people and panel."""

    statuses: Counter[str] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    languages: set[str] = field(default_factory=set)
    by_people: int = 0
    by_panel: int = 0
    compared: int = 0
    agreed: int = 0
    rehearsed: int = 0
    ballots: int = 0
    invalid: int = 0
    votes: int = 0
    gold: int = 0

    @property
    def debates(self) -> int:
        """The number of debates."""
        return self.statuses.total()

    def count(self, entry: Entry) -> None:
        """Add a debate."""
        record = entry.record
        self.statuses[entry.debate.status.value] += 1
        self.splits[entry.split] += 1
        self.languages.add(entry.debate.request.language)
        self.by_people += entry.tally is not None and entry.tally.winner is not None
        self.by_panel += record.verdict is not None and record.verdict.winner is not None
        self.compared += entry.agree is not None
        self.agreed += entry.agree is True
        self.rehearsed += bool(entry.debate.setup.rehearsal)
        self.ballots += len(record.ballots)
        self.invalid += sum(not ballot.valid for ballot in record.ballots)
        self.votes += len(entry.votes)
        self.gold += sum(vote.gold for vote in entry.votes)


@dataclass(slots=True)
class _Mirrors:
    """Collects pairs of a debate and its mirror; remembers only ids."""

    _decided: set[str] = field(default_factory=set)
    _linked: list[tuple[str, str]] = field(default_factory=list)

    def note(self, entry: Entry) -> None:
        """Add a debate between A and B that people decided, before or after its mirror."""
        debate, spoken = entry.debate, {speech.turn.side for speech in entry.speeches}
        decided = entry.tally is not None and entry.tally.quorum_met
        if not (decided and debate.request.sides.keys() == STANDS.keys() == spoken):
            return
        self._decided.add(debate.id)
        if debate.setup.mirror_of is not None:
            self._linked.append((debate.setup.mirror_of, debate.id))

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs with both debates added, in the order of the mirrors."""
        return [pair for pair in self._linked if pair[0] in self._decided]


@dataclass(slots=True)
class Writing:
    """One pass through the archive, and its results so far."""

    archive: Archive
    append: Callable[[str, bytes], None]
    tables: tuple[Table[Any], ...]
    voters: Pseudonyms
    salt: bytes
    asked: ExportRequest
    figures: ExportFigures = field(default_factory=ExportFigures)
    chances: Mapping[str, float] = field(default_factory=dict)
    rows: Rows = field(init=False)

    def __post_init__(self) -> None:
        self.rows = {table.name: dict.fromkeys(SPLITS, 0) for table in self.tables}

    def write(self, where: ExportFilter, cutoff: datetime | None, report: Report) -> None:
        """Write debates up to the cut-off, then mirrored pairs.

        Debates revealed since are for the next export. The cut-off is the newest time in the
        debates, not the clock's, so that a repeated export is the same.
        """
        total = self.archive.size(where)
        report("LINES", 0, total)
        if cutoff is None:
            return
        self._calibrate(where, cutoff)
        mirrors, done = _Mirrors(), 0
        with self._entries(where) as entries:
            for entry in entries:
                if newest_moment(entry.debate) <= cutoff:
                    self.put(entry, self.tables)
                    self.figures.count(entry)
                    mirrors.note(entry)
                    done += 1
                    report("LINES", done, total)
        pairs = mirrors.pairs if SAME_SIDE in self.tables else []
        for first in range(0, len(pairs), PAIRS_AT_ONCE):
            report("MIRRORS", first, len(pairs))
            self._write_pairs(pairs[first : first + PAIRS_AT_ONCE])

    def _calibrate(self, where: ExportFilter, cutoff: datetime) -> None:
        """Measure how far votes agree with the others, in debates that asked how clear it was."""
        if VOTES not in self.tables:
            return
        with self.archive.reading(replace(where, asked=Question.CONFIDENCE)) as records:
            first = next(records, None)
            if first is None:
                return
            from engine.stats.confidence import chances, compare  # few debates ask that

            self.chances = chances(
                sure
                for record in chain((first,), records)
                if may_be_read(record.debate) and newest_moment(record.debate) <= cutoff
                for sure in compare(record.asked(Question.VOTE), tuple(record.debate.request.sides))
            )

    @contextmanager
    def _entries(self, where: ExportFilter) -> Iterator[Iterator[Entry]]:
        """Yield debates, without sealed ones, even if the archive should yield one."""
        where = replace(where, prompts=PROMPTS in (table.name for table in self.tables))
        with self.archive.reading(where) as records:
            ended = (record for record in records if may_be_read(record.debate))
            entries = (make_entry(record, self.voters, self.salt) for record in ended)
            yield (
                replace(
                    one,
                    chances=self.chances,
                    secrets=self.asked.secrets,
                    by=self.asked.labels,
                    flawed=self.asked.flawed,
                )
                for one in entries
            )

    def _write_pairs(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Read mirrored debates again: keeping texts for their mirrors takes too much memory."""
        ids = tuple(debate for pair in pairs for debate in pair)
        with self._entries(ExportFilter(ids=ids)) as entries:
            found = {entry.debate.id: entry for entry in entries}
        for first, second in pairs:
            # Either may have been purged meanwhile.
            if first in found and second in found:
                self.put(replace(found[first], mirror=found[second]), (SAME_SIDE,))

    def put(self, entry: Entry, tables: Iterable[Table[Any]]) -> None:
        """Append the rows that a debate has in these tables."""
        for table in tables:
            made = table.rows(entry)
            if made:
                lines = [orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in made]
                path = FileFormat.JSONL.path(table.name, entry.split)
                self.append(path, b"".join(lines))
                self.rows[table.name][entry.split] += len(made)


PAIRS_AT_ONCE = 20  # mirrored pairs read again at once
