"""`classic`: two sides, four rounds, and only the opponent's last words in between.

A side's last turn says in a structured form what it decides: whether it maintains its position,
qualifies it or gives it up, and why.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from engine.formats.format import Format, Labels, Sized
from engine.stage import QUESTIONS, Stage
from engine.stage.shapes import TEXT, Fault, Shape, ShapedAnswer, TurnLimits, choice, named
from engine.values.debate import Request, TurnOrder, Value
from engine.values.language import N_
from engine.values.limits import ClassicLimits
from engine.values.verdicts import DECISION, Artifact

DECISIONS = ("maintains", "qualifies", "gives_up")
UNKNOWN = "unknown"  # a decision that could not be read, which is never guessed


class _Conclusion(Value, extra="ignore"):
    """A side's last turn: what the debate established, and what follows for its position."""

    synthesis: str
    why: str
    decision: str = ""

    @property
    def read(self) -> str:
        """Return the decision as one of `DECISIONS`, or `UNKNOWN`."""
        said = "_".join(self.decision.casefold().replace("-", " ").replace("_", " ").split())
        return said if said in DECISIONS else UNKNOWN


_SCHEMA = named("Conclusion", {"synthesis": TEXT, "why": TEXT, "decision": choice(*DECISIONS)})


class Classic(Format):
    """Opening, rebuttal (as often as asked), assumptions, closing; A speaks, then B.

    Sequential turns show A what B said a round ago, and B what A has just said; simultaneous
    ones show both the round before, which takes the last word away.
    """

    name = "classic"
    about = N_("both sides argue in turn, from opening to closing; a juror sums it up")
    version = 1
    takes_rounds = True
    summarised = True
    takes_questions = True
    takes_person = True
    limits = ClassicLimits
    short = Sized({"words": 120, "arguments": 2, "synthesis_chars": 300, "decision_words": 80})
    long = Sized(
        {"words": 800, "arguments": 4, "synthesis_chars": 800, "decision_words": 300}, rounds=2
    )

    def rounds(self, request: Request) -> tuple[str, ...]:
        """Return the rounds in order; further rebuttals are numbered from 2."""
        more = (f"rebuttal-{number}" for number in range(2, request.rounds + 1))
        rounds = ("opening", "rebuttal", *more, "assumptions", "closing")
        return self.with_questions(request, rounds)

    def turns(self, request: Request) -> int:
        """Return the number of turns."""
        return 2 * len(self.rounds(request))

    def waves(self, request: Request) -> int:
        """Return the number of calls in sequence."""
        together = request.turn_order is TurnOrder.SIMULTANEOUS
        return len(self.rounds(request)) * (1 if together else 2)

    async def run(self, stage: Stage) -> None:
        """Hold the debate."""
        last_a = last_b = None
        for round_name in self.rounds(stage.request):
            if round_name == QUESTIONS and not await stage.hear_questions():
                continue
            if stage.request.turn_order is TurnOrder.SIMULTANEOUS:
                last_a, last_b = await stage.all_at_once(
                    self._speak(stage, "A", round_name, last_b),
                    self._speak(stage, "B", round_name, last_a),
                )
            else:
                last_a = await self._speak(stage, "A", round_name, last_b)
                last_b = await self._speak(stage, "B", round_name, last_a)

    async def _speak(self, stage: Stage, seat: str, round_name: str, opposing: str | None) -> str:
        kind = round_name.split("-")[0]
        if kind == QUESTIONS:
            return await stage.answer(seat, opposing=opposing)
        if kind == "closing":
            return await self._close(stage, seat, opposing)
        limits = ClassicLimits.model_validate(stage.limits)
        return await stage.speak(
            seat,
            round_name,
            template=f"classic/{seat.lower()}/{kind}",
            limits=TurnLimits(words=limits.words, arguments=limits.arguments),
            opposing=opposing,
        )

    async def _close(self, stage: Stage, seat: str, opposing: str | None) -> str:
        """Let a side give its last turn, and keep its decision."""
        labels = stage.prompts.data("classic/labels", Labels).of(stage.request.language)
        limits = ClassicLimits.model_validate(stage.limits)
        answer = await stage.state(
            seat,
            "closing",
            template=f"classic/{seat.lower()}/closing",
            shape=shape_of(stage, limits),
            show=partial(show, labels),
            limits=TurnLimits(),
            role="closing",
            opposing=opposing,
            last=True,
            numbers=limits,
        )
        turn = next(turn for turn in reversed(stage.turns) if turn.seat == seat)
        await stage.keep(artifacts=[decided(turn.step, answer)])
        return turn.text


def shape_of(stage: Stage, limits: ClassicLimits) -> Shape[_Conclusion]:
    """Return the form of a last turn, with its limits."""

    def check(said: _Conclusion) -> tuple[Fault, ...]:
        measured = (
            ("long_synthesis", len(said.synthesis), limits.synthesis_chars, "characters"),
            ("long_decision", stage.count(said.why), limits.decision_words, "words"),
        )
        faults = [
            Fault(
                kind=kind,
                what=f"{kind.removeprefix('long_')} has {found} {unit}; at most {most} are allowed",
                measured=found,
                limit=most,
            )
            for kind, found, most, unit in measured
            if found > most
        ]
        if said.read == UNKNOWN:
            known = ", ".join(DECISIONS)
            faults.append(Fault(kind="no_decision", what=f"decision is none of {known}"))
        return tuple(faults)

    return Shape(_Conclusion, _SCHEMA, check)


def show(labels: Mapping[str, str], said: _Conclusion) -> str:
    """Return a last turn for the thread: the synthesis, then the decision and why."""
    decision = labels.get(said.read)
    return "\n\n".join(
        (said.synthesis, "---", *([f"**{decision}**"] if decision else []), said.why)
    )


def decided(step: str, answer: ShapedAnswer[_Conclusion]) -> Artifact:
    """Return the record of a side's decision; an unreadable one is unknown."""
    said = answer.value
    decision = UNKNOWN if said is None else said.read
    body = {"decision": decision, "why": "" if said is None else said.why}
    valid = decision != UNKNOWN
    if not valid:
        body |= {"raw": answer.raw, "problem": answer.problem}
    return Artifact.of(f"{DECISION}/{step}", DECISION, body, valid=valid)
