"""A stage for workspaces that install Rostrum by OAuth: a browser, admins, and the product."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import aiohttp
from pydantic import SecretStr

from adapters.site import Site
from adapters.slack.connection import HttpTransport, SlackConnection, SocketTransport
from adapters.slack.install import Credentials, Installations, Installer
from adapters.slack.rest import SlackRest
from adapters.slack.venue import SlackVenue
from bot.app import App
from bot.serve.platforms import Slack
from bot.serve.run import serving
from tests.doubles.slack import SlackServer
from tests.doubles.slack.state import Message
from tests.doubles.slack.web_api import CLIENT_ID, CLIENT_SECRET
from tests.kit import some
from tests.scenario.discord_stage import SWIFT, settings_of, until
from tests.scenario.slack_stage import OPTIONS, title

KEY = "a-key-of-the-operator"


class Page(NamedTuple):
    status: int
    text: str
    location: str
    cookie: str
    kind: str


@dataclass
class OAuthStage:
    """What outlives a process, and the browser of whoever installs Rostrum."""

    url: str
    slack: SlackServer
    http: bool = False
    keys: tuple[str, ...] = (KEY,)
    settings: dict[str, Any] = field(default_factory=dict)
    site: Site = field(default_factory=lambda: Site("127.0.0.1", 0))

    @asynccontextmanager
    async def process(self) -> AsyncIterator[App]:
        rest = SlackRest(None, self.slack.api_url, minute=0.0)
        settings = settings_of(self.url, secret_key=self.keys, **self.settings)
        workspaces = Installations(rest, frozenset(settings.slack.allowed_teams))
        transport = (
            HttpTransport(SecretStr(self.slack.signing_secret), self.site)
            if self.http
            else SocketTransport(rest, SecretStr(self.slack.app_token))
        )
        installer = Installer(Credentials(CLIENT_ID, SecretStr(CLIENT_SECRET)), workspaces)
        venue = SlackVenue(workspaces, limits=SWIFT, gap=0.0)
        connection = SlackConnection(
            workspaces, transport, self.site, installer=installer, first_pause=0.05
        )
        async with serving(settings, Slack(workspaces, venue, connection)) as app:
            await until(lambda: connection.connected and self.site.address)
            self.slack.oauth.redirect_urls = (f"{self.address}/slack/oauth_redirect",)
            if self.http:
                self.slack.deliveries.request_url = f"{self.address}/slack/events"
            yield app

    @property
    def address(self) -> str:
        host, port = some(self.site.address)
        return f"http://{host}:{port}"

    async def visit(self, url: str, cookie: str = "", language: str = "") -> Page:
        headers = {"Cookie": cookie} if cookie else {}
        headers |= {"Accept-Language": language} if language else {}
        async with (
            aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
            session.get(url, headers=headers, allow_redirects=False) as response,
        ):
            kept = response.headers.get("Set-Cookie", "").split(";")[0]
            location = response.headers.get("Location", "")
            kind = response.headers["Content-Type"]
            return Page(response.status, await response.text(), location, kept, kind)

    async def begin(self) -> Page:
        begun = await self.visit(f"{self.address}/slack/install")
        assert begun.status == 302
        assert begun.location.startswith(f"{self.slack.origin}/oauth/v2/authorize?")
        return begun

    async def install(self, team: str, **granted: bool) -> Page:
        begun = await self.begin()
        back = self.slack.oauth.approve(begun.location, team, **granted)
        return await self.visit(back, begun.cookie)

    async def vote(self, user: str, channel: str) -> Message:
        asked = await self.slack.slash(user, '/debate start "Tea beats coffee"', channel)
        await asked.said("thread")
        return await until(lambda: self._ballot(channel))

    def _ballot(self, channel: str) -> Message | None:
        found = [m for m in self.inside(channel) if title(m) == "Vote"]
        return found[0] if found and len(found[0].reactions) == len(OPTIONS) else None

    def inside(self, channel: str) -> list[Message]:
        roots = self.slack.messages(channel)
        return self.slack.replies(roots[-1].ts) if roots else []

    async def said(self, channel: str, what: str) -> Message:
        return await until(
            lambda: next((m for m in self.inside(channel) if title(m) == what), None), 20
        )
