"""How judges find the best final answer of a `roundtable`: each marks all of them, blind.

The median of each mark stands. An answer's total is the weighted mean of its marks, 1–10, and the
highest total wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated

from engine.formats.judges import ask_judges, tell_judges
from engine.jury.rubric import ANSWERS, HIGHEST, LOWEST, Rubric
from engine.stage import Stage
from engine.stage.forms import WRONG, ByKey, Within, form
from engine.stage.shapes import (
    AnswerPart,
    ShapedAnswer,
)
from engine.store import Post
from engine.values.language import N_
from engine.values.messages import Report
from engine.values.overlap import mean_overlaps, most_central
from engine.values.text import rename
from engine.values.verdicts import TIE, Artifact, Score, Verdict
from engine.words.phrases import sentence_case
from engine.words.translation import number, say

# The result of a `roundtable` debate: its winner and why, for after the vote.


NAME = "roundtable"


async def converge(stage: Stage, personas: Mapping[str, str], drafts: Mapping[str, str]) -> None:
    """Name the final draft that is most like the others; computed, without a judge."""
    overlaps = mean_overlaps(drafts)
    shares = say(", ").join(
        f"{called(stage, agent)} {number(share, '.2f')}" for agent, share in overlaps.items()
    )
    note = say(
        "The final draft that shares most of its words with the others wins: {shares}.",
        shares=shares,
    )
    if len(drafts) == 2:
        note = say(
            "The two final drafts share {share} of their words. That says how far they agree, not "
            "which is better.",
            share=number(min(overlaps.values()), ".2f"),
        )
    winner = most_central(drafts) or TIE
    verdict = Verdict(winner=winner, valid=0, invalid=0, rubric="convergence", blind=True)
    await conclude(stage, personas, drafts, verdict, note, {"overlaps": overlaps})


async def conclude(
    stage: Stage,
    personas: Mapping[str, str],
    drafts: Mapping[str, str],
    verdict: Verdict,
    note: str,
    detail: Mapping[str, object],
    *,
    artifacts: Sequence[Artifact] = (),
    scores: Sequence[Score] = (),
) -> None:
    """Keep the result, and show it with the reveal."""
    winner = verdict.winner or ""
    final = drafts.get(winner)
    name = stage.called.get(winner)
    label = {
        None: say("No draft was picked"),
        TIE: say(
            N_("The judges call it a tie")
            if verdict.rubric != "convergence"
            else N_("The answers of the table are level")
        ),
    }.get(
        verdict.winner,
        say("{name} has the winning answer", name=name)
        if name
        else say("{name} has the winning draft", name=sentence_case(called(stage, winner))),
    )
    text = f"{note}\n\n{final}" if final else note
    side = verdict.winner if verdict.winner in drafts else None
    report = Report(title=label, text=text, side=side or "judge")
    body = {"winner": verdict.winner, "note": note, "final": final, **detail}
    body["personas"] = dict(personas)
    if stage.called:
        body["names"] = dict(stage.called)
    await stage.keep(
        Post(key="roundtable/result", message=report),
        artifacts=[*artifacts, Artifact.of("result", NAME, body)],
        scores=scores,
        verdict=verdict,
    )


def called(stage: Stage, agent: str) -> str:
    """Return the agent's name in the thread."""
    return stage.called.get(agent) or say("agent {number}", number=agent)


def renamed(stage: Stage, reasons: str) -> str:
    """Return a judge's reasons with the names that people know instead of the neutral ones."""
    return rename(reasons, {name: called(stage, agent) for agent, name in stage.names.items()})


RUBRIC: Rubric = ANSWERS


class _Marks(AnswerPart, strict=True):
    """A judge's reasons, and its marks by neutral name and criterion."""

    reasons: str = ""
    marks: Annotated[
        dict[str, dict[str, int | float]],
        ByKey("names", strange=(WRONG, "there is no agent “{key}”")),
        ByKey(tuple(criterion.name for criterion in RUBRIC.criteria)),
        Within(LOWEST, HIGHEST, (WRONG, "{key} of {of} is no {number} from {low} to {high:g}")),
    ]


class _MarksReader:
    """Reads judges' marks, which are by neutral name, as marks of agents."""

    def __init__(self, names: Mapping[str, str], agents: Sequence[str]) -> None:
        self._names, self.agents = names, tuple(agents)

    def mark(self, given: _Marks, agent: str, criterion: str) -> float:
        """Return a judge's mark of an agent's answer."""
        return given.marks[self._names[agent]][criterion]

    def total(self, given: _Marks, agent: str) -> float:
        """Return an answer's weighted mean by one judge's marks."""
        return RUBRIC.score(given.marks[self._names[agent]])

    def totals(self, given: _Marks) -> dict[str, float]:
        """Return every answer's weighted mean by one judge's marks."""
        return {agent: self.total(given, agent) for agent in self.agents}


