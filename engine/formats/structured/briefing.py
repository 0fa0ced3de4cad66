"""The result of a `structured` debate: scores, trace table, the judge's verdict, the briefing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import orjson
from pydantic import Field

from engine.formats.judges import tell_judges
from engine.formats.structured.answers import CHANGES, ClosingStatement, Judgment, Response
from engine.formats.structured.trace import (
    LEVEL,
    Argument,
    Trace,
    consensus_of,
    describe,
    outline,
    read_gap,
    table,
)
from engine.jury.rubric import Rubric
from engine.stage import Stage
from engine.stage.shapes import ShapedAnswer
from engine.store import Post
from engine.values.debate import OTHER, Request, Value
from engine.values.language import N_
from engine.values.messages import File, Report
from engine.values.text import marked
from engine.values.verdicts import POSITION, TIE, Artifact, Score, Verdict
from engine.words.cards import ARGUES
from engine.words.translation import number, say

NAME = "structured"
TITLE = N_("Decision briefing")
UNRESOLVED = N_("**Unresolved.**")
NOTHING_CONCEDED = N_("None")
POSITIONS = N_("**Positions.**")
CHANGED = {
    "strengthened": N_("{side} strengthened: {because}"),
    "weakened": N_("{side} weakened: {because}"),
    "partly_changed": N_("{side} partly changed: {because}"),
    "unchanged": N_("{side} unchanged: {because}"),
}
AID = N_("Scores are aids to a decision, and no verdict on the truth.")
Arguments = Mapping[str, Sequence[Argument]]
Responses = Mapping[str, Mapping[str, Response]]
Closings = Mapping[str, ClosingStatement]


class _Change(Value):
    """How a side says its position changed, and why."""

    change: str
    because: str


UNKNOWN = "unknown"  # a change that could not be read, which is never guessed


def keep_position(step: str, closing: ShapedAnswer[ClosingStatement]) -> Artifact:
    """Return the record of what a side says its position became, and why."""
    said = closing.value or ClosingStatement()
    known = said.change in CHANGES
    body = {"change": said.change if known else UNKNOWN, "why": said.because.strip()}
    if not known:
        body |= {"raw": closing.raw, "problem": closing.problem}
    return Artifact.of(f"{POSITION}/{step}", POSITION, body, valid=known)


class _Briefing(Value):
    """A structured debate in one page; totals are empty where the judge was not readable.

    `judges` says how far several judges agree.
    """

    topic: str
    conditions: str = ""
    totals: dict[str, float]
    judges: str = ""
    traces: tuple[Trace, ...]
    key_insight: str = ""
    recommendation: str = ""
    unresolved: tuple[str, ...] = ()
    concessions: dict[str, tuple[str, ...]]
    changes: dict[str, _Change] = Field(default_factory=dict)


def assess(
    setting: Request,
    arguments: Arguments,
    responses: Responses,
    closings: Closings,
    answer: ShapedAnswer[Judgment],
    rubric: Rubric,
) -> tuple[_Briefing, tuple[Score, ...], Verdict]:
    """Return the briefing that a judge's answer makes, its scores and its verdict; pure."""
    judgment = answer.value if answer.valid else None
    traces = tuple(trace_arguments(arguments, responses, closings, judgment, rubric))
    totals = total_sides(traces, rubric) if judgment else {}
    scores = tuple(_scores(traces, totals, answer, rubric))
    verdict = _verdict(totals, answer, rubric)
    briefing = _Briefing(
        topic=setting.topic,
        conditions=setting.conditions,
        totals=totals,
        judges=tell_judges(verdict.by_judge, scores, NAME),
        traces=traces,
        key_insight=judgment.key_insight if judgment else "",
        recommendation=judgment.recommendation if judgment else "",
        unresolved=judgment.unresolved if judgment else (),
        concessions={
            side: tuple(trace.id for trace in traces if trace.confirmed and trace.side != side)
            for side in closings
        },
        changes={
            side: _Change(change=closing.change, because=closing.because.strip())
            for side, closing in closings.items()
            if closing.change in CHANGES
        },
    )
    return briefing, scores, verdict


async def conclude(
    stage: Stage,
    briefing: _Briefing,
    scores: Sequence[Score],
    verdict: Verdict,
    answer: ShapedAnswer[Judgment],
) -> None:
    """Keep the judge's findings, and its briefing for after the vote."""
    raw = {"raw": answer.raw, "problem": answer.problem}
    stances = stage.request.stances
    text = "\n\n".join(_pages(briefing, stances, outline(briefing.traces)))
    whole = "\n\n".join(_pages(briefing, stances, table(briefing.traces)))
    body = orjson.dumps(briefing.model_dump(mode="json"), option=orjson.OPT_INDENT_2).decode()
    files = (
        File(name="briefing.md", media="text/markdown", content=f"# {briefing.topic}\n\n{whole}\n"),
        File(name="briefing.json", media="application/json", content=f"{body}\n"),
    )
    await stage.keep(
        Post(
            key="structured/briefing",
            message=Report(title=say(TITLE), text=text, side="judge", files=files),
        ),
        artifacts=[
            Artifact(name="briefing", kind="structured", body=briefing.model_dump(mode="json")),
            Artifact(name="judge", kind="judgment", body=raw, valid=answer.valid),
        ],
        scores=scores,
        verdict=verdict,
    )


