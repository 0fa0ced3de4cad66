"""Installing Rostrum in a workspace by OAuth: the pages, and their states.

https://docs.slack.dev/authentication/installing-with-oauth
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog
from aiohttp import web
from pydantic import BaseModel, InstanceOf, SecretStr
from slack_bolt.adapter.aiohttp import to_aiohttp_response
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
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from yarl import URL

from adapters.slack import texts
from adapters.slack.errors import KNOWN, UNREADABLE, SlackAnswer
from adapters.slack.install.installations import Installations, team_name
from adapters.slack.install.manifest import INSTALL_PATH, REDIRECT_PATH, SCOPES
from engine.store.installs import Installs
from engine.values.errors import RostrumError, VenueError
from engine.values.language import ENGLISH, speaking
from engine.values.ports import utc_now
from engine.words.translation import LANGUAGES, say

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
        with speaking(_language(request.headers.get("Accept-Language", ""))):
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


def _language(accepted: str) -> str:
    """Return the first language that a browser asks for and that there are texts in."""
    codes = (one.split(";")[0].strip() for one in accepted.split(","))
    known = (ENGLISH, *LANGUAGES)
    return next((code for code in codes if code.split("-")[0].lower() in known), ENGLISH)


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
