"""What every page has: headers, a page for failures, assets, sessions, translations."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import ClientSession, web

import adapters.web
from adapters.site import Site
from adapters.web.application import FAILURES, HEADERS, KNOWN, address_of, assets, furnish
from adapters.web.session import FORM_TOKEN, Session, Sessions, require_token
from engine.values.errors import NotFoundError, StoreError
from engine.words.translation import LANGUAGES, catalogue

TEMPLATES = Path(adapters.web.__file__).with_name("templates")


async def _missing(_: web.Request) -> web.Response:
    raise NotFoundError("It is gone: <b>secret</b>.")


async def _away(_: web.Request) -> web.Response:
    raise StoreError("The database at secret.example is away.")


async def _broken(_: web.Request) -> web.Response:
    raise ValueError("secret")


@pytest.fixture
async def page() -> AsyncIterator[ClientSession]:
    site = Site("127.0.0.1", 0)
    routes = [web.get("/gone", _missing), web.get("/away", _away), web.get("/bug", _broken)]
    async with site.serving(routes, furnish):
        assert site.address is not None
        host, port = site.address
        async with ClientSession(f"http://{host}:{port}") as client:
            yield client


@pytest.mark.parametrize(
    ("path", "status"),
    [("/gone", 404), ("/nowhere/<script>", 404), ("/away", 503), ("/bug", 500)],
)
async def test_each_failure_has_a_page_that_repeats_nothing(
    page: ClientSession, path: str, status: int
) -> None:
    async with page.get(path) as answer:
        text = await answer.text()
        assert answer.status == status
        assert f"<h1>{FAILURES[status].title}</h1>" in text
        assert "secret" not in text
        assert "<script" not in text
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS
        assert answer.headers.get("Retry-After") == ("10" if status == 503 else None)


async def test_a_failure_is_told_in_the_readers_language(page: ClientSession) -> None:
    for wanted, shown in {
        "de-AT,de;q=0.9": "de",
        "zh-CN": "zh",
        "xx, tr;q=.3": "tr",
        "": "en",
        "ü" * 9: "en",
    }.items():
        async with page.get("/gone", headers={"Accept-Language": wanted}) as answer:
            text = await answer.text()
        assert f'<html lang="{shown}"' in text
        assert (FAILURES[404].title in text) == (shown == "en")


async def test_only_known_files_are_served(page: ClientSession) -> None:
    async with page.get(address_of("style.css")) as answer:
        assert answer.status == 200
        assert answer.content_type == "text/css"
        assert "immutable" in answer.headers["Cache-Control"]
    for path in (
        "/static/",
        "/static/..%2fsession.py",
        "/static/%2e%2e/session.py",
        "/static/x.css",
    ):
        async with page.get(path) as answer:
            assert answer.status == 404
    async with page.post(address_of("style.css")) as answer:
        assert (answer.status, answer.headers["Allow"]) == (405, "GET,HEAD")


def test_assets_load_nothing_from_elsewhere() -> None:
    for name, asset in assets().items():
        found = re.findall(rb"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", asset.body)
        assert (name, found) == (name, [])


def _cookie(response: web.Response) -> str:
    (morsel,) = response.cookies.values()
    return f"{morsel.key}={morsel.value}"


class _Request:
    """As much of a request as a session reads."""

    def __init__(self, cookie: str) -> None:
        name, _, value = cookie.partition("=")
        self.cookies = {name: value}


def test_a_session_is_known_only_by_its_own_secret_and_name() -> None:
    ours, theirs = Sessions(b"one", secure=True), Sessions(b"two", secure=True)
    response = web.Response()
    session = ours.begin(response, "person/7")
    cookie = _cookie(response)
    assert ours.read(_Request(cookie)) == session  # type: ignore[arg-type]
    assert theirs.read(_Request(cookie)) is None  # type: ignore[arg-type]
    for forged in (cookie[:-2], cookie + "A", "__Host-rostrum=", "rostrum=x", "__Host-rostrum=ü"):
        assert ours.read(_Request(forged)) is None  # type: ignore[arg-type]
    (morsel,) = response.cookies.values()
    assert (morsel["httponly"], morsel["secure"], morsel["samesite"]) == (True, True, "Lax")
    assert "person" not in cookie


def test_a_session_ends_by_itself() -> None:
    sessions, response = Sessions(b"one", secure=False, lifetime=-1), web.Response()
    sessions.begin(response, "person/7")
    assert sessions.read(_Request(_cookie(response))) is None  # type: ignore[arg-type]


def test_a_form_must_carry_its_sessions_token() -> None:
    session = Session("person/7", "good")
    require_token(session, {FORM_TOKEN: "good"})
    for form in (
        {},
        {FORM_TOKEN: ""},
        {FORM_TOKEN: "bad"},
        {FORM_TOKEN: "ü"},
        {FORM_TOKEN: b"good"},
    ):
        with pytest.raises(web.HTTPForbidden):
            require_token(session, form)


def test_every_text_of_a_page_is_in_every_catalogue() -> None:
    texts = {text for failure in FAILURES.values() for text in failure}
    for path in TEMPLATES.glob("*.jinja"):
        text = path.read_text("utf-8")
        texts |= set(re.findall(r'\bsay\("([^"]+)"', text))
        texts |= set(re.findall(r'\bplural\(\("[^"]+", "([^"]+)"', text))  # known by the plural
    assert len(KNOWN) == 5
    for language in LANGUAGES:
        lacking = sorted(text for text in texts if text not in catalogue(language))
        assert (language, lacking) == (language, [])
