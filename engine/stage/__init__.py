"""What a format's script can do: let seats speak, ask judges, store findings.

On resume the script runs again from the top, and journaled steps return their stored results at
once, so scripts have no state of their own and need not handle crashes.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from engine.blinding.identity import names_of, redact
from engine.blinding.transcript import BLINDER, blind
from engine.prompts import (
    AUDIENCE,
    SOURCES,
    TRIAL,
    Prompts,
    QuotedSpeech,
    SpeechRecord,
    guard,
    language_name,
    unquote,
)
from engine.stage.shapes import (
    Shape,
    ShapedAnswer,
    TurnLimits,
    better,
    cuts,
    read_shape,
    repeats,
    replaced,
    unanswered,
    violations,
)
from engine.stage.steps import Caller
from engine.stage.structured import example_texts, refusal, sent_back
from engine.store import Note, Post
from engine.values.debate import (
    Length,
    Model,
    Request,
    Retrieval,
    Scores,
    Setup,
    Source,
    Turn,
    Violation,
    not_given,
    side_of,
)
from engine.values.errors import ModelError, StoppedError
from engine.values.language import N_
from engine.values.messages import Notice, TurnPost
from engine.values.ports import KEPT, Call, CallRole, ChatMessage, Reply
from engine.values.sources import named
from engine.values.text import clean, count_words, first_words, marked, words_to_read
from engine.values.verdicts import UNANSWERED, Adjustment, Artifact, Score, Verdict
from engine.words.phrases import sum_up
from engine.words.translation import say

MISSED = "missed"  # the rule that a person breaks who gives no turn in time
QUESTIONS = "questions"  # the round in which the sides answer the audience
LONGEST_READING = 600.0  # seconds that a turn keeps the next one from being posted
MOST_PUT = 2  # of the audience's questions are put to the sides
ANSWER_WORDS: Mapping[Length, int] = {Length.SHORT: 100, Length.NORMAL: 200, Length.LONG: 300}

T = TypeVar("T")
U = TypeVar("U")
S = TypeVar("S", bound=BaseModel)

# The speech before this one among concurrent ones; unset elsewhere.
_before: ContextVar[asyncio.Future[bool] | None] = ContextVar("before", default=None)


class _ScriptHost(Caller, Protocol):
    """A stage's journal and outbox, or a dry run of both."""

    async def room(self) -> None:
        """Wait while too many turns are undelivered."""

    async def publish(self, turn: Turn, compose: Callable[[], Post]) -> None:
        """Store a turn and queue its post; a dry run does not call `compose`."""

    async def keep(self, note: Note) -> None:
        """Store a format's findings."""

    async def hear_person(self, step: str, words: int) -> tuple[str, str]:
        """Let a person give a turn of at most `words` words (0: any).

        Its text is empty if nothing came in time, or nothing that can be shown; the second is the
        rule that what they wrote broke.
        """

    async def hear_questions(self) -> Sequence[str]:
        """Let the audience ask; return what is put to the sides once its time is over."""


