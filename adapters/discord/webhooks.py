"""Webhooks of ours, by which contenders speak under names and faces of their own.

A channel has one; its threads share it. Its token is a secret: it is read from Discord, which
shows a bot the tokens of its own webhooks, and neither stored nor logged.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog
from pydantic import SecretStr

from adapters.discord.errors import (
    INVALID_FORM,
    NO_PERMISSION,
    NO_SUCH_TOKEN,
    UNKNOWN_WEBHOOK,
    WEBHOOKS_FULL,
    DiscordAct,
    code_of,
)
from adapters.discord.rest import DiscordRest
from engine.values.errors import VenueAwayError, VenueError, VenueGoneError
from engine.values.text import clean, headline
from engine.words.card import CardSpeaker, by_side

if TYPE_CHECKING:
    from engine.values.protocols import Unnamed

WEBHOOKS = "/channels/{channel_id}/webhooks"
NAME = "Rostrum"
INCOMING = 1  # the kind of webhook that posts
THREADS = (10, 11, 12)  # of an announcement channel, public, private
DIRECT = (1, 3)  # direct messages, which have no webhooks
IN_DIRECT = ""
LONGEST_NAME = 80
LOOK_AGAIN_SECONDS = 600.0  # for a permission that was granted, or a place that was freed
MOST_REMEMBERED = 10_000
HOOK = "/webhooks/{webhook_id}/{webhook_token}"
# Discord's own default pictures: no other host is asked for one. Blue, red, green, orange, …
FACE = "https://cdn.discordapp.com/embed/avatars/{number}.png"
FACES = {"A": 0, "B": 4}
OTHER_FACES = (0, 4, 2, 3, 5, 1)
log = structlog.get_logger(__name__)


def shown_as(speaker: CardSpeaker) -> dict[str, Any]:
    """Return what a webhook's message says of its author."""
    number = by_side(speaker.side, FACES, OTHER_FACES, 1)
    name = headline(clean(speaker.name), LONGEST_NAME)
    return {"username": name, "avatar_url": FACE.format(number=number)}


class _Webhook(NamedTuple):
    """One of ours; the token says that it is."""

    id: str
    token: SecretStr

    @property
    def path(self) -> dict[str, Any]:
        """The parts of its address."""
        return {"webhook_id": self.id, "webhook_token": self.token.get_secret_value()}


