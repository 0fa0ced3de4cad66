"""What Slack sends: signed requests, and answers of its Web API.

An input is a JSON object: the `kind` of delivery and its `payload`. Anything else is a signed body.
"""

import asyncio
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import orjson
from aiohttp import web
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from adapters.site import Site
from adapters.slack.client import SlackClient
from adapters.slack.connection import HttpTransport
from adapters.slack.rest import Identity, SlackRest, _SlackObject
from adapters.slack.venue import SlackVenue
from adapters.slack.workspaces import OneWorkspace
from engine.chat.commands import parse_command
from engine.values.errors import MISFITS, NotAllowedError, RostrumError
from tests.doubles.rehearsed import DEFAULTS
from tests.fuzz.target import Target, wait

SECRET = "signing-secret"
ME = Identity("U0ROSTRUM", "B0", "T0HALL", "https://hall.example", "rostrum", "Hall", frozenset())


class Silent(SlackRest):
    """Slack's Web API, which takes everything and says nothing of anyone."""

    def __init__(self) -> None:
        super().__init__(SecretStr("xoxb-1"), "http://127.0.0.1:1/api/")

    async def identity(self, *, again: bool = False) -> Identity:
        return ME

    async def _call(self, *_: object) -> dict[str, Any]:
        return {"user": {}}

    def web(self) -> AsyncWebClient:
        """Return a client without connections."""
        return AsyncWebClient()

    async def respond(self, url: str, body: dict[str, Any]) -> bool:
        return True

    async def download(self, url: str, most: int) -> bytes:
        return b"Tea grows on hills."


class Handler:
    """A handler that only reads what it is handed."""

    def __init__(self) -> None:
        self.workspaces: Any = OneWorkspace(Silent())
        votes = SimpleNamespace(places=self._places)
        self.commands: Any = SimpleNamespace(
            defaults=DEFAULTS, store=SimpleNamespace(votes=votes), left=self._nothing
        )
        self.listener = self._nothing

    async def _places(self, _: str, message: str) -> tuple[str, ...]:
        return (f"T0HALL:C0000005/{message}",)

    async def _nothing(self, *_: object) -> None:
        return None

    async def language(self, *_: object, **__: object) -> str:
        return "en"

    async def carry_out(self, asker: Any, command: Any, **_: object) -> None:
        _check(asker)
        if isinstance(command, str):
            command = parse_command(command, hides=False)
        repr(command.arguments).encode()

    def reply(self, asker: Any) -> Any:
        _check(asker)
        return asker

    async def vote(self, asker: Any, pressed: Any) -> None:
        _check(asker)
        assert isinstance(pressed.message, str)

    async def person(self, asker: Any) -> None:
        """Know nobody: what follows is no parser's."""
        _check(asker)
        raise NotAllowedError

    offer = run = answer = explained = _nothing


def _check(asker: Any) -> None:
    for one in (asker.team, asker.channel, asker.user, asker.response_url):
        assert isinstance(one, str)


@lru_cache(maxsize=1)
def _door() -> tuple[SlackClient, Any]:
    handler: Any = Handler()
    client = SlackClient(handler, SlackVenue(handler.workspaces))
    transport = HttpTransport(SecretStr(SECRET), Site("127.0.0.1", 0))
    (route,) = transport.routes(client.app(SECRET))
    return client, route.handler


def _encoded(data: bytes) -> tuple[str, bytes]:
    """Return a content type and a body, as Slack sends each kind."""
    try:
        held = json.loads(data)
        kind, payload = held["kind"], held["payload"]
        if kind == "events_api":
            return "application/json", json.dumps(payload).encode()
        form = payload if kind == "slash_commands" else {"payload": json.dumps(payload)}
        return "application/x-www-form-urlencoded", urlencode(form).encode()
    except MISFITS:
        return "application/json", data


async def _deliver(kind: str, body: bytes) -> None:
    stamp = str(int(time.time()))
    digest = hmac.new(SECRET.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256)
    headers = {
        "Content-Type": kind,
        "X-Slack-Request-Timestamp": stamp,
        "X-Slack-Signature": f"v0={digest.hexdigest()}",
    }

    async def text() -> str:
        return body.decode()

    client, take = _door()
    request = SimpleNamespace(headers=headers, text=text, query_string="")
    answer: web.Response = await take(request)
    assert answer.status in (200, 400, 404), answer.status
    for done in await asyncio.gather(*client._tasks, return_exceptions=True):
        if isinstance(done, BaseException) and not isinstance(done, RostrumError):
            raise done


def request(data: bytes) -> None:
    """Take a signed request, and do what it asks for."""
    wait(_deliver(*_encoded(data)))


class Answers(Silent):
    """Slack's Web API, which answers everything with one object."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self._answer = answer

    async def _call(self, *_: object) -> dict[str, Any]:
        return _SlackObject(self._answer)


def answer(data: bytes) -> None:
    """Read an answer of Slack's Web API as each that is asked for."""
    try:
        said = orjson.loads(data)
    except orjson.JSONDecodeError:
        return
    if not isinstance(said, dict):  # which `SlackRest` refuses
        return
    venue, place = SlackVenue(OneWorkspace(Answers(said))), "T0HALL:C1/1.2"
    reads: tuple[Callable[[], Coroutine[Any, Any, object]], ...] = (
        partial(venue.find, place, "r1", "1.3"),
        partial(venue.locate, "T0HALL:C1"),
        partial(venue.written_by, place, "U1", "1.3"),
        partial(venue.member, place, "U1"),
        partial(venue.reactions, place, "1.3"),
    )
    for asked in reads:
        with suppress(RostrumError):
            wait(asked())


SLACK = (Target("slack-request", request), Target("slack-answer", answer))
