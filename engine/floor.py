"""What a format's script may do: speak, and let several speak at once.

On resume the script runs again from the top; steps that are journaled return their stored
result at once, so a script holds no state of its own and knows nothing of crashes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Mapping
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from engine.debate import Request, Setup, Turn
from engine.errors import StoppedError
from engine.jury.identity import scrub
from engine.languages import language_name
from engine.limits import TurnLimits, violations
from engine.messages import TurnPost
from engine.ports import ChatMessage, Reply
from engine.prompts.library import Prompts
from engine.steps import Caller
from engine.store import Post
from engine.text import clean, count_words

T = TypeVar("T")

# Who stands before this speech in a line of concurrent ones; unset outside such a line.
_before: ContextVar[asyncio.Future[bool] | None] = ContextVar("before", default=None)


class Desk(Caller, Protocol):
    """What stands behind a floor: the journal and the outbox, or a dry run of both."""

    async def room(self) -> None:
        """Wait until few enough turns are undelivered."""
        ...

    async def publish(self, turn: Turn, post: Post) -> None:
        """Keep a turn and queue its post, together."""
        ...


class Floor:
    """The floor of one debate."""

    def __init__(self, setup: Setup, prompts: Prompts, desk: Desk, total: int) -> None:
        self._setup = setup
        self._prompts = prompts
        self._desk = desk
        self._total = total
        self._histories: dict[str, list[ChatMessage]] = {}
        self._spoken: Counter[str] = Counter()
        self.turns: list[Turn] = []

    @property
    def request(self) -> Request:
        """What was asked for."""
        return self._setup.request

    @property
    def limits(self) -> Mapping[str, float]:
        """The format's own limits, as they were when the debate started."""
        return self._setup.limits

    async def speak(
        self,
        seat: str,
        round_name: str,
        *,
        template: str,
        limits: TurnLimits,
        role: str = "debater",
        opposing: str | None = None,
    ) -> str:
        """Let a seat speak in a round, and return its text once that is kept and queued.

        A text over its limits is sent back once to be shortened; what is still over is kept
        as it is, and marked. Raises what `Desk.call` does.
        """
        await self._desk.room()
        step = f"turn/{round_name}/{seat}"
        variables = self._variables(round_name, limits, opposing)
        history = self._history(seat, variables)
        history.append(_user(self._prompts.render(template, **variables)))
        cue = {"kind": "turn", "seat": seat, "side": seat[0]} | _plain(variables)
        reply = await self._answer(step, seat, history, role, cue)
        text = clean(reply.text)
        over = violations(text, limits, self._setup.chars_per_word)
        if over:
            history.append(_user(self._ask_to_shorten(variables, text)))
            cue |= {"kind": "shorten"}
            reply = await self._answer(f"{step}/shorten", seat, history, role, cue)
            text = clean(reply.text)
            over = violations(text, limits, self._setup.chars_per_word)
        await self._publish(
            Turn(
                step=step,
                seat=seat,
                side=seat[0],
                round=round_name,
                number=0,
                place=0,
                text=text,
                words=count_words(text, self._setup.chars_per_word),
                limit=limits.words or 0,
                model=reply.model,
                violations=over,
            )
        )
        return text

    async def all_at_once(self, *speeches: Coroutine[Any, Any, T]) -> list[T]:
        """Run speeches side by side, and post them in the order given.

        Every call finishes before a failure is raised (the first in order): a sibling that
        was paid for is journaled, and found again on resume.
        """
        loop = asyncio.get_running_loop()
        gates: list[asyncio.Future[bool]] = [loop.create_future() for _ in speeches]

        async def stand_in_line(place: int, speech: Coroutine[Any, Any, T]) -> T:
            _before.set(gates[place - 1] if place else None)
            spoken = False
            try:
                result = await speech
                spoken = True
                return result
            finally:
                if not gates[place].done():
                    gates[place].set_result(spoken)

        line = [stand_in_line(place, speech) for place, speech in enumerate(speeches)]
        results = await asyncio.gather(*line, return_exceptions=True)
        spoken: list[T] = []
        for result in results:
            if isinstance(result, BaseException):
                raise result
            spoken.append(result)
        return spoken

    async def _answer(
        self,
        step: str,
        seat: str,
        history: list[ChatMessage],
        role: str,
        cue: Mapping[str, str],
    ) -> Reply:
        """Ask a seat's model what its history ends with, and add what it says."""
        model, sampling = self.request.sides[seat[0]], self._setup.sampling[role]
        reply = await self._desk.call(step, model, history, sampling, cue=cue)
        history.append(ChatMessage(role="assistant", content=reply.text))
        return reply

    def _ask_to_shorten(self, variables: Mapping[str, Any], text: str) -> str:
        words = count_words(text, self._setup.chars_per_word)
        template = f"{self.request.format}/shorten"
        return self._prompts.render(template, **variables, written_words=words)

    async def _publish(self, turn: Turn) -> None:
        before = _before.get()
        if before is not None and not await before:
            raise StoppedError("The turn before this one could not be finished.")
        self._spoken[turn.round] += 1
        place, number = self._spoken[turn.round], len(self.turns) + 1
        turn = turn.model_copy(update={"place": place, "number": number})
        self.turns.append(turn)
        shown = turn.model_dump(
            include={"side", "seat", "round", "number", "words", "limit", "violations"}
        )
        # Voters are blind as jurors are; the record keeps what was really said.
        text = scrub(turn.text, self._names() | {turn.model})
        await self._desk.publish(
            turn, Post(key=turn.step, message=TurnPost(total=self._total, text=text, **shown))
        )

    def _names(self) -> frozenset[str]:
        models = self.request.sides.values()
        return frozenset(name for model in models for name in (model.name, model.family))

    def _history(self, seat: str, variables: Mapping[str, Any]) -> list[ChatMessage]:
        if seat not in self._histories:
            # The same for both sides, so that a provider's prompt cache serves both.
            text = self._prompts.render(f"{self.request.format}/system", **variables)
            self._histories[seat] = [ChatMessage(role="system", content=text)]
        return self._histories[seat]

    def _variables(
        self, round_name: str, limits: TurnLimits, opposing: str | None
    ) -> dict[str, Any]:
        return {
            "topic": self.request.topic,
            "conditions": self.request.conditions,
            "language": language_name(self.request.language),
            "language_code": self.request.language,
            "round": round_name,
            # Templates put it between tags, which a speech must not be able to close.
            "opposing": (opposing or "").replace("</opponent>", "‹/opponent›"),
            "limits": limits,
        }


def _user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def _plain(variables: Mapping[str, Any]) -> dict[str, str]:
    plain = {name: value for name, value in variables.items() if isinstance(value, str)}
    return plain | {"language": variables["language_code"]}
