"""`python -m bench.export`: how fast a large archive is exported, and in how much memory.

Each export runs in its own process, so that its memory can be measured. Parquet is compared with
pyarrow alone, which writes the same rows given as Python values.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import orjson
import typer

from adapters.database.database import SqlDatabase
from adapters.database.migrate import migrate
from bench.command import command
from bench.past_debates import CALLS, PEOPLE, Scale, fill
from bench.wheel.machine import print_result
from bench.wheel.workers import open_workers, submit
from bot import log
from bot.commands.options import Text
from bot.settings.settings import Settings
from engine.dataset.columns import MOMENT, Table
from engine.dataset.conversion import turn_into_parquet
from engine.dataset.folder import FileFormat, staged
from engine.dataset.tables import ExportRequest, choose_tables
from engine.dataset.writer import export
from engine.store import ExportFilter, Store
from engine.values.errors import UsageError
from engine.values.topics import SPLITS

T = TypeVar("T")
# It repeats a debate's text for every vote: 25 GB of lines for a million votes, twice.
WITHOUT = ("arena_human",)
BATCH = 20_000  # rows given to pyarrow at once
PORTION = 2**16  # bytes of lines per draft
MB = 1_000_000


class ExportFigures(NamedTuple):
    """An export's measurements; memory is the peak, None if unknown.

    `cpu` is processor time, which is more reliable on a busy machine.
    """

    seconds: float
    cpu: float
    size: int
    memory: int | None

    def report(self) -> dict[str, float | None]:
        """Return it as the benchmark prints it."""
        return {
            "seconds": round(self.seconds, 2),
            "cpu_s": round(self.cpu, 2),
            "mb": round(self.size / MB, 1),
            "mb_per_s": round(self.size / MB / self.seconds, 1),
            "mb_per_cpu_s": round(self.size / MB / self.cpu, 1),
            "peak_memory_mb": self.memory and round(self.memory / MB, 1),
        }


async def run_export(
    debates: Annotated[int, typer.Option(help="Number of debates, 14 calls each.")] = 10_000,
    votes: Annotated[int, typer.Option(help="Number of votes in all debates.")] = 1_000_000,
    tables: Annotated[
        Text,
        typer.Option(help="Only these tables, comma-separated (default: all but arena_human)."),
    ] = None,
) -> None:
    """Time exports of made-up debates in each file format, beside pyarrow alone."""
    FileFormat.PARQUET.check()
    log.configure(Settings(log={"level": "warning"}).log)
    if debates < 1 or not 0 <= votes <= debates * PEOPLE:
        raise UsageError(f"Give --debates 1 or more, and up to {PEOPLE:,} votes for each.")
    chosen = _choose(tables)
    with tempfile.TemporaryDirectory(prefix="rostrum-bench-") as folder:
        place = Path(folder)
        await _in_a_process(_fill, place, Scale(debates, votes // debates))
        lines = await _in_a_process(_export, place, FileFormat.JSONL, chosen)
        parquet = await _in_a_process(_export, place, FileFormat.PARQUET, chosen)
        ours = await _in_a_process(_write_ours, place)
        alone = await _in_a_process(_write_alone, place)
    print_result(
        {
            "bench": "export",
            "debates": debates,
            "calls": CALLS * debates,
            "votes": votes // debates * debates,
            "tables": chosen,
            "jsonl": lines.report(),
            "parquet": parquet.report(),
            "parquet_files_cpu_s": round(ours, 2),
            "pyarrow_alone_cpu_s": round(alone, 2),
            "parquet_over_pyarrow": round(ours / alone, 2),
        }
    )


def _choose(tables: str | None) -> tuple[str, ...]:
    names = tables.split(",") if tables else ()
    chosen = tuple(table.name for table in choose_tables(names))
    return chosen if tables else tuple(name for name in chosen if name not in WITHOUT)


async def _in_a_process(work: Callable[..., T], *arguments: Any) -> T:
    with open_workers() as workers:
        return await asyncio.wrap_future(submit(workers, work, *arguments))


def _fill(place: Path, scale: Scale) -> None:
    async def run() -> None:
        async with _open_store(place) as (database, _):
            await migrate(database)
            await fill(database, scale)

    asyncio.run(run())


def _export(place: Path, file_format: FileFormat, tables: tuple[str, ...]) -> ExportFigures:
    """Export into a folder named for the format."""
    wanted = ExportRequest(ExportFilter(), tables, file_format)
    out = place / file_format

    async def run() -> tuple[float, float]:
        async with _open_store(place) as (_, store):
            began, cpu = time.perf_counter(), time.process_time()
            await export(store, out, wanted, None, version="bench")
            return time.perf_counter() - began, time.process_time() - cpu

    seconds, cpu = asyncio.run(run())
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    return ExportFigures(seconds, cpu, size, _peak_memory())


@asynccontextmanager
async def _open_store(place: Path) -> AsyncIterator[tuple[SqlDatabase, Store]]:
    database = SqlDatabase(f"sqlite+aiosqlite:///{place / 'bench.db'}")
    try:
        yield database, Store(database)
    finally:
        await database.close()


def _write_ours(place: Path) -> float:
    """Write the exported lines as Parquet like an export; return the seconds."""
    began = time.process_time()
    with staged(place / "ours") as staging:
        for table, path in _exported(place):
            with path.open("rb") as file:
                while lines := file.read(PORTION):
                    staging.draft(FileFormat.JSONL.path(table.name, path.stem), lines)
        turn_into_parquet(staging, choose_tables(()), SPLITS, lambda done, total: None)
    return time.process_time() - began


def _write_alone(place: Path) -> float:
    """Write the same rows with pyarrow alone; return the seconds."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    from engine.dataset.parquet import schema_of

    spent = 0.0
    for table, path in _exported(place):
        schema = schema_of(table.columns)
        target = place / "alone.parquet"
        with path.open("rb") as file, pq.ParquetWriter(target, schema, compression="zstd") as one:
            while lines := list(islice(file, BATCH)):
                rows = [_with_moments(orjson.loads(line), table) for line in lines]
                began = time.process_time()
                one.write_table(pa.Table.from_pylist(rows, schema))
                spent += time.process_time() - began
    return spent


def _exported(place: Path) -> Iterator[tuple[Table[Any], Path]]:
    for table in choose_tables(()):
        for path in sorted((place / FileFormat.JSONL / "data" / table.name).glob("*")):
            yield table, path


def _with_moments(row: dict[str, Any], table: Table[Any]) -> dict[str, Any]:
    """Return a row with datetimes in place of their texts."""
    moments = [column.name for column in table.columns if column.type == MOMENT]
    return row | {name: row[name] and datetime.fromisoformat(row[name]) for name in moments}


def _peak_memory() -> int | None:
    """Return this process's peak memory in bytes; None except on Linux."""
    # Not getrusage, which includes the parent's memory at the fork.
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    lines = status.read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    command(run_export)
