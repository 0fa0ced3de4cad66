"""Interactions: what a person asked of the bot, what was answered, how and when."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, field

from tests.doubles.discord import limits
from tests.doubles.discord.platform import Draft, Platform
from tests.doubles.discord.state import (
    EPHEMERAL,
    LOADING,
    Attachment,
    Channel,
    Faulty,
    Json,
    Message,
    Refusal,
)
from tests.doubles.facts import Code
from tests.kit import HANG_SECONDS

COMMAND, COMPONENT, AUTOCOMPLETE, MODAL_SUBMIT = 2, 3, 4, 5
SAY, DEFER, DEFER_UPDATE, UPDATE, CHOICES, MODAL = 4, 5, 6, 7, 8, 9
ALLOWED = {
    COMMAND: (SAY, DEFER, MODAL),
    COMPONENT: (SAY, DEFER, DEFER_UPDATE, UPDATE, MODAL),
    AUTOCOMPLETE: (CHOICES,),
    MODAL_SUBMIT: (SAY, DEFER, DEFER_UPDATE, UPDATE),
}


class DidNotRespondError(AssertionError):
    """The person reads "The application did not respond"."""


@dataclass
class Interaction:
    """One interaction, as the person sees it.

    `type` is the callback's (None before); `answer` the original response with its edits,
    `followups` what came after, `choices` an autocompletion's, `modal` the dialog opened.
    `acknowledged` and `filled_at` are moments of the platform's clock.
    """

    id: str
    token: str
    kind: int
    user_id: str
    channel: Channel
    created: float
    name: str = ""
    pressed: Message | None = None
    type: int | None = None
    data: Json = field(default_factory=dict)
    acknowledged: float | None = None
    filled_at: float | None = None
    answer: Message | None = None
    followups: list[Message] = field(default_factory=list)
    edits: list[Json] = field(default_factory=list)
    choices: list[Json] = field(default_factory=list)
    modal: Json | None = None
    told: asyncio.Event = field(default_factory=asyncio.Event)
    full: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def latency(self) -> float | None:
        return None if self.acknowledged is None else self.acknowledged - self.created

    @property
    def messages(self) -> list[Message]:
        return [m for m in (self.answer, *self.followups) if m is not None]

    @property
    def text(self) -> str:
        return "\n".join(m.text for m in self.messages if not m.flags & LOADING)

    @property
    def ephemeral(self) -> bool:
        return bool(self.messages) and all(m.ephemeral for m in self.messages)

    @property
    def filled(self) -> bool:
        """Whether there is an answer to read (or choices, or a modal), not just a promise."""
        return self.filled_at is not None

    async def answered(self, seconds: float = 3.0) -> Interaction:
        """Wait for the acknowledgement; raises DidNotRespondError."""
        return await self._until(self.told, seconds)

    async def finished(self, seconds: float = HANG_SECONDS) -> Interaction:
        """Wait until there is something to read; raises DidNotRespondError."""
        return await self._until(self.full, seconds)

    def fill(self, moment: float) -> None:
        if self.filled_at is None:
            self.filled_at = moment
        self.full.set()

    async def _until(self, event: asyncio.Event, seconds: float) -> Interaction:
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            raise DidNotRespondError(f"No answer to {self.name!r} in {seconds} s.") from None
        return self


class Interactions:
    """All of them, by token."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._world = platform.world
        self.all: list[Interaction] = []
        self._by_token: dict[str, Interaction] = {}

    def begin(
        self, kind: int, user: str, channel: Channel, name: str, pressed: Message | None = None
    ) -> Interaction:
        now = self._world.clock.now()
        made = Interaction(
            self._world.new_id(), secrets.token_urlsafe(24), kind, user, channel, now, name, pressed
        )
        self.all.append(made)
        self._by_token[made.token] = made
        return made

    def acknowledge(self, id_: str, token: str, body: Json, files: list[Attachment]) -> Interaction:
        """Take the first answer; raises 10062 when late or unknown, 40060 when it is the second."""
        asked = self._by_token.get(token)
        if asked is None or asked.id != id_:
            raise Refusal(Code.UNKNOWN_INTERACTION)
        if asked.acknowledged is not None:
            raise Refusal(Code.ALREADY_ACKNOWLEDGED)
        now = self._world.clock.now()
        if now - asked.created > self._platform.rules.answer_seconds:
            raise Refusal(Code.UNKNOWN_INTERACTION)
        kind, data = body.get("type"), body.get("data") or {}
        if kind not in ALLOWED[asked.kind]:
            faulty = Faulty()
            faulty.add("type", "BASE_TYPE_CHOICES", f"Not an answer to type {asked.kind}.")
            faulty.check()
        self._apply(asked, int(kind or 0), data, files)
        asked.type, asked.data, asked.acknowledged = kind, data, now
        if kind not in (DEFER, DEFER_UPDATE):
            asked.fill(now)
        asked.told.set()
        return asked

    def _apply(self, asked: Interaction, kind: int, data: Json, files: list[Attachment]) -> None:
        if kind == MODAL:
            limits.check_modal(data)
            asked.modal = data
        elif kind == CHOICES:
            faulty = Faulty()
            limits.check_choices(data.get("choices"), "data.choices", faulty)
            faulty.check()
            asked.choices = data.get("choices") or []
        elif kind == SAY:
            limits.check_message(data, files)
            asked.answer = self._say(asked, Draft(data, files))
        elif kind == DEFER:
            flags = LOADING | int(data.get("flags") or 0) & EPHEMERAL
            asked.answer = self._say(asked, Draft({}, flags=flags))
        else:
            if asked.pressed is None:
                raise Refusal(Code.INVALID_FORM, message="There is no message to update.")
            asked.answer = asked.pressed
            if kind == UPDATE:
                self._edit(asked.pressed, Draft(data, files))

    def _say(self, asked: Interaction, draft: Draft) -> Message:
        bot = self._world.bot.id
        draft.interaction = {
            "id": asked.id,
            "type": asked.kind,
            "user": {"id": asked.user_id, "username": self._world.user(asked.user_id).name},
            "authorizing_integration_owners": (
                {"0": asked.channel.guild_id} if asked.channel.guild_id else {"1": asked.user_id}
            ),
        }
        draft.interaction["user"] |= {"discriminator": "0", "avatar": None}
        message = self._platform.compose(asked.channel, bot, draft)
        if not message.ephemeral and asked.channel.id in self._world.channels:
            self._platform.show(asked.channel, message)
        return message

    def _edit(self, message: Message, draft: Draft) -> None:
        bot = self._world.bot.id
        before, message.flags = message.flags, message.flags & ~LOADING
        try:
            self._platform.edit(message, bot, draft, member=False)
        except Refusal:
            message.flags = before
            raise

    def of_token(self, token: str) -> Interaction:
        """Find an acknowledged interaction whose token lives; raises 10015 or 50027."""
        asked = self._by_token.get(token)
        if asked is None or asked.acknowledged is None:
            raise Refusal(Code.UNKNOWN_WEBHOOK)
        if self._world.clock.now() - asked.created > self._platform.rules.token_seconds:
            raise Refusal(Code.INVALID_TOKEN)
        return asked

    def follow_up(self, asked: Interaction, draft: Draft) -> Message:
        """Say more; the first after a deferral takes the place of "thinking"."""
        limits.check_message(draft.body, draft.files)
        if asked.answer is not None and asked.answer.flags & LOADING:
            self._edit(asked.answer, draft)
            asked.fill(self._world.clock.now())
            return asked.answer
        message = self._say(asked, draft)
        asked.fill(self._world.clock.now())
        asked.followups.append(message)
        return message

    def find(self, asked: Interaction, ref: str) -> Message:
        """Find the original response (`@original`) or a follow-up."""
        for message in asked.messages:
            if message.id == ref or (ref == "@original" and message is asked.answer):
                shown = self._world.messages.get(message.channel_id, {})
                if message.ephemeral or message.id in shown:
                    return message
        raise Refusal(Code.UNKNOWN_MESSAGE)

    def edit(self, asked: Interaction, ref: str, draft: Draft) -> Message:
        message = self.find(asked, ref)
        self._edit(message, draft)
        asked.edits.append(draft.body)
        asked.fill(self._world.clock.now())
        return message
