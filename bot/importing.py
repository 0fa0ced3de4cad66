"""`rostrum import-labels`: labels from other tools come back as votes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from bot import log
from bot.clock import SystemClock
from bot.reading import read_store
from bot.settings.load import load_store_settings
from engine.dataset.label_files import read_labels
from engine.values.errors import UsageError
from engine.values.text import clean
from engine.votes.imported import Imported, import_labels
from engine.words.translation import plural

LARGEST = 1_000_000_000  # bytes
PEOPLE, DEBATES = ("{n} person", "{n} people"), ("{n} debate", "{n} debates")
NOT_GOLD = (
    "They are not gold: if their people knew neither models nor jury, import them with --blind."
)
_SOURCE = re.compile(r"[a-z0-9][a-z0-9.-]{0,23}")


async def run_import(file: Path, *, blind: bool = False, source: str | None = None) -> None:
    """Import the labels of a file, print what became of them, and each bad line.

    Raises UsageError if there is no label in it.
    """
    settings = load_store_settings()
    log.configure(settings.log, settings.secrets())
    if source is not None and not _SOURCE.fullmatch(source):
        raise UsageError("--source is a short name of small letters, digits, dots and hyphens.")
    tool, read = read_labels(_content(file))
    async with read_store(settings) as store:
        found = await import_labels(store, read, source or tool, SystemClock().now(), blind=blind)
    for fault in found.faults:
        print(
            clean("{file}: {number}: {problem}".format(file=file, **fault._asdict())),
            file=sys.stderr,
        )
    if not found.outcomes:
        raise UsageError(f"{file} has no label that could be imported.")
    print(_told(found, blind=blind))


def _content(file: Path) -> bytes:
    try:
        if file.stat().st_size > LARGEST:
            raise UsageError(f"{file} is larger than a gigabyte; import it in parts.")
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}.") from error


def _told(found: Imported, *, blind: bool) -> str:
    people, debates = plural(*PEOPLE, found.people), plural(*DEBATES, found.debates)
    total = found.outcomes.total()
    counts = [f"{number} {outcome}" for outcome, number in sorted(found.outcomes.items())]
    said = plural(
        "{n} label by {people} to {debates}",
        "{n} labels by {people} to {debates}",
        total,
        people=people,
        debates=debates,
    )
    lines = [f"{said}: {', '.join(counts)}."]
    lines += (
        [plural("{n} line is no label.", "{n} lines are no labels.", len(found.faults))]
        if found.faults
        else []
    )
    return " ".join(lines if blind else [*lines, NOT_GOLD])
