"""How judges found the best draft in versions 1 and 2 of `roundtable`: each picked one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from engine.debate import Value
from engine.findings import Artifact
from engine.floor.floor import Floor
from engine.floor.schema import TEXT, choice, named
from engine.floor.shapes import Fault, Shape
from engine.formats.roundtable.result import NAME, called, conclude, renamed
from engine.judging import TIE, Verdict


class Pick(Value):
    """A judge's answer: the neutral name of the best final draft, or a tie."""

    reasons: str = ""
    best: str


async def pick_drafts(floor: Floor, personas: Mapping[str, str], drafts: Mapping[str, str]) -> None:
    """Ask every judge for the best final draft; each reads them blind, from another one on."""
    blinded = dict(
        zip(drafts, [await floor.blinded(text) for text in drafts.values()], strict=True)
    )
    picks = await floor.all_at_once(
        *(_pick(floor, number, blinded) for number in range(len(floor.request.judges)))
    )
    counted = Counter(best for best, _ in picks if best)
    most = max(counted.values(), default=0)
    ahead = [best for best, votes in counted.items() if votes == most]
    winner = TIE if len(ahead) > 1 else next(iter(ahead), None)
    verdict = Verdict(
        winner=winner,
        problem="" if winner else "no judge gave an answer that could be read",
        valid=counted.total(),
        invalid=len(picks) - counted.total(),
        rubric="best_draft",
        blind=True,
    )
    note = "\n\n".join(f"Judge {number} {text}" for number, (_, text) in enumerate(picks, 1))
    await conclude(floor, personas, drafts, verdict, note, {"picks": counted})


async def _pick(floor: Floor, number: int, drafts: Mapping[str, str]) -> tuple[str | None, str]:
    """Return the agent that a judge picked, or a tie, and why; None for neither."""
    agents = tuple(drafts)
    turned = agents[number % len(agents) :] + agents[: number % len(agents)]
    shown = {floor.names[agent]: drafts[agent] for agent in turned}
    answer = await floor.consult(
        f"judge/{number + 1}",
        floor.request.judges[number],
        system=f"{NAME}/judge",
        template=f"{NAME}/pick",
        shape=_shape_of(tuple(shown)),
        drafts=shown,
    )
    best = next((agent for agent in agents if floor.names[agent] == _best(answer.value)), None)
    if _best(answer.value) == TIE:
        best = TIE
    body = {"best": best, "reasons": answer.value.reasons if answer.value else ""}
    body |= {"raw": answer.raw, "problem": answer.problem}
    artifact = Artifact(name=f"judge/{number + 1}", kind="pick", body=body, valid=best is not None)
    await floor.keep(artifacts=[artifact])
    if answer.value is None or best is None:
        return None, "gave no answer that could be read."
    picked = "calls it a tie" if best == TIE else f"picks {called(floor, best)}"
    return best, f"{picked}: {renamed(floor, answer.value.reasons)}"


def _best(pick: Pick | None) -> str:
    return pick.best.strip() if pick else ""


def _shape_of(names: tuple[str, ...]) -> Shape[Pick]:
    def check(pick: Pick) -> tuple[Fault, ...]:
        if _best(pick) in (*names, TIE):
            return ()
        known = ", ".join((*names, TIE))
        return (Fault(kind="unknown_draft", what=f"best is none of {known}"),)

    return Shape(Pick, named("Pick", {"reasons": TEXT, "best": choice(*names, TIE)}), check)
