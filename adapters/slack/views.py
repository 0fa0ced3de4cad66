"""Slack's views: forms, opened while Slack's trigger is valid, and the Home tab.

Forms are run like commands. Errors are shown in the form, which then stays open.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from typing import Any, cast
from weakref import WeakValueDictionary

import structlog

from adapters.slack import texts
from adapters.slack.errors import SlackAct, name_of
from adapters.slack.fields import (
    Json,
    MistakeError,
    changes_of,
    command_of,
    form_of,
    form_view,
    settings_form,
)
from adapters.slack.interactions import PLATFORM, SlackInteractionHandler
from adapters.slack.payloads import AttachedFile, ReplyTarget, Submitted
from adapters.slack.rest import read_files
from adapters.slack.venue import SlackPlace, link_to
from engine.chat.answers import Answer
from engine.chat.answers.management import SettingsAnswer
from engine.chat.choices import models, motion_of
from engine.chat.context import Requester
from engine.chat.interactions import HomePage, home_page
from engine.chat.invocation import (
    Invocation,
    StartArguments,
    home_invocation,
    submitted_invocation,
)
from engine.chat.participants import check_form
from engine.chat.settings import find_mistakes
from engine.delivery.reasons import refusal_of
from engine.values.errors import NotAllowedError, RostrumError, VenueError
from engine.values.language import speaking, spoken
from engine.values.text import headline
from engine.words.buttons import ButtonAction, form_of as words_of, read_button
from engine.words.card import PREFIX
from engine.words.phrases import about_minutes
from engine.words.translation import say

# The forms: opened while Slack's trigger is valid, and run like commands.
#
# Errors are shown in the form, which then stays open.


FOR_READING = "files:read"
FORM_SECONDS = 2.0  # of the three that Slack waits for a response

Ack = Callable[..., Awaitable[object]]
Spawn = Callable[[Coroutine[Any, Any, None]], None]


class Modals:
    """Opens forms and handles submissions; `spawn` runs the work after the response."""

    def __init__(self, handler: SlackInteractionHandler, spawn: Spawn) -> None:
        self._handler, self._spawn = handler, spawn

    async def open_start(
        self, requester: ReplyTarget, trigger: str, about: str | None = None
    ) -> None:
        """Open the form to start a debate, maybe `about` a message's text.

        The person is not looked up, to save time.
        """

        async def make() -> Json:
            if requester.direct:
                raise NotAllowedError(texts.NOT_HERE)
            home = await self._handler.workspaces.find(requester.team)
            person = Requester(
                platform=PLATFORM, community=home.team, place=requester.channel, user=requester.user
            )
            offered = await models(self._handler.commands, person)
            topic = "" if about is None else motion_of(about)
            most_files = 0  # unless the app may read files
            with suppress(VenueError):
                if FOR_READING in (await home.rest.identity()).scopes:
                    most_files = self._handler.commands.defaults.sources.files
            return form_of(offered, most_files, topic)

        with speaking(await self._handler.language(requester, ask=False)):
            await self._open(requester, trigger, make)

    async def open_settings(self, requester: ReplyTarget, trigger: str) -> None:
        """Open the settings form, or explain that only managers may see it."""

        async def make() -> Json:
            person = await self._handler.person(requester)
            answer = await self._handler.commands.run(person, Invocation("settings"))
            return settings_form(cast(SettingsAnswer, answer), self._handler.commands.defaults)

        with speaking(await self._handler.language(requester)):
            await self._open(requester, trigger, make)

    async def on_start(self, ack: Ack, asked: Submitted) -> None:
        """Start the debate of a submitted form."""
        with speaking(asked.requester.language):
            try:
                command = command_of(asked.view)
            except MistakeError as mistake:
                told = refusal_of(mistake.error)
                await ack(response_action="errors", errors={mistake.field: told})
                return
            files = asked.view.attached("files")
            start = Invocation("start", {"asked": command})
            await self._carry_out(ack, asked, start, "topic", files)

    async def open_form(self, requester: ReplyTarget, trigger: str, pressed: ButtonAction) -> None:
        """Open the form of a button."""

        async def make() -> Json:
            await check_form(self._handler.commands, await self._handler.person(requester), pressed)
            return form_view(words_of(pressed))

        with speaking(await self._handler.language(requester, ask=False)):
            await self._open(requester, trigger, make)

    async def on_form(self, ack: Ack, asked: Submitted) -> None:
        """Do what a submitted form of a button says."""
        view = asked.view
        pressed = read_button(view.callback_id)
        typed = {name: view.text(name) or "" for name in view.fields}
        command = pressed and submitted_invocation(pressed.what, pressed.of, typed)
        if not command:
            await ack()
            return
        with speaking(asked.requester.language):
            await self._carry_out(ack, asked, command, view.fields[0])

    async def on_settings(self, ack: Ack, asked: Submitted) -> None:
        """Apply the changes of a submitted form, all or none."""
        changes = changes_of(asked.view)
        with speaking(asked.requester.language):
            mistakes = find_mistakes(changes, self._handler.commands.defaults)
            if mistakes:
                await ack(response_action="errors", errors=mistakes)
                return
            first = next(iter(changes), asked.view.fields[0])
            command = Invocation("settings", {"changes": changes})
            await self._carry_out(ack, asked, command, first)

    async def _open(
        self, requester: ReplyTarget, trigger: str, make: Callable[[], Awaitable[Json]]
    ) -> None:
        """Open a form; it remembers who asked, and where."""

        async def run() -> None:
            self._handler.commands.check_database()
            kept = requester._replace(language=spoken())
            view = await make() | {"private_metadata": json.dumps(kept._asdict())}
            rest = (await self._handler.workspaces.find(requester.team)).rest
            body = {"trigger_id": trigger, "view": view}
            await rest.write(SlackAct.OPEN, "views.open", body, place=requester.channel)

        await self._handler.explained(self._handler.reply(requester), run)

    async def _carry_out(
        self,
        ack: Ack,
        asked: Submitted,
        command: Invocation,
        beside: str,
        files: Sequence[AttachedFile] = (),
    ) -> None:
        """Run a command; an early refusal is shown in the form."""
        requester = asked.requester
        running = asyncio.ensure_future(self._run(requester, command, files))
        done, _ = await asyncio.wait([running], timeout=FORM_SECONDS)
        refusal = running.exception() if done else None
        if isinstance(refusal, RostrumError):
            await ack(response_action="errors", errors={beside: refusal_of(refusal)})
            return
        await ack()
        self._spawn(self._handler.answer(self._handler.reply(requester), lambda: running))

    async def _run(
        self, requester: ReplyTarget, command: Invocation, files: Sequence[AttachedFile]
    ) -> Answer:
        if files:
            asked: StartArguments = command.arguments["asked"]
            rest = (await self._handler.workspaces.find(requester.team)).rest
            read = await read_files(rest, files, self._handler.commands.defaults.sources)
            given = asked.model_copy(update={"sources": (*asked.sources, *read)})
            command = command._replace(arguments={"asked": given})
        return await self._handler.run(self._handler.reply(requester), command)


# The app's Home tab: live debates, how to vote, one's own data, settings for managers.
#
# It is published when a person opens it, and after a button in it; never to everyone. What a button
# answers is sent to them alone, under Messages.


CONFLICT = "hash_conflict"
TOPIC_LENGTH = 300  # characters
log = structlog.get_logger(__name__)


class Home:
    """Publishes the tab, and carries out its buttons."""

    def __init__(self, handler: SlackInteractionHandler, modals: Modals) -> None:
        self._handler, self._modals = handler, modals
        self._lanes: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def opened(self, team: str, user: str, seen: Json | None) -> None:
        """Publish what is true now; `seen` is the view that the person has."""
        lane = self._lane(team, user)
        if not lane.locked():  # otherwise it is being published already
            async with lane:
                await self._publish(ReplyTarget.at_home(team, user), seen)

    async def press(self, requester: ReplyTarget, trigger: str, what: str) -> None:
        """Carry out a button, then show what has changed."""
        if what == "settings":
            await self._modals.open_settings(requester, trigger)
            return
        command = home_invocation(what)
        if command is None:  # a link
            return
        await self._handler.carry_out(requester, command)
        async with self._lane(requester.team, requester.user):
            await self._publish(requester)

    async def _publish(self, requester: ReplyTarget, seen: Json | None = None) -> None:
        """Publish the tab; one that is newer than what was `seen` stays, if that is given."""
        try:
            with speaking(await self._handler.language(requester)):
                person = await self._handler.person(requester)
                page = await home_page(self._handler.commands, person)
                home = await self._handler.workspaces.find(requester.team)
                view = view_of(page, (await home.rest.identity()).url)
            body = {"user_id": requester.user, "view": view}
            if seen and seen.get("hash"):
                body["hash"] = seen["hash"]
            await home.rest.write(SlackAct.OPEN, "views.publish", body)
        except RostrumError as error:
            if name_of(error) != CONFLICT:
                log.warning("home not published", why=str(error))

    def _lane(self, team: str, user: str) -> asyncio.Lock:
        return self._lanes.setdefault(f"{team}/{user}", asyncio.Lock())


# --- its blocks --------------------------------------------------------------------------


def view_of(page: HomePage, url: str) -> Json:
    """Return the view; topics are plain text, so that nothing in them has an effect."""
    voting = _header(say(texts.HOME_VOTING)), _section(say(texts.HOME_HOW_TO_VOTE))
    return {"type": "home", "blocks": [*_debates(page, url), *voting, *_own(page)]}


def _debates(page: HomePage, url: str) -> Iterator[Json]:
    yield _header(say(texts.HOME_DEBATES))
    if not page.live:
        yield _section(say(texts.HOME_NONE))
    for debate, minutes in page.live:
        state = say(texts.HOME_ASKED if debate.asked else texts.HOME_STATES[debate.status])
        if minutes is not None:
            state = say(texts.HOME_VOTE_LEFT, minutes=about_minutes(minutes))
        shown = f"{headline(debate.topic, TOPIC_LENGTH)}\n{state}"
        block: Json = {"type": "section", "text": _plain(shown)}
        if debate.thread is not None:
            link = link_to(url, SlackPlace.parse(debate.thread))
            button = _button(f"open:{debate.code}", say(texts.HOME_OPEN))
            block["accessory"] = button | {"url": link}
        yield block
    if page.more:
        yield _section(say(texts.HOME_MORE))


def _own(page: HomePage) -> Iterator[Json]:
    yield _header(say(texts.HOME_OWN))
    if page.forgotten:
        yield _section(say(texts.HOME_FORGOTTEN))
        yield _row(_button("optin", say(texts.HOME_BACK)))
    else:
        yield _section(say(texts.HOME_OUT if page.out else texts.HOME_IN))
        switch = ("optin", texts.HOME_OPT_IN) if page.out else ("optout", texts.HOME_OPT_OUT)
        yield _row(
            _button("me", say(texts.HOME_ME)),
            _button("mydata", say(texts.HOME_MY_DATA)),
            _button(switch[0], say(switch[1])),
            _button("forget", say(texts.HOME_FORGET))
            | {
                "style": "danger",
                "confirm": {
                    "title": _plain(say(texts.HOME_FORGET)),
                    "text": _plain(say(texts.HOME_FORGET_WHAT)),
                    "confirm": _plain(say(texts.HOME_FORGET_YES)),
                    "deny": _plain(say(texts.FORM_CLOSE)),
                    "style": "danger",
                },
            },
        )
    if page.manager:
        yield _header(say(texts.HOME_MANAGERS))
        yield _row(_button("settings", say(texts.HOME_SETTINGS)))


def _header(text: str) -> Json:
    return {"type": "header", "text": _plain(text)}


def _section(text: str) -> Json:
    return {"type": "section", "text": _plain(text)}


def _row(*buttons: Json) -> Json:
    return {"type": "actions", "elements": list(buttons)}


def _button(what: str, label: str) -> Json:
    return {"type": "button", "action_id": f"{PREFIX}:home:{what}", "text": _plain(label)}


def _plain(text: str) -> Json:
    return {"type": "plain_text", "text": text, "emoji": True}
