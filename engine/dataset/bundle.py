"""An export as one zip file in memory, to be sent in a chat."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from engine.dataset.entry import Keys
from engine.dataset.tables import TABLES
from engine.dataset.writer import ExportProgress, ExportRequest, keys_of, write_export
from engine.store import Archive, Store
from engine.values.errors import ExportError, StoppedError

ROOT = "rostrum-export"
# The others repeat a debate's text for every vote and ballot: too large for a chat.
SENT = tuple(table.name for table in TABLES if not table.repeats)


class Bundle(NamedTuple):
    """A zip file: its size, its number of debates, and its bytes unless too large."""

    size: int
    debates: int
    content: bytes | None


async def export_zip(
    store: Store, wanted: ExportRequest, master_key: bytes | None, *, version: str, max_bytes: int
) -> Bundle:
    """Write an export into a temporary folder and zip it, in a worker thread.

    Its tables are those of a chat, unless `wanted` names others.
    The same data give the same bytes. Raises NotFoundError without a debate, ExportError or
    StoreError.
    """
    keys = await keys_of(store, master_key)
    stopped = threading.Event()
    try:
        return await asyncio.to_thread(
            _write, store.archive, wanted, keys, stopped, version=version, max_bytes=max_bytes
        )
    finally:
        stopped.set()


def _write(
    archive: Archive,
    wanted: ExportRequest,
    keys: Keys,
    stopped: threading.Event,
    *,
    version: str,
    max_bytes: int,
) -> Bundle:
    def go_on(_: ExportProgress) -> None:
        if stopped.is_set():
            raise StoppedError("The export was stopped; nothing was kept.")

    try:
        with TemporaryDirectory(prefix="rostrum-") as folder:
            out = Path(folder) / ROOT
            asked = replace(wanted, tables=wanted.tables or SENT)
            manifest = write_export(archive, asked, out, keys, go_on, version=version)
            content = _zip(out)
    except OSError as error:
        raise ExportError(
            f"The export could not be prepared: {error}; free space in the temporary folder."
        ) from error
    debates = sum(manifest.rows.get("debates", {}).values())
    return Bundle(len(content), debates, content if len(content) <= max_bytes else None)


def _zip(folder: Path) -> bytes:
    """Zip a folder without timestamps, so that a repeated export is the same file."""
    memory = BytesIO()
    with ZipFile(memory, "w", ZIP_DEFLATED) as bundle:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = ZipInfo(f"{ROOT}/{path.relative_to(folder).as_posix()}")
                entry.compress_type = ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                bundle.writestr(entry, path.read_bytes())
    return memory.getvalue()
