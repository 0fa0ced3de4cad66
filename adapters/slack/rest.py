"""Requests to Slack's Web API and to response URLs.

The SDK's retries are off: they post twice when only the response was lost. Only the outbox retries,
after checking whether the first try was stored.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import aiohttp
from pydantic import SecretStr
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack import texts
from adapters.slack.errors import (
    KNOWN,
    UNREADABLE,
    SlackAct,
    explain,
    limited_for,
    slow_down,
    unreadable,
)
from adapters.slack.payloads import AttachedFile
from adapters.wire import Window
from engine.chat.answers import SentFile
from engine.values.errors import VenueAwayError, VenueError
from engine.values.messages import File
from engine.values.source_files import check_files
from engine.values.sources import SourceFile, SourceLimits

# Slack's rate limits: requests per method, workspace and minute.


MINUTE = 61.0  # seconds, with a margin for clocks and network
# Slack's tiers, in requests a minute; chat.postMessage has its own pace, by channel.
TIER_2, TIER_3, TIER_4 = 20, 50, 100
METHODS = {
    "chat.delete": TIER_3,
    "chat.update": TIER_3,
    "files.delete": TIER_3,
    "conversations.history": TIER_3,
    "conversations.info": TIER_3,
    "conversations.replies": TIER_3,
    "reactions.add": TIER_3,
    "reactions.get": TIER_3,
    "reactions.remove": TIER_2,
    "usergroups.users.list": TIER_2,
    "users.info": TIER_4,
    "views.publish": TIER_4,
}


SECONDS = 20.0  # for one request
FILE_HOSTS = (".slack.com", ".slack-edge.com", ".slack-files.com")
MARGIN = 0.05  # seconds, so as never to retry early

Json = dict[str, Any]


class _SlackObject(Json):
    """A JSON object from Slack; reading a missing field means that it is not Slack's."""

    def __missing__(self, field: str) -> Any:
        raise unreadable()


class Identity(NamedTuple):
    """The bot's identity: ids of its user and bot, its workspace, and its scopes."""

    user: str
    bot: str
    team: str
    url: str
    name: str
    team_name: str
    scopes: frozenset[str]


class _Answer(NamedTuple):
    data: _SlackObject
    headers: Mapping[str, str]


