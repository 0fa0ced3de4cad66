"""The result of a `roundtable` debate: its winner and why, for after the vote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.findings import Artifact, Score
from engine.floor.floor import Floor
from engine.formats.reports import report_words
from engine.judging import TIE, Verdict
from engine.messages import Report
from engine.overlap import mean_overlaps, most_central
from engine.store import Post
from engine.text import rename

NAME = "roundtable"


async def converge(floor: Floor, personas: Mapping[str, str], drafts: Mapping[str, str]) -> None:
    """Name the final draft that is most like the others; computed, without a judge."""
    overlaps = mean_overlaps(drafts)
    shares = ", ".join(f"{called(floor, agent)} {share:.2f}" for agent, share in overlaps.items())
    note = words_of(floor)["shares"].format(shares=shares)
    winner = most_central(drafts)
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
    words = words_of(floor)
    label = {None: words["nothing"], TIE: words["tie"]}.get(
        verdict.winner, _winner_title(floor, verdict.winner or "")
    )
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


def words_of(floor: Floor) -> Mapping[str, str]:
    """Return the words of results in the debate's language."""
    return report_words(NAME, floor.request.language)


def called(floor: Floor, agent: str) -> str:
    """Return the agent's name in the thread."""
    return floor.called.get(agent) or words_of(floor)["agent"].format(number=agent)


def renamed(floor: Floor, reasons: str) -> str:
    """Return a judge's reasons with the names that people know instead of the neutral ones."""
    return rename(reasons, {name: called(floor, agent) for agent, name in floor.names.items()})


def _winner_title(floor: Floor, agent: str) -> str:
    words, name = words_of(floor), floor.called.get(agent)
    if name:
        return words["wins"].format(name=name)
    return words["draft_wins"].format(name=called(floor, agent).capitalize())
