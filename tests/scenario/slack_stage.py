"""A stage for debates on Slack: the product as `rostrum run` joins it, against the double.

Processes begin and end on it as often as a test likes; what people see is read from the double.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from adapters.site import Site
from adapters.slack.connection import HttpTransport, SlackConnection, SocketTransport, Transport
from adapters.slack.rest import SlackRest
from adapters.slack.venue import SlackVenue
from adapters.slack.workspaces import OneWorkspace
from bot.app import App
from bot.serve.platforms import Platform, Slack
from bot.serve.run import serving
from bot.settings.settings import Settings
from engine.values.ports import VenueLimits
from tests.doubles.facts import on_slack
from tests.doubles.slack import Asked, SlackServer
from tests.doubles.slack.state import Message
from tests.scenario.discord_stage import (
    SWIFT,
    ChatStage,
    ended as ended,
    served,
    settings_of,
    until as until,
    voting as voting,
)
from tests.scenario.told_votes import told_votes

TEA = '"Tea beats coffee"'
VOTES = ("Vote", "Oylama")  # the invitation, in English and in Turkish
OPTIONS = ("large_blue_circle", "red_circle", "handshake", "no_entry_sign")


@dataclass
class SlackStage(ChatStage[Message]):
    """Debates on Slack."""

    slack: SlackServer
    http: bool = False
    managers: tuple[str, ...] = ()  # ids of users, beside admins
    ping: float = 5.0  # seconds; a socket is taken for dead after four, also on a slow machine
    tokens: tuple[str, str] | None = None  # of bot and app, where they are not the platform's
    proxy: str | None = None

    @asynccontextmanager
    async def process(self) -> AsyncIterator[App]:
        bot_token, app_token = self.tokens or (self.slack.bot_token, self.slack.app_token)
        rest = SlackRest(SecretStr(bot_token), self.slack.api_url, minute=0.0, proxy=self.proxy)
        site = Site("127.0.0.1", 0)
        transport = self._transport(rest, app_token, site)
        how: dict[str, Any] = {"limits": self.limits, "gap": self.gap, "apart": self.apart}
        how["managers"] = self.managers
        async with process(self._settings(), rest, transport, site, **how) as app:
            if not self.http:
                await self.slack.socket.until_connected()
            if site.address:
                host, port = site.address
                self.slack.deliveries.request_url = f"http://{host}:{port}/slack/events"
            yield app

    @asynccontextmanager
    async def joined(self, platform: Platform) -> AsyncIterator[App]:
        """Run a process with a platform that was made from settings, until it ends by itself."""
        async with serving(self._settings(), platform) as app:
            await asyncio.sleep(10)
            yield app

    def _transport(self, rest: SlackRest, app_token: str, site: Site) -> Transport:
        if self.http:
            return HttpTransport(SecretStr(self.slack.signing_secret), site)
        return SocketTransport(rest, SecretStr(app_token), ping=self.ping)

    def _settings(self) -> Settings:
        return settings_of(self.url, **self.settings)

    async def start(self, line: str = TEA, user: str = "ada") -> Asked:
        asked = await self.slack.slash(user, f"/debate start {line}")
        await asked.said()
        return asked

    def posted(self) -> list[Message]:
        return self.replies if self.slack.messages() else []

    def title(self, message: Message) -> str:
        return title(message)

    def ballot_ready(self) -> Message | None:
        found = [m for m in self.posted() if title(m) in VOTES]
        if not found:
            return None
        shown = [one for block in found[0].blocks for one in block.get("elements", ())]
        private = any(one.get("action_id", "").startswith("rostrum:vote") for one in shown)
        return found[0] if private or len(found[0].reactions) == len(OPTIONS) else None

    async def close(self, user: str = "olga") -> Message:
        asked = await self.slack.slash(user, "/debate close")
        said = await asked.said()
        assert "closed" in said, said
        return await self.said("Reveal")

    @property
    def root(self) -> Message:
        return self.slack.messages()[-1]

    @property
    def replies(self) -> list[Message]:
        return self.slack.replies(self.root.ts)

    def references(self) -> list[str]:
        everything = self.slack.world.everything()
        return [ref for m in everything if (ref := on_slack(m.metadata))]


@asynccontextmanager
async def process(
    settings: Settings,
    rest: SlackRest,
    transport: Transport,
    site: Site,
    *,
    limits: VenueLimits = SWIFT,
    gap: float = 0.0,
    managers: tuple[str, ...] = (),
    apart: bool = False,
) -> AsyncIterator[App]:
    workspaces = OneWorkspace(rest)
    venue = SlackVenue(workspaces, managers=managers, limits=limits, gap=gap)
    connection = SlackConnection(workspaces, transport, site, managers, first_pause=0.05)
    async with served(settings, Slack(workspaces, venue, connection), apart=apart) as app:
        await until(lambda: connection.connected)
        yield app


def title(message: Message) -> str:
    first = message.blocks[0] if message.blocks else {}
    return str(first["elements"][0]["text"]) if first.get("type") == "context" else ""


def buttons(message: Message) -> list[str]:
    rows = [block["elements"] for block in message.blocks if block["type"] == "actions"]
    return [button["text"]["text"] for row in rows for button in row]


def counted(reveal: Message) -> dict[str, int]:
    votes = told_votes(reveal.text)
    return {"neither" if name == "weak" else name: n for name, n in votes.items()}
