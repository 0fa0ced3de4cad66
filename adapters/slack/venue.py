"""The Venue port on Slack: a place is `team:channel`, or `team:channel/ts` for a message's thread.

A message's id is its `ts`. Reaction events do not name the thread, so the client looks it up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from adapters.pictures import drawn
from adapters.slack import render, texts
from adapters.slack.errors import SlackAct, name_of, unreadable
from adapters.slack.render import (
    NAMES,
    SCOPE,
    SlackPayload,
    carries,
    held_by,
    is_whole,
    reaction_of,
    shown_as,
    typed,
)
from adapters.slack.rest import Json, SlackRest, share_files
from adapters.slack.workspaces import Workspace, Workspaces, managers_in
from adapters.wire import GAP_SECONDS, ChannelPace, reads
from engine.run.order import PlaceCapabilities
from engine.values.errors import VenueError
from engine.values.language import Text
from engine.values.messages import Message
from engine.values.ports import Location, Member, Part, Reactions, VenueLimits
from engine.words.card import CardSpeaker

if TYPE_CHECKING:
    from engine.values.protocols import Unnamed

# Checks, before anything is paid, whether a debate can run in a channel.
#
# What Slack does not say here shows when the announcement is posted; no model is called before.


SCOPES = ("chat:write", "reactions:read", "reactions:write")
FOR_FILES = ("files:write",)
log = structlog.get_logger(__name__)


async def capabilities_of(home: Workspace, channel: str) -> PlaceCapabilities:
    """Return the obstacles in a channel, from Slack's data and the app's scopes."""
    try:
        scopes = (await home.rest.identity()).scopes
        if scopes and not scopes.issuperset((*SCOPES, *FOR_FILES)):
            # A reinstalled app has other scopes, and often the same token.
            scopes = (await home.rest.identity(again=True)).scopes
    except VenueError as error:
        log.info("scopes unknown", why=str(error))
        scopes = frozenset()  # as if Slack did not say
    unfit = _lacking(scopes, SCOPES) or await _unfit(home.rest, channel)
    return PlaceCapabilities(
        unfit=unfit, no_files=_lacking(scopes, FOR_FILES), no_removal=texts.NOT_HIDDEN
    )


def _lacking(scopes: frozenset[str], wanted: tuple[str, ...]) -> str:
    names = [name for name in wanted if name not in scopes] if scopes else []
    return Text(texts.LACKING, scopes=tuple(names)) if names else ""


async def _unfit(rest: SlackRest, channel: str) -> str:
    """Return why nothing can be posted in a channel; empty if it can, or is unknown."""
    asked = {"channel": channel}
    try:
        shown = (await rest.read(SlackAct.ASK, "conversations.info", asked, place=channel))[
            "channel"
        ]
    except VenueError as error:
        return texts.NOT_INSIDE if name_of(error) == "channel_not_found" else ""
    if shown.get("is_archived"):
        return texts.ARCHIVED_HERE
    if shown.get("is_member") is False:
        return texts.NOT_INSIDE
    if shown.get("is_thread_only") or shown.get("is_non_threadable"):
        return texts.NO_THREADS_HERE
    return ""


# Of the fifty edits and fifty readings a minute that Slack allows, some are left to closing votes.
# Slack repeats an unacknowledged event at once, after a minute, and after five minutes.
LIMITS = VenueLimits(state_seconds=5.0, edit_seconds=1.5, read_seconds=1.5, redelivery_seconds=62.0)
PAGE = 200  # apps outside Slack's marketplace get 15, whatever they request
MOST_PAGES = 20
MOST_REMEMBERED = 10_000  # threads in which speakers have the bot's own name
# Which refusals are of a name or face.
REFUSED_NAMES: dict[str, Unnamed] = {
    "missing_scope": "scope",
    "invalid_name": "refused",
    "invalid_name_specials": "refused",
    "invalid_username": "refused",
    "emoji_not_found": "refused",
}
UNKNOWN_PEOPLE = ("user_not_found", "user_not_visible", "users_not_found")


class SlackPlace(NamedTuple):
    """A channel as one workspace sees it, or the thread of one of its messages."""

    team: str
    channel: str
    root: str | None = None

    @classmethod
    def parse(cls, text: str) -> SlackPlace:
        """Read a place as the engine holds it."""
        team, _, place = text.partition(":")
        channel, _, root = place.partition("/")
        return cls(team, channel, root or None)

    def __str__(self) -> str:
        channel = f"{self.team}:{self.channel}"
        return f"{channel}/{self.root}" if self.root else channel


def link_to(url: str, where: SlackPlace, message: str | None = None) -> str:
    """Return the web address of a thread, or of a message in it."""
    root = where.root or ""
    shown = f"{url.rstrip('/')}/archives/{where.channel}/p{(message or root).replace('.', '')}"
    return f"{shown}?thread_ts={root}&cid={where.channel}" if message not in (None, root) else shown


class SlackVenue:
    """Slack as a Venue, with each workspace's own bot; `gap` is seconds between messages.

    `managers` are those whom the operator has listed.
    """

    platform = "slack"
    # A bot can remove only its own reactions, and is shown typing in no channel.
    account_made_at = remove_reaction = typing = None
    channel: str | None = None

    def __init__(
        self,
        workspaces: Workspaces,
        *,
        managers: Sequence[str] = (),
        limits: VenueLimits | None = None,
        gap: float = GAP_SECONDS,
    ) -> None:
        self.limits = limits or LIMITS
        self._workspaces, self._managers = workspaces, managers
        self._unnamed: dict[str, Unnamed] = {}
        self._pace = ChannelPace(gap, after_answers=True)

    def render(self, message: Message, stem: str) -> tuple[Part, ...]:
        """Turn a message into blocks."""
        return render.parts(message, stem)

    def plain(self, source: Part | str, reference: str) -> tuple[Part, ...]:
        """Turn a piece that was refused, or a text, into messages without blocks."""
        return render.plain(source, reference)

    def turn(
        self, place: str, *, first: bool = False, part: Part | None = None
    ) -> AbstractAsyncContextManager[None]:
        """Wait for a channel's next message; those of its threads count as well."""
        return self._pace.turn(SlackPlace.parse(place).channel)

    async def post(self, place: str, part: Part, *, notify: str = "") -> str:
        """Post one piece and return its ts."""
        where, payload = SlackPlace.parse(place), SlackPayload.of(part)
        if notify:
            payload = payload.mentioning(notify)
        body = payload.body(part.reference) | {"channel": where.channel}
        if where.root:
            body |= {"thread_ts": where.root, "reply_broadcast": payload.broadcast}
        posted = await self._write_as(payload.speaker, where, body)
        ts = str(posted["ts"])
        if payload.files:
            # A missing file is better than a second message.
            await asyncio.sleep(self._pace.gap)  # the files arrive as one more message of this turn
            try:
                rest = (await self._home(where)).rest
                await share_files(rest, where.channel, where.root, await drawn(payload.files))
            except VenueError as error:
                log.warning("file not shared", place=str(where), why=str(error))
        return ts

    def unnamed(self, place: str) -> Unnamed | None:
        """Return why speakers have the bot's own name there, if managers should know."""
        return self._unnamed.get(place)

    async def edit(self, place: str, message: str, part: Part) -> None:
        """Replace what a message shows."""
        where, payload = SlackPlace.parse(place), SlackPayload.of(part)
        body = payload.body(part.reference) | {"channel": where.channel, "ts": message}
        rest = (await self._home(where)).rest
        await rest.write(SlackAct.EDIT, "chat.update", body, place=where.channel, message=message)

    @reads(unreadable)
    async def find(self, place: str, reference: str, after: str | None) -> str | None:
        """Return the bot's own message that carries a reference, posted after `after`."""
        where = SlackPlace.parse(place)
        me = await (await self._home(where)).rest.identity()
        async for message in self._read(where, after):
            # Under another name it is its bot's, and no user's.
            of = message.get("user") or (message.get("bot_id") == me.bot and me.user)
            if of == me.user and carries(message, reference):
                return str(message["ts"])
        return None

    async def open_thread(self, channel: str, message: str, title: str) -> str:
        """Return the thread of a message: Slack has one for each, without a title."""
        if SlackPlace.parse(channel).root:
            return channel
        return str(SlackPlace.parse(channel)._replace(root=message))

    async def link(self, community: str, place: str, message: str) -> str:
        """Return the web address of a message in the workspace."""
        where = SlackPlace.parse(place)
        url = (await (await self._home(where)).rest.identity()).url
        return link_to(url, where._replace(root=where.root or message), message)

    @reads(unreadable)
    async def locate(self, channel: str) -> Location:
        """Find a channel, `team:channel` or an id in the only workspace. Raises VenueError."""
        team, colon, _ = channel.partition(":")
        teams = (team,) if colon else await self._workspaces.teams()
        if len(teams) != 1:
            raise VenueError(texts.WHICH_WORKSPACE.format(channel=channel))
        where = SlackPlace.parse(channel if colon else f"{teams[0]}:{channel}")
        unfit = (await capabilities_of(await self._home(where), where.channel)).unfit
        if unfit:
            raise VenueError(unfit)
        return Location(where.team, str(where))

    @reads(unreadable)
    async def written_by(self, place: str, user: str, after: str) -> Sequence[str]:
        """Return what a user wrote in a thread since a message, edited as it is now."""
        own = [
            one
            async for one in self._read(SlackPlace.parse(place), after)
            if one.get("user") == user and not one.get("bot_id")
        ]
        return [said for one in own if (said := typed(str(one.get("text") or "")).strip())]

    @reads(unreadable)
    async def member(self, place: str, user: str) -> Member | None:
        """Look a user of the workspace up."""
        try:
            profile = await (await self._home(SlackPlace.parse(place))).people.profile(user)
        except VenueError as error:
            if name_of(error) in UNKNOWN_PEOPLE:
                return None
            raise
        return Member(tuple(filter(None, (profile.name,))), profile.bot)

    async def direct(self, place: str, user: str) -> str:
        """Return the direct messages to a user: Slack accepts a user id as a channel."""
        return str(SlackPlace(SlackPlace.parse(place).team, user))

    async def managers(self, place: str) -> Sequence[str]:
        """Return the direct messages to the managers whom the operator has listed."""
        team = SlackPlace.parse(place).team
        listed = await managers_in(self._workspaces, self._managers, team)
        return [await self.direct(place, user) for user in listed]

    async def shares(self) -> int | None:
        """Return how many shares the workspaces are divided into: one for a single workspace."""
        return self._workspaces.shares

    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        """Add the bot's own reactions that are missing, in order; without any, look for it."""
        where = SlackPlace.parse(place)
        if not options:
            await self._kept(where, message)
        add = (SlackAct.REACT, "reactions.add", "already_reacted")
        await self._react(add, where, message, options)

    async def remove_own_reactions(self, place: str, message: str, options: Sequence[str]) -> None:
        """Remove the bot's own reactions, in order."""
        remove = (SlackAct.UNREACT, "reactions.remove", "no_reaction")
        await self._react(remove, SlackPlace.parse(place), message, options)

    @reads(unreadable)
    async def reactions(self, place: str, message: str) -> Reactions:
        """Read who holds which option; incomplete if Slack names fewer people than it counts."""
        where = SlackPlace.parse(place)
        home = await self._home(where)
        me, kept = home.user, await self._kept(where, message)
        shown = [r for r in kept.get("reactions", ()) if reaction_of(r["name"]) is not None]
        held = held_by(shown)
        seeded = frozenset(option for option, users in held.items() if me in users)
        people = frozenset[str]().union(*held.values()) - {me}
        bots = await home.people.bots(sorted(people)) | {me}
        holders = {option: users - bots for option, users in held.items()}
        return Reactions(holders, seeded, is_whole(shown))

    async def erase(self, place: str, message: str | None) -> bool:
        """Delete a message of the bot's own, or the pictures that it put into a thread."""
        where = SlackPlace.parse(place)
        home = await self._home(where)
        act, channel = SlackAct.ERASE, where.channel
        if message is not None:
            body = {"channel": channel, "ts": message}
            await home.rest.write(act, "chat.delete", body, place=channel, message=message)
            return True
        async for posted in self._read(where, None):
            for file in posted.get("files") or () if posted.get("user") == home.user else ():
                await home.rest.write(act, "files.delete", {"file": file["id"]}, place=channel)
        return False

    # --- inside -----------------------------------------------------------------------

    async def _react(
        self,
        how: tuple[SlackAct, str, str],
        where: SlackPlace,
        message: str,
        options: Sequence[str],
    ) -> None:
        """Add or remove the bot's own reactions, in order; `how` names what is done already."""
        (act, method, done), channel = how, where.channel
        rest = (await self._home(where)).rest
        for option in options:
            body = {"channel": channel, "timestamp": message, "name": NAMES[option]}
            try:
                await rest.write(act, method, body, place=channel, message=message)
            except VenueError as error:
                if name_of(error) != done:
                    raise

    async def _home(self, where: SlackPlace) -> Workspace:
        return await self._workspaces.find(where.team)

    async def _write_as(self, speaker: CardSpeaker | None, where: SlackPlace, body: Json) -> Json:
        """Post under a speaker's name, or under the bot's where that is not allowed."""
        rest, post = (await self._home(where)).rest, "chat.postMessage"
        if speaker is not None and SCOPE not in (await rest.identity()).scopes:
            self._note_unnamed(where, "scope")
        elif speaker is not None:
            named = body | shown_as(speaker)
            try:
                return await rest.write(SlackAct.POST, post, named, place=where.channel)
            except VenueError as error:
                why = REFUSED_NAMES.get(name_of(error))
                if why is None:
                    raise
                log.warning("name refused", place=str(where), why=name_of(error))
                self._note_unnamed(where, why)
        return await rest.write(SlackAct.POST, post, body, place=where.channel)

    def _note_unnamed(self, where: SlackPlace, why: Unnamed) -> None:
        if len(self._unnamed) >= MOST_REMEMBERED:
            self._unnamed.clear()
        self._unnamed[str(where)] = why

    async def _kept(self, where: SlackPlace, message: str) -> Json:
        asked = {"channel": where.channel, "timestamp": message, "full": True}
        rest = (await self._home(where)).rest
        found = await rest.read(
            SlackAct.READ, "reactions.get", asked, place=where.channel, message=message
        )
        kept: Json = found["message"]
        return kept

    async def _read(self, place: SlackPlace, after: str | None) -> AsyncIterator[Json]:
        """Read a place's messages in pages, those after one if it is given."""
        method = "conversations.replies" if place.root else "conversations.history"
        asked: dict[str, Any] = {"channel": place.channel, "limit": PAGE}
        asked |= {"include_all_metadata": True}
        asked |= {"ts": place.root} if place.root else {}
        asked |= {"oldest": after} if after else {}
        rest = (await self._home(place)).rest
        for _ in range(MOST_PAGES):
            page = await rest.read(SlackAct.READ, method, asked, place=place.channel)
            for message in page["messages"]:
                if message["ts"] not in (place.root, after):
                    yield message
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return
            asked["cursor"] = cursor
