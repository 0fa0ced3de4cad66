"""The blind panel: asks jurors in the planned orders until the verdict is clear.

Every reading is a journaled step, so an interrupted panel asks only for the missing ones. Jurors
see neither one another nor, unless the debate is not blind, a model's name.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from engine.blinding.transcript import BLINDER, Identities, Transcript, TranscriptWriter
from engine.jury.aggregate import aggregate
from engine.jury.ballot import (
    JurorReading,
    Outcome,
    ballot_schema,
    make_ballot,
    read_ballot,
    tie_word,
)
from engine.jury.plan import next_readings, rotations
from engine.jury.rubric import Rubric, find_rubric
from engine.prompts import SOURCES, TRIAL, Prompts, language_name
from engine.stage.steps import Caller
from engine.stage.structured import example_texts, sent_back
from engine.store.journal import prompt_hash
from engine.values.debate import Debate, TrialProtocol, Turn, TurnOrder
from engine.values.errors import ModelError
from engine.values.ports import Call, ChatMessage, Reply
from engine.values.sources import named
from engine.values.text import SIDES, clean, headline, marked, rename
from engine.values.verdicts import Ballot, Summary, Verdict


def open_transcript(debate: Debate) -> TranscriptWriter:
    """Return what writes a debate down for its jurors while it is held."""
    setup, request = debate.setup, debate.request
    gone = tuple(change.was for change in setup.replaced)
    cast = Identities(setup.names, request.sides | request.seats, setup.panel.blind, gone)
    sources = named(request.sources)
    return TranscriptWriter(request.topic, request.conditions, cast, request.stances, sources)


async def hold_panel(
    debate: Debate,
    turns: Sequence[Turn],
    prompts: Prompts,
    steps: Caller,
    writer: TranscriptWriter,
    begun: asyncio.Event | None = None,
) -> tuple[Verdict, dict[str, Ballot]]:
    """Return the panel's verdict, and every ballot by the step that gave it.

    `begun` is set once the first jurors are asked.

    A juror without a usable answer casts an invalid ballot, never a score. Raises what stops a
    debate: BudgetError, StoppedError, PausedError or LeaseLostError.
    """
    panel = await _lay_out(debate, turns, prompts, steps, writer)
    contenders = tuple(debate.request.sides)
    cast: dict[str, Ballot] = {}
    while readings := next_readings(debate.setup.panel, contenders, tuple(cast.values())):
        panel.prepare({reading.order for reading in readings})
        # Every call ends before a failure is raised: what was paid for is journaled.
        reading = asyncio.gather(*map(panel.read, readings), return_exceptions=True)
        if begun is not None:
            begun.set()
        for result in await reading:
            if isinstance(result, BaseException):
                raise result
            cast[result[0]] = result[1]
    verdict, measured = aggregate(debate.setup.panel, contenders, tuple(cast.values()))
    return verdict, dict(zip(cast, measured, strict=True))


@dataclass(frozen=True)
class JurorPrompt:
    """A prompt that jurors share."""

    messages: tuple[ChatMessage, ...]

    @cached_property
    def digest(self) -> str:
        """Its hash, as in the journal."""
        return prompt_hash(self.messages)

    @cached_property
    def examples(self) -> frozenset[str]:
        """The texts of its own examples."""
        return example_texts(message.content for message in self.messages)


@dataclass(frozen=True, slots=True)
class PanelReadings:
    """The shared parts of one debate's readings."""

    debate: Debate
    transcript: Transcript
    prompts: Prompts
    steps: Caller
    written: dict[tuple[str, ...], JurorPrompt] = field(default_factory=dict)

    @property
    def rubric(self) -> Rubric:
        """What jurors score, as the debate has frozen it."""
        panel = self.debate.setup.panel
        return find_rubric(panel.rubric, panel.criteria)

    @property
    def of_answers(self) -> bool:
        """Whether jurors read answers to a question, not a debate between two sides."""
        return "A" not in self.debate.request.sides

    def prepare(self, orders: Iterable[tuple[str, ...]]) -> None:
        """Make the prompt for every juror of an order, once, and so that prompt caches share it.

        All of it before the first is asked, so that calls start together.
        """
        for order in set(orders) - self.written.keys():
            variables = self.variables(order)
            shared = self.show(variables)
            folder, juror = (
                (TRIAL, "trial/juror") if self.debate.request.trial else ("jury", "jury/system")
            )
            asked = self.prompts.render(f"{folder}/ballot", **variables)
            system = self.prompts.render(juror, **variables)
            self.written[order] = JurorPrompt(
                (
                    ChatMessage(role="system", content=system),
                    ChatMessage(role="user", content=f"{shared}\n\n{asked}"),
                )
            )

    async def read(self, reading: JurorReading) -> tuple[str, Ballot]:
        """Ask a juror for one ballot, once more when the first cannot be used."""
        step = f"jury/{reading.juror.ref}/{''.join(reading.order)}"
        prompt = self.written[reading.order]
        reply, outcome = None, Outcome.failed("")
        try:
            reply = await self._ask(step, reading, prompt.messages)
            outcome = self._judge(reply, prompt)
            if outcome.retry:
                ask = self.prompts.render(
                    "jury/retry", problem=outcome.problem, answers=self.of_answers
                )
                again = (
                    *prompt.messages,
                    ChatMessage(role="assistant", content=sent_back(reply)),
                    ChatMessage(role="user", content=ask),
                )
                second = await self._ask(f"{step}/again", reading, again)
                judged = self._judge(second, prompt)
                # A contradictory answer is better than an unreadable one.
                if judged.valid or not outcome.valid:
                    step, reply, outcome = f"{step}/again", second, judged
                    prompt = JurorPrompt(again)
        except ModelError as error:
            # The first answer and its problem stand.
            problem = "; ".join(filter(None, (outcome.problem, error.problem)))
            outcome = replace(outcome, problem=problem)
        names = self.debate.setup.names
        return step, make_ballot(reading, names, outcome, reply, prompt.digest)

    async def _ask(
        self, step: str, reading: JurorReading, messages: tuple[ChatMessage, ...]
    ) -> Reply:
        names = self.names(reading.order)
        hint = {
            "kind": "ballot",
            "topic": self.debate.request.topic,
            "language": self.debate.request.language,
            "shown": ",".join(names),
        }
        schema = ballot_schema(names, self.rubric)
        sampling = self.debate.setup.sampling["juror"]
        return await self.steps.call(
            Call(step, reading.juror, messages, sampling, schema, hint, role="juror")
        )

    def _judge(self, reply: Reply, prompt: JurorPrompt) -> Outcome:
        names = self.debate.setup.names
        outcome = read_ballot(reply.text, reply.finish, names, self.rubric, prompt.examples)
        return replace(outcome, repaired=True) if reply.replaced else outcome

    def names(self, order: tuple[str, ...]) -> tuple[str, ...]:
        """Return the neutral names in an order of showing."""
        return tuple(self.debate.setup.names[side] for side in order)

    def show(self, variables: Mapping[str, Any]) -> str:
        """Return the debate as jurors read it, with what was found of quotations from sources."""
        if trial := self.debate.request.trial:
            expert = trial is TrialProtocol.EXPERT
            texts = [one.text for one in self.debate.request.sources] if expert else []
            shown = self.prompts.render(f"{TRIAL}/case", texts=texts, **variables)
        else:
            shown = self.prompts.render("jury/transcript", **variables)
        if not self.transcript.sources or not self.transcript.rounds:
            return shown
        found = self.prompts.render(f"{SOURCES}/judge", **variables)
        return f"{shown}\n\n{found}"

    def variables(self, order: tuple[str, ...]) -> dict[str, Any]:
        """Return what the templates of the jury are given for an order of showing."""
        request, names = self.debate.request, self.names(order)
        return {
            **self.transcript.arrange(names)._asdict(),
            "names": names,
            "criteria": self.rubric.criteria,
            "language": language_name(request.language),
            "tie_word": tie_word(request.language),
            "answers": self.of_answers,
        }


