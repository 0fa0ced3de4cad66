"""Discord and Slack as places to sign in: their pages, tokens, and keys that sign them.

As strict as they are: a code serves once, for the address and the app that it was given to, with
the verifier of its challenge. A `lie` is what the next token says in place of the truth.
"""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from tests.doubles.loopback import LoopbackServer

CLIENT_ID, CLIENT_SECRET = "12345.67890", "a-client-secret-for-the-double"
TEAM = "T0HALL"


@dataclass
class _Code:
    platform: str
    user: str
    asked: Mapping[str, str]
    used: bool = False


@dataclass
class Key:
    """A key that tokens are signed with."""

    kid: str
    private: rsa.RSAPrivateKey = field(
        default_factory=lambda: rsa.generate_private_key(public_exponent=65537, key_size=2048)
    )

    def public(self) -> dict[str, Any]:
        shown: dict[str, Any] = json.loads(RSAAlgorithm.to_jwk(self.private.public_key()))
        return shown | {"kid": self.kid, "alg": "RS256", "use": "sig"}


class AccountsServer(LoopbackServer):
    """Both platforms on loopback; the addresses that they may send people back to are `back`."""

    def __init__(self) -> None:
        self.back: set[str] = set()
        self.key = Key("key-1")
        self.shown = [self.key]
        self.codes: dict[str, _Code] = {}
        self.tokens: dict[str, str] = {}
        self.lie: dict[str, Any] = {}
        self.forge: Callable[[Mapping[str, Any]], str] | None = None
        self.fault = 0  # a status that everything is answered with
        self.asked: list[str] = []

    def agree(self, address: str, user: str) -> str:
        """Sign in at that address and agree; returns where the browser is sent."""
        platform, asked = self._read(address)
        code = secrets.token_hex(16)
        self.codes[code] = _Code(platform, user, asked)
        said = {"code": code, "state": asked["state"]}
        if platform == "discord":
            said["iss"] = self.origin
        return f"{asked['redirect_uri']}?{urlencode(said)}"

    def decline(self, address: str) -> str:
        _, asked = self._read(address)
        said = {"error": "access_denied", "state": asked["state"]}
        return f"{asked['redirect_uri']}?{urlencode(said)}"

    def _read(self, address: str) -> tuple[str, dict[str, str]]:
        parts = urlsplit(address)
        asked = dict(parse_qsl(parts.query))
        assert address.startswith(self.origin)
        assert (asked["client_id"], asked["response_type"]) == (CLIENT_ID, "code")
        assert asked["redirect_uri"] in self.back, asked["redirect_uri"]
        assert len(asked["state"]) > 30
        if parts.path == "/oauth2/authorize":
            assert asked["scope"] == "identify"
            assert asked["code_challenge_method"] == "S256"
            return "discord", asked
        assert parts.path == "/openid/connect/authorize"
        assert asked["scope"] == "openid"
        assert len(asked["nonce"]) > 30
        return "slack", asked

    async def _discord_token(self, request: web.Request) -> web.Response:
        form = await self._form(request)
        if not _is_app(form):
            return web.json_response({"error": "invalid_client"}, status=401)
        code = self._take("discord", form)
        if (
            code is None
            or _challenge(form.get("code_verifier", "")) != code.asked["code_challenge"]
        ):
            return web.json_response({"error": "invalid_grant"}, status=400)
        token = secrets.token_hex(16)
        self.tokens[token] = code.user
        given = {"access_token": token, "token_type": "Bearer", "scope": "identify"}
        return web.json_response(given | {"refresh_token": secrets.token_hex(16)} | self.lie)

    async def _discord_user(self, request: web.Request) -> web.Response:
        self._note(request)
        _, _, token = request.headers.get("Authorization", "").partition(" ")
        if token not in self.tokens:
            return web.json_response({"message": "401: Unauthorized", "code": 0}, status=401)
        return web.json_response({"id": self.tokens[token], "username": "ada"})

    async def _slack_token(self, request: web.Request) -> web.Response:
        form = await self._form(request)
        if not _is_app(form):
            return web.json_response({"ok": False, "error": "bad_client_secret"})
        code = self._take("slack", form)
        if code is None:
            return web.json_response({"ok": False, "error": "invalid_code"})
        claims = {k: v for k, v in (self._claims(code) | self.lie).items() if v is not None}
        token = self.forge(claims) if self.forge else self.sign(claims)
        return web.json_response({"ok": True, "access_token": "xoxp-canary", "id_token": token})

    async def _slack_keys(self, request: web.Request) -> web.Response:
        self._note(request)
        return web.json_response({"keys": [key.public() for key in self.shown]})

    def sign(self, claims: Mapping[str, Any], key: Key | None = None) -> str:
        by = key or self.key
        return jwt.encode(dict(claims), by.private, algorithm="RS256", headers={"kid": by.kid})

    def _claims(self, code: _Code) -> dict[str, Any]:
        now = int(time.time())
        return {
            "iss": self.origin,
            "sub": code.user,
            "aud": CLIENT_ID,
            "iat": now,
            "exp": now + 300,
            "nonce": code.asked["nonce"],
            "https://slack.com/user_id": code.user,
            "https://slack.com/team_id": TEAM,
        }

    def _take(self, platform: str, form: Mapping[str, str]) -> _Code | None:
        """Take a code; None for one that is not good here, or no longer."""
        assert form["grant_type"] == "authorization_code"
        code = self.codes.get(form["code"])
        if code is None or code.used or code.platform != platform:
            return None
        code.used = True
        return code if form["redirect_uri"] == code.asked["redirect_uri"] else None

    async def _form(self, request: web.Request) -> dict[str, str]:
        self._note(request)
        assert request.content_type == "application/x-www-form-urlencoded"
        return {name: str(value) for name, value in (await request.post()).items()}

    def _note(self, request: web.Request) -> None:
        self.asked.append(request.path)
        if self.fault:
            raise web.HTTPServiceUnavailable if self.fault == 503 else web.HTTPTooManyRequests

    def _app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/api/v10/oauth2/token", self._discord_token)
        app.router.add_get("/api/v10/users/@me", self._discord_user)
        app.router.add_post("/api/openid.connect.token", self._slack_token)
        app.router.add_get("/openid/connect/keys", self._slack_keys)
        return app


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _is_app(form: Mapping[str, str]) -> bool:
    return (form["client_id"], form["client_secret"]) == (CLIENT_ID, CLIENT_SECRET)
