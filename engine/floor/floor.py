"""What a format's script may do: let seats speak, ask judges, keep what they find.

On resume the script runs again from the top; steps that are journaled return their stored
result at once, so a script holds no state of its own and knows nothing of crashes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from engine.blinding.blinding import BLINDER, blind
from engine.blinding.identity import scrub
from engine.blinding.veil import names_of, transcribe, veil_post
from engine.debate import Model, Request, Scores, Setup, Turn, Violation, side_of
from engine.errors import ModelError, StoppedError
from engine.findings import UNANSWERED, Adjustment, Artifact, Score
from engine.floor.limits import TurnLimits, long_reply, replaced, violations
from engine.floor.shapes import Answer, Shape, better, read_shape, unanswered
from engine.floor.steps import Caller
from engine.judging import Verdict
from engine.messages import Notice, TurnPost
from engine.ports import ChatMessage, Reply
from engine.prompts.languages import language_name
from engine.prompts.library import Prompts, guard
from engine.store import Note, Post
from engine.text import clean, count_words, is_divided

T = TypeVar("T")
U = TypeVar("U")
S = TypeVar("S", bound=BaseModel)

# Who stands before this speech in a line of concurrent ones; unset outside such a line.
_before: ContextVar[asyncio.Future[bool] | None] = ContextVar("before", default=None)


class Desk(Caller, Protocol):
    """What stands behind a floor: the journal and the outbox, or a dry run of both."""

    async def room(self) -> None:
        """Wait until few enough turns are undelivered."""

    async def publish(self, turn: Turn, compose: Callable[[], Post]) -> None:
        """Keep a turn and queue its post, which is composed only where one is queued."""

    async def keep(self, note: Note) -> None:
        """Keep what a format finds beside its turns."""


class Floor:
    """The floor of one debate."""

    def __init__(
        self,
        setup: Setup,
        prompts: Prompts,
        desk: Desk,
        total: int,
        unanswered: Mapping[str, str] | None = None,
    ) -> None:
        self._setup = setup
        self._unanswered = unanswered or {}
        self._prompts = prompts
        self._desk = desk
        self._total = total
        self._histories: dict[str, list[ChatMessage]] = {}
        self._spoken: Counter[str] = Counter()
        self._adjourned = asyncio.Event()
        self.turns: list[Turn] = []

    @property
    def request(self) -> Request:
        """What was asked for."""
        return self._setup.request

    @property
    def version(self) -> int:
        """The version of the format that the debate started with."""
        return self._setup.format_version

    @property
    def limits(self) -> Mapping[str, float]:
        """The format's own limits, as they were when the debate started."""
        return self._setup.limits

    @property
    def prompts(self) -> Prompts:
        """The templates and data of the format, as they were when the debate started."""
        return self._prompts

    @property
    def live(self) -> bool:
        """Whether the format's own judge may be read while the debate runs."""
        return self.request.scores is Scores.LIVE

    @property
    def names(self) -> Mapping[str, str]:
        """The neutral name that judges read for each contender."""
        return self._setup.names

    @property
    def called(self) -> Mapping[str, str]:
        """What people call each contender that has more than a letter."""
        return self._setup.called

    def count(self, text: str) -> int:
        """Count words as every limit does."""
        return count_words(text, self._setup.chars_per_word)

    async def speak(
        self,
        seat: str,
        round_name: str,
        *,
        template: str,
        limits: TurnLimits,
        role: str = "debater",
        opposing: str | None = None,
        **facts: Any,
    ) -> str:
        """Let a seat speak in a round, and return its text once that is kept and queued.

        A text over its limits is sent back once to be shortened; what is still over is kept
        as it is, and marked, up to the debate's cap on a reply. `facts` are further variables of
        the template. Raises what
        `Desk.call` does.
        """
        await self._desk.room()
        step = f"turn/{round_name}/{seat}"
        variables = self._variables(round_name, limits, opposing, facts)
        history = self._history(seat, variables)
        history.append(_user(self._prompts.render(template, **variables)))
        cue = _cue("turn", seat, variables)
        reply = await self._answer(step, seat, history, role, cue)
        text = clean(reply.text)
        over = violations(text, limits, self._setup.chars_per_word)
        if over:
            history.append(_user(self._ask_to_shorten(variables, text)))
            cue |= {"kind": "shorten"}
            reply = await self._answer(f"{step}/shorten", seat, history, role, cue)
            text = clean(reply.text)
            over = violations(text, limits, self._setup.chars_per_word)
        over += (*replaced(reply.replaced), *long_reply(reply))
        await self._publish(self._turn(seat, round_name, text, limits, reply.model, over))
        return text

    async def state(
        self,
        seat: str,
        round_name: str,
        *,
        template: str,
        shape: Shape[S],
        show: Callable[[S], str],
        limits: TurnLimits,
        role: str = "debater",
        opposing: str | None = None,
        **facts: Any,
    ) -> Answer[S]:
        """Let a seat give a structured turn, shown as the Markdown that `show` makes of it.

        An answer with faults is sent back once with the list of them. What is still wrong is
        recorded as violations; an answer that cannot be read is shown as it was written.
        """
        await self._desk.room()
        step = f"turn/{round_name}/{seat}"
        variables = self._variables(round_name, limits, opposing, facts | {"side": side_of(seat)})
        history = self._history(seat, variables)
        history.append(_user(self._prompts.render(template, **variables)))
        answer = await self._ask(
            step, self.request.model_of(seat), history, role, shape, _cue("turn", seat, variables)
        )
        shown = "" if answer.value is None else show(answer.value)
        text = clean(shown.strip() or answer.raw)
        broken = answer.violations
        await self._publish(self._turn(seat, round_name, text, limits, answer.model, broken))
        return answer

    async def say(
        self,
        seat: str,
        round_name: str,
        *,
        system: str,
        template: str,
        limits: TurnLimits,
        role: str = "debater",
        words_a_minute: float,
        **facts: Any,
    ) -> Turn:
        """Let a seat speak from what it is told now alone, against the clock.

        Its prompt is these two templates and nothing that it heard before. Nothing is sent
        back: a speech over its words is overtime, and marked.
        """
        await self._desk.room()
        told = facts | {"seat": seat, "side": side_of(seat)}
        variables = self._variables(round_name, limits, None, told)
        messages = [
            ChatMessage(role="system", content=self._prompts.render(system, **variables)),
            _user(self._prompts.render(template, **variables)),
        ]
        cue = _cue("turn", seat, variables)
        reply = await self._answer(f"turn/{round_name}/{seat}", seat, messages, role, cue)
        text = clean(reply.text)
        over = tuple(
            found.model_copy(update={"kind": "overtime"})
            for found in violations(text, limits, self._setup.chars_per_word)
        )
        over += (*replaced(reply.replaced), *long_reply(reply))
        turn = self._turn(seat, round_name, text, limits, reply.model, over)
        return await self._publish(turn, words_a_minute)

    async def consult(
        self,
        step: str,
        model: Model,
        *,
        system: str,
        template: str,
        shape: Shape[S],
        role: str = "judge",
        side: str = "",
        **facts: Any,
    ) -> Answer[S]:
        """Ask a judge or a captain, who knows nothing but these two templates.

        A model that cannot be asked gives an answer that says so: no value, and never a score.
        That is kept, as whoever resumes must not ask again: what was said since goes by it.
        """
        variables = self._variables("", TurnLimits(), None, facts | {"side": side})
        messages = [
            ChatMessage(role="system", content=self._prompts.render(system, **variables)),
            _user(self._prompts.render(template, **variables)),
        ]
        cue = _cue(role, side, variables)
        problem = self._unanswered.get(step)
        if problem is None:
            try:
                return await self._ask(step, model, messages, role, shape, cue)
            except ModelError as error:
                problem = str(error)
        body = {"problem": problem}
        await self.keep(
            artifacts=[Artifact.of(f"{UNANSWERED}/{step}", UNANSWERED, body, valid=False)]
        )
        return unanswered(problem)

    async def keep(
        self,
        *after_vote: Post,
        at_once: Sequence[Post] = (),
        artifacts: Sequence[Artifact] = (),
        scores: Sequence[Score] = (),
        adjustments: Sequence[Adjustment] = (),
        verdict: Verdict | None = None,
    ) -> None:
        """Keep what the format found out; posts of its judge wait for the reveal, unless live."""
        told = tuple(veil_post(post, self._names()) for post in after_vote)
        note = Note(
            artifacts=tuple(artifacts),
            scores=tuple(scores),
            adjustments=tuple(adjustments),
            verdicts={self.request.format: verdict} if verdict else {},
            posts=(*at_once, *(told if self.live else ())),
            held=() if self.live else told,
        )
        await self._desk.keep(note)

    async def tell(self, key: str, text: str) -> None:
        """Say something to the thread that is no judge's word: a stage begins, calls are saved."""
        await self.keep(at_once=[Post(key=key, message=Notice(text=text))])

    def adjourn(self) -> None:
        """Say that the last turn was spoken: the panel reads while the script's judge does."""
        self._adjourned.set()

    async def adjourned(self) -> None:
        """Wait until the last turn was spoken."""
        await self._adjourned.wait()

    def transcript(self) -> str:
        """Return all that was said, in order and without models' names."""
        return transcribe(self.turns, self._names())

    def numbered(self, *numbers: int) -> str:
        """Return turns under their numbers, all or some, without models' names."""
        told = [turn for turn in self.turns if not numbers or turn.number in numbers]
        return transcribe(told, self._names(), numbered=True)

    async def blinded(self, text: str) -> str:
        """Return a text as a judge may read it: no names, and contenders by neutral ones."""
        names, hidden = dict(self._setup.names), self._names()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(BLINDER, blind, text, names, hidden)

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

        try:
            # Asked by each on its own, they would set out one after the other.
            await self._desk.room()
            line = [stand_in_line(place, speech) for place, speech in enumerate(speeches)]
            results = await asyncio.gather(*line, return_exceptions=True)
        finally:
            for speech in speeches:
                speech.close()  # a coroutine cancelled before it began is never awaited
        spoken: list[T] = []
        for result in results:
            if isinstance(result, BaseException):
                raise result
            spoken.append(result)
        return spoken

    async def together(self, *works: Coroutine[Any, Any, T]) -> list[T]:
        """Run things side by side, and let all end before a failure (the first) is raised."""
        results = await asyncio.gather(*works, return_exceptions=True)
        failed = next((one for one in results if isinstance(one, BaseException)), None)
        if failed is not None:
            raise failed
        return [one for one in results if not isinstance(one, BaseException)]

    async def both(
        self, first: Coroutine[Any, Any, T], second: Coroutine[Any, Any, U]
    ) -> tuple[T, U]:
        """Run two things side by side, and let both end before a failure is raised."""
        tasks = asyncio.create_task(first), asyncio.create_task(second)
        await asyncio.gather(*tasks, return_exceptions=True)
        return await tasks[0], await tasks[1]

    async def _answer(
        self,
        step: str,
        seat: str,
        history: list[ChatMessage],
        role: str,
        cue: Mapping[str, str],
    ) -> Reply:
        """Ask a seat's model what its history ends with, and add what it says."""
        model, sampling = self.request.model_of(seat), self._setup.sampling[role]
        reply = await self._desk.call(step, model, history, sampling, cue=cue)
        history.append(ChatMessage(role="assistant", content=reply.text))
        return reply

    async def _ask(
        self,
        step: str,
        model: Model,
        history: list[ChatMessage],
        role: str,
        shape: Shape[S],
        cue: Mapping[str, str],
    ) -> Answer[S]:
        """Ask for a structured answer, and once more with the list of its faults."""
        sampling = self._setup.sampling[role]
        first = await self._desk.call(step, model, history, sampling, schema=shape.schema, cue=cue)
        history.append(ChatMessage(role="assistant", content=first.text))
        answer = read_shape(first, shape)
        if answer.valid:
            return answer
        told = [fault.what for fault in answer.faults]
        history.append(_user(self._prompts.render(f"{self.request.format}/again", faults=told)))
        second = await self._desk.call(
            f"{step}/again", model, history, sampling, schema=shape.schema, cue=cue
        )
        history.append(ChatMessage(role="assistant", content=second.text))
        return better(answer, read_shape(second, shape))

    def _ask_to_shorten(self, variables: Mapping[str, Any], text: str) -> str:
        words = count_words(text, self._setup.chars_per_word)
        limits: TurnLimits = variables["limits"]
        undivided = limits.synthesis_chars is not None and not is_divided(text)
        return self._prompts.render(
            f"{self.request.format}/shorten",
            **variables,
            written_words=words,
            undivided=undivided,
        )

    def _turn(
        self,
        seat: str,
        round_name: str,
        text: str,
        limits: TurnLimits,
        model: str,
        broken: tuple[Violation, ...],
    ) -> Turn:
        return Turn(
            step=f"turn/{round_name}/{seat}",
            seat=seat,
            side=side_of(seat),
            round=round_name,
            number=0,
            place=0,
            text=text,
            words=self.count(text),
            limit=limits.words or 0,
            model=model,
            violations=broken,
        )

    async def _publish(self, turn: Turn, words_a_minute: float | None = None) -> Turn:
        before = _before.get()
        if before is not None and not await before:
            raise StoppedError("The turn before this one could not be finished.")
        self._spoken[turn.round] += 1
        place, number = self._spoken[turn.round], len(self.turns) + 1
        turn = turn.model_copy(update={"place": place, "number": number})
        self.turns.append(turn)
        await self._desk.publish(turn, partial(self._compose, turn, words_a_minute))
        return turn

    def _compose(self, turn: Turn, words_a_minute: float | None) -> Post:
        shown = turn.model_dump(
            include={"side", "seat", "round", "number", "words", "limit", "violations"}
        )
        # Voters are blind as jurors are; the record keeps what was really said.
        text = scrub(turn.text, self._names() | {turn.model})
        if words_a_minute:
            shown["seconds"] = round(60 * turn.words / words_a_minute)
            shown["seconds_limit"] = round(60 * turn.limit / words_a_minute)
        return Post(
            key=turn.step,
            message=TurnPost(
                total=self._total,
                text=text,
                name=self.called.get(turn.seat, ""),
                **shown,
            ),
        )

    def _names(self) -> frozenset[str]:
        return names_of(self._setup)

    def _history(self, seat: str, variables: Mapping[str, Any]) -> list[ChatMessage]:
        if seat not in self._histories:
            # The same for both sides, so that a provider's prompt cache serves both.
            text = self._prompts.render(f"{self.request.format}/system", **variables)
            self._histories[seat] = [ChatMessage(role="system", content=text)]
        return self._histories[seat]

    def _variables(
        self,
        round_name: str,
        limits: TurnLimits,
        opposing: str | None,
        facts: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        return {
            **{
                name: guard(value) if isinstance(value, str) else value
                for name, value in (facts or {}).items()
            },
            "topic": self.request.topic,
            "conditions": self.request.conditions,
            **_stances(self.request.stances),
            "language": language_name(self.request.language),
            "language_code": self.request.language,
            "round": round_name,
            "opposing": guard(opposing or ""),
            "limits": limits,
            "reply_chars": self._setup.reply_chars,
        }


def _stances(given: Mapping[str, str]) -> dict[str, Any]:
    """Return what templates say of each side's stance, in the asker's own words or without."""
    stances = {side: guard(text) for side, text in given.items()}
    if not stances:
        stands = {"A": "in favour of the motion", "B": "against the motion"}
        aims = {"A": "for the motion", "B": "against it"}
    else:
        stands = {side: f"whose stance is “{text}”" for side, text in stances.items()}
        aims = {side: f"“{text}”" for side, text in stances.items()}
    return {"stances": stances, "stands": stands, "aims": aims}


def _cue(kind: str, seat: str, variables: Mapping[str, Any]) -> dict[str, str]:
    words, stances = variables["limits"].words, variables["stances"]
    said = {"stance": stances[seat[:1]], "thesis": stances["A"]} if seat[:1] in stances else {}
    own = {"kind": kind, "seat": seat, "side": seat[:1], "words": str(words or "")}
    return own | said | _plain(variables)


def _user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def _plain(variables: Mapping[str, Any]) -> dict[str, str]:
    plain = {name: value for name, value in variables.items() if isinstance(value, str)}
    return plain | {"language": variables["language_code"]}
