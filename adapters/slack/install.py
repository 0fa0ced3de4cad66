"""How workspaces install Rostrum: the app's manifest, Slack's OAuth flow, and what follows."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

import structlog
from aiohttp import web
from pydantic import BaseModel, InstanceOf, SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.error import BoltError
from slack_bolt.oauth.async_callback_options import (
    AsyncCallbackOptions,
    AsyncFailureArgs,
    AsyncSuccessArgs,
)
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.oauth.installation_store import Bot, Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from yarl import URL

from adapters.slack import texts
from adapters.slack.client import COMMAND, DEBATE_THIS
from adapters.slack.errors import KNOWN, UNREADABLE, SlackAnswer
from adapters.slack.interactions import PLATFORM
from adapters.slack.rest import SlackRest
from adapters.slack.workspaces import Profiles, Workspace
from engine.run.order import NOT_ALLOWED
from engine.store.installs import Install, Installs
from engine.store.people import PeopleStore
from engine.values.errors import RostrumError, VenueAwayError, VenueError, VenueGoneError
from engine.values.language import ENGLISH, speaking
from engine.values.ports import utc_now
from engine.values.text import clean, headline
from engine.words.translation import LANGUAGES, say

# The workspaces that installed Rostrum by OAuth: slack-bolt's installation store over ours.


LONGEST_NAME = 255  # characters; Slack's own limit is lower
BUCKETS = 16  # of workspaces, divided among processes; those of each version have to agree
FRESH_SECONDS = 10.0  # before stored tokens are read again: another process may change them


class _CachedWorkspace(NamedTuple):
    """A cached workspace with its token, and when it expires."""

    home: Workspace
    token: str
    until: float


class Installations(AsyncInstallationStore):
    """Every workspace that installed Rostrum, each with its own token.

    With some `allowed` no other one is served, whenever it was installed.

    They are cached for some seconds only: behind a load balancer, a workspace may leave or install
    again, with a new token, through another process.
    """

    shares = BUCKETS
    installs: Installs  # these two since `open`
    people: PeopleStore

    def __init__(self, app: SlackRest, allowed: frozenset[str] = frozenset()) -> None:
        self.app, self._allowed = app, allowed
        self._known: dict[str, _CachedWorkspace] = {}
        self._of_bot: dict[str, Workspace] = {}

    async def open(self, installs: Installs, people: PeopleStore) -> None:
        """Load all installations. Raises SettingsError for a token that no key decrypts."""
        self.installs, self.people = installs, people
        await installs.reseal()
        for install in await installs.every(PLATFORM):
            if self._is_allowed(install.community):
                self._know(_bot_of(install))

    # --- as the adapter sees it -------------------------------------------------------------

    async def teams(self) -> tuple[str, ...]:
        """Return the ids of all workspaces."""
        return tuple(self._known)

    async def find(self, team: str) -> Workspace:
        """Return a workspace. Raises VenueGoneError if Rostrum is not installed there."""
        if not self._is_allowed(team):
            raise VenueGoneError(NOT_ALLOWED)
        known = self._known.get(team)
        if known is None or known.until <= time.monotonic():
            bot = await self.async_find_bot(enterprise_id=None, team_id=team)
            if bot is None:
                self._forget(team)
                raise VenueGoneError(texts.NOT_INSTALLED)
            self._know(bot)
        return self._known[team].home

    async def of_bot(self, user: str) -> Workspace | None:
        """Return the workspace whose bot this user is, None for any other user."""
        return self._of_bot.get(user)

    async def leave(self, team: str, removed_at: float) -> bool:
        """Drop a workspace that removed Rostrum at a time in seconds since 1970.

        False if it has installed Rostrum again since. Raises VenueAwayError.
        """
        bot = await self.async_find_bot(enterprise_id=None, team_id=team)
        if bot is not None and removed_at < bot.installed_at:
            # Clocks differ, and events may be late: does Slack accept the token now?
            try:
                await self.app.speaking(SecretStr(bot.bot_token)).identity()
            except VenueAwayError:
                raise
            except VenueError:
                pass  # it was removed
            else:
                return False
        await self.async_delete_bot(enterprise_id=None, team_id=team)
        return True

    # --- as slack-bolt sees it --------------------------------------------------------------

    async def async_save(self, installation: Installation) -> None:
        """Store an installation. Raises BoltError saying what is wrong with it."""
        team, token = installation.team_id, installation.bot_token
        if installation.is_enterprise_install or team is None:
            raise BoltError(texts.WHOLE_ORGANISATION)
        if not self._is_allowed(team):
            raise BoltError(NOT_ALLOWED)
        if installation.bot_refresh_token is not None:
            raise BoltError(texts.ROTATES)
        if token is None or installation.bot_user_id is None:
            raise BoltError(texts.NO_BOT)
        install = Install(
            platform=PLATFORM,
            community=team,
            name=team_name(installation),
            account=installation.bot_user_id,
            token=SecretStr(token),
            installed_at=datetime.fromtimestamp(installation.installed_at, UTC),
        )
        await self.installs.keep(install)
        self._know(_bot_of(install))

    async def async_find_bot(
        self,
        *,
        enterprise_id: str | None,
        team_id: str | None,
        is_enterprise_install: bool | None = False,
    ) -> Bot | None:
        """Return a workspace's bot, None if Rostrum is not installed there."""
        install = await self.installs.find(PLATFORM, team_id or "")
        return None if install is None else _bot_of(install)

    async def async_delete_bot(self, *, enterprise_id: str | None, team_id: str | None) -> None:
        """Delete a workspace's token."""
        await self.installs.drop(PLATFORM, team_id or "")
        self._forget(team_id or "")

    # --- inside -----------------------------------------------------------------------------

    def _is_allowed(self, team: str) -> bool:
        return not self._allowed or team in self._allowed

    def _know(self, bot: Bot) -> None:
        """Cache a workspace; with the same token its known people are kept."""
        team, token, until = bot.team_id or "", bot.bot_token, time.monotonic() + FRESH_SECONDS
        known = self._known.get(team)
        if known is not None and (known.token, known.home.user) == (token, bot.bot_user_id):
            self._known[team] = known._replace(until=until)
            return
        self._forget(team)
        rest = self.app.speaking(SecretStr(token))
        home = Workspace(team, bot.bot_user_id, rest, Profiles(rest, team, self.people))
        self._known[team] = _CachedWorkspace(home, token, until)
        self._of_bot[home.user] = home

    def _forget(self, team: str) -> None:
        gone = self._known.pop(team, None)
        if gone is not None:
            del self._of_bot[gone.home.user]


