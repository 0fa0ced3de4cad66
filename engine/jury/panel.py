"""The blind panel: asks jurors in the planned orders until the verdict is clear.

Every reading is a journaled step, so a panel that was interrupted asks only for what is
missing. Jurors see neither one another nor, unless the debate is not blind, a model's name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from engine.debate import Ballot, Debate, Model, Sampling, Turn, TurnOrder, Verdict
from engine.errors import BudgetError, ModelError
from engine.jury.aggregate import aggregate
from engine.jury.ballot import Outcome, Reading, ballot_schema, make_ballot, read_ballot, tie_word
from engine.jury.plan import next_readings
from engine.jury.rubric import find_rubric
from engine.jury.transcript import Cast, build_transcript
from engine.languages import language_name
from engine.ports import AnswerSchema, ChatMessage, Reply
from engine.prompts.library import Prompts
from engine.steps import prompt_hash


class Caller(Protocol):
    """What a panel asks its jurors through: the journaled steps of a debate."""

    async def call(
        self,
        step: str,
        model: Model,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        *,
        schema: AnswerSchema | None = None,
        cue: Mapping[str, str] | None = None,
    ) -> Reply:
        """Return a step's reply."""
        ...


async def hold_panel(
    debate: Debate, turns: Sequence[Turn], prompts: Prompts, steps: Caller
) -> tuple[Verdict, dict[str, Ballot]]:
    """Return the panel's verdict, and every ballot by the step that gave it.

    A juror that cannot be asked, or answers nothing usable, casts an invalid ballot; it is
    never a score. Raises what stops a debate: StoppedError, PausedError, LeaseLostError.
    """
    panel = Panel(debate, tuple(turns), prompts, steps)
    contenders = tuple(debate.request.sides)
    cast: dict[str, Ballot] = {}
    while readings := next_readings(debate.setup.panel, contenders, tuple(cast.values())):
        # Every call ends before a failure is raised: what was paid for is journaled.
        taken = await asyncio.gather(*map(panel.read, readings), return_exceptions=True)
        for result in taken:
            if isinstance(result, BaseException):
                raise result
            cast[result[0]] = result[1]
    verdict, measured = aggregate(debate.setup.panel, contenders, tuple(cast.values()))
    return verdict, dict(zip(cast, measured, strict=True))


@dataclass(frozen=True, slots=True)
class Panel:
    """What every reading of one debate shares."""

    debate: Debate
    turns: tuple[Turn, ...]
    prompts: Prompts
    steps: Caller

    async def read(self, reading: Reading) -> tuple[str, Ballot]:
        """Ask a juror for one ballot, once more when the first cannot be used."""
        step = f"jury/{reading.juror.ref}/{''.join(reading.order)}"
        messages = self._messages(reading)
        reply: Reply | None = None
        try:
            reply = await self._ask(step, reading, messages)
            outcome = self._judge(reply)
            if outcome.retry:
                step, messages = f"{step}/again", self._again(messages, reply, outcome)
                reply = await self._ask(step, reading, messages)
                outcome = self._judge(reply)
        except (ModelError, BudgetError) as error:
            outcome = Outcome.failed(str(error))
        names = self.debate.setup.names
        return step, make_ballot(reading, names, outcome, reply, prompt_hash(messages))

    async def _ask(self, step: str, reading: Reading, messages: Sequence[ChatMessage]) -> Reply:
        names = self._names(reading)
        cue = {
            "kind": "ballot",
            "topic": self.debate.request.topic,
            "language": self.debate.request.language,
            "shown": ",".join(names),
        }
        schema = ballot_schema(names, self.debate.setup.panel.rubric)
        sampling = self.debate.setup.sampling["juror"]
        return await self.steps.call(
            step, reading.juror, messages, sampling, schema=schema, cue=cue
        )

    def _judge(self, reply: Reply) -> Outcome:
        setup = self.debate.setup
        return read_ballot(reply.text, reply.finish, setup.names, setup.panel.rubric)

    def _names(self, reading: Reading) -> tuple[str, ...]:
        return tuple(self.debate.setup.names[side] for side in reading.order)

    def _messages(self, reading: Reading) -> tuple[ChatMessage, ...]:
        variables = self._variables(reading)
        # What jurors of one order share comes first: they share one copy in a prompt cache.
        shared = self.prompts.render("jury/transcript", **variables)
        asked = self.prompts.render("jury/ballot", **variables)
        return (
            ChatMessage(role="system", content=self.prompts.render("jury/system", **variables)),
            ChatMessage(role="user", content=f"{shared}\n\n{asked}"),
        )

    def _again(
        self, messages: tuple[ChatMessage, ...], reply: Reply, outcome: Outcome
    ) -> tuple[ChatMessage, ...]:
        ask = self.prompts.render("jury/retry", problem=outcome.problem)
        return (
            *messages,
            ChatMessage(role="assistant", content=reply.text),
            ChatMessage(role="user", content=ask),
        )

    def _variables(self, reading: Reading) -> dict[str, Any]:
        setup, request = self.debate.setup, self.debate.request
        cast = Cast(setup.names, request.sides, setup.panel.blind)
        return {
            "transcript": build_transcript(
                request.topic,
                request.conditions,
                self.turns,
                reading.order,
                cast,
                simultaneous=request.turn_order is TurnOrder.SIMULTANEOUS,
            ),
            "names": self._names(reading),
            "rubric": find_rubric(setup.panel.rubric),
            "language": language_name(request.language),
            "tie": tie_word(request.language),
        }
