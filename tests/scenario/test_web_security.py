"""Attacks on the pages over the wire: one test for each header and each attack."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
import pytest_asyncio
import structlog
from aiohttp import web

from adapters.database.database import SqlDatabase
from adapters.pictures import drawn
from adapters.web.application import HEADERS, address_of, furnish
from adapters.web.crowd import LiveUpdates
from adapters.web.public import PublicPages
from adapters.web.reader import ReadingPages
from adapters.web.session import OneReaderAccess
from engine.pages.figures import FiguresReader
from engine.pages.public import PublicReader
from engine.pages.stored import StoredLibrary
from engine.store import Store
from engine.store.communities import CommunitySettings, PublicPart
from engine.values.debate import Debate
from engine.values.errors import StoreError
from engine.values.ports import Permalinks, SystemClock
from tests.doubles.databases import opened
from tests.doubles.wire import ask, send, serving
from tests.kit import HANG_SECONDS, FixedClock
from tests.scenario.shelf import CANARIES, INVISIBLE, SEALED_REASONS, Shelf, fill
from tests.scenario.test_report import tags_of

ECHO = "echo-canary-31337"
POLICY = {
    "default-src": "'none'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "script-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
ANYWHERE = ("/", "/nowhere", "/static/style.css", "/static/nothing.js", "/away")
TRAVERSALS = (
    "/static/../session.py",
    "/static/..%2fsession.py",
    "/static/%2e%2e/session.py",
    "/static/..%5csession.py",
    "/static/....//session.py",
    "/static/%252e%252e%252fsession.py",
    "/static//etc/passwd",
    "/static/%2fetc%2fpasswd",
    "/static/style.css/../../session.py",
    "/static/style.css%00.py",
    "/static/C:%5cWindows%5cwin.ini",
    "//static/../../../etc/passwd",
)
ELSEWHERE = (
    "//evil.example/",
    "//evil.example/%2e%2e",
    "/%2f%2fevil.example",
    "/%5cevil.example",
    "/\\evil.example",
    "http://evil.example/",
    "/static//evil.example/..",
)


async def _away(_: web.Request) -> web.Response:
    raise StoreError(f"The database at {ECHO} is away.")


@pytest.fixture
async def port() -> AsyncIterator[int]:
    """The port of what every application of ours has, before any page."""
    async with serving([web.get("/away", _away)]) as port:
        yield port


@pytest.mark.each_case
@pytest.mark.parametrize("path", ANYWHERE)
async def test_the_policy_allows_our_own_files_alone_and_no_version_is_told(
    port: int, path: str
) -> None:
    answer = await ask(port, path)
    said = answer.one("content-security-policy")
    assert dict(part.strip().split(" ", 1) for part in said.split(";")) == POLICY
    assert answer.one("server") == "rostrum"
    assert not answer.all("x-powered-by")


@pytest.mark.each_case
@pytest.mark.parametrize("header", sorted(HEADERS))
async def test_each_header_stands_once_on_every_answer_and_no_other_site_may_read_one(
    port: int, header: str
) -> None:
    asking = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    for path in ANYWHERE:
        for method in ("GET", "HEAD", "OPTIONS", "POST", "DELETE"):
            answer = await ask(port, path, method, headers=asking)
            value = answer.one(header.lower())
            cached = header == "Cache-Control" and answer.status == 200
            assert (value == HEADERS[header]) != cached, (method, path, header, value)
            assert not [name for name, _ in answer.headers if name.startswith("access-control")]
            assert answer.one("cross-origin-resource-policy") == "same-origin"


@pytest.mark.each_case
@pytest.mark.parametrize("path", ANYWHERE)
async def test_a_head_is_a_get_without_its_body(port: int, path: str) -> None:
    head, get = await ask(port, path, "HEAD"), await ask(port, path)
    assert head.body == b""
    assert head.status == get.status
    assert [h for h in head.headers if h[0] != "date"] == [h for h in get.headers if h[0] != "date"]


@pytest.mark.each_case
@pytest.mark.parametrize("method", ["TRACE", "OPTIONS", "PUT", "PATCH", "DELETE", "PROPFIND"])
async def test_other_methods_do_and_echo_nothing_and_no_header_makes_a_request_one(
    port: int, method: str
) -> None:
    answer = await ask(port, address_of("style.css"), method, headers={"X-Secret": ECHO})
    assert answer.status == 405
    assert answer.one("allow") == "GET,HEAD"
    assert ECHO not in answer.raw
    for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        overridden = await ask(port, address_of("style.css"), headers={name: method})
        assert overridden.status == 200
        posted = await ask(port, address_of("style.css"), "POST", headers={name: "GET"})
        assert posted.status == 405


@pytest.mark.each_case
@pytest.mark.parametrize("target", [*TRAVERSALS, *ELSEWHERE])
async def test_no_path_leads_out_of_the_static_files_or_to_another_host(
    port: int, target: str
) -> None:
    answer = await ask(port, target)
    assert answer.status in (400, 404)
    assert not answer.all("location")
    assert "evil.example" not in answer.raw
    for leaked in ("root:", "import ", "HKDF", "[fonts]"):
        assert leaked not in answer.text


@pytest.mark.each_case
@pytest.mark.parametrize("name", ["Host", "X-Forwarded-Host", "X-Original-URL", "X-Rewrite-URL"])
async def test_the_host_that_a_request_names_stands_nowhere(port: int, name: str) -> None:
    plain = await ask(port, "/nowhere")
    answer = await ask(port, "/nowhere", headers={name: "evil.example"})
    assert answer.raw == plain.raw


@pytest.mark.each_case
@pytest.mark.parametrize("path", ["/away", f"/{ECHO}", f"/<script>{ECHO}", f"/?q={ECHO}"])
async def test_a_failure_echoes_nothing(port: int, path: str) -> None:
    said = {
        "Referer": ECHO,
        "User-Agent": ECHO,
        "Cookie": f"rostrum={ECHO}",
        "X-Forwarded-For": ECHO,
    }
    answer = await ask(port, path, headers=said)
    assert answer.status >= 400
    assert ECHO not in answer.raw
    assert "Traceback" not in answer.raw


async def test_what_is_no_request_gets_an_answer_without_an_echo(port: int) -> None:
    for request in (
        f"{ECHO}\r\n\r\n",
        f"GET /{ECHO}\r\n\r\n",
        f"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: {ECHO}\r\n\r\n",
        f"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: {ECHO}\r\nContent-Length: 3\r\n\r\nabc",
        f"GET / HTTP/1.1\r\nHost: x\r\nX: {'a' * 20_000}{ECHO}\r\n\r\n",
        f"GET /{'a' * 20_000}{ECHO} HTTP/1.1\r\nHost: x\r\n\r\n",
    ):
        answer = await send(port, request.encode())
        assert answer.status in (400, 404), request[:80]
        assert answer.one("server") == "rostrum"
        assert ECHO not in answer.raw, request[:80]


@dataclass(frozen=True)
class Shown:
    """Served pages for reading, and the debates that they show."""

    port: int
    shelf: Shelf

    def of(self, debate: Debate) -> tuple[str, ...]:
        at = f"/debates/{debate.id.lower()}"
        more = ("", "/calls", "/calls/1", "/turn-1.txt", "/votes.svg", "/nothing.svg", "/calls/999")
        return (
            f"/debates/{debate.code}",
            *(at + end for end in more),
            f"{at}?part=2",
            f"{at}?turn=3",
        )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    """Debates of every kind; nothing here changes them but for one test, which has a copy."""
    structlog.configure(processors=[], logger_factory=structlog.ReturnLoggerFactory())
    return await fill(tmp_path_factory.mktemp("shelf"))


@asynccontextmanager
async def showing(url: str, shelf: Shelf) -> AsyncIterator[Shown]:
    database = SqlDatabase(url, writable=False)
    library = StoredLibrary(Store(database))
    figures = FiguresReader(Store(database), SystemClock())
    pulses = LiveUpdates(library.pulse, 0.02)
    reading = ReadingPages(library, live=True, pulses=pulses, figures=figures)
    async with serving(reading.routes()) as port:
        yield Shown(port, shelf)
        reading.end()
    await database.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shown(shelf: Shelf) -> AsyncIterator[Shown]:
    """The pages for reading."""
    async with showing(shelf.url, shelf) as shown:
        yield shown


on_one_loop = pytest.mark.asyncio(loop_scope="module")


@on_one_loop
async def test_hostile_text_is_data_on_every_page(shown: Shown) -> None:
    figures = ("/models?a=%3Cscript%3E&b='", "/models", "/jurors", "/costs")
    for path in ("/", *figures, *shown.of(shown.shelf.hostile)):
        answer = await ask(shown.port, path)
        assert answer.status in (200, 302, 404), path
        assert answer.one("content-security-policy").startswith("default-src 'none'")
        assert answer.one("x-content-type-options") == "nosniff"
        assert not set(answer.text) & set(INVISIBLE), path
        if answer.one("content-type").startswith("text/plain"):
            continue
        tags = tags_of(answer.text)
        assert not {tag for tag, _ in tags} & {"iframe", "object", "style", "embed", "svg:script"}
        for tag, attributes in tags:
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            assert tag != "script" or str(attributes["src"]).startswith("/static/")
            for name in ("href", "src", "action"):
                linked = str(attributes.get(name) or "/")
                assert linked.startswith(("/", "#", "http://127.0.0.1:9/", "https://127.0.0.1:9/"))
                outside = linked.startswith("http")
                assert not outside or attributes["rel"] == "noopener noreferrer nofollow"
                assert not outside or tag == "a"


@on_one_loop
async def test_a_debate_of_another_address_is_looked_for_by_its_name_alone(shown: Shown) -> None:
    for name in (
        "..%2f..%2fetc%2fpasswd",
        "%27%20OR%201=1--",
        "%25",
        "_" * 26,
        "%00",
        "<script>",
        "a" * 5000,
        "\u202e",
        "%ff%fe",
    ):
        for end in ("", "/calls", "/calls/1", "/events", "/turn-1.txt", "/votes.svg"):
            answer = await ask(shown.port, f"/debates/{name}{end}".encode().decode("latin-1"))
            assert answer.status in (400, 404), (name, end)
            assert "script>" not in answer.text


@on_one_loop
async def test_odd_numbers_and_filters_are_answered_plainly(shown: Shown) -> None:
    at = f"/debates/{shown.shelf.hostile.id.lower()}"
    for number in ("-1", "0", "99999999999999999999", "1e9", "NaN", "%D9%A1", "'", "%00"):
        for path in (f"/?page={number}", f"{at}?part={number}", f"{at}/calls?page={number}"):
            assert (await ask(shown.port, path)).status == 200, path
    for query in ("state=voting'", "state=%3Cscript%3E", "order=id"):
        assert (await ask(shown.port, f"/?{query}")).status == 400
    echoed = await ask(
        shown.port, "/?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&model=%22%3E%3Cb%3E"
    )
    assert echoed.status == 200
    assert "<script>alert" not in echoed.text
    assert "<b>" not in echoed.text


@on_one_loop
async def test_no_byte_or_header_tells_what_is_sealed(shown: Shown) -> None:
    sealed = shown.shelf.sealed
    paths = ["/", *shown.of(sealed), *(f"/?q={word}" for word in CANARIES)]
    paths += [f"/?model=near/{name}" for name in ("zorblax-9", "fnordic-3")]
    paths += [f"/?order={order}&q=tea" for order in ("disputed", "closest", "dearest")]
    paths += ["/?disagreement=1", "/?state=voting", "/costs"]
    paths += ["/models?rehearsal=1&a=near/zorblax-9&b=near/fnordic-3", "/jurors?rehearsal=1"]
    for path in paths:
        for method in ("GET", "HEAD", "POST", "OPTIONS"):
            answer = await ask(shown.port, path, method)
            assert not answer.all("etag"), path
            assert answer.status >= 400 or answer.one("cache-control") == "no-store", path
            told = answer.raw.lower()
            asked = path.lower()
            assert not [c for c in CANARIES if c in told and c not in asked], (method, path)
    at = f"/debates/{sealed.id.lower()}"
    assert "Results stay sealed" in (await ask(shown.port, at)).text
    for end in ("calls/1", "votes.svg", "scores.svg"):
        assert (await ask(shown.port, f"{at}/{end}")).status == 404
    for model in ("zorblax-9", "fnordic-3"):
        assert sealed.code not in (await ask(shown.port, f"/?model=near/{model}")).text


@on_one_loop
async def test_what_is_sealed_changes_no_byte_of_an_answer(shelf: Shelf, tmp_path: Path) -> None:
    """Nor its length: databases that differ in sealed facts alone give the same pages to all."""
    answers = []
    for name, change in (("one", None), ("other", _other_facts)):
        path = tmp_path / f"{name}.db"
        shutil.copy(shelf.url.removeprefix("sqlite+aiosqlite:///"), path)
        url = f"sqlite+aiosqlite:///{path}"
        if change is not None:
            change(url, shelf.sealed.id)
        async with showing(url, shelf) as shown:
            paths = ["/", *shown.of(shelf.sealed), "/?disagreement=1", "/?state=voting"]
            answers.append([(await ask(shown.port, path)).raw for path in paths])
            answers[-1].append((await _stream(shown, shelf.sealed.id)).decode())
        async with publishing(url) as (port, page):
            found = {at: await ask(port, at) for at in published(shelf.sealed.id, page)}
        answers[-1] += [str(one.body).replace(page, "") for one in found.values()]
        for address, one in found.items():
            told = f"{one.headers}{one.body!r}".lower()
            assert not [canary for canary in CANARIES if canary in told], address
        debate, _, picture, *_ = found.values()
        assert (debate.status, debate.one("cache-control")) == (200, "no-store")
        assert not debate.all("etag")
        assert picture.status == 404
    assert [one for one, other in zip(*answers, strict=True) if one != other] == []


def _other_facts(url: str, debate_id: str) -> None:
    """Let another jury find otherwise about other models."""
    with opened(url) as run:
        for table, column in (("ballots", "body"), ("verdicts", "body"), ("calls", "reply")):
            run(
                f"UPDATE {table} SET {column} = replace(replace({column}, ?, 'Something longer'), "  # noqa: S608
                "'Lagoon', 'Meadow') WHERE debate = ?",
                SEALED_REASONS,
                debate_id,
            )
        judged = run("SELECT reply FROM calls WHERE debate = ?", debate_id)
        assert any("Something longer" in str(row["reply"]) for row in judged)
        setup = run("SELECT setup FROM debates WHERE id = ?", debate_id)[0]["setup"]
        changed = setup.replace("zorblax-9", "another-model-altogether").replace("quuxfam", "x")
        assert changed != setup
        run("UPDATE debates SET setup = ? WHERE id = ?", changed, debate_id)


async def _stream(shown: Shown, debate_id: str) -> bytes:
    """Return what a stream of a debate's events tells within a moment."""
    reader, writer = await asyncio.open_connection("127.0.0.1", shown.port)
    writer.write(
        f"GET /debates/{debate_id.lower()}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    )
    async with asyncio.timeout(HANG_SECONDS):
        told = await reader.readuntil(b"\r\n\r\n")
    with suppress(TimeoutError):
        async with asyncio.timeout(0.5):
            while more := await reader.read(4096):
                told += more
    writer.close()
    assert b"text/event-stream" in told
    assert not [canary for canary in CANARIES if canary.encode() in told.lower()]
    return told.partition(b"\r\n\r\n")[2]


@asynccontextmanager
async def locked(shelf: Shelf) -> AsyncIterator[tuple[int, str]]:
    """Serve pages behind a link that opens them once; yields the port and the link's path."""
    database, door = SqlDatabase(shelf.url, writable=False), OneReaderAccess()
    reading = ReadingPages(StoredLibrary(Store(database)), live=False)

    def dress(served: web.Application) -> None:
        furnish(served)
        served.middlewares.append(door.guard)

    async with serving([*door.routes(), *reading.routes()], dress) as port:
        yield port, door.link("", 0).partition(":0")[2]
        reading.end()
    await database.close()


@on_one_loop
async def test_only_the_browser_that_used_the_link_reads_and_by_our_own_name_alone(
    shelf: Shelf,
) -> None:
    async with locked(shelf) as (port, link):
        paths = ("/", f"/debates/{shelf.hostile.code}", f"/debates/{shelf.hostile.code}/events")
        for path in (*paths, f"{link}x", "/open", "/open?token=", "/open?token=%C3%BC"):
            refused = await ask(port, path)
            assert refused.status == 403, path
            assert shelf.hostile.code not in refused.text
        assert (await ask(port, link, "HEAD")).status in (404, 405)  # a preview uses nothing up
        opened_once = await ask(port, link)
        assert (opened_once.status, opened_once.one("location")) == (302, "/")
        cookie = opened_once.one("set-cookie")
        assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= {one.strip() for one in cookie.split(";")}
        assert (await ask(port, link)).status == 410
        ours = {"Cookie": cookie.partition(";")[0]}
        for path in paths[:2]:
            assert (await ask(port, path, headers=ours)).status == 200
        forged = {"Cookie": ours["Cookie"][:-4] + "AAAA"}
        assert (await ask(port, "/", headers=forged)).status == 403
        # A name of another host reads nothing.
        for host in (
            "evil.example",
            "evil.example:80",
            "127.0.0.1.evil.example",
            "[::ffff:1.2.3.4]",
            "[",
        ):
            answer = await ask(port, "/", headers=ours, host=host)
            assert answer.status in (400, 403), host
            assert shelf.hostile.code not in answer.text
            assert "evil" not in answer.raw


@asynccontextmanager
async def publishing(url: str) -> AsyncIterator[tuple[int, str]]:
    """Serve what the community of the sealed debate shows: all that there is; yields its page."""
    database = SqlDatabase(url)
    store = Store(database)
    held = datetime(2026, 3, 1, tzinfo=UTC)

    def show_all(settings: CommunitySettings) -> CommunitySettings:
        return settings.model_copy(update={"public": tuple(PublicPart)})

    await store.communities.change("memory", "club", show_all, held)
    public = PublicReader(store, FixedClock(held), "0", b"secret")
    pages = PublicPages(public, Permalinks("http://127.0.0.1:1"), drawn)
    async with serving(pages.routes()) as port:
        yield port, f"/c/{await store.communities.page('memory', 'club')}"
    await database.close()


def published(debate_id: str, page: str) -> list[str]:
    """Return every address that could tell something about a debate."""
    at = f"/d/{debate_id.lower()}"
    parts = [f"{page}/{part}" for part in PublicPart]
    return [at, f"{at}/sealed.png", f"{at}/result.png", page, *parts, f"{page}/dataset.zip"]


@on_one_loop
async def test_neither_codes_nor_methods_nor_hosts_open_public_pages(
    shelf: Shelf, tmp_path: Path
) -> None:
    path = tmp_path / "rostrum.db"
    shutil.copy(shelf.url.removeprefix("sqlite+aiosqlite:///"), path)
    async with publishing(f"sqlite+aiosqlite:///{path}") as (port, page):
        hostile, sealed = shelf.hostile, shelf.sealed
        for closed in (f"/d/{sealed.code}", f"/d/{hostile.id.lower()}", f"{page}0", "/c/club"):
            answer = await ask(port, closed)
            assert answer.status == 404, closed
        missing = await ask(port, f"/d/{'0' * 26}")
        assert (await ask(port, f"/d/{hostile.id.lower()}")).raw == missing.raw
        for path_ in published(sealed.id, page):
            plain = await ask(port, path_)
            assert (await ask(port, path_, host="evil.example")).body == plain.body
            assert (await ask(port, path_, "POST")).status == 405
            assert plain.one("content-security-policy") == HEADERS["Content-Security-Policy"]
            assert plain.one("x-content-type-options") == "nosniff"
            assert not plain.all("set-cookie")  # no one is followed
        front = await ask(port, f"{page}?next=//evil.example")
        assert front.one("location") == f"{page}/debates"