def trace_arguments(
    arguments: Arguments,
    responses: Responses,
    closings: Closings,
    judgment: Judgment | None,
    rubric: Rubric,
) -> Iterator[Trace]:
    """Yield each argument's trace, in order."""
    criteria = [criterion.name for criterion in rubric.criteria]
    brought = {new.response: new.what for new in judgment.new_arguments} if judgment else {}
    for side, stated in arguments.items():
        for argument in stated:
            response = responses[side].get(argument.id) or Response(type="")
            withdrawn = argument.id in closings[side].withdrawn
            confirmed = argument.id in closings[OTHER[side]].concessions
            sheet = judgment.arguments[argument.id] if judgment else None
            yield Trace(
                id=argument.id,
                side=side,
                claim=argument.claim,
                sourced=argument.sourced,
                response=response.type,
                reasoning=response.reasoning,
                answer=closings[side].answers.get(argument.id, "").strip(),
                withdrawn=withdrawn,
                confirmed=confirmed,
                consensus=consensus_of(response.type, confirmed=confirmed, withdrawn=withdrawn),
                standing=sheet.standing if sheet else "",
                reason=sheet.reason if sheet else "",
                fallacies=sheet.fallacies if sheet else (),
                new_argument=brought.get(argument.id, "").strip(),
                scores={name: sheet.score(name) or 0 for name in criteria} if sheet else {},
            )


def total_sides(traces: Sequence[Trace], rubric: Rubric) -> dict[str, float]:
    """Return each side's total: the mean of its arguments' weighted scores, 1–10."""
    return {
        side: fmean(rubric.score(trace.scores) for trace in traces if trace.side == side)
        for side in "AB"
    }


def _verdict(
    totals: Mapping[str, float], answer: ShapedAnswer[Judgment], rubric: Rubric
) -> Verdict:
    opinions = answer.opinions or (answer.value if answer.valid else None,)
    alone = tuple(given and _total(given, rubric) for given in opinions)
    winners = tuple(given and _leader(given) for given in alone)
    valid = sum(winner is not None for winner in winners)
    return Verdict(
        winner=_leader(totals) if totals else None,
        problem="" if totals else answer.problem,
        valid=valid,
        invalid=len(winners) - valid,
        rubric=rubric.name,
        blind=False,
        by_judge=winners if answer.opinions else (),
        totals=totals,
        totals_by_judge=alone if answer.opinions else (),
    )


def _leader(totals: Mapping[str, float]) -> str:
    level = abs(totals["A"] - totals["B"]) < LEVEL
    return TIE if level else max(totals, key=lambda side: totals[side])


def _total(judgment: Judgment, rubric: Rubric) -> dict[str, float]:
    """Return each side's total by one judge's scores alone."""
    names = [criterion.name for criterion in rubric.criteria]
    scores = {
        argument: rubric.score({name: sheet.score(name) or 0 for name in names})
        for argument, sheet in judgment.arguments.items()
    }
    return {
        side: fmean(score for argument, score in scores.items() if argument[0] == side)
        for side in "AB"
    }


def _scores(
    traces: Sequence[Trace],
    totals: Mapping[str, float],
    answer: ShapedAnswer[Judgment],
    rubric: Rubric,
) -> Iterator[Score]:
    def score(subject: str, side: str, criterion: str, value: float) -> Score:
        def read(judgment: Judgment) -> float | None:
            if subject == "total":
                return _total(judgment, rubric)[side]
            return judgment.arguments[subject].score(criterion)

        spread = answer.spread(read)
        return Score(subject=subject, side=side, criterion=criterion, value=value, spread=spread)

    for trace in traces:
        for criterion, value in trace.scores.items():
            yield score(trace.id, trace.side, criterion, value)
    for side, total in totals.items():
        yield score("total", side, "total", total)


def _pages(briefing: _Briefing, stances: Mapping[str, str], traced: str) -> Iterator[str]:
    """Yield a briefing's parts; `traced` is its trace table."""
    yield f"**{briefing.topic}**"
    yield from (say(ARGUES, side=marked(side), stance=text) for side, text in stances.items())
    if briefing.conditions:
        yield say("**Conditions.** {text}", text=briefing.conditions)
    if briefing.totals:
        totals = say(", ").join(
            f"{marked(side)} {number(total, '.2f')}" for side, total in briefing.totals.items()
        )
        gap = read_gap(briefing.totals)
        yield say("**Totals.** {totals} of 10: {gap}.", totals=totals, gap=gap)
    else:
        yield say("The judge gave no answer that could be read, so nothing is scored.")
    if briefing.judges:
        yield say("**Judges.** {text}", text=briefing.judges)
    yield traced
    yield from describe(briefing.traces)
    if briefing.key_insight:
        yield say("**Key insight.** {text}", text=briefing.key_insight)
    if briefing.recommendation:
        yield say("**Recommendation.** {text}", text=briefing.recommendation)
    if briefing.unresolved:
        yield "\n".join((say(UNRESOLVED), *(f"- {question}" for question in briefing.unresolved)))
    conceded = (
        say("{side} concedes {ids}", side=marked(side), ids=say(", ").join(ids))
        for side, ids in briefing.concessions.items()
        if ids
    )
    yield say("**Concessions.** {text}.", text=say("; ").join(conceded) or say(NOTHING_CONCEDED))
    if briefing.changes:
        moved = (
            say(CHANGED[one.change], side=marked(side), because=" ".join(one.because.split()))
            for side, one in briefing.changes.items()
        )
        yield "\n".join((say(POSITIONS), *(f"- {said}" for said in moved)))
    yield f"*{say(AID)}*"
