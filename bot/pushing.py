"""`rostrum push`: publishes an export on a dataset hub."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pydantic import ValidationError

from adapters.hub.push import check_installed, push
from bot import __version__, log
from bot.exporting import export_into
from bot.filters import Chosen
from bot.questions import confirm
from bot.settings.load import load_store_settings
from engine.dataset.folder import MANIFEST, Manifest, check_replaceable
from engine.values.errors import UsageError

CHANGED = "{path} is not as it was exported; export again, then push that folder."
NO_EXPORT = "{folder} is no export of Rostrum; name a folder that `rostrum export` wrote."


class Target(NamedTuple):
    """Where to publish."""

    repo: str
    private: bool = False
    revision: str | None = None


async def run_push(
    target: Target, folder: Path | None, chosen: Chosen, *, yes: bool = False
) -> None:
    """Publish a folder that was exported before, or else a new export, and print where it is."""
    check_installed()
    settings = load_store_settings()
    log.configure(settings.log, settings.secrets())
    if folder is not None:
        if chosen != Chosen():
            raise UsageError("--folder is exported already; leave out what chooses its debates.")
        await _push(target, folder, yes=yes)
        return
    own = chosen.license is None and chosen.community is not None
    with TemporaryDirectory(prefix="rostrum-push-") as place:
        out = Path(place) / "export"
        counts = await export_into(settings, out, chosen.wanted(), community_license=own)
        print(f"Exported: {counts}.")
        await _push(target, out, yes=yes)


async def _push(target: Target, folder: Path, *, yes: bool) -> None:
    manifest = await asyncio.to_thread(_checked, folder)
    if not any(manifest.rows.values()):
        raise UsageError("There is nothing to publish: the export has no debates.")
    how = ", which is private" if target.private else ""
    files = len(manifest.files) + 1
    await confirm(
        f"Publish {files} files of {folder} in the dataset repository {target.repo}{how}?",
        yes,
    )
    message = f"Export of Rostrum {__version__}"
    pushed = await asyncio.to_thread(push, folder, *target, message)
    print(f"{target.repo} has the export now: {pushed.page} (commit {pushed.commit}).")


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
