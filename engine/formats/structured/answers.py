"""What sides and judge of a `structured` debate answer: forms, rules, and how they are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from pydantic import AfterValidator, Field

from engine.formats.structured.trace import STANDINGS, Argument
from engine.jury.rubric import HIGHEST, LOWEST, Rubric
from engine.stage.forms import Between, ByKey, Filled, OneOf, Words, form
from engine.stage.shapes import (
    TEXT,
    AnswerPart,
    Fault,
    Shape,
    by_key,
    choice,
    is_whole,
    named,
    record,
    several,
    whole,
)
from engine.values.limits import StructuredLimits

# The meaning of each type of response, in the debaters' prompts.
RESPONSES = {
    "refute": "it has a factual or logical error: name it",
    "challenge": "its evidence is lacking, or the conditions that it needs are not met: say which",
    "concede": "it holds",
    "partial": "its core holds, but its degree or scope does not: say how far it goes",
}
# The judge's question for each fallacy.
FALLACIES = {
    "straw_man": "Does it attack something that the other side did not say?",
    "appeal_to_authority": "Does a name stand in place of a reason?",
    "slippery_slope": "Is one step said to set off a chain that nothing could stop?",
    "false_dilemma": "Does it offer only two ways where there are more?",
    "anecdotal_evidence": "Do single cases stand in place of systematic evidence?",
    "circular_reasoning": "Does its premise already hold its conclusion?",
    "ad_hominem": "Does it attack the person in place of the argument?",
}
CHANGES = ("strengthened", "weakened", "partly_changed", "unchanged")


SHORT = ("short_{key}", "the {key} of argument {of} needs at least {limit} characters")
NO_ARGUMENT = ("wrong_id", "there is no argument “{key}” to speak of here")
STRANGE = ("wrong_id", "there is no argument “{value}” to speak of here")


class _Statement(AnswerPart):
    """One argument as it is stated."""

    claim: Annotated[str, Filled(SHORT, "claim")] = ""
    reasoning: Annotated[str, Filled(SHORT, "reasoning")] = ""
    evidence: Annotated[str, Filled(SHORT, "evidence")] = ""


class Opening(AnswerPart):
    """A side's opening."""

    arguments: Annotated[
        tuple[_Statement, ...],
        Between(
            "fewest",
            "most",
            ("too_few_arguments", "it needs {limit}"),
            ("too_many_arguments", "{limit} are allowed"),
        ),
    ]


class Response(AnswerPart):
    """What the other side said to an argument, and what it asked; `type` may be empty."""

    type: Annotated[
        str, OneOf(RESPONSES, ("wrong_type", "the type of {of} is none of {known}"))
    ] = ""
    reasoning: Annotated[str, Filled(("missing_reasoning", "{of} has no reasoning"))] = ""
    questions: Annotated[
        tuple[str, ...],
        Between(1, "questions"),
        Filled(("missing_question", "{of} has no follow-up question")),
    ] = ()


class Cross(AnswerPart, extra="allow", title="CrossExamination"):
    """A side's responses, by the argument's id; any other key would bring something new."""

    responses: Annotated[
        dict[str, Response],
        ByKey("ids", ("missing_response", "{key} has no response"), NO_ARGUMENT),
    ]


