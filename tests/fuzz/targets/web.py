"""What browsers send, and what platforms answer when somebody signs in."""

import json
import time
from collections import ChainMap
from functools import lru_cache
from typing import Any
from unittest.mock import patch

import jwt
import orjson
from aiohttp import web
from aiohttp.streams import EmptyStreamReader
from aiohttp.test_utils import make_mocked_request
from cryptography.hazmat.primitives.asymmetric import rsa
from pydantic import SecretStr, ValidationError

from adapters.web import accounts
from adapters.web.accounts import DiscordAccounts, Pending, Registration, SlackAccounts, open_code
from adapters.web.label_pages import filled, read_answer
from adapters.web.management import _paid, _terms, _where
from adapters.web.session import URLENCODED, Sessions, _host_of, read_form
from engine.labelling.sheet import Sheet, SheetAnswer
from engine.values.errors import MISFITS
from tests.fuzz.target import Target, wait

APP = Registration(
    client_id="client", client_secret=SecretStr("s"), api_url="https://slack.example/api"
)
PENDING = Pending(platform="slack", state="state", nonce="nonce", verifier="v" * 43)
SHEET = Sheet(
    id="s", task="t", number=1, language="en", topic="Tea", conditions="", names=("Maple", "Cedar"),
    stances=("", ""), argues=(), sources=(), rounds=(), words=0, answer=None, open=True,
)  # fmt: skip


class Body(EmptyStreamReader):
    """A request's body that has arrived."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._rest = data

    async def readany(self) -> bytes:
        data, self._rest = self._rest, b""
        return data


def form(data: bytes) -> None:
    """Read a form, then a sheet's answer and a task's terms from its fields."""
    request = make_mocked_request(
        "POST", "/", headers={"Content-Type": URLENCODED}, payload=Body(data)
    )
    fields = wait(read_form(request))
    for name, value in fields.items():
        assert isinstance(name, str)
        assert isinstance(value, str)
    filled(fields, SHEET)
    assert isinstance(read_answer(fields, SHEET), SheetAnswer | str)
    _where(fields)
    _paid(fields.get("pay", ""))
    _terms(fields, {})


def cookie(data: bytes) -> None:
    """Read a session from a Cookie header: none can be made up."""
    header = data.decode("latin-1").replace("\r", "").replace("\n", "").replace("\0", "")
    request = make_mocked_request("GET", "/", headers={"Cookie": header})
    assert Sessions(b"secret", secure=False).read(request) is None


def address(data: bytes) -> None:
    """Read a Host header, and what came back from a platform."""
    text = data.decode("utf-8", "replace")
    assert isinstance(_host_of(text), str)
    query = dict(line.partition("=")[::2] for line in text.splitlines())
    assert open_code(query, PENDING, "https://slack.example") == query["code"]


@lru_cache(maxsize=1)
def _key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def _token(data: bytes) -> str:
    """Return an id token: signed, if the input is its claims, or else the input."""
    try:
        claims = json.loads(data)
        held = ChainMap(claims, {"iat": int(time.time()), "exp": int(time.time()) + 60})
        return jwt.encode(dict(held), _key(), "RS256", headers={"kid": "one"})
    except MISFITS:
        return data.decode("latin-1")


def token(data: bytes) -> None:
    shown: dict[str, Any] = jwt.algorithms.RSAAlgorithm.to_jwk(_key().public_key(), as_dict=True)
    _identify({"keys": [shown | {"kid": "one", "alg": "RS256", "use": "sig"}]}, _token(data))


def keys(data: bytes) -> None:
    _identify(_object(data), _token(b'{"aud": "client"}'))


def _identify(held: Any, given: str) -> None:
    async def ask(_: str, place: str, *__: object, **___: object) -> Any:
        return held if place.endswith("/keys") else {"ok": True, "id_token": given}

    with patch.object(accounts, "_ask", ask):
        user = wait(SlackAccounts(APP).identify("code", PENDING, "https://x.example/back"))
    assert user.isalnum()


def _object(data: bytes) -> dict[str, Any]:
    """Return what `_ask` would: anything but a JSON object comes no further."""
    try:
        said = orjson.loads(data)
    except orjson.JSONDecodeError:
        said = None
    return said if isinstance(said, dict) else {}


def account(data: bytes) -> None:
    """Read what Discord says of a user, and of a token."""
    said = _object(data)

    async def ask(*_: object, **__: object) -> Any:
        return said

    with patch.object(accounts, "_ask", ask):
        user = wait(DiscordAccounts(APP).identify("code", PENDING, "https://x.example/back"))
    assert user.isdigit()


WEB = (
    Target("web-form", form, (web.HTTPBadRequest, ValidationError)),
    Target("web-cookie", cookie),
    Target("web-address", address),
    Target("web-token", token),
    Target("web-keys", keys),
    Target("web-account", account),
)
