"""`rostrum check` on the database: integrity, a test write, free space."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from adapters.finding import Finding
from adapters.storage.database import SqlDatabase
from adapters.storage.migrate import require_newest
from bot.reading import open_database
from bot.settings.settings import Settings
from engine.line.learning import left_out_of
from engine.store import Store
from engine.store.installation import write_scratch
from engine.values.errors import StoreError

FEWEST_BYTES = 100_000_000  # a few hundred debates
SCRATCH_BYTES = 1_000_000
MB = 1_000_000


def check_retention(settings: Settings) -> Finding:
    """Say what is deleted of debates that have ended, and when."""
    given = settings.retention
    kept = (("prompts and replies", given.prompts_days), ("debates", given.debates_days))
    said = [f"{what} are deleted after {days:g} days" for what, days in kept if days is not None]
    text = ", ".join(said) or "off; debates are kept until you delete them"
    return Finding("retention", True, text)


async def check_database(settings: Settings) -> AsyncIterator[Finding]:
    """Check that the database is intact and writable; the test write is undone."""
    try:
        database = open_database(settings, writable=False)
    except StoreError as error:
        yield Finding("database", False, str(error))
        return
    try:
        if database.dialect.exists():
            finding = await _check(database)
            yield finding
            if finding.good:
                async for change in _check_jurors(Store(database)):
                    yield change
        else:
            yield Finding("database", None, f"{database.name} will be created when needed")
        if database.dialect.path is not None:
            yield _check_folder(database.dialect.path)
    finally:
        await database.close()


async def _check_jurors(store: Store) -> AsyncIterator[Finding]:
    """Name the jurors that have changed."""
    for juror, number in left_out_of(await store.learning.newest(rehearsal=False)).items():
        yield Finding(
            "juror",
            None,
            f"{juror} judges otherwise than before, so {number:,} older ballots of it count no "
            "longer; look whether its provider has put another model under its name, and "
            "see rostrum stats",
        )


async def _check(database: SqlDatabase) -> Finding:
    try:
        await require_newest(database)
        if not await database.is_sound():
            raise database.damage()
        await write_scratch(database)
    except StoreError as error:
        return Finding("database", False, str(error))
    return Finding("database", True, f"{database.name} is ready")


def _check_folder(path: Path) -> Finding:
    """Write a nameless file to the database's folder, and check free space."""
    folder = next(place for place in path.absolute().parents if place.exists())
    try:
        with tempfile.TemporaryFile(dir=folder) as scratch:
            scratch.write(bytes(SCRATCH_BYTES))
            scratch.flush()
            os.fsync(scratch.fileno())
        free = shutil.disk_usage(folder).free
    except OSError as error:
        text = f"{folder} is not writable: {error.strerror}. Make it writable, or free space"
        return Finding("disk", False, text)
    if free < FEWEST_BYTES:
        text = f"only {free // MB} MB are free at {folder}; free at least {FEWEST_BYTES // MB} MB"
        return Finding("disk", False, text)
    return Finding("disk", True, f"{free // MB:,} MB are free")