async def _lay_out(
    debate: Debate, turns: Sequence[Turn], prompts: Prompts, steps: Caller, writer: TranscriptWriter
) -> PanelReadings:
    """Return the readings of a debate, whose transcript is laid out beside the loop."""
    together = debate.request.turn_order is TurnOrder.SIMULTANEOUS
    lay_out = partial(writer.lay_out, tuple(turns), simultaneous=together)
    transcript = await asyncio.get_running_loop().run_in_executor(BLINDER, lay_out)
    return PanelReadings(debate, transcript, prompts, steps)


# A neutral summary of a debate by one of its jurors, who reads it as blind as the others.


STEP = "summary"
FEWEST, MOST = 400, 600  # characters
_SENTENCE = re.compile(r"[.!?…][\"'”’»)]*(?=\s|$)|[。！？][”’」』）]*")


async def summarise(
    debate: Debate,
    turns: Sequence[Turn],
    prompts: Prompts,
    steps: Caller,
    writer: TranscriptWriter,
    begun: asyncio.Event | None = None,
) -> Summary:
    """Return the summary by the roster's last juror, who often reads nothing else.

    It waits until the panel has `begun`.

    One over 600 characters is cut at a sentence, one under 400 is marked. Without an answer there
    is none. Raises what stops a debate.
    """
    if begun is not None:
        await begun.wait()
    setup, request = debate.setup, debate.request
    panel = await _lay_out(debate, turns, prompts, steps, writer)
    order = rotations(setup.panel, tuple(request.sides))[0]
    variables = panel.variables(order) | {"fewest": FEWEST, "most": MOST}
    shown = panel.show(variables)
    asked, system = (prompts.render(f"jury/{part}", **variables) for part in ("summary", "system"))
    hint = {"kind": STEP, "topic": request.topic, "language": request.language}
    call = Call(
        STEP,
        setup.panel.roster[-1],
        messages=(
            ChatMessage(role="system", content=system),
            ChatMessage(role="user", content=f"{shown}\n\n{asked}"),
        ),
        sampling=setup.sampling["juror"],
        hint=hint | {"shown": ",".join(setup.names[side] for side in request.sides)},
        role="juror",
    )
    try:
        reply = await steps.call(call)
    except ModelError as error:
        return Summary(problem=error.problem)
    # A text as one paragraph, with sides and their marks in place of neutral names.
    names = debate.setup.names
    sides = {name: marked(side) for side, name in names.items()}
    text = rename(" ".join(clean(reply.text).split()), sides)
    return _fit(text) if text else Summary(problem="the answer is empty")


def _length(text: str) -> int:
    """Return how long a text is without the marks of its sides, which no juror writes."""
    return len(text) - sum(text.count(mark) * (len(mark) + 1) for mark in SIDES.values())


def _fit(text: str) -> Summary:
    """Return a text within the limit, cut after the last whole sentence that fits."""
    if FEWEST <= _length(text) <= MOST:
        return Summary(text=text)
    if _length(text) < FEWEST:
        return Summary(text=text, fit="too_short")
    wholes = [text[: end.end()] for end in _SENTENCE.finditer(text)]
    if fits := [whole for whole in wholes if FEWEST // 2 <= _length(whole) <= MOST]:
        return Summary(text=fits[-1], fit="trimmed")
    return Summary(text=headline(text, MOST), fit="cut")
