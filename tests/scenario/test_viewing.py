"""`rostrum view`: its door, growing pages, sealed debates, and what it says when it cannot."""

import asyncio
import json
import os
import re
from pathlib import Path

import pytest
from aiohttp import ClientSession, CookieJar, TCPConnector

from adapters.web.crowd import MOST_OF_ONE, LiveUpdates
from adapters.web.reader import ReadingPages
from bot.record.pages import viewing
from engine.dataset.columns import SCHEMA_VERSION
from engine.pages.stored import StoredLibrary
from engine.store import Store
from engine.values.debate import Status
from engine.values.errors import RostrumError, SettingsError, StoreError, UsageError
from tests.doubles.whole_debate import hold_whole
from tests.doubles.wire import serving
from tests.kit import HANG_SECONDS, run, turn, turn_post, until
from tests.scenario.test_reading import reading, text_of


async def test_a_page_grows_with_its_debate_and_a_reader_who_leaves_frees_it(store: Store) -> None:
    running = await run(store)
    pulses = LiveUpdates(StoredLibrary(store).pulse, 0.01)
    pages = ReadingPages(StoredLibrary(store), live=True, pulses=pulses)
    async with serving(pages.routes()) as port, ClientSession() as client:
        one = f"http://127.0.0.1:{port}/debates/{(await running.get()).id}"
        async with client.get(one) as answer:
            assert 'data-events="/debates/' in await answer.text()
        async with client.get(f"{one}/events") as stream, client.get(f"{one}/events") as other:
            assert stream.content_type == "text/event-stream"
            assert await stream.content.readline() == b"retry: 3000\n"
            await other.content.readline()
            assert pulses.watched == 1
            await store.journal.record_turn(running.lease, running.id, turn(), turn_post())
            while await stream.content.readline() != b"event: grown\n":
                pass
            async with client.get(one) as answer:
                assert 'id="t1"' in await answer.text()
        await running.advance(Status.PARTIAL)  # the next thing written finds no one
        await until(lambda: pulses.watched == 0 or None)
        async with client.get(f"{one}/events") as stream:
            await stream.content.readline()
            pages.end()  # the server stops: no stream holds it up
            assert (await stream.content.read()).endswith(b"\n\n")
        async with client.get(f"{one[:-5]}zzzzz/events") as answer:
            assert answer.status == 404


async def test_a_page_misses_nothing_before_its_stream_begins(store: Store) -> None:
    running = await run(store)
    pages = ReadingPages(StoredLibrary(store), live=True)
    async with serving(pages.routes()) as port, ClientSession() as client:
        async with client.get(f"http://127.0.0.1:{port}/debates/{running.id}") as answer:
            address = re.findall('data-events="(.+?)"', await answer.text())[0]
        await store.journal.record_turn(running.lease, running.id, turn(), turn_post())
        async with client.get(f"http://127.0.0.1:{port}{address}") as stream:
            async with asyncio.timeout(HANG_SECONDS):
                await stream.content.readuntil(b"event: grown\n")
        pages.end()