class SlackRest:
    """Slack's Web API with a bot's token, or none; shares the connections of `over`.

    `minute` is the period of Slack's rates, in seconds. `proxy` is the address of an HTTP proxy for
    requests and the Socket Mode connection.
    """

    def __init__(
        self,
        token: SecretStr | None,
        api_url: str,
        *,
        over: SlackRest | None = None,
        minute: float = MINUTE,
        proxy: str | None = None,
    ) -> None:
        self._token = token.get_secret_value().strip() if token else None
        self._api_url, self._over, self.proxy = api_url, over, proxy
        self._session: aiohttp.ClientSession | None = None
        self._identity: Identity | None = None
        self._asking = asyncio.Lock()
        self._minute = minute
        self._tiers = {method: Window(most, minute) for method, most in METHODS.items()}
        self._shut: dict[str, float] = {}  # rate-limited lanes, until when

    def speaking(self, token: SecretStr) -> SlackRest:
        """Return a client with another token over the same connections."""
        return SlackRest(token, self._api_url, over=self, minute=self._minute, proxy=self.proxy)

    async def write(
        self, act: SlackAct, method: str, body: Json, *, place: str = "", message: str = ""
    ) -> Json:
        """Send a change; raises as `read` does."""
        return await self._call(act, method, place, message, {"json": body})

    async def read(
        self, act: SlackAct, method: str, params: Json, *, place: str = "", message: str = ""
    ) -> Json:
        """Send one read. Raises VenueAwayError, MessageGoneError, VenueGoneError or VenueError."""
        return await self._call(act, method, place, message, {"params": params})

    async def identity(self, *, again: bool = False) -> Identity:
        """Return the bot's identity; asks Slack once, or `again`."""
        async with self._asking:
            if again or self._identity is None:
                try:
                    who, headers = await self._request("auth.test", {"params": {}})
                except (*KNOWN, *UNREADABLE) as error:
                    raise explain(error, SlackAct.ASK, "") from error
                scopes = str(headers.get("x-oauth-scopes", "")).split(",")
                self._identity = Identity(
                    user=who["user_id"],
                    bot=who.get("bot_id", ""),
                    team=who["team_id"],
                    url=who["url"],
                    name=who["user"],
                    team_name=who.get("team", ""),
                    scopes=frozenset(scope.strip() for scope in scopes if scope.strip()),
                )
            return self._identity

    async def connections_url(self, app_token: SecretStr) -> str:
        """Request the address of a Socket Mode connection; raises as `read` does."""
        token = app_token.get_secret_value().strip()
        sent = {"headers": {"Authorization": f"Bearer {token}"}}
        opened = await self._call(SlackAct.ASK, "apps.connections.open", "", "", sent)
        return str(opened["url"])

    async def exchange(self, client_id: str, client_secret: SecretStr, code: str) -> Json:
        """Exchange an installation's code for a token; raises as `read` does."""
        secret = client_secret.get_secret_value().strip()
        proof = {"client_id": client_id, "client_secret": secret}
        return await self._call(
            SlackAct.ASK, "oauth.v2.access", "", "", {"data": {"code": code}, "auth": proof}
        )

    async def upload(self, url: str, content: bytes) -> None:
        """Upload a file's bytes to the address that Slack returned."""
        try:
            async with self.session.post(url, data=io.BytesIO(content)) as response:
                response.raise_for_status()
        except KNOWN as error:
            raise explain(error, SlackAct.UPLOAD, "") from error

    async def download(self, url: str, most: int) -> bytes:
        """Return a file of the workspace; little more than `most` bytes are read.

        Raises VenueAwayError, or VenueError if Slack does not hand it over: it then shows a page.
        """
        host, own = urlsplit(url).hostname or "", urlsplit(self._api_url).hostname
        if host != own and not host.endswith(FILE_HOSTS):  # the token is for Slack alone
            raise VenueError(texts.FILE_REFUSED)
        headers = {"Authorization": f"Bearer {self._token}"}
        try:
            async with self.session.get(url, headers=headers, allow_redirects=False) as response:
                if response.status == 429 or response.status >= 500:
                    raise VenueAwayError(texts.FILE_AWAY)
                if response.status != 200 or response.content_type == "text/html":
                    raise VenueError(texts.FILE_REFUSED)
                content = bytearray()
                async for piece in response.content.iter_any():
                    content += piece
                    if len(content) > most:
                        break
                return bytes(content)
        except KNOWN as error:
            raise VenueAwayError(texts.FILE_AWAY) from error

    async def respond(self, url: str, body: Json) -> bool:
        """Answer by a response URL; False if it has expired. Raises VenueAwayError."""
        try:
            async with self.session.post(url, json=body) as response:
                status = response.status
        except KNOWN as error:
            raise explain(error, SlackAct.ASK, "") from error
        if status == 429 or status >= 500:
            failing = VenueAwayError(texts.FAILING, maybe_stored=True)
            raise failing.because(f"status {status}")
        return status == 200

    def web(self) -> AsyncWebClient:
        """Return an SDK client without a token."""
        client = AsyncWebClient(base_url=self._api_url, session=self.session, retry_handlers=[])
        client.proxy = self.proxy  # the SDK reads the environment itself and ignores NO_PROXY
        return client

    @property
    def session(self) -> aiohttp.ClientSession:
        """The shared connection pool."""
        if self._over is not None:
            return self._over.session
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=SECONDS)
            self._session = aiohttp.ClientSession(timeout=timeout, proxy=self.proxy)
        return self._session

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    # --- inside -----------------------------------------------------------------------

    async def _call(
        self, act: SlackAct, method: str, place: str, message: str, sent: Mapping[str, Any]
    ) -> Json:
        bucket = f"{method} {place}" if act is SlackAct.POST else method
        self._refuse_early(bucket)
        if tier := self._tiers.get(method):
            await tier.take()
            try:
                self._refuse_early(bucket)
            except VenueAwayError:  # rate-limited while this waited
                tier.give_back()
                raise
        try:
            return (await self._request(method, sent)).data
        except (*KNOWN, *UNREADABLE) as error:
            seconds = limited_for(error)
            if seconds is not None:
                self._shut[bucket] = time.monotonic() + seconds + MARGIN
            raise explain(error, act, place, message) from error

    async def _request(self, method: str, sent: Mapping[str, Any]) -> _Answer:
        client = self.web()
        own = "headers" in sent
        client.token = None if own else self._token
        verb = "GET" if "params" in sent else "POST"
        answer = await client.api_call(method, http_verb=verb, **sent)
        if not isinstance(answer.data, dict):  # the SDK returns bytes as they are
            raise TypeError(type(answer.data).__name__)
        return _Answer(_SlackObject(answer.data), answer.headers)

    def _refuse_early(self, bucket: str) -> None:
        """Raise for a rate-limited bucket."""
        now = time.monotonic()
        self._shut = {key: until for key, until in self._shut.items() if until > now}
        if bucket in self._shut:
            raise slow_down(self._shut[bucket] - now)


