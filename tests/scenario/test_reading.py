"""Pages for reading: the database and its export show the same, and nothing that is sealed."""

import asyncio
import posixpath
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession

from adapters.database.database import SqlDatabase
from adapters.web.reader import ReadingPages
from bot.commands.choice import EVERY_DEBATE
from bot.record.filters import ExportChoices, run_export
from bot.record.pages import export_pages, write_pages
from engine.pages.debate_page import DebatePage, Library, PageTry
from engine.pages.folder import FolderLibrary
from engine.pages.stored import StoredLibrary
from engine.store import Store
from engine.store.debates import ListedResult
from engine.store.listings import ORDERS, DebateQuery
from engine.values.errors import UsageError
from tests.doubles.whole_debate import hold_whole
from tests.doubles.wire import serving


@asynccontextmanager
async def reading(library: Library, *, live: bool = True) -> AsyncIterator[ClientSession]:
    pages = ReadingPages(library, live=live)
    async with serving(pages.routes()) as port:
        async with ClientSession(f"http://127.0.0.1:{port}") as client:
            yield client
        pages.end()


async def text_of(client: ClientSession, path: str, status: int = 200) -> str:
    async with client.get(path) as answer:
        assert answer.status == status, await answer.text()
        return await answer.text()


@asynccontextmanager
async def stored(url: str) -> AsyncIterator[StoredLibrary]:
    store = Store(SqlDatabase(url, writable=False))
    try:
        yield StoredLibrary(store)
    finally:
        await store.close()


def told(shown: DebatePage) -> DebatePage:
    """Return a page without what only one source tells: communities, results, who else judged."""
    head = shown.head._replace(situation=shown.head.situation._replace(thread=""))
    sections = tuple(
        one._replace(text=re.sub(r"^Also judged by .*\s+", "", one.text)) for one in shown.sections
    )
    item = shown.item._replace(community="", result=ListedResult())
    return shown._replace(item=item, head=head, sections=sections, pulse="")


async def all_tries(library: Library, name: str, pages: int) -> list[PageTry]:
    """Return the tries of every page, without when they began, which an export does not say."""
    found = [
        one._replace(began=None, error="")
        for number in range(1, pages + 1)
        for one in (await library.calls(name, number)).tries
    ]
    return sorted(found, key=lambda one: one.number)


def differences(one: object, other: object, name: str = "") -> list[str]:
    """Return where two values of the same shape differ."""
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        names = getattr(one, "_fields", range(len(one)))
        return [
            told
            for at, left, right in zip(names, one, other, strict=True)
            for told in differences(left, right, f"{name}.{at}")
        ]
    return [] if one == other else [f"{name}: {one!r} is not {other!r}"]


@pytest.mark.parametrize("format", ["classic", "structured", "audited", "team", "roundtable"])
async def test_an_export_shows_the_pages_of_the_database(
    database_url: str, tmp_path: Path, format: str
) -> None:
    whole = await hold_whole(database_url, tmp_path / "out", format=format)
    folder = FolderLibrary(whole.out)
    async with stored(database_url) as library:
        shown = await library.debate(whole.debate.id)
        exported = await folder.debate(whole.debate.code)
        found = differences(told(shown), told(exported))
        assert not found, "\n".join(found)
        named = whole.debate.id
        made, kept = await library.calls(named), await folder.calls(named)
        assert await all_tries(library, named, made.pages) == await all_tries(
            folder, named, kept.pages
        )
        last, same = (
            await library.call(named, made.sums.calls),
            await folder.call(named, kept.sums.calls),
        )
        plain = [one.call._replace(began=None, error="") for one in (last, same)]
        assert (plain[0], last.calls) == (plain[1], same.calls)
        assert last.messages
        async with reading(library) as client:
            page = await text_of(client, f"/debates/{whole.debate.code}")
            for turn in shown.page.turns:
                assert f'id="t{turn.number}"' in page
            assert 'id="verdict"' in page
            assert 'href="#ballots"' in page
            assert 'href="#turns"' in page
            calls = await text_of(client, f"/debates/{whole.debate.code}/calls")
            assert calls.count("/calls/") == min(shown.calls, 100)
            call = await text_of(client, f"/debates/{whole.debate.code}/calls/1")
            assert 'id="prompt"' in call
            listed = await text_of(client, f"/?q={whole.debate.code}")
            assert f'id="d-{whole.debate.code}"' in listed
        for order in ORDERS:
            in_store = await library.find(DebateQuery(order=order), 1)
            in_files = await folder.find(DebateQuery(order=order), 1)
            assert [one.id for one in in_store.items] == [one.id for one in in_files.items]
            assert in_store.facets == in_files.facets
        (one,), (other,) = in_store.items, in_files.items
        assert one.result._replace(usd=None) == other.result._replace(usd=None)
        assert one.result.usd == pytest.approx(other.result.usd)
    files = await pages_of(whole.out, tmp_path / "html")
    assert "list-order-disputed.html" in files
    assert files == await pages_of(whole.out, tmp_path / "again")
    assert leads_nowhere(files) == []


LINK = re.compile(r'(?:href|src)="([^"#:]+)(?:#[^"]*)?"')


def leads_nowhere(files: dict[str, bytes]) -> list[tuple[str, str]]:
    """Return the links of a folder's pages to files that it has not."""
    return [
        (path, linked)
        for path, body in files.items()
        if path.endswith(".html")
        for linked in LINK.findall(body.decode())
        if posixpath.normpath(posixpath.join(posixpath.dirname(path), linked)) not in files
    ]


async def pages_of(out: Path, folder: Path) -> dict[str, bytes]:
    """Write the pages of an export, and return every file by its path."""
    await write_pages(out, folder)
    return await asyncio.to_thread(_read_all, folder)


def _read_all(folder: Path) -> dict[str, bytes]:
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


async def test_pages_are_exported_by_one_command_without_keys_and_read_from_parquet(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = "Is sk-abcdefghijklmnop1234 a key, asks <@U0123ABC>"
    whole = await hold_whole(database_url, tmp_path / "out", topic=topic)
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", database_url)
    chosen = ExportChoices(EVERY_DEBATE, prompts=True)
    await export_pages(tmp_path / "html", chosen)
    files = await asyncio.to_thread(_read_all, tmp_path / "html")
    code = whole.debate.id.lower()
    assert f"debates/{code}-call-1.html" in files
    assert leads_nowhere({p: b for p, b in files.items() if p != "manifest.json"}) == []
    for path, body in files.items():
        assert b"U0123ABC" not in body, path
        assert b"<script" not in body, path
        if "-call-" in path:
            assert b"sk-abcdefghijklmnop1234" not in body.partition(b'id="prompt"')[2], path
    await export_pages(tmp_path / "html", chosen)  # replaces its own folder, with the same bytes
    assert await asyncio.to_thread(_read_all, tmp_path / "html") == files
    with pytest.raises(UsageError, match="leave out --tables"):
        await export_pages(tmp_path / "html", chosen._replace(tables="votes"))
    with pytest.raises(UsageError, match="laid out for html"):
        FolderLibrary(tmp_path / "html")
    await run_export(tmp_path / "parquet", chosen._replace(kind="parquet"))
    await run_export(tmp_path / "lines", chosen)
    one = await FolderLibrary(tmp_path / "parquet").debate(whole.debate.id)
    other = await FolderLibrary(tmp_path / "lines").debate(whole.debate.id)
    assert differences(one, other) == []
