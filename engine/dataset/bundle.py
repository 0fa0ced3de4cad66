"""An export as one zip file: in memory, to be sent in a chat, or on the disk, to be deposited."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile, ZipInfo

import orjson

from engine.dataset.croissant import CROISSANT
from engine.dataset.entry import Keys
from engine.dataset.folder import MANIFEST, Manifest, explained
from engine.dataset.tables import TABLES, ExportRequest
from engine.dataset.writer import keys_of, write_export
from engine.store import Archive, Store
from engine.values.errors import RostrumError, StoppedError, UsageError

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
    The same data give the same bytes. Raises NotFoundError without a debate, RostrumError or
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
    def go_on(*_: object) -> None:
        if stopped.is_set():
            raise StoppedError("The export was stopped; nothing was kept.")

    try:
        with TemporaryDirectory(prefix="rostrum-") as folder:
            out = Path(folder) / ROOT
            asked = replace(wanted, tables=wanted.tables or SENT)
            manifest = write_export(archive, asked, out, keys, go_on, version=version)
            memory = BytesIO()
            _zip(out, memory)
    except OSError as error:
        raise RostrumError(
            f"The export could not be prepared: {error}; free space in the temporary folder."
        ) from error
    content, debates = memory.getvalue(), sum(manifest.rows.get("debates", {}).values())
    return Bundle(len(content), debates, content if len(content) <= max_bytes else None)


def _zip(folder: Path, target: BinaryIO) -> None:
    """Zip a folder without timestamps, so that a repeated export is the same file."""
    with ZipFile(target, "w", ZIP_DEFLATED) as bundle:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = ZipInfo(f"{ROOT}/{path.relative_to(folder).as_posix()}")
                entry.compress_type = ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                entry.file_size = path.stat().st_size  # beyond 2 GiB it takes a larger header
                with path.open("rb") as text, bundle.open(entry, "w") as packed:
                    shutil.copyfileobj(text, packed)


# An archive for a repository of record: the export, how to cite it, and what proves it whole.


CITATION = "CITATION.cff"
SUMS = "SHA256SUMS"
ZIP = ".zip"
UNNAMED = "The publisher of this dataset"


@contextmanager
def beside_archive(out: Path) -> Iterator[Path]:
    """Yield a folder to export into, on the disk of the archive `out`.

    Raises UsageError if anything but an earlier archive is there, RostrumError if nothing can be
    written there.
    """
    with explained(out):
        _check_archive(out)
        parent = out.expanduser().absolute().parent
        parent.mkdir(parents=True, exist_ok=True)
        place = TemporaryDirectory(prefix=f".{out.name}.", dir=parent)
    with place as folder:
        yield Path(folder) / ROOT


def write_archive(folder: Path, out: Path, authors: Iterable[str] = ()) -> None:
    """Zip the export in `beside_archive` with its citation and checksums; replaces `out`.

    Raises UsageError or RostrumError, as above; `out` is then unchanged.
    """
    with explained(out):
        _add_citation(folder, tuple(authors))
        packed = folder.with_suffix(ZIP)
        with packed.open("wb") as target:
            _zip(folder, target)
        _check_archive(out)
        packed.replace(out.expanduser())


def _check_archive(out: Path) -> None:
    """Raise UsageError for a place with anything but an earlier archive."""
    if out.suffix != ZIP:
        raise UsageError(f"--archive writes one file; name it {out.with_suffix(ZIP)}.")
    place = out.expanduser()
    if not place.exists():
        return
    try:
        with ZipFile(place) as packed:
            packed.getinfo(f"{ROOT}/{MANIFEST}")
    except (BadZipFile, KeyError, IsADirectoryError):
        raise UsageError(f"{out} is there and is no archive of an export; name another.") from None


def _add_citation(folder: Path, authors: tuple[str, ...]) -> None:
    """Write the citation, in the Citation File Format 1.2.0, and a checksum of every file."""
    text = (folder / MANIFEST).read_bytes()
    manifest = Manifest.model_validate_json(text)
    hashed = hashlib.sha256(text).hexdigest()
    license = orjson.loads((folder / CROISSANT).read_bytes()).get("license", "")
    lines = [
        "cff-version: 1.2.0",
        "type: dataset",
        "message: Cite this dataset as below, and the software that made it.",
        "title: Rostrum debates",
        "authors:",
        *(f"  - name: {json.dumps(name, ensure_ascii=False)}" for name in authors or (UNNAMED,)),
        *([f"date-released: {manifest.cutoff.date()}"] if manifest.cutoff else []),
        *([f"license-url: {license}"] if license.startswith("https:") else []),
        "identifiers:",
        "  - type: other",
        f"    value: sha256:{hashed}",
        f"    description: SHA-256 of {MANIFEST}, which lists every other file with its own",
        "references:",
        "  - type: software",
        "    title: Rostrum",
        f"    version: {manifest.rostrum}",
        "    authors:",
        "      - name: The Rostrum authors",
    ]
    citation = "\n".join([*lines, ""]).encode()
    (folder / CITATION).write_bytes(citation)
    sums = {file.path: file.sha256 for file in manifest.files}
    sums |= {MANIFEST: hashed, CITATION: hashlib.sha256(citation).hexdigest()}
    listed = "".join(f"{sums[path]}  {path}\n" for path in sorted(sums))
    (folder / SUMS).write_text(listed, encoding="utf-8")
