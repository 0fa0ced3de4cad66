"""Driving the double from another process: what `Remote` asks for, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import orjson
from aiohttp import web

from tests.doubles.discord.faults import Fault
from tests.doubles.discord.interactions import Interaction
from tests.doubles.discord.payloads import channel_json, message_json
from tests.doubles.discord.refusals import Json, Refusal
from tests.doubles.discord.server import DiscordServer
from tests.doubles.discord.state import Message

ACTS = frozenset(
    (
        "add_user",
        "advance",
        "allow",
        "archive",
        "autocomplete",
        "clear_emoji",
        "clear_reactions",
        "delete_message",
        "delete_thread",
        "deny",
        "invite_bot",
        "kick_bot",
        "lock",
        "press",
        "react",
        "say",
        "slash",
        "unreact",
    )
)
GATEWAY_ACTS = frozenset(
    ("disconnect", "drop", "flow", "forget_sessions", "invalidate", "reconnect", "repeat")
)


class Control:
    """The routes under `/control`."""

    def __init__(self, discord: DiscordServer) -> None:
        self._discord = discord

    def app(self) -> web.Application:
        """Make the double's application with these routes before its own."""
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_get("/control/state", self._state)
        app.router.add_get("/control/sent", self._sent)
        app.router.add_post("/control/act", self._act)
        app.router.add_post("/control/fail", self._fail)
        app.router.add_post("/control/rules", self._rules)
        app.router.add_post("/control/release", self._release)
        return self._discord.app(app)

    async def _act(self, request: web.Request) -> web.Response:
        asked: Json = orjson.loads(await request.read())
        name, on_gateway = asked["name"], asked["gateway"]
        if name not in (GATEWAY_ACTS if on_gateway else ACTS):
            return _answer({"error": f"There is no act {name!r}."}, 404)
        owner: Any = self._discord.gateway if on_gateway else self._discord
        act: Callable[..., Any] = getattr(owner, name)
        try:
            done = act(*asked["args"], **asked["kwargs"])
            if hasattr(done, "__await__"):
                done = await done
        except (Refusal, AssertionError) as refused:
            return _answer({"error": str(refused)}, 409)
        return _answer({"done": self._show(done)})

    async def _fail(self, request: web.Request) -> web.Response:
        asked: Json = orjson.loads(await request.read())
        if asked.pop("clear", False):
            self._discord.faults.clear()
        else:
            self._discord.fail(Fault(**asked.pop("fault")), **asked)
        return _answer({})

    async def _rules(self, request: web.Request) -> web.Response:
        for name, value in orjson.loads(await request.read()).items():
            setattr(self._discord.rules, name, value)
        return _answer({})

    async def _release(self, request: web.Request) -> web.Response:
        self._discord.faults.release()
        return _answer({})

    async def _sent(self, request: web.Request) -> web.Response:
        return _answer([asdict(sent) for sent in self._discord.sent])

    async def _state(self, request: web.Request) -> web.Response:
        discord = self._discord
        gateway, world = discord.gateway, discord.world
        return _answer(
            {
                "api_url": discord.api_url,
                "token": discord.token,
                "bot": world.bot.id,
                "guild": discord.guild.id,
                "channel": discord.channel.id,
                "users": {user.name: user.id for user in world.users.values()},
                "channels": [channel_json(world, c) for c in world.channels.values()],
                "messages": {
                    channel: [self._show(m) for m in world.in_order(channel)]
                    for channel in world.messages
                },
                "interactions": [self._show(asked) for asked in discord.interactions.all],
                "requests": [[call.method, call.path] for call in discord.rest.requests],
                "violations": [asdict(violation) for violation in discord.violations],
                "pings": world.pings,
                "hanging": discord.faults.hanging,
                "connected": gateway.connected,
                "identifies": gateway.identifies,
                "resumes": gateway.resumes,
            }
        )

    def _show(self, thing: object) -> Json | None:
        if isinstance(thing, Message):
            names = self._discord.world.users
            holders = {
                reaction.emoji: sorted(names[user].name for user in reaction.holders)
                for reaction in thing.reactions.values()
            }
            shown = message_json(self._discord.world, thing, self._discord.origin)
            return {**shown, "text": thing.text, "holders": holders, "nonce": thing.nonce}
        if isinstance(thing, Interaction):
            return {
                "id": thing.id,
                "name": thing.name,
                "user": thing.user_id,
                "type": thing.type,
                "latency": thing.latency,
                "filled": thing.filled,
                "ephemeral": thing.ephemeral,
                "text": thing.text,
                "choices": thing.choices,
                "messages": [self._show(message) for message in thing.messages],
            }
        return None


def _answer(body: Any, status: int = 200) -> web.Response:
    return web.Response(
        status=status, body=orjson.dumps(body), headers={"Content-Type": "application/json"}
    )
