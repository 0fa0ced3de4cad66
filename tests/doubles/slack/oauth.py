"""Installing an app by OAuth: what a workspace's admin grants, and the code that stands for it."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.doubles.facts import Slack
from tests.doubles.slack.refusals import Json, Refusal
from tests.doubles.slack.state import APP, Team, World

AUTHORIZE = "/oauth/v2/authorize"
CLIENT_ID, CLIENT_SECRET = "12345.67890", "a-client-secret-for-the-double"
CODE_SECONDS = 600


@dataclass
class Grant:
    """What an admin allowed; `whole` is an organisation's, `expires` a token that does."""

    team: Team
    scopes: str
    redirect_uri: str | None
    at: float
    whole: bool = False
    expires: bool = False
    used: bool = False


@dataclass
class OAuth:
    """The app's credentials and the addresses that it may send people back to."""

    world: World
    redirect_urls: tuple[str, ...] = ()
    grants: dict[str, Grant] = field(default_factory=dict)

    def approve(self, url: str, team: str, *, whole: bool = False, expires: bool = False) -> str:
        """Press Allow on the page of that address; returns where the browser is sent."""
        asked = self._read(url)
        code = self.world.new_id("code-")
        scopes, redirect = asked["scope"], asked.get("redirect_uri")
        self.grants[code] = Grant(
            self.world.teams[team], scopes, redirect, self.world.clock.now(), whole, expires
        )
        return self._back(asked, {"code": code})

    def deny(self, url: str) -> str:
        """Press Cancel there."""
        return self._back(self._read(url), {"error": "access_denied"})

    def access(self, args: Json) -> Json:
        """Carry oauth.v2.access out: a code becomes a token, once."""
        if args.get("client_id") != CLIENT_ID:
            raise Refusal("invalid_client_id")
        if args.get("client_secret") != CLIENT_SECRET:
            raise Refusal("bad_client_secret")
        grant = self.grants.get(str(args.get("code")))
        if grant is None or grant.at + CODE_SECONDS < self.world.clock.now():
            raise Refusal("invalid_code")
        if grant.used:
            raise Refusal("code_already_used")
        if args.get("redirect_uri") != grant.redirect_uri:
            raise Refusal("bad_redirect_uri")
        grant.used = True
        return self._install(grant)

    def _install(self, grant: Grant) -> Json:
        team = grant.team
        team.token, team.installed = self.world.new_id(f"xoxb-{team.id}-canary-"), True
        given: Json = {
            "access_token": team.token,
            "token_type": "bot",
            "scope": grant.scopes,
            "bot_user_id": team.bot_user,
            "app_id": APP,
            "team": None if grant.whole else {"id": team.id, "name": team.name},
            "enterprise": {"id": "E0ALL", "name": "All"} if grant.whole else None,
            "is_enterprise_install": grant.whole,
            "authed_user": {"id": "U0ADMIN"},
        }
        rotating = {"refresh_token": "xoxe-1-canary", "expires_in": 43_200}
        return given | (rotating if grant.expires else {})

    def _read(self, url: str) -> dict[str, str]:
        """Read what an app asks for, as strictly as Slack's page does."""
        parts = urlsplit(url)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path != AUTHORIZE or asked.get("client_id") != CLIENT_ID:
            raise Refusal("invalid_client_id")
        if not asked.get("state") or not set(asked.get("scope", "-").split(",")) <= set(
            Slack.SCOPES
        ):
            raise Refusal("invalid_scope")
        if asked.get("redirect_uri", self.redirect_urls[0]) not in self.redirect_urls:
            raise Refusal("bad_redirect_uri")
        return asked

    def _back(self, asked: dict[str, str], said: dict[str, str]) -> str:
        url = asked.get("redirect_uri", self.redirect_urls[0])
        return f"{url}?{urlencode(said | {'state': asked['state']})}"


def basic(header: str) -> Json:
    """Return the client's id and secret of an Authorization header."""
    name, _, secret = base64.b64decode(header).decode().partition(":")
    return {"client_id": name, "client_secret": secret}
