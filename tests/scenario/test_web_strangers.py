"""What strangers could do with the pages: a form's encoding, a state, a link, a slow download."""

import asyncio
import re
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import ClientSession, CookieJar, web

from adapters.database.database import SqlDatabase
from adapters.pictures import drawn
from adapters.web import public
from adapters.web.public import PublicPages
from adapters.web.session import URLENCODED, read_form
from bot.research.labels import label_routes, print_token
from bot.settings.settings import Settings, WebSettings
from engine.dataset.bundle import Bundle
from engine.dataset.columns import SCHEMA_VERSION
from engine.dataset.folder import MANIFEST, ExportedFile, Filters, Manifest
from engine.pages.folder import FolderLibrary
from engine.pages.public import PublicReader
from engine.store import Store
from engine.store.communities import CommunitySettings, PublicPart
from engine.values.debate import Status
from engine.values.errors import NotFoundError, UsageError
from engine.values.ports import Permalinks, SystemClock
from tests.doubles.wire import ask, serving
from tests.kit import NOW, FixedClock, new_debate, run, until_true


@pytest.mark.each_case
@pytest.mark.parametrize("charset", ["punycode", "unicode_escape", "utf-7", "idna", "zlib"])
async def test_a_form_chooses_no_encoding_of_its_own(charset: str) -> None:
    async def told(request: web.Request) -> web.Response:
        return web.json_response(dict(await read_form(request)))

    async with serving([web.post("/form", told)]) as port:
        # A megabyte of Punycode takes half a minute, in which nothing else would be done.
        kind = {"Content-Type": f"{URLENCODED}; charset={charset}"}
        answer = await ask(port, "/form", "POST", headers=kind, body=b"a" * 1_000_000)
        assert answer.status == 415
        many = await ask(port, "/form", "POST", body=b"&".join([b"a=b"] * 50_000))
        assert many.status == 400
        kind = {"Content-Type": f"{URLENCODED}; charset=UTF-8"}
        plain = await ask(port, "/form", "POST", headers=kind, body=b"a=%C3%A4+b&c=&a=d")
        assert plain.text == '{"a": "d", "c": ""}'


async def test_the_state_of_an_installation_is_no_link_for_managers(store: Store) -> None:
    clock = SystemClock()
    settings = Settings(web=WebSettings(url="http://127.0.0.1:1", port=0))
    # Whoever opens /slack/install is handed such a state.
    state, now = "s" * 43, clock.now()
    await store.installs.begin(state, now, now + timedelta(minutes=10))
    async with serving(await label_routes(store, clock, settings)) as port:
        origin = f"http://127.0.0.1:{port}"
        async with ClientSession(origin, cookie_jar=CookieJar(unsafe=True)) as client:

            async def enter(link: str) -> int:
                async with client.get("/labels/enter", params={"k": link}) as page:
                    found = re.findall(r'name="token" value="([^"]+)"', await page.text())
                form = {"token": found[0], "link": link}
                sent = client.post("/labels/enter", data=form, allow_redirects=False)
                async with sent as answer:
                    return answer.status

            assert await enter(state) == 410
            async with client.get("/labels") as page:
                assert page.status == 403
            assert await store.installs.redeem(state, now)  # nor was it used up
            token = await print_token(store, clock)
            assert not await store.installs.redeem(token, now)
            assert await enter(token) == 303


async def test_figures_and_datasets_wait_for_what_the_chat_has_told(
    store: Store, database: SqlDatabase
) -> None:
    shows = CommunitySettings(public=(PublicPart.DATASET,))
    await store.communities.change("chat", "club", lambda _: shows, NOW)
    key = await store.communities.page("chat", "club") or ""
    first = await run(store, new_debate(community="club"))
    other = new_debate(community="club")
    setup = other.setup.model_copy(update={"mirror_of": first.id})
    mirror = await run(store, other.model_copy(update={"setup": setup}))
    reveal = """
    UPDATE debates SET status = 'closed', revealed_at = :now, rehearsal = FALSE WHERE id = :id
    """
    await database.run(reveal, now=NOW, id=first.id)

    async def debates() -> int:
        pages = PublicReader(store, FixedClock(), "test")  # which has made nothing yet
        try:
            return (await pages.dataset(key)).debates
        except NotFoundError:
            return 0

    assert await debates() == 0  # its models are those of its mirror, on which people vote
    await mirror.advance(Status.CANCELLED)
    assert await debates() == 1
    post = """
    INSERT INTO outbox (debate, platform, number, key, kind, message, refs, state, error, queued_at)
    SELECT id, 'chat', 99, 'reveal', 'text', '', '[]', 'pending', '', created_at
    FROM debates WHERE id = :id
    """
    await database.run(post, id=first.id)
    assert await debates() == 0  # the chat does not show it yet
    await database.run("UPDATE outbox SET state = 'sent' WHERE debate = :id", id=first.id)
    assert await debates() == 1


class _Large(PublicReader):
    """A community with a dataset of some megabytes."""

    content = bytes(range(256)) * 2**16

    def __init__(self) -> None:
        """Read nothing."""

    async def dataset(self, key: str) -> Bundle:
        return Bundle(len(self.content), 1, self.content)

    async def revealed(self, key: str) -> tuple[str, ...]:
        return ()


async def test_readers_who_take_nothing_hold_no_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public, "MOST_DOWNLOADS", 2)
    monkeypatch.setattr(public, "STALL_SECONDS", 0.2)
    pages = PublicPages(_Large(), Permalinks(), drawn)
    path = f"/c/{'0' * 20}/dataset.zip"
    async with serving(pages.routes()) as port:
        whole = await ask(port, path)
        assert (whole.status, whole.body) == (200, _Large.content)
        assert whole.one("content-length") == str(len(_Large.content))
        assert whole.one("content-disposition").startswith("attachment")
        assert (await ask(port, path, "HEAD")).body == b""
        request = f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        slow = [await asyncio.open_connection("127.0.0.1", port, limit=1024) for _ in range(2)]
        for _, writer in slow:
            writer.write(request)
        for reader, _ in slow:
            assert await reader.readline() == b"HTTP/1.1 200 OK\r\n"
        busy = await ask(port, path)
        assert (busy.status, busy.one("cache-control")) == (503, "no-store")

        async def free() -> bool:
            return (await ask(port, path)).status == 200

        await until_true(free)
        for _, writer in slow:
            writer.close()


def test_an_export_leads_to_no_file_outside_it(tmp_path: Path) -> None:
    folder, outside = tmp_path / "export", tmp_path / "private" / "debates"
    folder.mkdir()
    outside.mkdir(parents=True)
    (outside / "train.jsonl").write_text("{}")
    (folder / "link").symlink_to(tmp_path / "private")
    for path in (
        "../private/debates/train.jsonl",
        f"{outside}/train.jsonl",
        "link/debates/x.jsonl",
    ):
        manifest = Manifest(
            schema_version=SCHEMA_VERSION,
            rostrum="test",
            filters=Filters(community=None, formats=(), languages=()),
            cutoff=None,
            rows={"debates": {}, "records": {}},
            files=(ExportedFile(path=path, bytes=2, sha256=""),),
        )
        (folder / MANIFEST).write_bytes(manifest.encode())
        with pytest.raises(UsageError, match="is not in it"):
            FolderLibrary(folder)
