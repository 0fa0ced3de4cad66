"""Driving the double from another process: what `Remote` asks for, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import orjson
from aiohttp import web

from tests.doubles.slack.deliveries import DidNotRespondError
from tests.doubles.slack.faults import Fault
from tests.doubles.slack.interactions import Asked
from tests.doubles.slack.refusals import Json, Refusal
from tests.doubles.slack.server import SlackServer
from tests.doubles.slack.state import Message

ACTS = frozenset(
    (
        "add_user",
        "advance",
        "archive",
        "delete_channel",
        "delete_message",
        "kick_bot",
        "press",
        "react",
        "revoke",
        "slash",
        "uninstall",
        "unreact",
    )
)
SOCKET_ACTS = frozenset(("drop", "refresh", "refuse", "silence"))


class Control:
    """The routes under `/control`."""

    def __init__(self, slack: SlackServer) -> None:
        self._slack = slack

    def app(self) -> web.Application:
        """Make the double's application with these routes before its own."""
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_get("/control/state", self._state)
        app.router.add_get("/control/sent", self._sent)
        app.router.add_post("/control/act", self._act)
        app.router.add_post("/control/fail", self._fail)
        app.router.add_post("/control/rules", self._rules)
        app.router.add_post("/control/release", self._release)
        return self._slack.app(app)

    async def _act(self, request: web.Request) -> web.Response:
        asked: Json = orjson.loads(await request.read())
        name, on_socket = asked["name"], asked["socket"]
        if name not in (SOCKET_ACTS if on_socket else ACTS):
            return _answer({"error": f"There is no act {name!r}."}, 404)
        owner: Any = self._slack.socket if on_socket else self._slack
        act: Callable[..., Any] = getattr(owner, name)
        try:
            done = act(*asked["args"], **asked["kwargs"])
            if hasattr(done, "__await__"):
                done = await done
        except (Refusal, AssertionError, DidNotRespondError) as refused:
            return _answer({"error": str(refused)}, 409)
        return _answer({"done": self._shown(done)})

    async def _fail(self, request: web.Request) -> web.Response:
        asked: Json = orjson.loads(await request.read())
        if asked.pop("clear", False):
            self._slack.faults.clear()
        else:
            self._slack.fail(Fault(**asked.pop("fault")), **asked)
        return _answer({})

    async def _rules(self, request: web.Request) -> web.Response:
        for name, value in orjson.loads(await request.read()).items():
            setattr(self._slack.rules, name, value)
        return _answer({})

    async def _release(self, request: web.Request) -> web.Response:
        self._slack.faults.release()
        return _answer({})

    async def _sent(self, request: web.Request) -> web.Response:
        return _answer([asdict(sent) for sent in self._slack.sent])

    async def _state(self, request: web.Request) -> web.Response:
        slack = self._slack
        return _answer(
            {
                "api_url": slack.api_url,
                "channel": slack.channel.id,
                "users": {user.name: user.id for user in slack.world.users.values()},
                "messages": [self._shown(message) for message in slack.world.everything()],
                "asked": [self._shown(asked) for asked in slack.interactions.all],
                "calls": slack.calls,
                "violations": [asdict(violation) for violation in slack.violations],
                "pings": [[ts, sorted(whom)] for ts, whom in slack.pings],
                "told": [asdict(told) for told in slack.deliveries.told],
                "hanging": slack.faults.hanging,
                "connected": slack.socket.connected,
                "connects": slack.socket.connects,
            }
        )

    def _shown(self, thing: object) -> Json | None:
        if isinstance(thing, Message):
            names = self._slack.world.users
            held = {
                name: sorted(names[user].name for user in users)
                for name, users in thing.reactions.items()
            }
            shown = {**thing.json(metadata=True), "channel": thing.channel, "reactions": held}
            return {**shown, "shown": thing.text, "deleted": thing.deleted}
        if isinstance(thing, Asked):
            return {"id": thing.id, "user": thing.user, "text": thing.text, "uses": thing.uses}
        return None


def _answer(body: Any, status: int = 200) -> web.Response:
    return web.Response(
        status=status, body=orjson.dumps(body), headers={"Content-Type": "application/json"}
    )