@dataclass(eq=False)
class Stage:
    """The stage of one debate.

    `prompts` are the format's templates and data at the debate's start.
    """

    _setup: Setup
    prompts: Prompts
    _host: _ScriptHost
    _total: int
    _unanswered: Mapping[str, str] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list, init=False)
    _histories: dict[str, list[ChatMessage]] = field(default_factory=dict, init=False)
    _spoken: Counter[str] = field(default_factory=Counter, init=False)
    _adjourned: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _looked_up: tuple[Source, ...] = field(default=(), init=False)
    _asked: tuple[str, ...] = field(default=(), init=False)
    _numbered: list[QuotedSpeech] = field(default_factory=list, init=False)

    @cached_property
    def _hidden(self) -> frozenset[str]:
        return names_of(self._setup)

    @property
    def sources(self) -> tuple[Source, ...]:
        """What everyone reads, in the order of their numbers."""
        return self._setup.request.sources + self._looked_up

    @property
    def request(self) -> Request:
        """The debate's request."""
        return self._setup.request

    @property
    def advocate(self) -> str:
        """The side that speaks in a consultancy, or that the first model chose; else empty."""
        return self._setup.advocate

    @property
    def _folder(self) -> str:
        """The folder of the templates of speeches."""
        tried = self.request.protocol
        return TRIAL if tried and not tried.opposed else self.request.format

    @property
    def limits(self) -> Mapping[str, float]:
        """The format's own limits at the debate's start."""
        return self._setup.limits

    @property
    def retrieval(self) -> Retrieval | None:
        """What each side may look up; None for nothing."""
        return self._setup.retrieval

    def veiled(self, text: str) -> str:
        """Return a text for readers before the reveal: without models' names."""
        return redact(text, self._hidden)

    @property
    def live(self) -> bool:
        """Whether the format's own judge is shown during the debate."""
        return self.request.scores is Scores.LIVE

    @property
    def names(self) -> Mapping[str, str]:
        """Each contender's neutral name for judges."""
        return self._setup.names

    @property
    def called(self) -> Mapping[str, str]:
        """What people call each contender that has more than a letter."""
        return self._setup.called

    def count(self, text: str) -> int:
        """Count words as every limit does."""
        return count_words(text, self._setup.chars_per_word)

    def first_words(self, text: str, most: int) -> str:
        """Return the beginning of a text, at most `most` words long."""
        return first_words(text, most, self._setup.chars_per_word)

    async def speak(
        self,
        seat: str,
        round_name: str,
        *,
        template: str,
        limits: TurnLimits,
        role: str = "debater",
        opposing: str | None = None,
        last: bool = False,
        shorten: str = "",
        **facts: Any,
    ) -> str:
        """Let a seat speak in a round, and return its text once it is stored and queued.

        A text over its limits is sent back once, with the template `shorten` (the format's own, if
        empty); one that is still over is kept and marked, up
        to the debate's cap on a reply. After its `last` turn a seat is sent nothing more. `facts`
        are further variables of the template. A person is asked instead of a model, without any
        prompt. Raises what `call` raises.
        """
        if self.request.model_of(seat).person:
            return await self._hear(seat, round_name, limits)
        await self._host.room()
        step = f"turn/{round_name}/{seat}"
        variables = self._variables(round_name, limits, opposing, {"seat": seat} | facts)
        history = self._history(seat, variables)
        history.append(_user(self.prompts.render(template, **variables), kept=not last))
        hint = _hint("turn", seat, variables)
        reply = await self._answer(step, seat, history, role, hint)
        text = clean(reply.text)
        over = violations(text, limits, self._setup.chars_per_word)
        if over:
            told = {"broken": over, "written_words": self.count(text)}
            asked = self.prompts.render(shorten or f"{self._folder}/shorten", **variables, **told)
            history.append(_user(asked))
            hint |= {"kind": "shorten"}
            reply = await self._answer(f"{step}/shorten", seat, history, role, hint)
            text = clean(reply.text)
            over = violations(text, limits, self._setup.chars_per_word)
        over += _marks(reply, text)
        await self._publish(self._turn(seat, round_name, text, limits, reply.model, over))
        return text

    async def hear_questions(self) -> bool:
        """Let the audience ask both sides something; return whether anything is to be answered."""
        asked = await self._host.hear_questions()
        self._asked = tuple(self.veiled(one) for one in asked[:MOST_PUT])
        if not self._asked:
            self._total -= len(self.request.sides)  # who would have answered
        return bool(self._asked)

    async def answer(self, seat: str, *, opposing: str | None = None, last: bool = False) -> str:
        """Let a seat answer the audience, and return its text as `speak` does."""
        return await self.speak(
            seat,
            QUESTIONS,
            template=f"{AUDIENCE}/answer",
            shorten=f"{AUDIENCE}/shorten",
            limits=TurnLimits(words=ANSWER_WORDS[self.request.length]),
            opposing=opposing,
            last=last,
            side=side_of(seat),
            questions=self._asked,
        )

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
        last: bool = False,
        **facts: Any,
    ) -> ShapedAnswer[S]:
        """Let a seat give a structured turn; `show` makes its Markdown.

        An answer with faults is sent back once with a list of them. Remaining faults are recorded
        as violations. Of an unreadable answer its texts are shown, or all of it, as of a person's.
        """
        if self.request.model_of(seat).person:
            said = await self._hear(seat, round_name, limits)
            return replace(unanswered("it was written by a person"), raw=said)
        await self._host.room()
        step = f"turn/{round_name}/{seat}"
        variables = self._variables(round_name, limits, opposing, facts | {"side": side_of(seat)})
        history = self._history(seat, variables)
        history.append(_user(self.prompts.render(template, **variables), kept=not last))
        answer = await self._ask(
            step, self.request.model_of(seat), history, role, shape, _hint("turn", seat, variables)
        )
        if answer.value is None:
            from engine.stage.repair import readable_part  # of faulty answers alone

            answer = replace(answer, raw=readable_part(answer.raw, shape.schema))
        shown = "" if answer.value is None else show(answer.value)
        text = clean(shown.strip() or answer.raw)
        broken = answer.violations + repeats(text) + refusal(text)
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
        cut_after: int | None = None,
        **facts: Any,
    ) -> Turn:
        """Let a seat speak without memory, and against the clock.

        Its prompt is these two templates, without earlier messages. Nothing is sent back: a
        speech over its limit is marked as overtime. What follows `cut_after` words is cut and
        marked.
        """
        await self._host.room()
        facts |= {"seat": seat, "side": side_of(seat)}
        variables = self._variables(round_name, limits, None, facts)
        messages = [
            self._system(system, variables),
            _user(self.prompts.render(template, **variables)),
        ]
        hint = _hint("turn", seat, variables)
        reply = await self._answer(f"turn/{round_name}/{seat}", seat, messages, role, hint)
        text = clean(reply.text)
        over = tuple(
            found.model_copy(update={"kind": "overtime"})
            for found in violations(text, limits, self._setup.chars_per_word)
        )
        over += _marks(reply, text)
        words = self.count(text)
        if cut_after is not None and words > cut_after:
            text = self.first_words(text, cut_after)
            over += (Violation(kind="cut", measured=words, limit=cut_after),)
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
        again: str = "",
        **facts: Any,
    ) -> ShapedAnswer[S]:
        """Ask a judge or a captain; the prompt is only these two templates, and `again`.

        The answer of a model that cannot be asked has a problem instead of a value or score. It
        is stored and a resumed debate does not ask again, as later turns rest on it.
        """
        variables = self._variables("", TurnLimits(), None, facts | {"side": side})
        asked = self.prompts.render(template, **variables)
        if role == "judge" and self.sources:
            # Last, as they change with every turn, and what precedes them only grows.
            asked = f"{asked}\n\n{await self._findings(asked)}"
        messages = [self._system(system, variables), _user(asked)]
        hint = _hint(role, side, variables)
        problem = self._unanswered.get(step)
        if problem is None:
            try:
                return await self._ask(step, model, messages, role, shape, hint, again)
            except ModelError as error:
                problem = error.problem
        await self._keep_unanswered(step, problem)
        return unanswered(problem)

    async def _hear(self, seat: str, round_name: str, limits: TurnLimits) -> str:
        """Let a person speak; what is over the limit is cut and marked, as is a missed turn.

        Raises StoppedError after two missed turns in a row.
        """
        await self._host.room()
        most = limits.words or int(self._setup.limits.get("words", 0))
        said, withheld = await self._host.hear_person(f"turn/{round_name}/{seat}", most)
        words, broken = self.count(said), tuple[Violation, ...]()
        text = said
        if not said:
            text, rule = say("(No turn was given.)"), withheld or MISSED
            broken = (Violation(kind=rule, measured=0, limit=0),)
        elif most and words > most:
            text = self.first_words(said, most)
            broken = (Violation(kind="shortened", measured=words, limit=most),)
        before = next((one for one in reversed(self.turns) if one.side == side_of(seat)), None)
        shown = TurnLimits(words=most or None)
        await self._publish(self._turn(seat, round_name, text, shown, "", broken))
        if not said and before is not None and not_given(before.violations):
            raise StoppedError(
                N_(
                    "The person who argued a side gave no turn twice in a row, so the debate ends "
                    "here. Start it again once they have time."
                ),
                ends="deserted",
            )
        return text

    async def look_up(self, step: str, query: str) -> tuple[str, str]:
        """Return what the debate's search endpoint answers, or the problem; either may be empty.

        A failure that retries do not help is stored, and a resumed debate does not search again.
        """
        plan, problem = self._setup.retrieval, self._unanswered.get(step)
        if plan is None:
            return "", ""
        if problem is None:
            try:
                sampling = self._setup.sampling["debater"]
                reply = await self._host.call(Call(step, plan.model, (_user(query),), sampling))
                return clean(reply.text), ""
            except ModelError as error:
                problem = error.problem
        await self._keep_unanswered(step, problem)
        return "", problem

    async def _keep_unanswered(self, step: str, problem: str) -> None:
        body = {"problem": problem}
        await self.keep(
            artifacts=[Artifact.of(f"{UNANSWERED}/{step}", UNANSWERED, body, valid=False)]
        )

    def know(self, sources: Sequence[Source]) -> None:
        """Put further sources before everyone who has not been asked yet."""
        self._looked_up += tuple(sources)

    async def keep(
        self,
        *after_vote: Post,
        at_once: Sequence[Post] = (),
        artifacts: Sequence[Artifact] = (),
        scores: Sequence[Score] = (),
        adjustments: Sequence[Adjustment] = (),
        verdict: Verdict | None = None,
    ) -> None:
        """Store findings; posts of the format's judge wait for the reveal, unless live."""
        veiled: tuple[Post, ...] = ()
        if after_vote:
            from engine.blinding.identity import (
                redact_post,  # few formats have a judge of their own
            )

            veiled = tuple(redact_post(post, self._hidden) for post in after_vote)
        note = Note(
            artifacts=tuple(artifacts),
            scores=tuple(scores),
            adjustments=tuple(adjustments),
            verdicts={self.request.format: verdict} if verdict else {},
            posts=(*at_once, *(veiled if self.live else ())),
            held=() if self.live else veiled,
        )
        await self._host.keep(note)

    async def tell(self, key: str, text: str) -> None:
        """Post a notice to the thread, such as that a stage begins."""
        await self.keep(at_once=[Post(key=key, message=Notice(text=text))])

    def adjourn(self) -> None:
        """Mark the last turn as spoken: the panel can read while the script's judge does."""
        self._adjourned.set()

    async def adjourned(self) -> None:
        """Wait until the last turn is spoken."""
        await self._adjourned.wait()

    def transcript(self, after: int = 0) -> SpeechRecord:
        """Return the turns in order, or those after a number, without models' names.

        Each stands under its seat and round: its readers are not blind to them.
        """
        return SpeechRecord(
            QuotedSpeech(f"[{turn.seat}, {turn.round}]", self._redacted(turn))
            for turn in self.turns[after:]
        )

    def numbered(self, *numbers: int) -> SpeechRecord:
        """Return all or some turns with their numbers, without models' names.

        All of them only grow, so each is kept in later prompts.
        """
        # Scrubbed once, as a judge reads all of them with every turn.
        self._numbered += (
            QuotedSpeech(f"[turn {turn.number}, {turn.side}]", self._redacted(turn))
            for turn in self.turns[len(self._numbered) :]
        )
        if numbers:
            return SpeechRecord(self._numbered[number - 1] for number in numbers)
        return SpeechRecord(self._numbered, KEPT)

    def _redacted(self, turn: Turn) -> str:
        return redact(turn.text, self._hidden | {turn.model})

    async def blinded(self, text: str) -> str:
        """Return a text for judges: without models' names, contenders by neutral names."""
        names, hidden = dict(self._setup.names), self._hidden
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(BLINDER, blind, text, names, hidden)

    async def all_at_once(self, *speeches: Coroutine[Any, Any, T]) -> list[T]:
        """Run speeches concurrently, and post them in the given order.

        Every call finishes before the first failure in order is raised: the others are paid for,
        journaled, and found again on resume.
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
            # If each speech waited by itself, they would start one by one.
            await self._host.room()
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
        """Run things concurrently, and let all end before the first failure is raised."""
        results = await asyncio.gather(*works, return_exceptions=True)
        failed = next((one for one in results if isinstance(one, BaseException)), None)
        if failed is not None:
            raise failed
        return [one for one in results if not isinstance(one, BaseException)]

    async def both(
        self, first: Coroutine[Any, Any, T], second: Coroutine[Any, Any, U]
    ) -> tuple[T, U]:
        """Run two things concurrently, and let both end before a failure is raised."""
        tasks = asyncio.create_task(first), asyncio.create_task(second)
        await asyncio.gather(*tasks, return_exceptions=True)
        return await tasks[0], await tasks[1]

    async def _answer(
        self,
        step: str,
        seat: str,
        history: list[ChatMessage],
        role: str,
        hint: Mapping[str, str],
    ) -> Reply:
        """Send a seat's history to its model, and append the reply."""
        model, sampling = self.request.model_of(seat), self._setup.sampling[role]
        call = Call(step, model, tuple(history), sampling, hint=hint, role=_called(role))
        reply = await self._host.call(call)
        history.append(ChatMessage(role="assistant", content=reply.text))
        return reply

    async def _ask(
        self,
        step: str,
        model: Model,
        history: list[ChatMessage],
        role: str,
        shape: Shape[S],
        hint: Mapping[str, str],
        again: str = "",
    ) -> ShapedAnswer[S]:
        """Ask for a structured answer, and once more with a list of its faults."""
        sampling = self._setup.sampling[role]
        call = Call(step, model, tuple(history), sampling, shape.schema, hint, _called(role))
        first = await self._host.call(call)
        history.append(ChatMessage(role="assistant", content=sent_back(first)))
        examples = example_texts(one.content for one in history if one.role == "user")
        answer = read_shape(first, shape, examples)
        if answer.valid:
            return answer
        faults = [fault.what for fault in answer.faults]
        again = again or f"{self.request.format}/again"
        history.append(_user(self.prompts.render(again, faults=faults)))
        call = replace(call, step=f"{step}/again", messages=tuple(history))
        second = await self._host.call(call)
        history.append(ChatMessage(role="assistant", content=second.text))
        return better(answer, read_shape(second, shape, examples))

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
            words=0 if not_given(broken) else self.count(text),
            limit=limits.words or 0,
            model=model,
            violations=broken,
            asked=self._asked if round_name == QUESTIONS else (),
        )

    async def _publish(self, turn: Turn, words_a_minute: float | None = None) -> Turn:
        if self.sources:
            from engine.values.overlap import check_quotations  # few debates have sources

            # Beside the loop: near-matches in long sources take time.
            quoted = await asyncio.to_thread(check_quotations, turn.text, self.sources)
            turn = turn.model_copy(update={"quotations": quoted})
        before = _before.get()
        if before is not None and not await before:
            raise StoppedError("The turn before this one could not be finished.")
        self._spoken[turn.round] += 1
        place, number = self._spoken[turn.round], len(self.turns) + 1
        turn = turn.model_copy(update={"place": place, "number": number})
        self.turns.append(turn)
        await self._host.publish(turn, partial(self._compose, turn, words_a_minute))
        return turn

    def _compose(self, turn: Turn, words_a_minute: float | None) -> Post:
        shown = turn.model_dump(
            include={"side", "seat", "round", "number", "words", "limit", "violations"}
        )
        # Voters are as blind as jurors; the record keeps the original.
        text = redact(turn.text, self._hidden | {turn.model})
        if turn.quotations:
            shown["quotations"] = sum_up(turn.quotations)
        if words_a_minute:
            shown["seconds"] = round(60 * turn.words / words_a_minute)
            shown["seconds_limit"] = round(60 * turn.limit / words_a_minute)
        return Post(
            key=turn.step,
            message=TurnPost(
                total=self._total,
                text=text,
                name=self.called.get(turn.seat, ""),
                person=self.request.model_of(turn.seat).person,
                speaker=self.called.get(turn.seat)
                or f"{marked(turn.seat)} · {self.names[turn.side]}",
                reading=self._reading(text),
                **shown,
            ),
        )

    def _reading(self, text: str) -> float:
        """Return how many seconds people get to read a turn, before the next is posted."""
        if not self.request.pace:
            return 0
        words = words_to_read(text, self.request.language, self._setup.chars_per_word)
        return min(round(60 * words / self.request.pace, 1), LONGEST_READING)

    def _history(self, seat: str, variables: Mapping[str, Any]) -> list[ChatMessage]:
        if seat not in self._histories:
            # The same for both sides, for the provider's prompt cache.
            self._histories[seat] = [self._system(f"{self._folder}/system", variables)]
        return self._histories[seat]

    def _system(self, template: str, variables: Mapping[str, Any]) -> ChatMessage:
        """Return a system message; that of speakers ends with the debate's sources."""
        text = self.prompts.render(template, **variables)
        if self.sources and template == f"{self._folder}/system":
            given = {"sources": self.sources, "names": named(self.sources)}
            text = f"{text}\n\n{self.prompts.render(f'{SOURCES}/system', **given)}"
        return _system(text)

    async def _findings(self, asked: str) -> str:
        """Return what code found about the quotations that a judge's prompt contains."""
        from engine.values.overlap import tell_quotation  # few debates have sources

        hidden, found = self._hidden, []
        sided = "A" in self.request.sides
        read = unquote(asked)
        for turn in self.turns:
            for one in turn.quotations:
                text = redact(one.text, hidden | {turn.model})
                text = text if sided else await self.blinded(one.text)
                if any(said in read for told in (text, one.text) for said in (told, guard(told))):
                    name = turn.seat if sided else self.names[turn.side]
                    found.append(
                        {"name": name, "round": turn.round, "text": text}
                        | {"source": one.source, "found": tell_quotation(one)}
                    )
        titles = [redact(name, hidden) for name in named(self.sources)]
        return self.prompts.render(f"{SOURCES}/judge", sources=titles, quotations=found)

    def _variables(
        self,
        round_name: str,
        limits: TurnLimits,
        opposing: str | None,
        facts: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        given = self.request.stances
        part = stands = {"A": "in favour of the motion", "B": "against the motion"}
        aims = {"A": "for the motion", "B": N_("against it")}
        if given:
            part = dict.fromkeys(given, "whose stance is quoted in your instructions")
            stands = {side: f"whose stance is “{text}”" for side, text in given.items()}
            aims = {side: f"“{text}”" for side, text in given.items()}
        return {
            **(facts or {}),
            "topic": self.request.topic,
            "conditions": self.request.conditions,
            **{"stances": dict(given), "part": part, "stands": stands, "aims": aims},
            "language": language_name(self.request.language),
            "language_code": self.request.language,
            "round": round_name,
            "opposing": opposing or "",
            "limits": limits,
        }


def _marks(reply: Reply, text: str) -> tuple[Violation, ...]:
    """Return what is wrong with a speech beside its limits."""
    cut = (*replaced(reply.replaced), *cuts(reply))
    return (*cut, *repeats(text), *refusal(text, reply.finish))


def _hint(kind: str, seat: str, variables: Mapping[str, Any]) -> dict[str, str]:
    limits, stances = variables["limits"], variables["stances"]
    said = {"stance": stances[seat[:1]], "thesis": stances["A"]} if seat[:1] in stances else {}
    own = {"kind": kind, "seat": seat, "side": seat[:1], "words": str(limits.words or "")}
    own["arguments"] = str(limits.arguments or "")
    texts = {name: value for name, value in variables.items() if isinstance(value, str)}
    plain = {name: text.replace(KEPT, "") for name, text in texts.items()}
    return own | said | plain | {"language": variables["language_code"]}


def _system(text: str) -> ChatMessage:
    return ChatMessage.of("system", f"{text}{KEPT}")


def _user(text: str, *, kept: bool = False) -> ChatMessage:
    """Return a message; with `kept`, what follows is appended to it."""
    return ChatMessage.of("user", f"{text}{KEPT}" if kept else text)


def _called(role: str) -> CallRole:
    """Return what a call counts as whose sampling is that of a role of the format."""
    return "judge" if role == "judge" else "debater"
