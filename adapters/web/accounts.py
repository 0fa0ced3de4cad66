"""Who somebody is on a chat platform, by signing in there: OAuth 2.0 with an authorization code.

Discord (https://docs.discord.com/developers/topics/oauth2) names the user to a token of the scope
`identify`; the code is bound to the browser by `state` and by PKCE (RFC 7636, S256), and a return
that names another issuer is refused (RFC 9207).

Slack (https://docs.slack.dev/authentication/sign-in-with-slack) speaks OpenID Connect: an id token
of the scope `openid`, signed with a key of Slack's, for this app, with our `nonce`. PKCE would turn
the app into a public client for good (https://docs.slack.dev/authentication/using-pkce); the nonce
does the same for us (RFC 9700, 2.1.1).

Tokens are used once and kept nowhere.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

import aiohttp
import jwt
import orjson
import structlog
from pydantic import BaseModel, Field, SecretStr, ValidationError
from yarl import URL

from adapters.wire import proxy_of
from engine.values.debate import Value
from engine.values.errors import MISFITS, NotAllowedError, VenueAwayError, VenueError
from engine.values.language import N_, Text

ANSWER_SECONDS = 10.0
MOST_BYTES = 64 * 1024  # of an answer
KEYS_SECONDS = 3600.0  # that Slack's keys are kept
FRESH_SECONDS = 60.0  # before they are read again for a key that is not among them
LEEWAY_SECONDS = 60  # between clocks
CLAIMS = ["iss", "aud", "sub", "exp", "iat", "nonce"]
DECLINED = N_("You did not sign in. Try again, or use an invitation link.")
EXPIRED = N_("Signing in took too long, or was begun in another browser. Begin again.")
AWAY = N_("{platform} does not answer at the moment. Try again in a minute.")
BROKEN = N_("Signing in by {platform} is not set up correctly. Tell the people who run this page.")
log = structlog.get_logger(__name__)
M = TypeVar("M", bound=BaseModel)


class Registration(Value):
    """Our app at a platform, and where its API is; `teams` are the workspaces that are served.

    Without any, everybody of the platform may sign in.
    """

    client_id: str
    client_secret: SecretStr
    api_url: str
    teams: tuple[str, ...] = ()

    @property
    def origin(self) -> URL:
        """The platform's own address, which is also its name as an issuer."""
        return URL(self.api_url).origin()


