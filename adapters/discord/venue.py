"""The Venue port on Discord: places and messages are Discord's own ids, as texts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

import structlog
from discord.utils import snowflake_time

from adapters.discord import render, texts
from adapters.discord.errors import (
    ARCHIVED,
    IN_DIRECT_MESSAGES,
    NO_PERMISSION,
    NOT_THE_AUTHOR,
    THREAD_EXISTS,
    UNKNOWN_EMOJI,
    UNKNOWN_MESSAGE,
    UNKNOWN_PEOPLE,
    WRITING,
    WRONG_KIND,
    DiscordAct,
    code_of,
    forbidden,
    lacking,
    locked,
    needed_for,
    unreadable,
)
from adapters.discord.render import (
    NO_MENTIONS,
    SUPER,
    DiscordPayload,
    carries,
    emoji_of,
    nonce_of,
    reaction_of,
)
from adapters.discord.rest import DiscordRest, Json, rights_in
from adapters.discord.webhooks import Webhooks
from adapters.pictures import drawn
from adapters.wire import GAP_SECONDS, ChannelPace, reads
from engine.store.leases import OWN
from engine.values.errors import MessageGoneError, VenueAwayError, VenueError, VenueGoneError
from engine.values.messages import Message
from engine.values.ports import Location, Member, Part, Reactions, VenueLimits
from engine.values.text import REACTIONS, clean, headline

if TYPE_CHECKING:
    from engine.values.protocols import Unnamed

PAGE = 100
LONGEST_READ_PAUSE = 5.0  # within a reading
TEXT_CHANNELS = (0, 5)  # text and announcements
THREADS = (10, 11, 12)  # of an announcement channel, public, private
REACTION_SHARE = 0.3  # of the gap between messages: Discord takes one reaction in 0.25 s
MOST_PAGES = 10  # read back in a channel if no earlier message is known
ARCHIVE_MINUTES = 10080  # the longest that Discord offers, and the longest vote
# Ten readings a second, of up to three requests each, leave a third of the rate to what people wait
# for; even if all were refused, they would stay below the ten thousand in ten minutes that ban.
LIMITS = VenueLimits(state_seconds=5.0, read_seconds=0.1)
MESSAGE = "/channels/{channel_id}/messages/{message_id}"
MESSAGES = "/channels/{channel_id}/messages"
CHANNEL = "/channels/{channel_id}"
log = structlog.get_logger(__name__)


class DiscordVenue:
    """Discord as a Venue, over a bot's REST requests; `gap` is seconds between messages."""

    platform = "discord"
    channel: str | None = None

    def __init__(
        self,
        rest: DiscordRest,
        *,
        limits: VenueLimits | None = None,
        gap: float = GAP_SECONDS,
        shards: int | None = None,
    ) -> None:
        self.limits = limits or LIMITS
        self._rest, self._shards = rest, shards
        self._pace = ChannelPace(gap)
        self._webhooks = Webhooks(rest)
        self._reacting = ChannelPace(gap * REACTION_SHARE, after_answers=True)

    def render(self, message: Message, stem: str) -> tuple[Part, ...]:
        """Turn a message into embeds."""
        return render.parts(message, stem)

    def plain(self, source: Part | str, reference: str) -> tuple[Part, ...]:
        """Turn a piece that was refused, or a text, into messages without markup."""
        return render.plain(source, reference)

    @asynccontextmanager
    async def turn(
        self, place: str, *, first: bool = False, part: Part | None = None
    ) -> AsyncIterator[None]:
        """Wait for a channel's next message, then for the bot's next request."""
        async with self._pace.turn(place):
            await self._rest.global_limit.admit(first=first)
            yield

    async def post(self, place: str, part: Part, *, notify: str = "") -> str:
        """Post one piece and return its message id; Discord drops a repetition within minutes."""
        payload = DiscordPayload.of(part)
        if notify:
            mention = {"content": f"<@{notify}>", "allowed_mentions": {"users": [notify]}}
            nonce = nonce_of(place, part.reference)
            return await self._post(place, payload._replace(body=payload.body | mention), nonce)
        if payload.speaker is not None:
            body = payload.body | {"allowed_mentions": NO_MENTIONS}
            spoken = await self._webhooks.post(place, payload.speaker, body)
            if spoken is not None:
                return spoken
        return await self._post(place, payload, nonce_of(place, part.reference))

    def unnamed(self, place: str) -> Unnamed | None:
        """Return why speakers have the bot's own name there, if managers should know."""
        return self._webhooks.unnamed(place)

    async def say(self, place: str, body: dict[str, Any]) -> str:
        """Post a message that belongs to no debate, at the same rate."""
        async with self.turn(place, first=True):
            return await self._post(place, DiscordPayload(body), None)

    async def edit(self, place: str, message: str, part: Part) -> None:
        """Replace what a message shows."""
        said = DiscordPayload.of(part).body | {"allowed_mentions": NO_MENTIONS}
        try:
            await self._awake(
                DiscordAct.EDIT, "PATCH", MESSAGE, place=place, message=message, body=said
            )
        except VenueError as error:
            if code_of(error) != NOT_THE_AUTHOR:
                raise
            if not await self._webhooks.edit(place, message, said):
                raise

    async def read(self, place: str, message: str) -> dict[str, Any]:
        """Return a message as Discord has it. Raises MessageGoneError."""
        kept: dict[str, Any] = await self._ask(
            DiscordAct.READ, "GET", MESSAGE, place=place, message=message
        )
        return kept

    @reads(unreadable)
    async def find(self, place: str, reference: str, after: str | None) -> str | None:
        """Return the bot's own message whose footer carries a reference, posted after `after`."""
        pages = self._since(place, after) if after else self._newest(place)
        async for page in pages:
            for message in page:
                own = message["author"]["id"] == self._rest.me or self._webhooks.wrote(message)
                if own and carries(message, reference):
                    return str(message["id"])
        return None

    @reads(unreadable)
    async def open_thread(self, channel: str, message: str, title: str) -> str:
        """Open a public thread on a message; on Discord it has the message's id.

        A message inside a thread, or in direct messages, cannot have one; its debate runs there.
        """
        body = {"name": title.strip() or "…", "auto_archive_duration": ARCHIVE_MINUTES}
        try:
            path = f"{MESSAGE}/threads"
            opened = await self._rest.request(
                DiscordAct.THREAD, "POST", path, place=channel, message=message, body=body
            )
        except VenueError as error:
            if code_of(error) == THREAD_EXISTS:
                return message
            if code_of(error) == IN_DIRECT_MESSAGES:
                return channel
            inside = code_of(error) == WRONG_KIND
            if not inside or (await self._channel(channel))["type"] not in THREADS:
                raise
            return channel
        return str(opened["id"])

    async def link(self, community: str, place: str, message: str) -> str:
        """Return the web address of a message; Discord opens it in the app."""
        within = "@me" if community.startswith(OWN) else community
        return f"https://discord.com/channels/{within}/{place}/{message}"

    @reads(unreadable)
    async def locate(self, channel: str) -> Location:
        """Find a text channel. Raises VenueError for any other, and without a permission."""
        if not (channel.isascii() and channel.isdigit()):
            raise VenueError(texts.NO_CHANNEL_ID.format(channel=headline(clean(channel), 40)))
        shown = await self._channel(channel)
        if shown["type"] not in TEXT_CHANNELS:
            raise VenueError(texts.NOT_A_TEXT_CHANNEL.format(place=channel))
        rights = await rights_in(self._rest, str(shown["guild_id"]))
        if said := lacking(rights.here(shown.get("permission_overwrites", ()))):
            raise VenueError(texts.LACKS.format(place=channel, permissions=said))
        return Location(rights.guild, channel)

    @reads(unreadable)
    async def written_by(self, place: str, user: str, after: str) -> Sequence[str]:
        """Return what a user wrote in a thread since a message, edited as it is now.

        Without the privileged intent Discord keeps the texts of messages that do not mention the
        bot.
        """
        me = re.compile(rf"\s*<@!?{self._rest.me}>\s*")
        found: list[dict[str, Any]] = []
        async for page in self._since(place, after):
            found += [one for one in page if one["author"]["id"] == user]
        found.sort(key=lambda message: int(message["id"]))
        return [said for one in found if (said := me.sub(" ", one.get("content") or "").strip())]

    @reads(unreadable)
    async def member(self, place: str, user: str) -> Member | None:
        """Look a member of the server up."""
        if not (user.isascii() and user.isdigit()):
            return None
        shown = await self._channel(place)
        try:
            if guild := shown.get("guild_id"):
                path, of = "/guilds/{guild_id}/members/{user_id}", {"guild_id": guild}
            else:
                path, of = "/users/{user_id}", {}
            found = await self._rest.request(DiscordAct.READ, "GET", path, user_id=user, **of)
        except VenueAwayError:
            raise
        except VenueError as error:
            if code_of(error) in UNKNOWN_PEOPLE:
                return None
            raise
        who = found.get("user") or found
        names = (found.get("nick"), who.get("global_name"), who.get("username"))
        return Member(tuple(dict.fromkeys(filter(None, names))), bool(who.get("bot")))

    @reads(unreadable)
    async def direct(self, place: str, user: str) -> str:
        """Return the channel of direct messages to a user."""
        asked = {"recipient_id": user}
        opened = await self._rest.request(
            DiscordAct.POST, "POST", "/users/@me/channels", place=place, body=asked
        )
        return str(opened["id"])

    @reads(unreadable)
    async def managers(self, place: str) -> Sequence[str]:
        """Return the channel where moderators get Discord's own notices, else the server's owner.

        That channel has to be one that the bot can see.
        """
        try:
            number = (await self._channel(place)).get("guild_id")
            if not number:  # of direct messages
                return ()
            path = "/guilds/{guild_id}"
            guild = await self._rest.request(DiscordAct.READ, "GET", path, guild_id=number)
            notices = guild["public_updates_channel_id"]
            if notices and await self._can_see(notices):
                return (str(notices),)
            return (await self.direct(place, guild["owner_id"]),)
        except VenueAwayError:
            raise
        except VenueError as error:
            log.info("managers unknown", place=place, why=str(error))
            return ()

    async def shares(self) -> int:
        """Return the number of shards: as set, else as Discord recommends."""
        return self._shards or (await self._rest.gateway()).shards

    @reads(unreadable)
    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        """Add the bot's own reactions that are missing, in order."""
        mine = _seeded(await self.read(place, message))
        for option in options:
            if option not in mine:
                path = f"{MESSAGE}/reactions/{{emoji}}/@me"
                emoji = REACTIONS[option]
                await self._awake(
                    DiscordAct.REACT, "PUT", path, place=place, message=message, emoji=emoji
                )

    async def remove_own_reactions(self, place: str, message: str, options: Sequence[str]) -> None:
        """Remove the bot's own reactions, in order; that needs no permission."""
        path = f"{MESSAGE}/reactions/{{emoji}}/@me"
        for option in options:
            emoji = REACTIONS[option]
            try:
                async with self._reacting.turn(place):
                    await self._awake(
                        DiscordAct.UNREACT,
                        "DELETE",
                        path,
                        place=place,
                        message=message,
                        emoji=emoji,
                    )
            except VenueError as error:
                if code_of(error) != UNKNOWN_EMOJI:
                    raise

    def account_made_at(self, user: str) -> datetime:
        """Return when an account was made, which its id says."""
        return snowflake_time(int(user))

    @reads(unreadable)
    async def reactions(self, place: str, message: str) -> Reactions:
        """Read who holds which option; incomplete if Discord refuses an option for good."""
        kept = await self.read(place, message)
        holders: dict[str, frozenset[str]] = {}
        complete = True
        for reaction in kept.get("reactions", ()):
            # Without a type Discord lists ordinary reactions only.
            bursts = (False, True) if reaction["count_details"]["burst"] else (False,)
            for burst in bursts:
                option = _option(reaction, burst=burst)
                if option is None:
                    continue
                try:
                    emoji = reaction["emoji"]["name"]
                    holders[option] = await self._holders(place, message, emoji, burst=burst)
                except (MessageGoneError, VenueAwayError, VenueGoneError):
                    raise
                except VenueError:
                    complete = False
        return Reactions(holders, _seeded(kept), complete)

    async def remove_reaction(self, place: str, message: str, user: str, option: str) -> None:
        """Remove a person's reaction; needs Manage Messages.

        What that does to a super reaction is not documented, so it is looked for afterwards.
        """
        path = f"{MESSAGE}/reactions/{{emoji}}/{{user_id}}"
        of = {"emoji": emoji_of(option), "user_id": user}
        try:
            async with self._reacting.turn(place):
                await self._awake(
                    DiscordAct.REMOVE, "DELETE", path, place=place, message=message, **of
                )
        except VenueError as error:
            if code_of(error) not in (UNKNOWN_EMOJI, UNKNOWN_MESSAGE):
                raise
        if not option.endswith(SUPER):
            return
        try:
            holders = await self._holders(place, message, emoji_of(option), burst=True)
        except VenueError as error:
            if code_of(error) not in (UNKNOWN_EMOJI, UNKNOWN_MESSAGE):
                raise
        else:
            if user in holders:
                raise VenueError(texts.SUPER_STAYS)

    async def erase(self, place: str, message: str | None) -> bool:
        """Delete a message of the bot's own, or a thread with all in it: needs Manage Threads."""
        if message is None:
            async with self.turn(place):
                await self._rest.request(DiscordAct.ERASE_THREAD, "DELETE", CHANNEL, place=place)
            return True
        try:
            await self._awake(DiscordAct.ERASE, "DELETE", MESSAGE, place=place, message=message)
        except VenueError as error:
            if code_of(error) != NO_PERMISSION or not await self._webhooks.erase(place, message):
                raise
        return True

    async def typing(self, place: str, seats: Sequence[str]) -> None:
        """Show the bot typing; Discord ends that after a few seconds."""
        if seats:
            await self._rest.request(DiscordAct.TYPING, "POST", f"{CHANNEL}/typing", place=place)

    # --- inside -----------------------------------------------------------------------

    async def _post(self, place: str, payload: DiscordPayload, nonce: str | None) -> str:
        body = {"allowed_mentions": NO_MENTIONS} | payload.body
        if nonce is not None:
            body |= {"nonce": nonce, "enforce_nonce": True}
        sent: dict[str, Any] = {"body": body}
        if payload.files:
            payload = payload._replace(files=await drawn(payload.files))
            sent = {"form": payload._replace(body=body).form()}
        sent |= {"place": place, "admitted": True}
        try:
            posted = await self._ask(DiscordAct.POST, "POST", MESSAGES, **sent)
        except VenueError as error:
            if code_of(error) != NO_PERMISSION or not payload.pictures_only:
                raise
            # Without Attach Files a picture is left out: the text says what it shows.
            sent = {"body": body, "place": place, "admitted": True}
            posted = await self._ask(DiscordAct.POST, "POST", MESSAGES, **sent)
        return await _id_of(posted)

    async def _can_see(self, channel: str) -> bool:
        try:
            await self._channel(channel)
        except VenueAwayError:
            raise
        except VenueError:
            return False
        return True

    async def _channel(self, place: str) -> Json:
        """Return a channel or thread as Discord has it."""
        return await self._rest.request(DiscordAct.READ, "GET", CHANNEL, place=place)

    async def _awake(
        self, act: DiscordAct, method: str, path: str, *, place: str, message: str, **more: Any
    ) -> None:
        """Send a request about a message; if its thread is archived, reopen it and retry."""
        ask = {"place": place, "message": message, **more}
        try:
            await self._ask(act, method, path, **ask)
        except VenueError as error:
            if code_of(error) != ARCHIVED:
                raise
            await self._ask(act, "PATCH", CHANNEL, place=place, body={"archived": False})
            await self._ask(act, method, path, **ask)

    async def _ask(
        self, act: DiscordAct, method: str, path: str, *, place: str, **more: Any
    ) -> Any:
        """Send a request; a refusal says that the thread is locked, or what is missing there."""
        try:
            return await self._rest.request(act, method, path, place=place, **more)
        except VenueError as error:
            if code_of(error) != NO_PERMISSION or not (said := await self._missing(act, place)):
                raise
            raise said from error.__cause__

    async def _missing(self, act: DiscordAct, place: str) -> VenueError | None:
        """Return why an act is refused, if its place says that."""
        try:
            shown = await self._channel(place)
            inside = shown["type"] in THREADS
            if inside and shown["thread_metadata"]["locked"] and act in WRITING:
                return locked(place)
            of = place
            if inside:
                of = str(shown["parent_id"])
                shown = await self._channel(of)
            rights = await rights_in(self._rest, str(shown["guild_id"]))
        except (VenueError, KeyError):
            return None
        held = rights.here(shown.get("permission_overwrites", ()))
        names = lacking(held, needed_for(act, inside=inside))
        return forbidden(act, place, names) if names else None

    async def _since(self, place: str, after: str) -> AsyncIterator[list[dict[str, Any]]]:
        """Read a place on from a message, in pages."""
        while True:
            page = await self._page(place, {"after": after})
            yield page
            if len(page) < PAGE:
                return
            after = max((message["id"] for message in page), key=int)

    async def _newest(self, place: str) -> AsyncIterator[list[dict[str, Any]]]:
        """Read a place back from its newest message, in pages."""
        before: dict[str, str] = {}
        for _ in range(MOST_PAGES):
            page = await self._page(place, before)
            yield page
            if len(page) < PAGE:
                return
            before = {"before": min((message["id"] for message in page), key=int)}

    async def _page(self, place: str, where: dict[str, str]) -> list[dict[str, Any]]:
        page: list[dict[str, Any]] = await self._rest.request(
            DiscordAct.READ, "GET", MESSAGES, place=place, params={"limit": PAGE, **where}
        )
        return page

    async def _holders(
        self, place: str, message: str, emoji: str, *, burst: bool
    ) -> frozenset[str]:
        users: set[str] = set()
        path, after = f"{MESSAGE}/reactions/{{emoji}}", "0"
        while True:
            params = {"limit": PAGE, "after": after, "type": int(burst)}
            page = await self._read_again(
                path, place=place, message=message, emoji=emoji, params=params
            )
            users |= {user["id"] for user in page if not user.get("bot")}
            if len(page) < PAGE:
                return frozenset(users - {self._rest.me})
            after = max((user["id"] for user in page), key=int)

    async def _read_again(self, path: str, **asked: Any) -> Any:
        """Read one of several pages; a refusal is retried once, as Discord answers others.

        Otherwise one of them would cost the whole reading, and a pause that doubles.
        """
        try:
            return await self._ask(DiscordAct.READ, "GET", path, **asked)
        except VenueAwayError as error:
            if error.retry_after > LONGEST_READ_PAUSE:
                raise
            await asyncio.sleep(error.retry_after)
        return await self._ask(DiscordAct.READ, "GET", path, **asked)


@reads(unreadable)
async def _id_of(posted: Any) -> str:
    return str(posted["id"])


def _seeded(message: dict[str, Any]) -> frozenset[str]:
    own = (_option(reaction) for reaction in message.get("reactions", ()) if reaction["me"])
    return frozenset(option for option in own if option is not None)


def _option(reaction: dict[str, Any], *, burst: bool = False) -> str | None:
    emoji = reaction["emoji"]
    return None if emoji.get("id") else reaction_of(emoji["name"], burst=burst)