# Files: uploaded first, then shared in a thread or with one person; or read from a form.


TRIES = 3
PAUSE_SECONDS = 0.5  # longer after each try


async def share_files(
    rest: SlackRest, channel: str, root: str | None, files: Sequence[File]
) -> None:
    """Upload a message's files and share them in its thread. Raises VenueError."""
    ids = [await _upload(rest, file.name, file.data(), file.alt) for file in files]
    await _share(rest, ids, {"channel_id": channel} | ({"thread_ts": root} if root else {}))


async def read_files(
    rest: SlackRest, attached: Sequence[AttachedFile], limits: SourceLimits
) -> tuple[SourceFile, ...]:
    """Read files attached in a form. Raises UsageError, VenueAwayError or VenueError."""
    check_files([(one.name, one.size or 0) for one in attached], limits)
    addresses = (one.url_private_download for one in attached)
    contents = await asyncio.gather(*(_read(rest, url, limits.bytes) for url in addresses))
    return tuple(
        SourceFile(name=one.name, content=content)
        for one, content in zip(attached, contents, strict=True)
    )


async def _read(rest: SlackRest, url: str, most: int) -> bytes:
    """Download a file; what may pass is tried again."""
    for left in reversed(range(TRIES)):
        try:
            return await rest.download(url, most)
        except VenueAwayError:
            if not left:
                raise
            await asyncio.sleep(PAUSE_SECONDS * (TRIES - left))
    raise AssertionError("unreachable")


async def hand_over(rest: SlackRest, user: str, text: str, file: SentFile) -> None:
    """Send a file to one person by direct message. Raises VenueError."""
    uploaded = await _upload(rest, file.name, file.content)
    said = {"channel": user, "text": text}
    opened = await rest.write(SlackAct.POST, "chat.postMessage", said, place=user)
    await _share(rest, [uploaded], {"channel_id": opened["channel"]})


async def _upload(rest: SlackRest, name: str, content: bytes, alt: str = "") -> str:
    asked = {"filename": name, "length": len(content)} | ({"alt_txt": alt} if alt else {})
    given = await rest.read(SlackAct.UPLOAD, "files.getUploadURLExternal", asked)
    await rest.upload(str(given["upload_url"]), content)
    return str(given["file_id"])


async def _share(rest: SlackRest, ids: Sequence[str], where: Json) -> None:
    body = {"files": [{"id": ref} for ref in ids], **where}
    await rest.write(
        SlackAct.UPLOAD, "files.completeUploadExternal", body, place=where["channel_id"]
    )