def _once(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


Unique = Annotated[tuple[str, ...], AfterValidator(_once)]


class ClosingStatement(AnswerPart, title="Closing"):
    """A side's answers to the questions about its arguments, and its closing.

    `change` is what it did with its position, and `because` why.
    """

    answers: Annotated[
        dict[str, str],
        ByKey("asked"),
        Filled(("missing_answer", "the question about {key} is not answered")),
    ] = Field(default_factory=dict)
    concessions: Annotated[Unique, OneOf("opposing", STRANGE)] = ()
    standing: Annotated[Unique, OneOf("own", STRANGE)] = ()
    withdrawn: Annotated[Unique, OneOf("own", STRANGE)] = ()
    position: Annotated[
        str,
        Words("least", "most"),
        Filled(("missing_position", "the final position is missing")),
    ] = ""
    change: Annotated[str, OneOf(CHANGES, ("missing_change", "{where} is none of {known}"))] = ""
    because: Annotated[
        str, Filled(("missing_because", "the reason for that change is missing"))
    ] = ""


class _ArgumentSheet(AnswerPart, extra="allow"):
    """A judge's sheet of one argument; its criteria are the rubric's."""

    standing: str
    fallacies: Unique = ()
    reason: str = ""

    def score(self, criterion: str) -> float | None:
        """Return a criterion's score; of a median it may be halfway between two whole numbers."""
        given = (self.model_extra or {}).get(criterion)
        return given if isinstance(given, int | float) else None


class _NewArgument(AnswerPart):
    """An argument that no opening held, brought in the response to argument `response`."""

    response: str
    what: str


class Judgment(AnswerPart):
    """The judge's sheets by argument, and what it makes of the whole."""

    arguments: dict[str, _ArgumentSheet]
    new_arguments: tuple[_NewArgument, ...] = ()
    key_insight: str = ""
    unresolved: Unique = ()
    recommendation: str = ""


# --- forms and rules -------------------------------------------------------------------


def opening_shape(
    limits: StructuredLimits, find_leaning: Callable[[str, int], str]
) -> Shape[Opening]:
    """Return the form of an opening; `find_leaning` finds what no argument may hold."""

    def check(opening: Opening) -> tuple[Fault, ...]:
        leaning = (
            (number, find_leaning(f"{one.claim}\n{one.reasoning}", number))
            for number, one in enumerate(opening.arguments, 1)
        )
        return tuple(
            _fault(
                "leaning_argument",
                f"argument {number} leans on another one (“{found}”); each stands alone",
            )
            for number, found in leaning
            if found
        )

    return form(
        Opening,
        check,
        fewest=limits.fewest,
        most=limits.most,
        claim=limits.claim_chars,
        reasoning=limits.reasoning_chars,
        evidence=limits.evidence_chars,
    )


def cross_shape(ids: tuple[str, ...], questions: int) -> Shape[Cross]:
    """Return the form of a cross-examination of these arguments."""

    def check(cross: Cross) -> tuple[Fault, ...]:
        return tuple(
            _fault("new_argument", f"“{key[:40]}” is new, and no new argument counts here")
            for key in cross.model_extra or {}
        )

    return form(Cross, check, ids=ids, questions=questions)


def closing_shape(
    own: tuple[str, ...],
    opposing: tuple[str, ...],
    asked: tuple[str, ...],
    limits: StructuredLimits,
    count: Callable[[str], int],
) -> Shape[ClosingStatement]:
    """Return the form of a closing; `asked` are the own arguments that were asked about."""
    least, most = limits.closing_least, limits.closing_words

    def check(closing: ClosingStatement) -> tuple[Fault, ...]:
        faults = _strangers(closing.answers, own)
        for part in ("concessions", "standing"):
            if part not in closing.model_fields_set:
                faults.append(_fault(f"missing_{part}", f"the list “{part}” is missing"))
        words = count(closing.position)
        if closing.position.strip() and words < least:
            what = f"the closing has {words} words, and needs at least {least}"
            faults.append(_fault("too_few_words", what, words, least))
        if words > most:
            what = f"the closing has {words} words, and {most} are allowed"
            faults.append(_fault("too_many_words", what, words, most))
        return tuple(faults)

    return form(
        ClosingStatement, check, own=own, opposing=opposing, asked=asked, least=least, most=most
    )


def judgment_shape(ids: tuple[str, ...], rubric: Rubric) -> Shape[Judgment]:
    """Return the form of the judge's answer: a sheet for every argument."""
    criteria = [criterion.name for criterion in rubric.criteria]
    sheet = record(
        {"reason": TEXT}  # first, so that scores and standing follow from it
        | dict.fromkeys(criteria, whole(LOWEST, HIGHEST))
        | {"standing": choice(*STANDINGS), "fallacies": several(choice(*FALLACIES))}
    )
    brought = several(record({"response": choice(*ids), "what": TEXT}))
    schema = named(
        "Judgment",
        {
            "arguments": by_key(ids, sheet),
            "new_arguments": brought,
            "key_insight": TEXT,
            "unresolved": several(TEXT, 1, 3),
            "recommendation": TEXT,
        },
    )

    def check(judgment: Judgment) -> tuple[Fault, ...]:
        faults = [
            _fault("missing_sheet", f"{name} is not judged")
            for name in ids
            if name not in judgment.arguments
        ]
        faults += _strangers(judgment.arguments, ids)
        faults += _strangers([new.response for new in judgment.new_arguments], ids)
        if "new_arguments" not in judgment.model_fields_set:
            faults.append(_fault("missing_new_arguments", "the list “new_arguments” is missing"))
        for name, given in judgment.arguments.items():
            faults += _misjudged(name, given, criteria)
        for part in ("key_insight", "recommendation"):
            if not getattr(judgment, part).strip():
                faults.append(_fault(f"missing_{part}", f"“{part}” is missing"))
        if "unresolved" not in judgment.model_fields_set:
            faults.append(_fault("missing_unresolved", "the list “unresolved” is missing"))
        return tuple(faults)

    return Shape(Judgment, schema, check)


def _misjudged(name: str, sheet: _ArgumentSheet, criteria: Sequence[str]) -> list[Fault]:
    faults = [
        _fault("wrong_score", f"{criterion} of {name} is no whole number from 1 to 10")
        for criterion in criteria
        if not is_whole(sheet.score(criterion), LOWEST, HIGHEST)
    ]
    if sheet.standing not in STANDINGS:
        faults.append(
            _fault("wrong_standing", f"the standing of {name} is none of {', '.join(STANDINGS)}")
        )
    if not sheet.reason.strip():
        faults.append(_fault("missing_reason", f"the reason for the standing of {name} is missing"))
    if strange := [fallacy for fallacy in sheet.fallacies if fallacy not in FALLACIES]:
        faults.append(
            _fault(
                "wrong_fallacy", f"“{strange[0][:40]}” of {name} is not on the list of fallacies"
            )
        )
    return faults


def _strangers(given: Mapping[str, object] | Sequence[str], known: Sequence[str]) -> list[Fault]:
    return [
        _fault("wrong_id", f"there is no argument “{name[:40]}” to speak of here")
        for name in given
        if name not in known
    ]


def _fault(kind: str, what: str, measured: float = 1, limit: float = 0) -> Fault:
    return Fault(kind=kind, what=what, measured=measured, limit=limit)


# --- how they are shown ----------------------------------------------------------------


def show_opening(arguments: Sequence[Argument], labels: Mapping[str, str]) -> str:
    """Return an opening as Markdown."""
    return "\n\n".join(
        f"**{argument.id}. {argument.claim.strip()}**\n\n{argument.reasoning.strip()}\n\n"
        f"*{labels['evidence']}:* {argument.evidence.strip()}"
        for argument in arguments
    )


def show_cross(cross: Cross, labels: Mapping[str, str]) -> str:
    """Return a cross-examination as Markdown, grouped by argument."""
    shown = []
    for name, response in cross.responses.items():
        kind = labels.get(response.type, response.type)
        questions = "\n".join(f"- {question.strip()}" for question in response.questions)
        shown.append(f"**{name} · {kind}**\n\n{response.reasoning.strip()}\n\n{questions}".strip())
    return "\n\n".join(shown)


def show_closing(closing: ClosingStatement, labels: Mapping[str, str]) -> str:
    """Return the answers and the closing as Markdown."""
    parts = [f"**{name}** {answer.strip()}" for name, answer in closing.answers.items()]
    parts.append(closing.position.strip())
    for key in ("concessions", "standing", "withdrawn"):
        if named_ids := getattr(closing, key):
            parts.append(f"*{labels[key]}:* {', '.join(named_ids)}")
    if closing.change in CHANGES:
        parts.append(f"*{labels[closing.change]}* {closing.because.strip()}")
    return "\n\n".join(part for part in parts if part)
