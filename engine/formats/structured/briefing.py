"""What comes of a `structured` debate: scores, trace table, the judge's verdict, the briefing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

import orjson

from engine.debate import Value
from engine.findings import Artifact, Score
from engine.floor.floor import Floor
from engine.floor.shapes import Answer
from engine.formats.structured.answers import Closing, Judgment
from engine.formats.structured.trace import (
    LEVEL,
    Argument,
    Response,
    Trace,
    consensus_of,
    describe,
    read_gap,
    table,
)
from engine.judging import TIE, Verdict
from engine.jury.rubric import find_rubric
from engine.messages import File, Report
from engine.store import Post

Arguments = Mapping[str, Sequence[Argument]]
Responses = Mapping[str, Mapping[str, Response]]
Closings = Mapping[str, Closing]
AID = "Scores are aids to a decision, and no verdict on the truth."
UNJUDGED = "The judge gave no answer that could be read, so nothing is scored."


class Briefing(Value):
    """A structured debate in one page; totals are empty where the judge was not readable."""

    topic: str
    conditions: str = ""
    totals: dict[str, float]
    traces: tuple[Trace, ...]
    key_insight: str = ""
    recommendation: str = ""
    unresolved: tuple[str, ...] = ()
    concessions: dict[str, tuple[str, ...]]


async def conclude(
    floor: Floor,
    arguments: Arguments,
    responses: Responses,
    closings: Closings,
    answer: Answer[Judgment],
    rubric: str,
) -> None:
    """Keep all that the judge found, and its briefing for after the vote."""
    judgment = answer.value if answer.valid else None
    traces = tuple(trace_arguments(arguments, responses, closings, judgment, rubric))
    totals = total_sides(traces, rubric) if judgment else {}
    briefing = Briefing(
        topic=floor.request.topic,
        conditions=floor.request.conditions,
        totals=totals,
        traces=traces,
        key_insight=judgment.key_insight if judgment else "",
        recommendation=judgment.recommendation if judgment else "",
        unresolved=judgment.unresolved if judgment else (),
        concessions={
            side: tuple(trace.id for trace in traces if trace.confirmed and trace.side != side)
            for side in closings
        },
    )
    body = briefing.model_dump(mode="json")
    raw = {"raw": answer.raw, "problem": answer.problem}
    await floor.keep(
        Post(key="structured/briefing", message=_report(briefing)),
        artifacts=[
            Artifact(name="briefing", kind="structured", body=body),
            Artifact(name="judge", kind="judgment", body=raw, valid=judgment is not None),
        ],
        scores=list(_scores(traces, totals)),
        verdict=_verdict(totals, answer.problem, rubric),
    )


def trace_arguments(
    arguments: Arguments,
    responses: Responses,
    closings: Closings,
    judgment: Judgment | None,
    rubric: str,
) -> Iterator[Trace]:
    """Yield what became of each argument, in order."""
    criteria = [criterion.name for criterion in find_rubric(rubric).criteria]
    for side, stated in arguments.items():
        other = "B" if side == "A" else "A"
        for argument in stated:
            response = responses[side].get(argument.id) or Response(type="")
            withdrawn = argument.id in closings[side].withdrawn
            confirmed = argument.id in closings[other].concessions
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
                scores={name: sheet.score(name) or 0 for name in criteria} if sheet else {},
            )


def total_sides(traces: Sequence[Trace], rubric: str) -> dict[str, float]:
    """Return each side's total: the mean of its arguments' weighted scores, 1–10."""
    by_name = find_rubric(rubric)
    return {
        side: fmean(by_name.score(trace.scores) for trace in traces if trace.side == side)
        for side in "AB"
    }


def _verdict(totals: Mapping[str, float], problem: str, rubric: str) -> Verdict:
    if not totals:
        return Verdict(winner=None, problem=problem, valid=0, invalid=1, rubric=rubric, blind=False)
    level = abs(totals["A"] - totals["B"]) < LEVEL
    winner = TIE if level else max(totals, key=lambda side: totals[side])
    return Verdict(winner=winner, valid=1, invalid=0, rubric=rubric, blind=False)


def _scores(traces: Sequence[Trace], totals: Mapping[str, float]) -> Iterator[Score]:
    for trace in traces:
        for criterion, value in trace.scores.items():
            yield Score(subject=trace.id, side=trace.side, criterion=criterion, value=value)
    for side, total in totals.items():
        yield Score(subject="total", side=side, criterion="total", value=total)


def _report(briefing: Briefing) -> Report:
    text = "\n\n".join(_pages(briefing))
    body = orjson.dumps(briefing.model_dump(mode="json"), option=orjson.OPT_INDENT_2).decode()
    files = (
        File(name="briefing.md", media="text/markdown", content=f"# {briefing.topic}\n\n{text}\n"),
        File(name="briefing.json", media="application/json", content=f"{body}\n"),
    )
    return Report(title="Decision briefing", text=text, side="judge", files=files)


def _pages(briefing: Briefing) -> Iterator[str]:
    yield f"**{briefing.topic}**"
    if briefing.conditions:
        yield f"**Conditions.** {briefing.conditions}"
    if briefing.totals:
        totals = ", ".join(f"{side} {total:.2f}" for side, total in briefing.totals.items())
        yield f"**Totals.** {totals} of 10: {read_gap(briefing.totals)}."
    else:
        yield UNJUDGED
    yield table(briefing.traces)
    yield from describe(briefing.traces)
    if briefing.key_insight:
        yield f"**Key insight.** {briefing.key_insight}"
    if briefing.recommendation:
        yield f"**Recommendation.** {briefing.recommendation}"
    if briefing.unresolved:
        yield "**Unresolved.**\n" + "\n".join(f"- {question}" for question in briefing.unresolved)
    conceded = [
        f"{side} concedes {', '.join(ids)}" for side, ids in briefing.concessions.items() if ids
    ]
    yield f"**Concessions.** {'; '.join(conceded) if conceded else 'None'}."
    yield f"*{AID}*"
