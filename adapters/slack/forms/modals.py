"""The forms: opened while Slack's trigger is valid, and run like commands.

Errors are shown in the form, which then stays open.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, cast

from adapters.slack import texts
from adapters.slack.errors import SlackAct
from adapters.slack.forms.fields import (
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
from adapters.slack.rest import SlackRest, read_files
from engine.chat.answers.base import Answer
from engine.chat.answers.management import SettingsAnswer
from engine.chat.choices import models, motion_of
from engine.chat.context import Requester
from engine.chat.invocation import (
    Invocation,
    NoArguments,
    SettingsArguments,
    StartArguments,
    submitted_invocation,
)
from engine.chat.participants import check_form
from engine.chat.settings import find_mistakes
from engine.delivery.reasons import refusal_of
from engine.values.errors import NotAllowedError, RostrumError, VenueError
from engine.values.language import speaking, spoken
from engine.words.buttons import ButtonAction, read_button
from engine.words.forms import form_of as words_of

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
            offered = await models(self._handler.commands, person, NoArguments())
            topic = "" if about is None else motion_of(about)
            return form_of(offered, await self._most_files(home.rest), topic)

        with speaking(await self._handler.language(requester, ask=False)):
            await self._open(requester, trigger, make)

    async def _most_files(self, rest: SlackRest) -> int:
        """Return how many files can be attached: none unless the app may read files."""
        try:
            scopes = (await rest.identity()).scopes
        except VenueError:
            return 0
        return self._handler.commands.defaults.sources.files if FOR_READING in scopes else 0

    async def open_settings(self, requester: ReplyTarget, trigger: str) -> None:
        """Open the settings form, or explain that only managers may see it."""

        async def make() -> Json:
            person, asked = await self._handler.person(requester), SettingsArguments()
            answer = await self._handler.commands.run(person, Invocation("settings", asked))
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
            await self._carry_out(ack, asked, Invocation("start", command), "topic", files)

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
            command = Invocation("settings", SettingsArguments(changes=changes))
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
        if files and isinstance(command.arguments, StartArguments):
            rest = (await self._handler.workspaces.find(requester.team)).rest
            read = await read_files(rest, files, self._handler.commands.defaults.sources)
            sources = (*command.arguments.sources, *read)
            given = command.arguments.model_copy(update={"sources": sources})
            command = command._replace(arguments=given)
        return await self._handler.run(self._handler.reply(requester), command)