async def test_the_link_opens_the_pages_once(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", database_url)
    jar = CookieJar(unsafe=True)
    async with viewing(None, 0) as view, ClientSession(cookie_jar=jar) as client:
        assert view.debates == 0
        root = view.link.partition("/open")[0]
        async with ClientSession() as stranger:
            assert "one reader" in await text_of(stranger, root, 403)
            assert "one reader" in await text_of(stranger, f"{view.link}x", 403)
            assert "color-scheme" in await text_of(stranger, f"{root}/static/style.css")
        assert "No debates here." in await text_of(client, view.link)
        assert "No debates here." in await text_of(client, root)
        assert "No debates here." in await text_of(client, view.link)  # for whom it opened
        async with viewing(None, 0) as beside:  # has its own cookie: ports share a jar
            assert "No debates here." in await text_of(client, beside.link)
            assert "No debates here." in await text_of(client, root)
        async with ClientSession() as late:
            assert "used already" in await text_of(late, view.link, 410)
        port = int(root.rpartition(":")[2])
        with pytest.raises(SettingsError) as taken:
            async with viewing(None, port):
                pass
        assert str(taken.value) == (
            f"Pages cannot be served at 127.0.0.1:{port}: another program uses this port. "
            "Choose another port with --port."
        )


async def test_what_cannot_be_shown_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refusal(folder: Path | None) -> RostrumError:
        with pytest.raises(RostrumError) as found:
            async with viewing(folder, 0):
                pass
        return found.value

    monkeypatch.setenv("ROSTRUM_DATABASE_URL", f"sqlite+aiosqlite:///{tmp_path}/none.db")
    missing = await refusal(None)
    assert isinstance(missing, StoreError)
    assert "There is no database" in str(missing)
    (tmp_path / "none.db").write_bytes(b"SQLite format 3\0" + b"damaged" * 500)
    assert isinstance(await refusal(None), StoreError)
    for version, advice in ((SCHEMA_VERSION - 1, "view them with"), (99, "update it to")):
        written = {"kind": "rostrum-export", "schema_version": version, "rostrum": "7.7.7"}
        manifest = json.dumps({**written, "files": [], "unheard_of": 1})
        (tmp_path / "manifest.json").write_text(manifest)
        told = str(await refusal(tmp_path))
        assert f"has schema version {version}, and this Rostrum reads" in told
        assert f"{advice} Rostrum 7.7.7" in told
    (tmp_path / "manifest.json").unlink()
    for folder, said in {"nowhere": "There is no folder", ".": "is not an export"}.items():
        refused = await refusal(tmp_path / folder)
        assert isinstance(refused, UsageError)
        assert said in str(refused)


@pytest.mark.slow
async def test_a_thousand_turns_are_read_in_parts(store: Store) -> None:
    running = await run(store)
    hostile = "<script>alert(1)</script> [x](javascript:alert(2)) *a* " * 8
    for number in range(1, 1001):
        text = hostile if number % 10 else "|a|b|\n|-|-|\n" + "|`<`|**&**|\n" * 40
        said = turn(number, text, step=f"turn/{number}/A")
        await store.journal.record_turn(running.lease, running.id, said, turn_post(number))
    huge = turn(1001, "<b>" * 60_000, step="turn/1001/A")
    await store.journal.record_turn(running.lease, running.id, huge, turn_post(1001))
    async with reading(StoredLibrary(store)) as client:
        one = f"/debates/{(await running.get()).code}"
        seen, part, sizes = 0, 1, []
        while True:
            page = await text_of(client, f"{one}?part={part}")
            seen += page.count('class="turn side-A"')
            sizes.append(len(page.encode()))
            assert "<script>alert" not in page
            assert "javascript:" not in page.replace("](javascript:", "")
            part += 1
            if f"part={part}" not in page:
                break
        assert seen == 1001
        assert max(sizes) <= 200_000
        assert 'id="t731"' in await text_of(client, f"{one}?turn=731")
        assert await text_of(client, f"{one}/turn-1001.txt") == "<b>" * 60_000


@pytest.mark.parametrize("name", ["manifest.json", "data/debates"])
async def test_a_pipe_in_an_export_is_no_file_and_hangs_nothing(
    tmp_path: Path, database_url: str, name: str
) -> None:
    whole = await hold_whole(database_url, tmp_path / "export")
    (file,) = (path for path in whole.out.rglob("*") if name in str(path) and path.is_file())
    file.unlink()
    os.mkfifo(file)
    async with asyncio.timeout(HANG_SECONDS):
        with pytest.raises(UsageError):
            async with viewing(whole.out, 0):
                pass


async def test_one_reader_does_not_hold_every_live_stream(store: Store) -> None:
    running = await run(store)
    pages, everyone = ReadingPages(StoredLibrary(store), live=True), TCPConnector(limit=0)
    async with serving(pages.routes()) as port, ClientSession(connector=everyone) as client:
        one = f"http://127.0.0.1:{port}/debates/{(await running.get()).id}"
        held = [await client.get(f"{one}/events") for _ in range(MOST_OF_ONE)]
        assert {stream.status for stream in held} == {200}
        for address, status in ({}, 503), ({"X-Forwarded-For": "203.0.113.9"}, 200):
            held.append(await client.get(f"{one}/events", headers=address))
            assert held[-1].status == status
        pages.end()
        for stream in held:  # or each of them warns, whenever it is collected
            stream.close()
