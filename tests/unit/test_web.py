"""What every page has, and what counts as a proof of who somebody is on a chat platform."""

import json
import re
from collections.abc import AsyncIterator, Mapping
from importlib.resources import files
from ipaddress import ip_network
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import make_mocked_request
from jinja2 import Environment, Template
from multidict import CIMultiDict
from pydantic import SecretStr

from adapters.site import Site
from adapters.web import accounts
from adapters.web.accounts import (
    AWAY,
    BROKEN,
    DECLINED,
    EXPIRED,
    Accounts,
    DiscordAccounts,
    Pending,
    Registration,
    SlackAccounts,
    open_code,
)
from adapters.web.application import FAILURES, HEADERS, address_of, assets, furnish
from adapters.web.session import (
    FORM_TOKEN,
    MOST_ADDRESSES,
    PROXIES,
    BrowserSession,
    LoginThrottle,
    Sessions,
    client_of,
    holds_token,
)
from engine.values.errors import (
    NotAllowedError,
    NotFoundError,
    StoreError,
    VenueAwayError,
    VenueError,
)
from tests.doubles.accounts import CLIENT_ID, CLIENT_SECRET, TEAM, AccountsServer, Key
from tests.kit import some, until


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
        host, port = some(site.address)
        async with ClientSession(f"http://{host}:{port}") as client:
            yield client


@pytest.mark.parametrize(
    ("path", "status"),
    [("/gone", 404), ("/nowhere/<script>", 404), ("/away", 503), ("/bug", 500)],
)
async def test_a_failures_page_repeats_nothing(page: ClientSession, path: str, status: int) -> None:
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


async def test_only_known_files_are_served_and_load_nothing_from_elsewhere(
    page: ClientSession,
) -> None:
    async with page.get(address_of("style.css")) as answer:
        assert answer.status == 200
        assert answer.content_type == "text/css"
        assert "immutable" in answer.headers["Cache-Control"]
    for path in ("", "..%2fsession.py", "%2e%2e/session.py", "x.css"):
        async with page.get(f"/static/{path}") as answer:
            assert answer.status == 404
    async with page.post(address_of("style.css")) as answer:
        assert (answer.status, answer.headers["Allow"]) == (405, "GET,HEAD")
    for name, (content, _, _) in assets().items():
        found = re.findall(rb"https?://(?!www\.w3\.org/2000/svg)|@import|url\(", content)
        assert (name, found) == (name, [])


async def test_the_first_reader_waits_for_no_template_to_compile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    templates = files("adapters.web").joinpath("templates")
    compiled: set[str] = set()

    def load(environment: Environment, name: str) -> Template:
        compiled.add(name)
        return get(environment, name)

    get = Environment.get_template
    monkeypatch.setattr(Environment, "get_template", load)
    async with Site("127.0.0.1", 0).serving([web.get("/gone", _missing)], furnish):
        await until(lambda: compiled >= {file.name for file in templates.iterdir()} or None)


def _cookie(response: web.Response) -> str:
    (morsel,) = response.cookies.values()
    return f"{morsel.key}={morsel.value}"


def _read(sessions: Sessions, cookie: str) -> BrowserSession | None:
    name, _, value = cookie.partition("=")
    return sessions.read(SimpleNamespace(cookies={name: value}))  # type: ignore[arg-type]


def test_a_session_is_known_only_by_its_own_secret_and_name_until_it_ends() -> None:
    ours, theirs = Sessions(b"one", secure=True), Sessions(b"two", secure=True)
    response = web.Response()
    session = ours.begin(response, "person/7")
    cookie = _cookie(response)
    assert _read(ours, cookie) == session
    assert _read(theirs, cookie) is None
    for forged in (cookie[:-2], cookie + "A", "__Host-rostrum=", "rostrum=x", "__Host-rostrum=ü"):
        assert _read(ours, forged) is None
    (morsel,) = response.cookies.values()
    assert (morsel["httponly"], morsel["secure"], morsel["samesite"]) == (True, True, "Lax")
    assert "person" not in cookie
    sessions, response = Sessions(b"one", secure=False, lifetime=-1), web.Response()
    sessions.begin(response, "person/7")
    assert _read(sessions, _cookie(response)) is None


