"""What people ask of the app, with the trigger and response URL that go with it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from tests.doubles.slack.refusals import Json, Refusal
from tests.doubles.slack.rules import Rules
from tests.doubles.slack.state import Message, World
from tests.doubles.waiting import HANG_SECONDS


@dataclass
class Asked:
    """A command, button or view of somebody; `answer` is what came with the acknowledgement."""

    id: str
    user: str
    channel: str
    at: float
    answer: Json | None = None
    latency: float = 0.0
    uses: int = 0
    triggered: bool = False
    view: Json | None = None
    messages: list[Message] = field(default_factory=list)
    pressed: Message | None = None
    _world: World | None = None

    @property
    def text(self) -> str:
        """Everything that the person read as an answer, in the order of arrival."""
        return "\n".join(message.text for message in self._seen())

    @property
    def errors(self) -> dict[str, str]:
        """What a view shows beside its fields."""
        return dict((self.answer or {}).get("errors", {}))

    async def said(self, what: str = "", seconds: float = HANG_SECONDS) -> str:
        """Wait until the answer contains something, and return all of it."""
        try:
            async with asyncio.timeout(seconds):
                while not (self.text and what in self.text):  # noqa: ASYNC110 - it is looked at
                    await asyncio.sleep(0.01)
        except TimeoutError as error:
            raise AssertionError(f"not answered with {what!r} but {self.text!r}") from error
        return self.text

    def _seen(self) -> list[Message]:
        shown = self._world.ephemeral if self._world else []
        posted = [m for m in shown if m.to == self.user and float(m.ts) >= self.at]
        return sorted({m.ts: m for m in (*self.messages, *posted)}.values(), key=lambda m: m.ts)


class Interactions:
    """Remembers what was asked, and for how long it may be answered."""

    def __init__(self, world: World, rules: Rules) -> None:
        self._world, self._rules = world, rules
        self.all: list[Asked] = []

    def new(self, user: str, channel: str) -> Asked:
        """Note that somebody asks something."""
        asked = Asked(self._world.new_id("I"), user, channel, self._world.clock.now())
        asked._world = self._world
        self.all.append(asked)
        return asked

    def open(self, trigger: str, view: Json) -> Json:
        """Open a view with a trigger, which is good for once and for three seconds."""
        asked = self._find(trigger.removeprefix("trigger-"), "invalid_trigger_id")
        if self._world.clock.now() - asked.at > self._rules.trigger:
            raise Refusal("expired_trigger_id")
        if asked.triggered:
            raise Refusal("exchanged_trigger_id")
        asked.triggered = True
        asked.view = view | {"id": self._world.new_id("V"), "hash": "1"}
        return {"view": asked.view}

    def respond(self, ref: str) -> Asked:
        """Use a response URL. Raises Refusal when it is used up or too old."""
        asked = self._find(ref, "invalid_url")
        old = self._world.clock.now() - asked.at > self._rules.response_seconds
        if old or asked.uses >= self._rules.response_uses:
            raise Refusal("expired_url" if old else "used_url")
        asked.uses += 1
        return asked

    def _find(self, ref: str, error: str) -> Asked:
        found = next((asked for asked in self.all if asked.id == ref), None)
        if found is None:
            raise Refusal(error)
        return found