class Webhooks:
    """Posts and edits by webhooks, one a channel; without one it posts nothing."""

    def __init__(self, rest: DiscordRest) -> None:
        self._rest = rest
        self._channels: dict[str, str] = {}  # of places; a channel's own is itself
        self._known: dict[str, _Webhook] = {}  # by channel
        self._without: dict[str, float] = {}  # channels, and until when none is looked for
        self._why: dict[str, Unnamed] = {}  # by place

    def opened(self, thread: str, channel: str) -> None:
        """Remember the channel of a thread that was just opened."""
        _room_in(self._channels)[thread] = channel

    def unnamed(self, place: str) -> Unnamed | None:
        """Return why posts there have the bot's own name though it may use others."""
        return self._why.get(place)

    async def post(self, place: str, speaker: CardSpeaker, body: dict[str, Any]) -> str | None:
        """Post under a speaker's name; None if that cannot be done there: nothing was posted.

        Raises VenueAwayError, VenueGoneError or VenueError like any post.
        """
        channel = await self._channel_of(place)
        hook = await self._find(channel, place) if channel != IN_DIRECT else None
        if hook is None:
            return None
        params = {"wait": "true"} | ({"thread_id": place} if place != channel else {})
        sent: dict[str, Any] = {"body": body | shown_as(speaker), "params": params} | hook.path
        try:
            posted = await self._rest.request(
                DiscordAct.POST, "POST", HOOK, place=place, admitted=True, **sent
            )
        except VenueError as error:
            if not self._explained(channel, place, code_of(error)):
                raise
            return None
        return str(posted["id"])

    async def edit(self, place: str, message: str, body: dict[str, Any]) -> bool:
        """Edit a message that a webhook of ours posted; False for any other."""
        return await self._change("PATCH", DiscordAct.EDIT, place, message, body)

    async def erase(self, place: str, message: str) -> bool:
        """Delete a message that a webhook of ours posted; False for any other."""
        return await self._change("DELETE", DiscordAct.ERASE, place, message, None)

    async def _change(
        self, method: str, act: DiscordAct, place: str, message: str, body: dict[str, Any] | None
    ) -> bool:
        path = "/channels/{channel_id}/messages/{message_id}"
        asked: dict[str, Any] = {"place": place, "message": message}
        kept = await self._rest.request(DiscordAct.READ, "GET", path, **asked)
        channel = await self._channel_of(place)
        ours = await self._ours(channel) if kept.get("webhook_id") and channel != IN_DIRECT else []
        hook = next((h for h in ours if h.id == kept["webhook_id"]), None)
        if hook is None:
            return False
        params = {"thread_id": place} if place != channel else {}
        of = f"{HOOK}/messages/{{message_id}}"
        await self._rest.request(act, method, of, body=body, params=params, **asked, **hook.path)
        return True

    def wrote(self, message: dict[str, Any]) -> bool:
        """Return whether a webhook of ours posted a message that was read back."""
        return bool(message.get("webhook_id")) and message.get("application_id") == self._rest.me

    # --- inside -----------------------------------------------------------------------

    def _explained(self, channel: str, place: str, code: int) -> bool:
        """Note why a webhook posts nothing; False for what concerns the message or its thread."""
        if code in (UNKNOWN_WEBHOOK, NO_SUCH_TOKEN):
            self._known.pop(channel, None)
            self._put_off(channel, place, "deleted")
        elif code == INVALID_FORM:  # if it was not the name, the plain post is refused as well
            _room_in(self._why)[place] = "refused"
            log.warning("name refused", place=place, why="its form")
        else:
            return False
        return True

    def _put_off(self, channel: str, place: str, why: Unnamed | None) -> None:
        _room_in(self._without)[channel] = time.monotonic() + LOOK_AGAIN_SECONDS
        if why:
            _room_in(self._why)[place] = why
            log.warning("no webhook", place=place, why=why)

    async def _find(self, channel: str, place: str) -> _Webhook | None:
        """Return a channel's webhook, a new one if it has none; None where that is not allowed."""
        if channel in self._known:
            return self._known[channel]
        if self._without.get(channel, 0.0) > time.monotonic():
            return None
        try:
            if ours := await self._ours(channel):
                hook = ours[0]
            else:
                asked = {"name": NAME}
                hook = _to_webhook(
                    await self._rest.request(
                        DiscordAct.NAME, "POST", WEBHOOKS, place=channel, body=asked
                    )
                )
        except (VenueAwayError, VenueGoneError):
            raise
        except VenueError as error:  # without the permission everything is as before
            full = code_of(error) == WEBHOOKS_FULL
            why: Unnamed | None = "full" if full else None
            if code_of(error) != NO_PERMISSION and not full:
                log.warning("no webhook", place=place, why=str(error))
            self._put_off(channel, place, why)
            return None
        _room_in(self._known)[channel] = hook
        return hook

    async def _ours(self, channel: str) -> list[_Webhook]:
        listed = await self._rest.request(DiscordAct.NAME, "GET", WEBHOOKS, place=channel)
        return [
            _to_webhook(one)
            for one in listed
            if one["type"] == INCOMING
            and one.get("application_id") == self._rest.me
            and one.get("token")
        ]

    async def _channel_of(self, place: str) -> str:
        """Return the channel of a thread; a channel is its own, direct messages have none."""
        if place not in self._channels:
            path = "/channels/{channel_id}"
            shown = await self._rest.request(DiscordAct.READ, "GET", path, place=place)
            inside = shown["type"] in THREADS
            own = IN_DIRECT if shown["type"] in DIRECT else place
            self.opened(place, str(shown["parent_id"]) if inside else own)
        return self._channels[place]


def _to_webhook(shown: dict[str, Any]) -> _Webhook:
    return _Webhook(str(shown["id"]), SecretStr(shown["token"]))


def _room_in(known: dict[str, Any]) -> dict[str, Any]:
    if len(known) >= MOST_REMEMBERED:
        known.clear()
    return known