def test_a_form_must_carry_its_sessions_token() -> None:
    session = BrowserSession("person/7", "good")
    assert holds_token(session, {FORM_TOKEN: "good"})
    for token in ("", "bad", "ü", b"good"):
        assert not holds_token(session, {FORM_TOKEN: token})
    assert not holds_token(session, {})


# --- Who somebody is on a chat platform: what counts as a proof, and what does not ----------------


BACK = "https://rostrum.example/sign-in/here"
ADA = {"discord": "80351110224678912", "slack": "U0ADA"}


@pytest.fixture
async def server() -> AsyncIterator[AccountsServer]:
    async with AccountsServer() as made:
        made.back.add(BACK)
        yield made


def make(
    server: AccountsServer, platform: str, secret: str = CLIENT_SECRET, teams: tuple[str, ...] = ()
) -> Accounts:
    api = f"{server.origin}/api" + ("/v10" if platform == "discord" else "")
    app = Registration(
        client_id=CLIENT_ID, client_secret=SecretStr(secret), api_url=api, teams=teams
    )
    return DiscordAccounts(app) if platform == "discord" else SlackAccounts(app)


def returned(address: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(address).query))


async def sign_in(server: AccountsServer, platform: str, by: Accounts | None = None) -> str:
    by = by or make(server, platform)
    pending = Pending.begin(platform)
    query = returned(server.agree(by.page(pending, BACK), ADA[platform]))
    return await by.identify(open_code(query, pending, by.issuer), pending, BACK)


@pytest.mark.parametrize("platform", ["discord", "slack"])
async def test_who_agrees_there_is_known_here(server: AccountsServer, platform: str) -> None:
    assert await sign_in(server, platform) == ADA[platform]


@pytest.mark.parametrize("platform", ["discord", "slack"])
async def test_an_unasked_return_is_refused(server: AccountsServer, platform: str) -> None:
    by, ours, theirs = make(server, platform), Pending.begin(platform), Pending.begin(platform)
    address = server.agree(by.page(ours, BACK), ADA[platform])
    query = returned(address)
    declined = returned(server.decline(by.page(ours, BACK)))
    for pending, changed, why in (
        (theirs, {}, EXPIRED),
        (ours, {"state": ""}, EXPIRED),
        (ours, {"state": "ü"}, EXPIRED),
        (ours, {"iss": "https://elsewhere.example"}, EXPIRED),
        (ours, {"code": ""}, DECLINED),
    ):
        with pytest.raises(NotAllowedError, match=why[:20]):
            open_code(query | changed, pending, by.issuer)
    with pytest.raises(NotAllowedError, match=DECLINED[:20]):
        open_code(declined, ours, by.issuer)
    # A code that was stolen: with another verifier, or another nonce, it is worth nothing.
    with pytest.raises(NotAllowedError, match=EXPIRED[:20]):
        await by.identify(query["code"], theirs, BACK)
    with pytest.raises(NotAllowedError, match=EXPIRED[:20]):
        await by.identify(query["code"], ours, BACK)  # used


@pytest.mark.parametrize("platform", ["discord", "slack"])
async def test_a_platform_that_is_away_or_refuses_us_is_not_the_persons_fault(
    server: AccountsServer, platform: str
) -> None:
    for fault in (503, 429):
        server.fault = fault
        with pytest.raises(VenueAwayError, match="does not answer"):
            await sign_in(server, platform)
    server.fault = 0
    with pytest.raises(VenueError, match="not set up correctly"):
        await sign_in(server, platform, make(server, platform, "another secret"))
    assert {AWAY[:10], BROKEN[:10]} == {"{platform}", "Signing in"}


def unsigned(claims: Mapping[str, Any]) -> str:
    return jwt.encode(dict(claims), "", algorithm="none", headers={"kid": "key-1"})


def with_the_public_key(claims: Mapping[str, Any]) -> str:
    """Sign with what everybody knows, as if it were a shared secret."""
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        return jwt.encode(dict(claims), "public", algorithm="HS256", headers={"kid": "key-1"})