async def mark_answers(
    stage: Stage,
    personas: Mapping[str, str],
    drafts: Mapping[str, str],
    steps: Mapping[str, str],
) -> None:
    """Have every judge mark the final answers; `steps` are the turns that they were given in."""
    answer = await _ask(stage, drafts)
    reader = _MarksReader(stage.names, tuple(drafts))
    opinions = _opinions(answer)
    totals = [None if given is None else reader.totals(given) for given in opinions]
    stands = reader.totals(answer.value) if answer.valid and answer.value else {}
    several = bool(answer.opinions)
    valid = sum(given is not None for given in totals)
    verdict = Verdict(
        winner=_leader(stands) if stands else None,
        problem="" if stands else "no judge gave an answer that could be read",
        valid=valid,
        invalid=len(totals) - valid,
        rubric=RUBRIC.name,
        blind=True,
        by_judge=tuple(given and _leader(given) for given in totals) if several else (),
        totals=stands,
        totals_by_judge=tuple(totals) if several else (),
    )
    scores = list(_scores(reader, answer, steps))
    note = "\n\n".join(_tell(stage, reader, answer, verdict, scores))
    await conclude(
        stage,
        personas,
        drafts,
        verdict,
        note,
        {"totals": verdict.totals},
        artifacts=[_keep(reader, answer)],
        scores=scores,
    )


async def _ask(stage: Stage, drafts: Mapping[str, str]) -> ShapedAnswer[_Marks]:
    """Ask all judges; each reads the answers blind, from another one on."""
    texts = [await stage.blinded(text) for text in drafts.values()]
    shown = {stage.names[agent]: text for agent, text in zip(drafts, texts, strict=True)}

    def turn(judge: int) -> dict[str, Mapping[str, str]]:
        items = list(shown.items())
        first = judge % len(items)
        return {"drafts": dict(items[first:] + items[:first])}

    return await ask_judges(
        stage,
        "judge",
        system=f"{NAME}/judge",
        template=f"{NAME}/marks",
        shape=form(_Marks, names=tuple(shown)),
        facts={"criteria": RUBRIC.criteria},
        own=turn,
    )


def _opinions(answer: ShapedAnswer[_Marks]) -> tuple[_Marks | None, ...]:
    """Return what each judge answered, None for one that cannot be read."""
    return answer.opinions or (answer.value if answer.valid else None,)


def _leader(totals: Mapping[str, float]) -> str:
    highest = max(totals.values())
    ahead = [agent for agent, total in totals.items() if abs(total - highest) < 1e-9]
    return ahead[0] if len(ahead) == 1 else TIE


def _scores(
    reader: _MarksReader, answer: ShapedAnswer[_Marks], steps: Mapping[str, str]
) -> Iterator[Score]:
    """Yield the marks of each answer, and its total last, with the judges' spread."""
    if not answer.valid or answer.value is None:
        return
    value = answer.value
    for agent in reader.agents:
        for criterion in (one.name for one in RUBRIC.criteria):
            yield Score(
                subject=steps[agent],
                side=agent,
                criterion=criterion,
                value=reader.mark(value, agent, criterion),
                spread=answer.spread(partial(reader.mark, agent=agent, criterion=criterion)),
            )
        yield Score(
            subject="total",
            side=agent,
            criterion="total",
            value=reader.total(value, agent),
            spread=answer.spread(partial(reader.total, agent=agent)),
        )


def _keep(reader: _MarksReader, answer: ShapedAnswer[_Marks]) -> Artifact:
    """Return the marks that stand, by agent; of an unreadable answer its text and problem."""
    if not answer.valid or answer.value is None:
        raw = {"raw": answer.raw, "problem": answer.problem}
        return Artifact.of("judge", "marks", raw, valid=False)
    value = answer.value
    marks = {
        agent: {one.name: reader.mark(value, agent, one.name) for one in RUBRIC.criteria}
        for agent in reader.agents
    }
    return Artifact.of("judge", "marks", {"marks": marks, "reasons": value.reasons})


def _tell(
    stage: Stage,
    reader: _MarksReader,
    answer: ShapedAnswer[_Marks],
    verdict: Verdict,
    scores: Sequence[Score],
) -> Iterator[str]:
    """Yield the marks, how far judges are apart, and each judge's reasons."""
    if verdict.totals:
        ranked = sorted(verdict.totals.items(), key=lambda item: -item[1])
        marks = say(", ").join(
            f"{called(stage, agent)} {number(total, '.2f')}" for agent, total in ranked
        )
        yield say("Marks of 10: {marks}.", marks=marks)
    names = {agent: called(stage, agent) for agent in reader.agents}
    totals = [score for score in scores if score.subject == "total"]
    if told := tell_judges(verdict.by_judge, totals, NAME, names):
        yield told
    for judge, given in enumerate(_opinions(answer), 1):
        if given is None:
            yield say("Judge {number} gave no answer that could be read.", number=judge)
            continue
        leader = _leader(reader.totals(given))
        reasons, name = renamed(stage, given.reasons), names.get(leader, "")
        template = (
            N_("Judge {number} calls it a tie: {reasons}")
            if leader == TIE
            else N_("Judge {number} has {name} ahead: {reasons}")
        )
        yield say(template, number=judge, name=name, reasons=reasons)