def team_name(installation: Installation) -> str:
    """Return a workspace's display name, or its id."""
    return headline(clean(installation.team_name or ""), LONGEST_NAME) or installation.team_id or ""


def _bot_of(install: Install) -> Bot:
    return Bot(
        team_id=install.community,
        team_name=install.name,
        bot_token=install.token.get_secret_value(),
        bot_id="",  # Slack does not give it here, and nothing needs it
        bot_user_id=install.account,
        installed_at=install.installed_at.timestamp(),
    )


# The app's manifest, with the minimum scopes; Slack creates the app from it.


EVENTS_PATH = "/slack/events"
INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"
NAME = "Rostrum"
NO_ADDRESS = "https://rostrum.example.com"
# What each scope is for; docs/slack.md says the same in a table.
SCOPES = {
    "commands": "the slash command",
    "chat:write": "debates",
    "chat:write.customize": "a name and a face of its own for each side",
    "reactions:read": "votes",
    "reactions:write": "one reaction for each option of a vote",
    "files:write": "exports and pictures",
    "users:read": "who is an admin, who a bot, and in which language",
    "channels:history": "to look, in Rostrum's own threads, whether a message in doubt was stored, "
    "and what a person who argues a side wrote",
    "groups:history": "the same in private channels",
    "channels:read": "to see that Rostrum is in a channel before a debate starts there",
    "groups:read": "the same of private channels",
}
OPTIONAL = frozenset({"chat:write.customize"})  # debates go on without it
PURPOSE = (
    "Rostrum holds debates between AI models in a thread: a blind jury of other models scores "
    "them, and people vote. It asks for channels:history and groups:history only to look in its "
    "own threads whether a message whose sending was in doubt is there, so that nothing is posted "
    "twice; without them such a message is left alone and noted. Where a person has agreed to "
    "argue a side, it also reads what that person writes in the debate's thread for their turns."
)
EVENTS = (
    "app_home_opened",
    "app_uninstalled",
    "reaction_added",
    "reaction_removed",
    "tokens_revoked",
)

