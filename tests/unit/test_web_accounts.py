"""Who somebody is on a chat platform: what counts as a proof, and what does not."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from ipaddress import ip_network
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jwt
import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict
from pydantic import SecretStr

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
from adapters.web.session import MOST_ADDRESSES, PROXIES, Tries, client_of
from engine.values.errors import NotAllowedError, VenueAwayError, VenueError
from tests.doubles.accounts import CLIENT_ID, CLIENT_SECRET, TEAM, AccountsServer, Key

BACK = "https://rostrum.example/sign-in/here"
ADA = {"discord": "80351110224678912", "slack": "U0ADA"}


@pytest.fixture
async def server() -> AsyncIterator[AccountsServer]:
    async with AccountsServer() as made:
        made.back.add(BACK)
        yield made


def make(
    server: AccountsServer,
    platform: str,
    secret: str = CLIENT_SECRET,
    teams: tuple[str, ...] = (),
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
async def test_a_return_that_was_not_asked_for_is_refused(
    server: AccountsServer, platform: str
) -> None:
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


async def test_discord_must_have_granted_what_says_who_it_is(server: AccountsServer) -> None:
    server.lie = {"scope": "guilds"}
    with pytest.raises(NotAllowedError):
        await sign_in(server, "discord")


# --- tries --------------------------------------------------------------------------------


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
    tries = Tries(most=2, seconds=60, clock=lambda: now[0])
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
