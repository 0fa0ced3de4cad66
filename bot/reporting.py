"""`rostrum report`: a debate as a page, in Markdown and in HTML."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.reading import read_store
from bot.settings.load import load_store_settings
from engine.dataset.page import read_page, write_html, write_markdown
from engine.values.errors import UsageError


async def write_report(debate_id: str, out: Path) -> None:
    """Write a debate's page into a folder, in both forms. Raises UsageError for a bad folder."""
    async with read_store(load_store_settings()) as store:
        page = await read_page(store, await store.debates.get(debate_id))
    written = {
        out / f"debate-{page.code}.md": write_markdown(page),
        out / f"debate-{page.code}.html": write_html(page),
    }
    try:
        await asyncio.to_thread(_write, out, written)
    except OSError as error:
        raise UsageError(
            f"The debate cannot be written to {out}: {error.strerror}; choose another --out."
        ) from None
    if page.sealed:
        print(f"{page.sealed} The page has the debate so far.")
    print("Wrote {paths}.".format(paths=" and ".join(map(str, written))))


def _write(out: Path, written: dict[Path, str]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
