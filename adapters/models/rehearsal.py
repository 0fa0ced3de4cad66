"""The backend `rehearsal`: built in, offline, deterministic, and no language model at all.

It plays every part of a debate from prepared texts, so that demos, tests and benchmarks need no
key and no network. A model's name may change its behaviour: see `RehearsalOptions`.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import orjson

from adapters.models.attempts import RetryPolicy, persist
from adapters.models.fabrication import Fabricator
from adapters.models.jurors import fill_in, find_form
from adapters.models.options import RehearsalOptions
from adapters.models.outcomes import CallAnswer, CallFault, Outcome
from adapters.models.scenes import Scene, chance, quote_turns
from adapters.models.speeches import Point, Speaker, cite, compose
from engine.floor.steps import Pace
from engine.values.debate import Model, Origin, Price, Usage
from engine.values.ports import AnswerSchema, AttemptLog, Call, FaultKind, Reply
from engine.values.text import count_words

# The fields of a structured turn with a limit.
OVER, OVER_TIMES = ("position", "synthesis", "why"), 12
_CONCEDED = re.compile(r'"([AB]-\d+)":\s*\{\s*"type":\s*"concede"')
SLICE_S = 0.05
GARBAGE = "~~ %% 0x1F no answer {[ ~~"


class RehearsalModels:
    """The Models port without models; every name is a model, and options follow a `?`."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._pace = Pace()

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        """Play a part. Raises ModelError if set to fail, UsageError for an unknown option."""
        part = RehearsedCall(call, RehearsalOptions.of(call.model.name), self._pace)
        return await persist(call, log, self._policy, part)

    async def price(self, model: Model) -> Price | None:
        """Return a price of 0."""
        return Price(usd_in=0, usd_out=0, origin=Origin.LOCAL)

    def pace(self, model: Model) -> float:
        """Return the latency in the model's name."""
        return RehearsalOptions.of(model.name).latency

    async def aclose(self) -> None:
        """Do nothing."""


class RehearsedCall:
    """One call's tries."""

    free = True

    def __init__(self, call: Call, options: RehearsalOptions, pace: Pace) -> None:
        self._call = call
        self._options = options
        self._pace = pace
        self._tries = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Wait for a turn of the event loop."""
        await self._pace.turn()
        yield 0.0

    async def send(self) -> Outcome:
        """Answer, or fail if set to, after the latency in the options."""
        self._tries += 1
        began = time.perf_counter()
        # Calls sent together start their clocks together, and build their answers now, one per
        # loop turn, instead of when many end at once.
        await asyncio.sleep(0)
        outcome = self._outcome()
        until = began + self._options.latency
        if self._call.on_text is not None and isinstance(outcome, CallAnswer):
            await _recite(outcome.text, self._call.model.name, until, self._call.on_text)
        await asyncio.sleep(max(0.0, until - time.perf_counter()))
        return outcome

    def _outcome(self) -> Outcome:
        failure = self._options.fail
        if failure is not None and (failure.tries is None or self._tries <= failure.tries):
            from adapters.models.faults import status_fault  # few names ask for one

            return status_fault(failure.status, b"", {})
        if self._options.empty:
            said, model = "answered without any text", self._call.model.name
            return CallFault(said, model=model, kind=FaultKind.EMPTY)
        return self._answer(self._text())

    def _text(self) -> str:
        if self._options.garbage:
            return GARBAGE
        scene = Scene.of(self._call)
        if self._call.schema is None:
            text = compose(scene, self._options)
            cited = cite(self._call.messages[0].content, scene)
            longer = f"{text}\n\n{cited}" if cited else text
            fits = scene.words is None or count_words(longer) <= scene.words
            return longer if fits else text
        return structured_answer(self._call, self._call.schema, scene, self._options)

    def _answer(self, text: str) -> CallAnswer:
        written = self._options.tokens_out
        usage = Usage(
            tokens_in=sum(token_count(m.content) for m in self._call.messages),
            tokens_out=token_count(text) if written is None else written,
        )
        return CallAnswer(text, "stop", self._call.model.name, usage, 0.0)


async def _recite(text: str, model: str, until: float, hear: Callable[[str, str], None]) -> None:
    """Stream a text in slices of equal length until a time of `perf_counter`."""
    began = time.perf_counter()
    slices = max(1, int((until - began) / SLICE_S))
    for number in range(slices):
        hear(text[: len(text) * number // slices], model)
        await asyncio.sleep(max(0.0, began + (number + 1) * SLICE_S - time.perf_counter()))
    hear(text, model)


def structured_answer(
    call: Call, schema: AnswerSchema, scene: Scene, options: RehearsalOptions
) -> str:
    """Return JSON that satisfies a schema; a ballot's verdict agrees with its scores."""
    speaker = Speaker.of(scene, options.name, call.step)
    if scene.kind == "why":
        return orjson.dumps(speaker.reasons(), option=orjson.OPT_INDENT_2).decode()
    said = [Point(p.title, speaker.fill(p.text)) for p in speaker.fresh(speaker.order)]
    seeded = chance(options.name, scene.topic, call.step)
    fabricator = Fabricator(seeded, said, scene.side, speaker.phrases)
    answer = fabricator.value(schema.json_schema)
    if options.over == "always" or (options.over == "once" and not call.step.endswith("/again")):
        answer |= {name: " ".join([answer[name]] * OVER_TIMES) for name in OVER if name in answer}
    quote_turns(answer, call, seeded)
    if "concessions" in answer:
        answer["concessions"] = _CONCEDED.findall(scene.mine)
    form = find_form(schema.json_schema, call)
    if form is not None:
        answer |= fill_in(form, scene.topic, options)
    return orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode()


def token_count(text: str) -> int:
    """Return a deterministic number of tokens: a quarter of the characters, at least one."""
    return max(1, len(text) // 4)