Json = dict[str, Any]


SHORTCUT = {
    "name": "Debate this",
    "type": "message",
    "callback_id": DEBATE_THIS,
    "description": "Hold a debate between AI models about this message",
}


def manifest(
    mode: Literal["socket", "http"],
    name: str = NAME,
    address: str = NO_ADDRESS,
    *,
    oauth: bool = False,
) -> Json:
    """Return the manifest; `address` is where Slack and browsers find Rostrum.

    It is needed in HTTP mode, and for installation by `oauth`.
    """
    socket, address = mode == "socket", address.rstrip("/")
    url = {} if socket else {"url": f"{address}{EVENTS_PATH}"}
    redirect = {"redirect_urls": [f"{address}{REDIRECT_PATH}"]} if oauth else {}
    request = {"request_url": url["url"]} if url else {}
    command = {
        "command": COMMAND,
        "description": "Hold a debate between AI models",
        "usage_hint": 'start "topic" format=classic vote=30m',
        "should_escape": True,
    }
    return {
        "display_information": {
            "name": name,
            "description": "Debates between AI models, judged by a blind jury and by you",
            "long_description": PURPOSE,
        },
        "features": {
            "bot_user": {"display_name": name, "always_online": True},
            # Exports are sent there; Slack refuses them if the tab is off.
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": True,
            },
            "slash_commands": [command | url],
            "shortcuts": [SHORTCUT],
        },
        "oauth_config": redirect | {"scopes": {"bot": list(SCOPES)}},
        "settings": {
            "event_subscriptions": request | {"bot_events": list(EVENTS)},
            "interactivity": {"is_enabled": True} | request,
            "socket_mode_enabled": socket,
            "org_deploy_enabled": False,
            "token_rotation_enabled": False,
        },
    }


def to_json(made: Json) -> str:
    """Return a manifest as JSON to paste."""
    return json.dumps(made, indent=2, ensure_ascii=False)


# Installing Rostrum in a workspace by OAuth: the pages, and their states.
#
# https://docs.slack.dev/authentication/installing-with-oauth


