"""`rostrum export --html`: debates as a folder of pages, made of an export and so no less clean."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from adapters.web.links import write_folder
from bot import log, texts
from bot.exporting import export_into
from bot.filters import Chosen
from bot.settings.load import load_store_settings
from engine.dataset.folder import MANIFEST, FileFormat, Manifest, check_replaceable, staged
from engine.pages.folder import FolderLibrary, check_folder
from engine.values.errors import UsageError

PAGES = "html"  # the layout of such a folder


async def export_pages(out: Path, chosen: Chosen) -> None:
    """Write the pages of ended debates into a folder, and print what was written."""
    if chosen.tables or chosen.layout or chosen.license or chosen.file_format != FileFormat.JSONL:
        raise UsageError(
            "--html writes pages, not tables; leave out --format, --tables, --layout and --license."
        )
    wanted, settings = chosen.wanted(), load_store_settings()
    log.configure(settings.log, settings.secrets())
    check_replaceable(out)
    with TemporaryDirectory(prefix="rostrum-html-") as place:
        made = Path(place) / "export"
        await export_into(settings, made, wanted)
        debates, files = await write_pages(made, out)
    print(texts.EXPORTED.format(out=out, counts=f"debates {debates:,}, files {files:,}"))


async def write_pages(made: Path, out: Path) -> tuple[int, int]:
    """Write the pages of an export's folder; return how many debates and files they are.

    Raises UsageError if `out` contains anything but an earlier export, ExportError if it cannot be
    written; it is then unchanged.
    """
    manifest, library = check_folder(made), FolderLibrary(made)
    with staged(out) as staging:
        async for path, body in write_folder(library):
            staging.append(path, body)
        pages = Manifest(
            schema_version=manifest.schema_version,
            layout=PAGES,
            rostrum=manifest.rostrum,
            filters=manifest.filters,
            cutoff=manifest.cutoff,
            rows={},
            files=staging.files(),
        )
        staging.append(MANIFEST, pages.encode())
    return sum(manifest.rows["debates"].values()), len(pages.files) + 1