@pytest.mark.parametrize(
    "lie",
    [
        {"nonce": "of another browser"},
        {"nonce": None},
        {"aud": "another-app"},
        {"aud": None},
        {"iss": "https://elsewhere.example"},
        {"exp": 1},
        {"exp": None},
        {"iat": 4_102_444_800},  # in 2100
        {"https://slack.com/user_id": None},
        {"https://slack.com/user_id": "<b>"},
    ],
    ids=json.dumps,
)
async def test_an_id_token_that_says_something_else_is_refused(
    server: AccountsServer, lie: dict[str, Any]
) -> None:
    server.lie = lie
    with pytest.raises(NotAllowedError):
        await sign_in(server, "slack")


async def test_an_id_token_that_slack_did_not_sign_is_refused(server: AccountsServer) -> None:
    stranger = Key("key-1")
    for forge in (unsigned, with_the_public_key, lambda claims: server.sign(claims, stranger)):
        server.forge = forge
        with pytest.raises(NotAllowedError):
            await sign_in(server, "slack")
    server.lie = {"scope": "guilds"}  # Discord must have granted what says who it is
    with pytest.raises(NotAllowedError):
        await sign_in(server, "discord")


async def test_a_new_key_of_slack_is_read_but_not_at_every_forgery(
    server: AccountsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    by = make(server, "slack")
    assert await sign_in(server, "slack", by) == ADA["slack"]
    server.key = Key("key-2")
    server.shown.append(server.key)
    with pytest.raises(NotAllowedError):
        await sign_in(server, "slack", by)
    assert server.asked.count("/openid/connect/keys") == 1
    monkeypatch.setattr(accounts, "FRESH_SECONDS", 0.0)
    assert await sign_in(server, "slack", by) == ADA["slack"]


async def test_slack_users_of_other_workspaces_do_not_sign_in(server: AccountsServer) -> None:
    elsewhere = make(server, "slack", teams=("T0ELSEWHERE",))
    assert returned(elsewhere.page(Pending.begin("slack"), BACK))["team"] == "T0ELSEWHERE"
    with pytest.raises(NotAllowedError, match="not served here"):
        await sign_in(server, "slack", elsewhere)
    here = make(server, "slack", teams=(TEAM, "T0ELSEWHERE"))
    assert await sign_in(server, "slack", here) == ADA["slack"]


def request_from(peer: str, *forwarded: str) -> web.Request:
    class Transport:
        def get_extra_info(self, name: str, default: object = None) -> object:
            return (peer, 5000) if name == "peername" else default

    headers, app = [("X-Forwarded-For", value) for value in forwarded], web.Application()
    app[PROXIES] = (ip_network("10.1.0.0/16"),)
    return make_mocked_request("GET", "/", CIMultiDict(headers), transport=Transport(), app=app)


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("203.0.113.7", ("198.51.100.1",), "203.0.113.7"),  # no proxy of ours: its own claim
        ("127.0.0.1", (), "127.0.0.1"),
        ("127.0.0.1", ("198.51.100.1, 203.0.113.7",), "203.0.113.7"),
        ("127.0.0.1", ("1.1.1.1", "203.0.113.7"), "203.0.113.7"),
        ("172.17.0.1", ("1.1.1.1", "203.0.113.7"), "172.17.0.1"),  # of any pod or machine near
        ("10.1.2.3", ("203.0.113.7",), "203.0.113.7"),  # named by the operator
        ("127.0.0.1", ("nonsense",), "127.0.0.1"),
        ("::1", ("2001:db8:1:2:3::4",), "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", (), "203.0.113.7"),
    ],
)
def test_an_address_is_that_of_the_connection_or_of_our_proxy(
    peer: str, forwarded: tuple[str, ...], client: str
) -> None:
    assert client_of(request_from(peer, *forwarded)) == client


def test_tries_that_fail_are_limited_and_memory_is_bounded() -> None:
    now = [0.0]
    tries = LoginThrottle(most=2, seconds=60, clock=lambda: now[0])
    for _ in range(2):
        tries.check("a")
        tries.failed("a")
    with pytest.raises(web.HTTPTooManyRequests):
        tries.check("a")
    tries.check("b")
    now[0] = 61.0
    tries.check("a")
    for number in range(MOST_ADDRESSES + 10):
        tries.failed(str(number))
    assert len(tries._tried) == MOST_ADDRESSES
