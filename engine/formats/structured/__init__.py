"""`structured`: numbered arguments, each answered, each traced to where it stands in the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from engine.formats.format import Format, Labels, Roles, Sized
from engine.formats.judges import ask_judges
from engine.formats.structured.answers import (
    FALLACIES,
    RESPONSES,
    ClosingStatement,
    Cross,
    Judgment,
    Opening,
    Response,
    closing_shape,
    cross_shape,
    judgment_shape,
    opening_shape,
    show_closing,
    show_cross,
    show_opening,
)
from engine.formats.structured.briefing import Arguments, assess, conclude, keep_position
from engine.formats.structured.trace import Argument, leaning
from engine.jury.rubric import DEBATE, EVIDENCE_FIRST, Rubric
from engine.stage import QUESTIONS, Stage
from engine.stage.shapes import ShapedAnswer, TurnLimits
from engine.values.debate import OTHER, Request, TurnOrder, Value
from engine.values.language import N_
from engine.values.limits import StructuredLimits
from engine.values.text import headline

NAME = "structured"
RUBRICS = {"panel": DEBATE, "evidence_first": EVIDENCE_FIRST}
CLAIM_CHARS = 200  # of a free text that counts as an argument


class _StructuredOptions(Value):
    """Which rubric the format's own judge scores by."""

    rubric: Literal["panel", "evidence_first"] = "panel"


class Structured(Format):
    """Opening, cross-examination of every argument, closing; both sides at the same time."""

    name = NAME
    about = N_("numbered arguments, each one answered; a judge marks every argument")
    version = 1
    files = True
    takes_questions = True
    options = _StructuredOptions
    turn_order = TurnOrder.SIMULTANEOUS
    limits = StructuredLimits
    short = Sized(
        {
            "most": 3,
            "text_words": 40,
            "questions": 1,
            "closing_least": 60,
            "closing_words": 150,
        }
    )
    long = Sized({"most": 7, "closing_words": 300})

    def roles(self, options: Mapping[str, object]) -> Roles:
        """Return both sides, and one judge."""
        return Roles(self.contenders, judges=1)

    def rounds(self, request: Request) -> tuple[str, ...]:
        """Return the three rounds, and that of the audience's questions if wanted."""
        return self.with_questions(request, ("opening", "cross-examination", "closing"))

    def turns(self, request: Request) -> int:
        """Return the number of turns."""
        return 2 * len(self.rounds(request))

    def waves(self, request: Request) -> int:
        """Return the rounds; the judge is asked beside the panel."""
        return len(self.rounds(request))

    async def run(self, stage: Stage) -> None:
        """Hold the debate."""
        limits = StructuredLimits.model_validate(stage.limits)
        labels = stage.prompts.data(f"{NAME}/labels", Labels).of(stage.request.language)

        opened = await stage.all_at_once(*(_open(stage, side, limits, labels) for side in "AB"))
        arguments = {}
        for side, opening in zip("AB", opened, strict=True):
            numbered = _numbered(side, opening.value) if opening.value else ()
            claim = headline(opening.raw, CLAIM_CHARS)  # a free text counts as a single argument
            arguments[side] = numbered or (Argument(id=f"{side}-1", claim=claim),)

        crossed = await stage.all_at_once(
            *(_cross(stage, side, arguments[OTHER[side]], limits, labels) for side in "AB")
        )
        heard = dict(zip("BA", crossed, strict=True))
        responses = {side: _responses(heard[side], arguments[side]) for side in "AB"}

        if QUESTIONS in self.rounds(stage.request) and await stage.hear_questions():
            await stage.all_at_once(*(stage.answer(side) for side in "AB"))

        closed = await stage.all_at_once(
            *(
                _close(stage, side, arguments, responses[side], heard[side].free, limits, labels)
                for side in "AB"
            )
        )
        steps = (turn.step for turn in stage.turns[-2:])
        await stage.keep(artifacts=list(map(keep_position, steps, closed)))
        closings = {
            side: closing.value or ClosingStatement()
            for side, closing in zip("AB", closed, strict=True)
        }

        stage.adjourn()
        answer = await _judge(stage, arguments)
        found = assess(stage.request, arguments, responses, closings, answer, _rubric(stage))
        await conclude(stage, *found, answer)


