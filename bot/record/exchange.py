"""Exchange with other tools: `rostrum push` and `rostrum import-labels`."""

from __future__ import annotations

import asyncio
import hashlib
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import ValidationError

from adapters.hub import check_ready, push
from bot import __version__, log
from bot.console import confirm
from bot.database import read_store
from bot.record.exports import export_into
from bot.record.filters import PAGES, ExportChoices
from bot.settings.load import load_store_settings
from engine.dataset.folder import MANIFEST, Manifest, check_replaceable
from engine.dataset.label_files import read_labels
from engine.values.errors import UsageError
from engine.values.ports import SystemClock
from engine.values.text import clean
from engine.votes.imported import import_labels
from engine.words.translation import plural

# `rostrum push`: publishes an export on a dataset hub.


CHANGED = "{path} is not as it was exported; export again, then push that folder."
NO_EXPORT = "{folder} is no export of Rostrum; name a folder that `rostrum export` wrote."


async def run_push(
    repo: str,
    folder: Path | None,
    chosen: ExportChoices,
    *,
    private: bool = False,
    revision: str | None = None,
    yes: bool = False,
) -> None:
    """Publish a folder that was exported before, or else a new export, and print where it is."""
    if chosen.kind == PAGES:
        raise UsageError("Pages are no dataset; choose another kind of files with --as.")
    check_ready(repo)
    settings = load_store_settings()
    log.configure(settings.log, settings.secrets())
    if folder is not None:
        if chosen != ExportChoices():
            raise UsageError("--folder is exported already; leave out what chooses its debates.")
        await _push(repo, private, revision, folder, yes=yes)
        return
    own = chosen.license is None and chosen.debates.community is not None
    with TemporaryDirectory(prefix="rostrum-push-") as place:
        out = Path(place) / "export"
        counts = await export_into(settings, out, chosen.wanted(), community_license=own)
        print(f"Exported: {counts}.")
        await _push(repo, private, revision, out, yes=yes)


async def _push(repo: str, private: bool, revision: str | None, folder: Path, *, yes: bool) -> None:
    manifest = await asyncio.to_thread(_checked, folder)
    if not any(manifest.rows.values()):
        raise UsageError("There is nothing to publish: the export has no debates.")
    how = ", which is private" if private else ""
    files = len(manifest.files) + 1
    await confirm(
        f"Publish {files} files of {folder} in the dataset repository {repo}{how}?",
        yes,
    )
    message = f"Export of Rostrum {__version__}"
    page, commit = await asyncio.to_thread(push, folder, repo, private, revision, message)
    print(f"{repo} has the export now: {page} (commit {commit}).")


def _checked(folder: Path) -> Manifest:
    """Return the manifest of an export whose files are all as they were written."""
    path = folder / MANIFEST
    if not path.is_file():
        raise UsageError(NO_EXPORT.format(folder=folder))
    check_replaceable(folder)  # nothing else is in it
    try:
        manifest = Manifest.model_validate_json(path.read_bytes())
    except ValidationError:
        raise UsageError(NO_EXPORT.format(folder=folder)) from None
    for file in manifest.files:
        place = folder / file.path
        if not place.is_file():
            raise UsageError(CHANGED.format(path=place))
        with place.open("rb") as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() != file.sha256:
                raise UsageError(CHANGED.format(path=place))
    return manifest


# `rostrum import-labels`: labels from other tools come back as votes.


LARGEST = 1_000_000_000  # bytes
PEOPLE, DEBATES = ("{n} person", "{n} people"), ("{n} debate", "{n} debates")
NOT_GOLD = (
    "They are not gold: if their people knew neither models nor jury, import them with --gold."
)
_SOURCE = re.compile(r"[a-z0-9][a-z0-9.-]{0,23}")


async def run_import(file: Path, *, gold: bool = False, source: str | None = None) -> None:
    """Import the labels of a file, print what became of them, and each bad line.

    Raises UsageError if there is no label in it.
    """
    settings = load_store_settings()
    log.configure(settings.log, settings.secrets())
    if source is not None and not _SOURCE.fullmatch(source):
        raise UsageError("--source is a short name of small letters, digits, dots and hyphens.")
    tool, read = read_labels(_content(file))
    async with read_store(settings) as store:
        found = await import_labels(store, read, source or tool, SystemClock().now(), blind=gold)
    for fault in found.faults:
        print(
            clean("{file}: {number}: {problem}".format(file=file, **fault._asdict())),
            file=sys.stderr,
        )
    if not found.outcomes:
        raise UsageError(f"{file} has no label that could be imported.")
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
    print(" ".join(lines if gold else [*lines, NOT_GOLD]))


def _content(file: Path) -> bytes:
    try:
        if file.stat().st_size > LARGEST:
            raise UsageError(f"{file} is larger than a gigabyte; import it in parts.")
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror or error}.") from error
