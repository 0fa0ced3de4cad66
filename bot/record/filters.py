"""`rostrum export`, and the filters that `rostrum stats` and `rostrum usage` have too."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, get_args

from bot import log, sentences
from bot.commands.choice import EVERY_DEBATE, DebateChoice
from bot.database import find_series
from bot.record.exports import export_into
from bot.settings.load import load_store_settings
from engine.dataset.bundle import beside_archive, write_archive
from engine.dataset.entry import LabelSource
from engine.dataset.folder import FileFormat
from engine.dataset.layouts import LAYOUTS
from engine.dataset.license import read_license
from engine.dataset.tables import PROMPTS, SETTINGS, TABLES, ExportRequest, choose_tables
from engine.prompts import check_language
from engine.store import ExportFilter, Store
from engine.store.listings import DebateQuery
from engine.values.debate import Debate
from engine.values.errors import NotFoundError, UsageError

INSTANT = timedelta(microseconds=1)
PAGES = "html"  # the kind of an export that is pages, made of its tables


def split_list(text: str | None) -> tuple[str, ...]:
    """Return the items of a comma-separated list."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def read_formats(text: str | None) -> tuple[str, ...]:
    """Return the names of debate formats. Raises UsageError for an unknown one."""
    if not (names := split_list(text)):
        return ()
    # Imported only here: formats load much, and few use this option.
    from engine.formats import find_format

    kinds = sorted({"jsonl", "parquet", "html"} & {*names})
    if kinds:
        raise UsageError(
            f"--format is a kind of debate; for {kinds[0]} files write --as {kinds[0]}."
        )
    return tuple(find_format(name).name for name in names)


def read_languages(text: str | None) -> tuple[str, ...]:
    """Return language codes. Raises UsageError for an invalid one."""
    return tuple(check_language(code) for code in split_list(text))


def read_period(since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
    """Return the moments of --since and --until. Raises UsageError, also for none between them."""
    first, last = (
        read_moment("--since", since, after=False),
        read_moment("--until", until, after=True),
    )
    if first is not None and last is not None and first >= last:
        raise UsageError(f"--since {since} is after --until {until}; exchange them.")
    return first, last


def read_moment(option: str, text: str | None, *, after: bool) -> datetime | None:
    """Read a date or time, in UTC unless it has an offset.

    A date is included as a whole, as the first day or (`after`) the last.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        if len(text) > len("2026-03-31"):
            return moment
        return moment + timedelta(days=1) - INSTANT if after else moment - INSTANT
    except (ValueError, OverflowError):
        raise UsageError(
            f"{option} is “{text}”; write a date such as 2026-03-31, or the cutoff of an "
            "earlier export's manifest."
        ) from None


async def check_series(store: Store, name: str | None) -> None:
    """Raise NotFoundError for the name of no series; None names none."""
    if name is not None:
        await find_series(store, name)


def where_of(chosen: DebateChoice, *, revealed: bool = False) -> ExportFilter:
    """Return the filter of the options that choose debates. Raises UsageError for a bad one."""
    since, until = read_period(chosen.since, chosen.until)
    return ExportFilter(
        community=chosen.community,
        revealed=revealed,
        formats=read_formats(chosen.formats),
        languages=read_languages(chosen.languages),
        since=since,
        until=until,
        quorum_met=chosen.quorum_met,
        without_rehearsal=not chosen.include_rehearsal,
        series=chosen.series,
    )


async def debates_of(store: Store, name: str | None, chosen: DebateChoice) -> list[Debate]:
    """Return the debate of a name, or the ended ones that options choose.

    Raises UsageError for both or neither, NotFoundError for none.
    """
    if (name is None) == (chosen == EVERY_DEBATE):
        raise UsageError("Name a debate, or choose some by options such as --series; not both.")
    if name is not None:
        return [await store.debates.get(name)]
    ids = await chosen_ids(store, where_of(chosen))
    if not ids:
        raise NotFoundError("No debate that has ended is among those.")
    return [await store.debates.get(one) for one in ids]


async def chosen_ids(store: Store, where: ExportFilter) -> tuple[str, ...]:
    """Return the ended debates of a filter; those that met their quorum are read to be known."""
    await check_series(store, where.series)
    if not where.quorum_met:
        return await asyncio.to_thread(store.archive.ids, where)

    def read() -> tuple[str, ...]:
        with store.archive.reading(replace(where, steps=())) as records:
            return tuple(record.debate.id for record in records)

    return await asyncio.to_thread(read)


async def narrowed(store: Store, sought: DebateQuery, where: ExportFilter) -> DebateQuery:
    """Return what a list is asked for within a filter; debates that go on are in it too."""
    await check_series(store, where.series)
    return sought._replace(
        community=where.community or sought.community,
        series=where.series or sought.series,
        formats=where.formats,
        languages=where.languages,
        since=where.since,
        until=where.until,
        without_rehearsal=where.without_rehearsal,
        ids=(await chosen_ids(store, where) or ("",)) if where.quorum_met else (),
    )


class ExportChoices(NamedTuple):
    """The options of `rostrum export` as typed; lists are comma-separated."""

    debates: DebateChoice = DebateChoice()
    kind: str = FileFormat.JSONL
    tables: str | None = None
    license: str | None = None
    prompts: bool = False
    labels: str = "chat"
    include_flawed: bool = False
    archive: bool = False
    authors: str | None = None

    def wanted(self) -> ExportRequest:
        """Return the parsed options. Raises UsageError naming the invalid option."""
        where = where_of(self.debates)
        tables = tuple(table.name for table in choose_tables(split_list(self.tables)))
        license = read_license("--license", self.license) if self.license is not None else None
        asked = tables if self.tables else ()
        if more := [name for name, on in ((PROMPTS, self.prompts), (SETTINGS, self.archive)) if on]:
            asked = (*(asked or (table.name for table in TABLES)), *more)
        if self.kind in LAYOUTS and self.archive:
            raise UsageError(f"An archive has tables; leave out --as {self.kind} or --archive.")
        if self.authors is not None and not self.archive:
            raise UsageError("--authors is for the citation of an archive; add --archive.")
        known = (*FileFormat, PAGES, *LAYOUTS)
        if self.kind not in known:
            raise UsageError(
                "--as is “{kind}”; it must be {known:or}.", kind=self.kind, known=known
            )
        parquet = self.kind == FileFormat.PARQUET
        return ExportRequest(
            where,
            asked,
            FileFormat.PARQUET if parquet else FileFormat.JSONL,
            license,
            self.kind if self.kind in LAYOUTS else "",
            labels=_read_labels(self.labels),
            flawed=self.include_flawed,
        )


async def run_export(out: Path, chosen: ExportChoices) -> None:
    """Export ended debates into a folder or an archive, and print what was written."""
    wanted = chosen.wanted()
    settings = load_store_settings()
    log.configure(settings.log, settings.secrets())
    own = chosen.license is None and chosen.debates.community is not None
    with beside_archive(out) if chosen.archive else nullcontext(out) as folder:
        counts = await export_into(settings, folder, wanted, community_license=own)
        if chosen.archive:
            await asyncio.to_thread(write_archive, folder, out, split_list(chosen.authors))
    print(sentences.EXPORTED.format(out=out, counts=counts))


def _read_labels(name: str) -> LabelSource:
    for known in get_args(LabelSource):
        if name == known:
            found: LabelSource = known
            return found
    known = " or ".join(get_args(LabelSource))
    raise UsageError(f"--labels is “{name}”; it is {known}.")
