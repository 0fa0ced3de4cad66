"""What Slack tells of: events go to the engine, commands, buttons and the form to the desk.

Bolt answers a request when its handler has returned. An event's handler returns when it is stored,
so Slack tells again whatever was not; the others acknowledge, and leave the work to tasks.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult

from adapters.slack.answering import PLATFORM, Desk, explained
from adapters.slack.buttons import ANY, read_button
from adapters.slack.errors import Act
from adapters.slack.form import FORM, asker_of, command_of, form_of
from adapters.slack.in_order import InOrder
from adapters.slack.markup import typed
from adapters.slack.rest import Identity
from adapters.slack.venue import Place
from adapters.slack.votes import option_of
from adapters.slack.whisper import Asker, Whisper
from engine.answers import Answer
from engine.command_text import parse_command
from engine.errors import RostrumError, UsageError, VenueAwayError, VenueError
from engine.invocation import CancelCommand, StatusCommand
from engine.ports import ButtonPressed, CommunityLost, ReactionSeen

COMMAND = "/debate"
FORM_SECONDS = 2.0  # of the three that Slack waits for a form's answer
FINISH_SECONDS = 5.0
log = structlog.get_logger(__name__)

Json = dict[str, Any]
Ack = Callable[..., Awaitable[object]]


class Client:
    """The handlers of everything that Slack sends to the app of one workspace."""

    def __init__(self, desk: Desk, identity: Identity) -> None:
        self._desk, self._identity = desk, identity
        self._events = InOrder(desk.listener)
        self._tasks: set[asyncio.Task[None]] = set()

    def app(self, signing_secret: str) -> AsyncApp:
        """Return Bolt's application with these handlers."""
        me = self._identity

        async def authorize() -> AuthorizeResult:
            return AuthorizeResult(
                enterprise_id=None, team_id=me.team, bot_user_id=me.user, bot_id=me.bot
            )

        app = AsyncApp(
            name="rostrum",
            client=self._desk.rest.web(),
            authorize=authorize,
            signing_secret=signing_secret,
            process_before_response=True,
        )
        app.error(self._on_error)
        app.command(COMMAND)(self._on_command)
        app.action(ANY)(self._on_button)
        app.view(FORM)(self._on_form)
        app.event("reaction_added")(self._on_reaction)
        app.event("reaction_removed")(self._on_reaction)
        app.event("app_uninstalled")(self._on_removal)
        app.event("tokens_revoked")(self._on_removal)
        return app

    async def finish(self) -> None:
        """Leave what was asked some seconds to be answered."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=FINISH_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    # --- commands ------------------------------------------------------------------------

    async def _on_command(self, ack: Ack, command: Json) -> None:
        """Acknowledge a command, and carry it out or open the form."""
        await ack()
        asker = Asker(
            team=command["team_id"],
            channel=command["channel_id"],
            user=command["user_id"],
            response_url=command["response_url"],
            direct=command.get("channel_name") == "directmessage",
        )
        text = str(command.get("text") or "").strip()
        # The settings name channels and people by their ids, topics as people read them.
        line = typed(text, ids=text.casefold().startswith("settings"))
        if not line.strip():
            self._spawn(self._open_form(asker, command["trigger_id"]))
            return
        try:
            self._spawn(self._desk.carry_out(asker, parse_command(line)))
        except UsageError as error:
            self._spawn(Whisper(self._desk.rest, asker).say(str(error)))

    async def _open_form(self, asker: Asker, trigger: str) -> None:
        """Open the form at once: a trigger is good for three seconds."""

        async def run() -> None:
            person = await self._desk.person(asker)
            view = form_of(asker, await self._desk.commands.models(person))
            body = {"trigger_id": trigger, "view": view}
            await self._desk.rest.write(Act.OPEN, "views.open", body, place=asker.channel)

        await explained(Whisper(self._desk.rest, asker), run)

    async def _on_form(self, ack: Ack, view: Json) -> None:
        """Start what a form asks for; what is wrong with it is shown in it."""
        asker = asker_of(view)
        try:
            command = command_of(view)
        except UsageError as error:
            await ack(response_action="errors", errors={"minutes": str(error)})
            return
        starting = asyncio.ensure_future(self._desk.run(asker, command))
        done, _ = await asyncio.wait([starting], timeout=FORM_SECONDS)
        refusal = starting.exception() if done else None
        if isinstance(refusal, RostrumError):
            await ack(response_action="errors", errors={"topic": str(refusal)})
            return
        await ack()
        self._spawn(self._finish_form(asker, starting))

    async def _finish_form(self, asker: Asker, starting: asyncio.Future[Answer]) -> None:
        whisper = Whisper(self._desk.rest, asker)

        async def run() -> None:
            await self._desk.finish(whisper, await starting)

        await explained(whisper, run)

    # --- buttons -------------------------------------------------------------------------

    async def _on_button(self, ack: Ack, body: Json) -> None:
        """Acknowledge a button, and do what its action id says."""
        await ack()
        action = body["actions"][0]
        pressed = read_button(action["action_id"])
        if pressed is None:
            log.info("unknown button", action=action["action_id"])
            return
        place, asker = _place_of(body), _asker_of(body)
        match pressed.what:
            case "stop":
                self._spawn(self._desk.carry_out(asker, CancelCommand(debate=pressed.of)))
            case "status":
                self._spawn(self._desk.carry_out(asker, StatusCommand(debate=pressed.of)))
            case _:
                vote = ButtonPressed(
                    place=place,
                    message=body["container"]["message_ts"],
                    user=asker.user,
                    option=pressed.of or None,
                    event=_event_id(asker.user, action["action_ts"]),
                )
                self._spawn(self._desk.vote(asker, vote))

    # --- events --------------------------------------------------------------------------

    async def _on_reaction(self, event: Json, body: Json) -> None:
        """Store a reaction to one of our messages; raises where Slack has to tell it again."""
        item, option = event["item"], option_of(event["reaction"])
        author = event.get("item_user") or self._identity.user
        mine = item.get("type") == "message" and author == self._identity.user
        if option is None or not mine or event["user"] == self._identity.user:
            return
        if (await self._desk.venue.people.profile(event["user"])).bot:
            return
        place = await self._find_place(item["channel"], item["ts"])
        if place is None:
            return
        seen = ReactionSeen(
            place=place,
            message=item["ts"],
            user=event["user"],
            option=option,
            added=event["type"] == "reaction_added",
            event=body["event_id"],
        )
        await self._events.hear((seen.message, seen.user), seen)

    async def _find_place(self, channel: str, message: str) -> str | None:
        try:
            return await self._desk.venue.place_of(channel, message)
        except VenueAwayError:
            raise
        except VenueError as error:
            log.info("reaction to a message that cannot be read", why=str(error))
            return None

    async def _on_removal(self, event: Json) -> None:
        """Note that a workspace removed Rostrum, or took its token away."""
        if event["type"] == "tokens_revoked" and not event.get("tokens", {}).get("bot"):
            return
        team = self._identity.team
        await self._events.hear(team, CommunityLost(team))
        await self._desk.commands.left(PLATFORM, team)

    # --- inside --------------------------------------------------------------------------

    async def _on_error(self, error: Exception) -> None:
        """Log what a handler raised, without what it was called with."""
        try:
            raise error
        except RostrumError as refusal:
            log.error("event was not stored", why=str(refusal))
        except Exception:  # Slack tells it again, and the log knows the rest
            log.exception("event failed by a defect")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _asker_of(body: Json) -> Asker:
    place = Place.parse(_place_of(body))
    return Asker(
        team=body["team"]["id"],
        channel=place.channel,
        user=body["user"]["id"],
        response_url=body.get("response_url", ""),
        thread=str(place) if place.root else None,
    )


def _place_of(body: Json) -> str:
    """Return the place that a button's message is in."""
    container = body["container"]
    root = (body.get("message") or {}).get("thread_ts") or container.get("thread_ts")
    inside = root is not None and root != container["message_ts"]
    return str(Place(container["channel_id"], root if inside else None))


def _event_id(user: str, when: str) -> str:
    """Return what tells a press from others; a user's id is kept in one place only."""
    return hashlib.sha256(f"{user}/{when}".encode()).hexdigest()