async def _open(
    stage: Stage, side: str, limits: StructuredLimits, labels: Mapping[str, str]
) -> ShapedAnswer[Opening]:
    return await stage.state(
        side,
        "opening",
        template=f"{NAME}/opening",
        shape=opening_shape(limits, leaning(labels)),
        show=lambda opening: show_opening(_numbered(side, opening), labels),
        limits=TurnLimits(),
        numbers=limits,
        text_words=limits.told_words,
    )


async def _cross(
    stage: Stage,
    side: str,
    opposing: Sequence[Argument],
    limits: StructuredLimits,
    labels: Mapping[str, str],
) -> ShapedAnswer[Cross]:
    return await stage.state(
        side,
        "cross-examination",
        template=f"{NAME}/cross",
        shape=cross_shape(tuple(argument.id for argument in opposing), limits.questions),
        show=lambda cross: show_cross(cross, labels),
        limits=TurnLimits(),
        role="cross",
        arguments=opposing,
        responses=RESPONSES,
        questions=limits.questions,
        text_words=limits.told_words,
    )


async def _close(
    stage: Stage,
    side: str,
    arguments: Arguments,
    responses: Mapping[str, Response],
    free: str,
    limits: StructuredLimits,
    labels: Mapping[str, str],
) -> ShapedAnswer[ClosingStatement]:
    own = tuple(argument.id for argument in arguments[side])
    opposing = tuple(argument.id for argument in arguments[OTHER[side]])
    asked = tuple(name for name, response in responses.items() if response.questions)
    measure: Callable[[str], int] = stage.count
    return await stage.state(
        side,
        "closing",
        template=f"{NAME}/closing",
        shape=closing_shape(own, opposing, asked, limits, measure),
        show=lambda closing: show_closing(closing, labels),
        limits=TurnLimits(),
        role="closing",
        last=True,
        arguments=arguments[side],
        responses=responses,
        free=free,
        asked=asked,
        opposing_ids=opposing,
        numbers=limits,
        text_words=limits.told_words,
    )


def _numbered(side: str, opening: Opening) -> tuple[Argument, ...]:
    """Number a side's arguments here, so that no number can be wrong."""
    return tuple(
        Argument(id=f"{side}-{number}", **statement.model_dump())
        for number, statement in enumerate(opening.arguments, 1)
    )


def _responses(cross: ShapedAnswer[Cross], arguments: Sequence[Argument]) -> dict[str, Response]:
    """Return the responses to existing arguments; an unknown type becomes empty."""
    given = cross.value.responses if cross.value else {}
    return {
        argument.id: Response(
            type=said.type if said.type in RESPONSES else "",
            reasoning=said.reasoning.strip(),
            questions=tuple(question for question in said.questions if question.strip()),
        )
        for argument in arguments
        if (said := given.get(argument.id))
    }


async def _judge(stage: Stage, arguments: Arguments) -> ShapedAnswer[Judgment]:
    """Have every argument scored, as it stands after the whole debate."""
    ids = tuple(argument.id for side in "AB" for argument in arguments[side])
    rubric = _rubric(stage)
    return await ask_judges(
        stage,
        "judge",
        system=f"{NAME}/judge",
        template=f"{NAME}/judgment",
        shape=judgment_shape(ids, rubric),
        facts={
            "criteria": rubric.criteria,
            "fallacies": FALLACIES,
            "transcript": stage.transcript(),
            "ids": ids,
        },
    )


def _rubric(stage: Stage) -> Rubric:
    """Return what the judge scores by: the panel's has the operator's weights."""
    name = _StructuredOptions.model_validate(stage.request.options).rubric
    rubric = RUBRICS[name].model_copy(update={"name": name})
    if name == "evidence_first":
        return rubric
    limits = StructuredLimits.model_validate(stage.limits)
    return rubric.weighed(
        {one.name: getattr(limits, f"weight_{one.name}") for one in rubric.criteria}
    )