STATE_SECONDS = 600
AUTHORIZE_PATH = "/oauth/v2/authorize"
HEADERS: dict[str, str | Sequence[str]] = {
    "Content-Type": "text/plain",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Credentials:
    """The app's credentials; `public_url` is Rostrum's address, None: the one set at Slack."""

    client_id: str
    client_secret: SecretStr
    public_url: str | None = None


class _States(AsyncOAuthStateStore):
    """The states of installations, each valid for one return within ten minutes."""

    def __init__(self, installs: Installs) -> None:
        self._installs = installs

    async def async_issue(self, *_: object, **__: object) -> str:
        """Return a new state."""
        state, now = secrets.token_urlsafe(32), utc_now()
        await self._installs.begin(state, now, now + timedelta(seconds=STATE_SECONDS))
        return state

    async def async_consume(self, state: str) -> bool:
        """Accept a returning state; False for an unknown, used or expired one."""
        return await self._installs.redeem(state, utc_now())


class _Team(BaseModel):
    id: str
    name: InstanceOf[str]  # unlike an id it may have lone surrogates, which `str` refuses


class _Granted(BaseModel):
    """The fields we need of Slack's answer to a code; without a team it is an organisation's.

    https://docs.slack.dev/reference/methods/oauth.v2.access
    """

    access_token: str | None = None
    bot_user_id: str | None = None
    refresh_token: str | None = None
    team: _Team | None = None
    is_enterprise_install: bool = False

    def installation(self) -> Installation:
        """Return it in slack-bolt's form; the user who installed is not stored."""
        return Installation(
            user_id="",
            bot_token=self.access_token,
            bot_user_id=self.bot_user_id,
            bot_refresh_token=self.refresh_token,
            team_id=self.team.id if self.team else None,
            team_name=self.team.name if self.team else None,
            is_enterprise_install=self.is_enterprise_install,
        )


class _Flow(AsyncOAuthFlow):
    """Bolt's pages; Bolt itself would accept any token, and log the code and part of the answer."""

    async def run_installation(self, code: str) -> Installation:
        """Exchange a code. Raises VenueError without a readable answer."""
        given = self.settings
        try:
            answer = await self.client.oauth_v2_access(
                client_id=given.client_id,
                client_secret=given.client_secret,
                code=code,
                redirect_uri=given.redirect_uri,
            )
            return _Granted.model_validate(answer.data).installation()
        except SlackApiError as error:
            why = SlackAnswer(error).name or texts.UNREADABLE
        except UNREADABLE:
            why = texts.UNREADABLE
        raise VenueError(texts.NO_TOKEN).because(why)


class Installer:
    """The pages where an admin starts an installation, and where Slack sends them back."""

    def __init__(self, credentials: Credentials, installations: Installations) -> None:
        self._credentials, self._installations = credentials, installations

    def routes(self) -> list[web.RouteDef]:
        """Return the pages' routes."""
        given, client = self._credentials, self._installations.app.web()
        settings = AsyncOAuthSettings(
            client_id=given.client_id,
            client_secret=given.client_secret.get_secret_value().strip(),
            scopes=list(SCOPES),
            user_scopes=[],
            redirect_uri=given.public_url and f"{given.public_url}{REDIRECT_PATH}",
            install_path=INSTALL_PATH,
            install_page_rendering_enabled=False,
            redirect_uri_path=REDIRECT_PATH,
            callback_options=AsyncCallbackOptions(_succeeded, _failed),
            authorization_url=str(URL(client.base_url).origin().with_path(AUTHORIZE_PATH)),
            installation_store=self._installations,
            installation_store_bot_only=True,
            state_store=_States(self._installations.installs),
            state_expiration_seconds=STATE_SECONDS,
        )
        flow = _Flow(client=client, settings=settings)
        return [
            # Without the query: only we decide what to request.
            web.get(INSTALL_PATH, _page(flow.handle_installation, queried=False)),
            web.get(REDIRECT_PATH, _page(flow.handle_callback, queried=True)),
        ]


def _page(
    handle: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]], *, queried: bool
) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def serve(request: web.Request) -> web.Response:
        query = request.query_string if queried else ""
        asked = AsyncBoltRequest(body="", query=query, headers=dict(request.headers))
        accepted = request.headers.get("Accept-Language", "")
        codes = (one.split(";")[0].strip() for one in accepted.split(","))
        known = (ENGLISH, *LANGUAGES)
        with speaking(
            next((code for code in codes if code.split("-")[0].lower() in known), ENGLISH)
        ):
            answer = await _answer(handle, asked)
        response = await to_aiohttp_response(answer)
        response.charset = "utf-8"  # of a workspace's name
        return response

    return serve


async def _answer(
    handle: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]], asked: AsyncBoltRequest
) -> BoltResponse:
    """Return a page, or one that says what went wrong."""
    try:
        return await handle(asked)
    except KNOWN as error:
        log.warning("workspace not installed", why=type(error).__name__)
        return BoltResponse(status=502, body=say(texts.SLACK_AWAY), headers=HEADERS)
    except VenueError as error:
        log.warning("workspace not installed", why=str(error))
        return BoltResponse(status=401, body=say(error.text), headers=HEADERS)
    except RostrumError as error:
        log.error("workspace not installed", why=str(error))
        return BoltResponse(status=500, body=say(texts.NOT_STORED), headers=HEADERS)


async def _succeeded(args: AsyncSuccessArgs) -> BoltResponse:
    made = args.installation
    log.info("workspace installed", community=made.team_id)
    body = say(texts.INSTALLED, team=team_name(made))
    return BoltResponse(status=200, body=body, headers=_parting(args.settings))


async def _failed(args: AsyncFailureArgs) -> BoltResponse:
    # The query is untrusted: only known reasons are shown.
    said = texts.NOT_INSTALLED_BECAUSE.get(args.reason, texts.SLACK_REFUSED)
    refused = args.error is not None  # by `async_save`
    why = str(args.error) if refused else said
    log.warning("workspace not installed", why=why)
    status = 403 if refused else args.suggested_status_code
    return BoltResponse(status=status, body=say(why), headers=_parting(args.settings))


def _parting(settings: AsyncOAuthSettings) -> dict[str, str | Sequence[str]]:
    """Return the headers of a last page, which deletes the browser's cookie."""
    return HEADERS | {"Set-Cookie": settings.state_utils.build_set_cookie_for_deletion()}
