"""Slack's requests: events go to the engine; commands, buttons and forms to their handler.

Bolt answers a request when its handler returns. An event's handler returns once the event is
stored, so Slack repeats events that were not; the others acknowledge and start a task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from hashlib import sha256
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.async_context import AsyncBoltContext

from adapters.slack import texts
from adapters.slack.fields import FORM, SETTINGS_FORM
from adapters.slack.interactions import PLATFORM, SlackInteractionHandler
from adapters.slack.payloads import (
    OpenedHome,
    Pressed,
    PressedAtHome,
    Reacted,
    Removed,
    ReplyTarget,
    Shortcut,
    SlashCommand,
)
from adapters.slack.render import ANY, reaction_of, typed
from adapters.slack.venue import SlackPlace, SlackVenue
from adapters.slack.views import Home, Modals
from adapters.slack.workspaces import Workspace
from adapters.wire import InOrder
from engine.chat.invocation import pressed_invocation
from engine.values.errors import RostrumError, VenueAwayError, VenueGoneError
from engine.values.ports import ButtonPressed, CommunityChanged, ReactionSeen
from engine.values.text import redact
from engine.votes.outcome import EventOutcome
from engine.words.buttons import opens_form, read_button
from engine.words.translation import say

COMMAND = "/debate"
DEBATE_THIS, AT_HOME = "rostrum:debate", "rostrum:home:"
FINISH_SECONDS = 5.0
log = structlog.get_logger(__name__)

Ack = Callable[..., Awaitable[object]]


class SlackClient:
    """The handlers of everything that Slack sends to the app, from any workspace."""

    def __init__(self, handler: SlackInteractionHandler, venue: SlackVenue) -> None:
        self._handler, self._venue = handler, venue
        self._events = InOrder(handler.listener)
        self._modals = Modals(handler, self._spawn)
        self._home = Home(handler, self._modals)
        self._tasks: set[asyncio.Task[None]] = set()

    def app(self, signing_secret: str) -> AsyncApp:
        """Return Bolt's application with these handlers."""
        workspaces = self._handler.workspaces

        # A workspace that is not served may share a channel with one of our messages, so its
        # requests are let in; the handlers refuse the rest.
        async def authorize(team_id: str | None) -> AuthorizeResult:
            try:
                me: str | None = (await workspaces.find(team_id or "")).user
            except VenueGoneError:
                me = None
            return AuthorizeResult(enterprise_id=None, team_id=team_id, bot_user_id=me)

        app = AsyncApp(
            name="rostrum",
            client=workspaces.app.web(),
            authorize=authorize,
            signing_secret=signing_secret,
            process_before_response=True,
        )
        app.error(self._on_error)
        app.command(COMMAND)(self._on_command)
        app.message_shortcut(DEBATE_THIS)(self._on_shortcut)
        app.action(ANY)(self._on_button)
        app.view(FORM)(self._modals.on_start)
        app.view(SETTINGS_FORM)(self._modals.on_settings)
        app.view(ANY)(self._modals.on_form)
        app.event("app_home_opened")(self._on_home)
        app.event("reaction_added")(self._on_reaction)
        app.event("reaction_removed")(self._on_reaction)
        app.event("app_uninstalled")(self._on_removal)
        app.event("tokens_revoked")(self._on_removal)
        return app

    async def finish(self) -> None:
        """Give running answers some seconds to finish."""
        await self._handler.stop()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=FINISH_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    # --- commands ------------------------------------------------------------------------

    async def _on_command(self, ack: Ack, asked: SlashCommand) -> None:
        """Acknowledge a command, then run it or open a form."""
        await ack()
        text = asked.text.strip()
        # Settings need the ids of channels and people, topics their names.
        line = typed(text, ids=text.casefold().startswith("settings"))
        match line.casefold().split():
            case []:
                self._spawn(self._modals.open_start(asked.requester, asked.trigger_id))
            case ["settings"]:
                self._spawn(self._modals.open_settings(asked.requester, asked.trigger_id))
            case _:
                self._spawn(self._handler.carry_out(asked.requester, line))

    async def _on_shortcut(self, ack: Ack, asked: Shortcut) -> None:
        """Acknowledge “Debate this”, then open the form about the message."""
        await ack()
        about = typed(redact(asked.message.text or ""))
        self._spawn(self._modals.open_start(asked.requester, asked.trigger_id, about))

    # --- buttons -------------------------------------------------------------------------

    async def _on_button(
        self, ack: Ack, asked: Pressed | PressedAtHome, context: AsyncBoltContext
    ) -> None:
        """Acknowledge a button, then do what its action id says."""
        await ack()
        if asked.action.startswith(AT_HOME):
            requester = ReplyTarget.at_home(context.team_id or "", asked.user.id)
            what = asked.action.removeprefix(AT_HOME)
            self._spawn(self._home.press(requester, asked.trigger_id, what))
            return
        pressed = read_button(asked.action)
        if pressed is None or not isinstance(asked, Pressed):
            log.info("unknown button", action=asked.action)
            return
        home = await self._find_home(asked.author, context.team_id)
        team = home.team if home else context.team_id or ""
        place = SlackPlace(team, asked.container.channel_id, asked.root)
        requester = ReplyTarget(
            team=place.team,
            channel=place.channel,
            user=asked.user.id,
            response_url=asked.response_url,
            thread=str(place) if place.root else None,
        )
        if home is None:
            log.info("button from an unknown workspace", action=asked.action)
            self._spawn(self._handler.reply(requester).say(say(texts.NOT_SERVED)))
            return
        if opens_form(pressed):
            self._spawn(self._modals.open_form(requester, asked.trigger_id, pressed))
            return
        command = pressed_invocation(pressed.what, pressed.of, asked.chosen)
        if command is not None:
            self._spawn(self._handler.carry_out(requester, command, in_place=pressed.in_place))
            return
        vote = ButtonPressed(
            place=str(place),
            message=asked.container.message_ts,
            user=requester.user,
            option=pressed.of or None,
            # Hashed, as user ids are stored in one table only.
            event=sha256(f"{requester.user}/{asked.actions[0].action_ts}".encode()).hexdigest(),
        )
        self._spawn(self._handler.vote(self._handler.reply(requester), vote))

    # --- events --------------------------------------------------------------------------

    async def _on_home(self, asked: OpenedHome, context: AsyncBoltContext) -> None:
        """Publish the Home tab to a person who opens it."""
        home = await self._find_home(None, context.team_id)
        if home is not None and asked.event.tab == "home":
            self._spawn(self._home.opened(home.team, asked.event.user, asked.event.view))

    async def _on_reaction(self, asked: Reacted, context: AsyncBoltContext) -> None:
        """Store a reaction to one of our messages; raises if Slack must repeat it."""
        event, item = asked.event, asked.event.item
        option = reaction_of(event.reaction)
        if option is None or item.type != "message":
            return
        # The person's next event waits until this one is stored, lookups included.
        async with self._events.lane((item.ts, event.user)):
            home = await self._find_home(event.item_user, context.team_id)
            if home is None or event.user == home.user:
                return
            votes = self._handler.commands.store.votes
            places = map(SlackPlace.parse, await votes.places(PLATFORM, item.ts))
            found = (
                place
                for place in places
                if (place.team, place.channel) == (home.team, item.channel)
            )
            place = next(map(str, found), None)
            if place is None or home.people.is_bot(event.user):
                return
            seen = ReactionSeen(
                place=place,
                message=item.ts,
                user=event.user,
                option=option,
                added=event.type == "reaction_added",
                event=asked.event_id,
                given_at=event.given_at,
            )
            heard = await self._handler.listener(seen)
        if isinstance(heard, EventOutcome) and heard.voted:
            where = SlackPlace.parse(place)
            requester = ReplyTarget(home.team, where.channel, seen.user, root=where.root)
            self._spawn(self._handler.offer(requester, heard.voted))
        if home.people.is_bot(seen.user) is None:
            self._spawn(self._take_from_bot(home, seen))

    async def _take_from_bot(self, home: Workspace, seen: ReactionSeen) -> None:
        """Look up a stored reaction's user, and remove the reaction if that is a bot.

        If the lookup fails now, the reading before the vote closes repeats it.
        """
        try:
            if not await home.people.bots([seen.user]):
                return
        except VenueAwayError as error:
            log.info("person lookup failed", why=str(error))
            return
        taken = replace(seen, added=False, event=f"{seen.event}/bot")
        await self._events.hear((seen.message, seen.user), taken)

    async def _find_home(self, author: str | None, team: str | None) -> Workspace | None:
        """Return the workspace whose bot wrote a message; a shared channel may name another.

        None if it is not served. Raises VenueAwayError.
        """
        workspaces = self._handler.workspaces
        try:
            return await (workspaces.of_bot(author) if author else workspaces.find(team or ""))
        except VenueGoneError as error:
            log.info("event from an unknown workspace", why=str(error))
            return None

    async def _on_removal(self, asked: Removed, context: AsyncBoltContext) -> None:
        """Record that a workspace removed Rostrum, or revoked its token."""
        team = context.team_id or ""
        if asked.event.ends and await self._handler.workspaces.leave(team, asked.event_time):
            await self._events.hear(team, CommunityChanged(team, lost=True))
            await self._handler.commands.left(PLATFORM, team)

    # --- inside --------------------------------------------------------------------------

    async def _on_error(self, error: Exception) -> None:
        """Log a handler's error, without its arguments."""
        try:
            raise error
        except RostrumError as refusal:
            log.error("event not stored", why=str(refusal))
        except Exception:  # Slack repeats it, and the log has the details
            log.exception("unhandled error in an event")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