class Pending(Value):
    """What a browser has to bring back from the platform; signed, it stays in the browser."""

    platform: str
    state: str
    nonce: str
    verifier: str

    @classmethod
    def begin(cls, platform: str) -> Pending:
        """Draw new values: none can be guessed, and each serves one return."""
        return cls(
            platform=platform,
            state=secrets.token_urlsafe(32),
            nonce=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(48),
        )

    @property
    def challenge(self) -> str:
        """The verifier as PKCE shows it before (S256)."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


class Accounts(Protocol):
    """A platform on which people sign in: its name for people, and as an issuer of tokens."""

    title: str
    issuer: str

    def page(self, pending: Pending, back: str) -> str:
        """Return the address at which somebody signs in, and from which they come `back`."""

    async def identify(self, code: str, pending: Pending, back: str) -> str:
        """Return the platform's id of the user that a code stands for.

        Raises VenueAwayError (try again), VenueError (our registration is wrong) and
        NotAllowedError (the code or what came for it is not valid).
        """


def open_code(query: Mapping[str, str], pending: Pending, issuer: str) -> str:
    """Return the code of a return from a platform. Raises NotAllowedError for any but our own."""
    if not hmac.compare_digest(query.get("state", "").encode(), pending.state.encode()):
        raise NotAllowedError(EXPIRED)
    if "iss" in query and query["iss"] != issuer:
        raise NotAllowedError(EXPIRED)
    if "error" in query or not query.get("code"):
        raise NotAllowedError(DECLINED)
    return query["code"]


class _DiscordToken(BaseModel):
    access_token: str
    scope: str


class _DiscordUser(BaseModel):
    id: str = Field(pattern=r"^[0-9]{1,20}$")


class DiscordAccounts:
    """Discord, where a token of the scope `identify` says who its user is."""

    title = "Discord"

    def __init__(self, app: Registration) -> None:
        self._app = app
        self.issuer = str(app.origin)

    def page(self, pending: Pending, back: str) -> str:
        asked = {
            "response_type": "code",
            "client_id": self._app.client_id,
            "scope": "identify",
            "state": pending.state,
            "redirect_uri": back,
            "code_challenge": pending.challenge,
            "code_challenge_method": "S256",
            "prompt": "none",  # those who have agreed before are sent back at once
        }
        return str(self._app.origin.with_path("/oauth2/authorize").with_query(asked))

    async def identify(self, code: str, pending: Pending, back: str) -> str:
        api = self._app.api_url.rstrip("/")
        given = _given(self._app, code, back) | {"code_verifier": pending.verifier}
        token = _read(
            self.title, _DiscordToken, await _ask(self.title, f"{api}/oauth2/token", given)
        )
        if "identify" not in token.scope.split():
            raise NotAllowedError(DECLINED)
        bearer = {"Authorization": f"Bearer {token.access_token}"}
        user = await _ask(self.title, f"{api}/users/@me", headers=bearer)
        return _read(self.title, _DiscordUser, user).id


class _SlackToken(BaseModel):
    ok: bool
    error: str = ""
    id_token: str = ""


class _SlackClaims(BaseModel):
    nonce: str
    user: str = Field(alias="https://slack.com/user_id", pattern=r"^[A-Z0-9]{2,32}$")
    team: str = Field(alias="https://slack.com/team_id", pattern=r"^[A-Z0-9]{2,32}$")


class SlackAccounts:
    """Slack, whose id token says who its user is."""

    title = "Slack"

    def __init__(self, app: Registration) -> None:
        self._app = app
        self.issuer = str(app.origin)
        self._keys: jwt.PyJWKSet | None = None
        self._read_at = 0.0

    def page(self, pending: Pending, back: str) -> str:
        asked = {
            "response_type": "code",
            "client_id": self._app.client_id,
            "scope": "openid",
            "state": pending.state,
            "nonce": pending.nonce,
            "redirect_uri": back,
            **({"team": self._app.teams[0]} if len(self._app.teams) == 1 else {}),
        }
        return str(self._app.origin.with_path("/openid/connect/authorize").with_query(asked))

    async def identify(self, code: str, pending: Pending, back: str) -> str:
        address = f"{self._app.api_url.rstrip('/')}/openid.connect.token"
        token = _read(
            self.title, _SlackToken, await _ask(self.title, address, _given(self._app, code, back))
        )
        if not token.ok:
            raise _refused(self.title, token.error)
        claims = await self._claims(token.id_token)
        if not hmac.compare_digest(claims.nonce.encode(), pending.nonce.encode()):
            raise NotAllowedError(EXPIRED)
        if self._app.teams and claims.team not in self._app.teams:
            raise NotAllowedError(
                "Your Slack workspace is not served here. Sign in with another one."
            )
        return claims.user

    async def _claims(self, token: str) -> _SlackClaims:
        """Return what an id token says, if Slack signed it, for us, and not long ago."""
        try:
            kid = jwt.get_unverified_header(token).get("kid", "")
            age = time.monotonic() - self._read_at
            known = self._keys is not None and any(key.key_id == kid for key in self._keys.keys)
            if self._keys is None or age > KEYS_SECONDS or (not known and age > FRESH_SECONDS):
                address = str(self._app.origin.with_path("/openid/connect/keys"))
                self._keys = _key_set(await _ask(self.title, address))
                self._read_at = time.monotonic()
            try:
                key = self._keys[kid]
            except KeyError:
                raise jwt.InvalidKeyError(kid) from None
            said = jwt.decode(
                token,
                key,
                algorithms=["RS256"],
                audience=self._app.client_id,
                issuer=self.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": CLAIMS, "enforce_minimum_key_length": True},
            )
            return _SlackClaims.model_validate(said)
        except (jwt.PyJWTError, ValidationError) as error:
            log.warning("id token refused", why=type(error).__name__)
            raise NotAllowedError(EXPIRED) from error


def _key_set(said: dict[str, Any]) -> jwt.PyJWKSet:
    """Return a platform's keys. Raises PyJWKSetError for anything else."""
    try:
        return jwt.PyJWKSet.from_dict(said)
    except MISFITS as error:  # PyJWT expects the types of RFC 7517
        raise jwt.PyJWKSetError("not a set of keys") from error


def _given(app: Registration, code: str, back: str) -> dict[str, str]:
    return {
        "grant_type": "authorization_code",
        "client_id": app.client_id,
        "client_secret": app.client_secret.get_secret_value(),
        "code": code,
        "redirect_uri": back,
    }


async def _ask(
    platform: str,
    address: str,
    form: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Post a form, or read an address, and return the JSON object that came."""
    try:
        async with (
            aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
            ) as session,
            session.request(
                "GET" if form is None else "POST",
                address,
                data=form,
                headers=headers,
                proxy=proxy_of(address),
                allow_redirects=False,
            ) as answer,
        ):
            status, body = answer.status, b""
            while len(body) < MOST_BYTES and (part := await answer.content.readany()):
                body += part
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        log.warning("sign-in failed", platform=platform, why=type(error).__name__)
        raise VenueAwayError(Text(AWAY, platform=platform)) from error
    if status == 429 or status >= 500:
        log.warning("sign-in failed", platform=platform, status=status)
        raise VenueAwayError(Text(AWAY, platform=platform))
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        said = None
    if status >= 400:
        why = said.get("error") if isinstance(said, dict) else None
        raise _refused(platform, str(why or status))
    if not isinstance(said, dict):
        raise VenueAwayError(Text(AWAY, platform=platform))
    return said


# What the platforms answer to a code that was used, expired or somebody else's.
_CODES = {"invalid_grant", "invalid_code", "code_already_used", "code_expired"}


def _refused(platform: str, why: str) -> VenueError | NotAllowedError:
    """Return the error for a platform's refusal: of the code, or of our registration."""
    if why in _CODES:
        return NotAllowedError(EXPIRED)
    log.error("sign-in refused", platform=platform, why=why[:80])
    return VenueError(Text(BROKEN, platform=platform))


def _read(platform: str, kind: type[M], said: Mapping[str, Any]) -> M:
    try:
        return kind.model_validate(said)
    except ValidationError as error:
        log.warning("sign-in failed", platform=platform, why="unreadable")
        raise VenueAwayError(Text(AWAY, platform=platform)) from error
