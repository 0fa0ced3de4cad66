"""The result of a `roundtable` debate: its winner and why, for after the vote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.floor.floor import Floor
from engine.store import Post
from engine.values.judging import TIE, Artifact, Score, Verdict
from engine.values.messages import Report
from engine.values.overlap import mean_overlaps, most_central
from engine.values.text import rename
from engine.words.phrases import sentence_case
from engine.words.translation import number, say

NAME = "roundtable"
WINS = "{name} has the winning answer"
DRAFT_WINS = "{name} has the winning draft"
AGENT = "agent {number}"
NOTHING = "No draft was picked"
JUDGED_TIE = "The judges call it a tie"
LEVEL = "The answers of the table are level"
OF_TWO = (
    "The two final drafts share {share} of their words. That says how far they agree, not which is "
    "better."
)
SHARES = "The final draft that shares most of its words with the others wins: {shares}."


async def converge(floor: Floor, personas: Mapping[str, str], drafts: Mapping[str, str]) -> None:
    """Name the final draft that is most like the others; computed, without a judge."""
    overlaps = mean_overlaps(drafts)
    shares = say(", ").join(
        f"{called(floor, agent)} {number(share, '.2f')}" for agent, share in overlaps.items()
    )
    note = say(SHARES, shares=shares)
    if len(drafts) == 2:
        note = say(OF_TWO, share=number(min(overlaps.values()), ".2f"))
    winner = most_central(drafts) or TIE
    verdict = Verdict(winner=winner, valid=0, invalid=0, rubric="convergence", blind=True)
    await conclude(floor, personas, drafts, verdict, note, {"overlaps": overlaps})


async def conclude(
    floor: Floor,
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
    final = drafts.get(verdict.winner or "")
    label = {
        None: say(NOTHING),
        TIE: say(JUDGED_TIE if verdict.rubric != "convergence" else LEVEL),
    }.get(verdict.winner, _winner_title(floor, verdict.winner or ""))
    text = f"{note}\n\n{final}" if final else note
    side = verdict.winner if verdict.winner in drafts else None
    report = Report(title=label, text=text, side=side or "judge")
    body = {"winner": verdict.winner, "note": note, "final": final, **detail}
    body["personas"] = dict(personas)
    if floor.called:
        body["names"] = dict(floor.called)
    await floor.keep(
        Post(key="roundtable/result", message=report),
        artifacts=[*artifacts, Artifact.of("result", NAME, body)],
        scores=scores,
        verdict=verdict,
    )


def called(floor: Floor, agent: str) -> str:
    """Return the agent's name in the thread."""
    return floor.called.get(agent) or say(AGENT, number=agent)


def renamed(floor: Floor, reasons: str) -> str:
    """Return a judge's reasons with the names that people know instead of the neutral ones."""
    return rename(reasons, {name: called(floor, agent) for agent, name in floor.names.items()})


def _winner_title(floor: Floor, agent: str) -> str:
    if name := floor.called.get(agent):
        return say(WINS, name=name)
    return say(DRAFT_WINS, name=sentence_case(called(floor, agent)))
