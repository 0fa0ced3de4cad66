"""How an `audited` debate ends: scorecard, narrative, the conflict between them, convergence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from engine.formats.audited.judge import NAME, Audit, ask_judge, spaced, tell_entry
from engine.formats.audited.scores import SCALES, UNCALIBRATED, mean_total
from engine.formats.judges import tell_judges
from engine.stage import Stage
from engine.stage.forms import OneOf, form
from engine.stage.shapes import AnswerPart, ShapedAnswer, kept
from engine.store import Post
from engine.values.language import N_
from engine.values.messages import Arc, ArcPoint, BoardRow, Report, ScoreBoard
from engine.values.text import marked
from engine.values.verdicts import TIE, Artifact, Verdict
from engine.words.translation import number, say

# The meaning of each name, in the judge's prompt and in the thread.
PATTERNS = {
    "coherence_collapse": "the central claim of the scorecard's leader shifted under pressure, so "
    "that no one thesis lasted",
    "asymmetric_depth": "the more persuasive side is not the logically stronger one",
    "convergence_failure": "each side won against a position that the other did not hold, and the "
    "real question stayed open",
    "none": "no such pattern fits",
}
CONVERGENCES = {
    "agreement": N_("the sides came to agree"),
    "definitional_dispute": N_("they mean different things by the same words"),
    "degree_disagreement": N_("they differ only in degree"),
    "degenerate": N_("both end up defending the same thing"),
    "none": N_("they did not come closer"),
}
COLUMNS = (N_("logic"), N_("rhet."), N_("tact."), N_("total"))
REGISTER, REGISTER_EMPTY = N_("Register"), N_("Nothing was entered.")
HELD, NEITHER = N_("**Held in the end:** {who}"), N_("neither side")
FAMILIAR = {
    "coherence_collapse": N_(
        "coherence collapse: the central claim of the scorecard's leader shifted under "
        "pressure, so that no one thesis lasted"
    ),
    "asymmetric_depth": N_(
        "asymmetric depth: the more persuasive side is not the logically stronger one"
    ),
    "convergence_failure": N_(
        "convergence failure: each side won against a position that the other did not "
        "hold, and the real question stayed open"
    ),
}
MOVED_LESS, UNMOVED = N_("and {n} that moved less"), N_("not at all")
TRAITS = {
    "analytical_depth": N_("analytical depth"),
    "abstraction": N_("abstraction"),
    "evidence_appetite": N_("evidence appetite"),
    "flexibility": N_("flexibility"),
    "composure": N_("composure"),
    "intensity": N_("intensity"),
    "empathy": N_("empathy"),
    "confidence": N_("confidence"),
    "directness": N_("directness"),
    "aggression": N_("aggression"),
    "figurativeness": N_("figurativeness"),
    "concision": N_("concision"),
}
MOST_MOVES = 5  # traits named of a side that changed, the greatest moves first
LONG = 10  # turns from which convergence is looked at
LEVEL = 1.0  # points of 100 between the sides' means under which they are level
ARCHETYPES = {
    "engineer": N_("engineer"),
    "philosopher": N_("philosopher"),
    "strategist": N_("strategist"),
    "provocateur": N_("provocateur"),
}


class _Narrative(AnswerPart, strict=True):
    """The debate reconstructed as one arc, and who held in it."""

    narrative: str
    winner: Annotated[str, OneOf(("A", "B", "tie"))]


class _Conflict(AnswerPart, strict=True):
    """Why narrative and scorecard disagree."""

    explanation: str
    pattern: Annotated[str, OneOf(PATTERNS)]


class _Convergence(AnswerPart, strict=True):
    """Whether the sides ended where they began."""

    reason: str = ""
    outcome: Annotated[str, OneOf(CONVERGENCES)]


async def conclude(stage: Stage, audit: Audit) -> None:
    """Have the whole debate judged as one arc; keep the result for after the vote."""
    card = _scorecard(stage, audit)
    story = ask_judge(stage, "narrative", form(_Narrative), transcript=stage.numbered())
    narrative, convergence = await stage.both(story, _converge(stage))
    told = narrative.value.winner if narrative.valid and narrative.value else None
    conflict = None
    if told is not None and card.winner is not None and told != card.winner:
        conflict = await _resolve(stage, audit, card.winner, narrative)
    artifacts = [
        kept(narrative, "narrative", "narrative"),
        *([kept(conflict, "conflict", "conflict")] if conflict else []),
        *([kept(convergence, "convergence", "convergence")] if convergence else []),
        Artifact.of(
            "register", "register", {"entries": [e.model_dump() for e in audit.ledger.register]}
        ),
        Artifact.of("traits", "traits", {"begun": audit.begun, "ended": audit.traits}),
    ]
    names = {side: say(ARCHETYPES.get(name, name)) for side, name in audit.archetypes.items()}
    lines = [f"- {marked(side)}, {names[side]}: {_moves(audit, side)}" for side in audit.begun]
    drift = Report(title=say("How the debaters changed"), text="\n".join(lines), side="judge")
    reports = [
        Post(key="audited/board", message=_board(stage, audit, card)),
        Post(key="audited/arc", message=_arc(stage, audit)),
        Post(
            key="audited/register",
            message=Report(
                title=say(REGISTER),
                text="\n".join(map(tell_entry, audit.ledger.register)) or say(REGISTER_EMPTY),
                side="judge",
            ),
        ),
        Post(
            key="audited/narrative",
            message=Report(
                title=say("Narrative verdict"),
                text="\n\n".join(_chapters(narrative, conflict, convergence)),
                side="judge",
            ),
        ),
        Post(key="audited/drift", message=drift),
    ]
    moved = list(audit.ledger.calibrate())
    await stage.keep(*reports, artifacts=artifacts, adjustments=moved, verdict=card)


def _scorecard(stage: Stage, audit: Audit) -> Verdict:
    """Return the verdict of the scores: the higher mean total, after every adjustment."""
    means = side_means(stage, audit)
    scored = len(audit.ledger.points)
    a, b = means["A"], means["B"]
    unread = len(stage.turns) - scored
    if a is None or b is None:
        problem = "no turn of one side has a score"
        return Verdict(
            winner=None, problem=problem, valid=scored, invalid=unread, rubric=NAME, blind=False
        )
    alone = tuple(_by_judges(stage, audit))
    return Verdict(
        winner=_leader(a, b),
        valid=scored,
        invalid=unread,
        rubric=NAME,
        blind=False,
        by_judge=tuple(given and _leader(given["A"], given["B"]) for given in alone),
        totals={"A": a, "B": b},
        totals_by_judge=alone,
    )


def _leader(a: float, b: float) -> str:
    return TIE if abs(a - b) < LEVEL else "A" if a > b else "B"


def _by_judges(stage: Stage, audit: Audit) -> Iterator[dict[str, float] | None]:
    """Yield each side's mean by the scores of each judge alone; nothing with one judge.

    Each turn has what the adjustments added to its median, so that all are on one scale.
    """
    judges, points = len(stage.request.judges), audit.ledger.points
    moved = {n: total - points[n].total for n, total in total_turns(audit).items()}
    for judge in range(judges) if judges > 1 else ():
        given = [
            (turn.side, total + moved.get(turn.number, 0.0))
            for turn in stage.turns
            if (total := audit.opinions[turn.number][judge]) is not None
        ]
        a, b = (mean_total([total for of, total in given if of == side]) for side in "AB")
        yield None if a is None or b is None else {"A": a, "B": b}


def side_means(stage: Stage, audit: Audit) -> dict[str, float | None]:
    """Return each side's mean total of 100; None where no turn has a score."""
    totals = total_turns(audit)
    return {
        side: mean_total(
            [totals[t.number] for t in stage.turns if t.side == side and t.number in totals]
        )
        for side in "AB"
    }


def total_turns(audit: Audit) -> dict[int, float]:
    """Return each scored turn's total as it stands after every adjustment."""
    return {number: sum(stands.values()) for number, stands in audit.ledger.standing().items()}


async def _converge(stage: Stage) -> ShapedAnswer[_Convergence] | None:
    """Compare the first two turns with the last two, in a debate that is long enough."""
    turns = len(stage.turns)
    if turns < LONG:
        return None
    first, last = stage.numbered(1, 2), stage.numbered(turns - 1, turns)
    return await ask_judge(
        stage,
        "convergence",
        form(_Convergence),
        first=first,
        last=last,
        outcomes=CONVERGENCES,
    )


async def _resolve(
    stage: Stage, audit: Audit, scored: str, narrative: ShapedAnswer[_Narrative]
) -> ShapedAnswer[_Conflict]:
    totals = total_turns(audit)
    return await ask_judge(
        stage,
        "conflict",
        form(_Conflict),
        narrative=narrative.value.narrative if narrative.value else "",
        told=narrative.value.winner if narrative.value else "",
        scored=scored,
        totals=[(t.number, t.side, totals.get(t.number)) for t in stage.turns],
        patterns=PATTERNS,
    )


# --- what the thread gets --------------------------------------------------------------


def _board(stage: Stage, audit: Audit, card: Verdict) -> ScoreBoard:
    """Return the scorecard: 40 columns at most, so that a phone shows each turn on one line."""
    standing = audit.ledger.standing()
    rows = []
    for turn in stage.turns:
        cells = ["–"] * (len(SCALES) + 1)
        if stands := standing.get(turn.number):
            given = audit.ledger.points[turn.number]
            cells = [
                f"{number(stands[name], '.1f')}{'*' if stands[name] != given.said(name) else ''}"
                for name in SCALES
            ]
            cells.append(number(sum(stands.values()), ".1f"))
        early = "°" if turn.number <= UNCALIBRATED else ""
        rows.append(
            BoardRow(side=turn.side, name=f"{turn.side}{turn.number}{early}", cells=tuple(cells))
        )
    means = say(", ").join(
        f"{marked(side)} {'–' if mean is None else number(mean, '.1f')}"
        for side, mean in side_means(stage, audit).items()
    )
    notes = (
        say("Mean of 100: {means}. {ahead}.", means=means, ahead=_ahead(card.winner)),
        *filter(None, [tell_judges(card.by_judge, audit.given, NAME)]),
        say(
            "* moved: docked by the register, or into the band that the comparison with a "
            "neighbouring turn sets. ° early, and less calibrated."
        ),
        say(
            "Scores vary between runs, a judge has a style of its own, early turns are less "
            "calibrated, and a claim may be called fabricated that is not."
        ),
    )
    return ScoreBoard(title=N_("Scorecard"), columns=COLUMNS, rows=tuple(rows), notes=notes)


def _ahead(winner: str | None) -> str:
    """Say who is ahead on the scorecard."""
    match winner:
        case None:
            return say("One side has no score, so no one is ahead")
        case "tie":
            return say("That is level")
        case side:
            return say("{side} is ahead", side=marked(side))


def _arc(stage: Stage, audit: Audit) -> Arc:
    totals = total_turns(audit)
    points = tuple(
        ArcPoint(
            number=turn.number,
            side=turn.side,
            score=totals.get(turn.number),
            docked=audit.ledger.docked(turn.number),
        )
        for turn in stage.turns
    )
    scores = []
    for point in points:
        score = say("no score") if point.score is None else f"{point.score:.0f}"
        docked = f" ({number(point.docked, '+g')})" if point.docked else ""
        scores.append(f"{point.side}{point.number} {score}{docked}")
    alt = say("Score of 100 by turn: {told}.", told=say(", ").join(scores))
    return Arc(title=N_("The arc"), points=points, alt=alt)


def _chapters(
    narrative: ShapedAnswer[_Narrative],
    conflict: ShapedAnswer[_Conflict] | None,
    convergence: ShapedAnswer[_Convergence] | None,
) -> Iterator[str]:
    if narrative.value is None or not narrative.valid:
        yield say("The judge's narrative could not be read.")
    else:
        yield narrative.value.narrative
        winner = narrative.value.winner
        yield say(HELD, who=say(NEITHER) if winner == TIE else marked(winner))
    if conflict is not None and conflict.value is not None and conflict.valid:
        said = conflict.value
        if said.pattern == "none":
            yield say("**Why the scorecard says otherwise:** {text}", text=said.explanation)
        else:
            pattern = say(FAMILIAR[said.pattern])
            yield say(
                "**Why the scorecard says otherwise ({pattern}):** {text}",
                pattern=pattern,
                text=said.explanation,
            )
    if convergence is not None and convergence.value is not None and convergence.valid:
        outcome = say(CONVERGENCES[convergence.value.outcome])
        yield say(
            "**Beginning against end:** {outcome}. {reason}",
            outcome=outcome,
            reason=convergence.value.reason,
        ).strip()


def _moves(audit: Audit, side: str) -> str:
    begun, ended = audit.begun[side], audit.traits[side]
    moved = sorted(
        (trait for trait in begun if ended[trait] != begun[trait]),
        key=lambda trait: -abs(ended[trait] - begun[trait]),
    )
    told = [
        say(
            "{trait} {first:g} → {last:g}",
            trait=say(TRAITS.get(trait, spaced(trait))),
            first=begun[trait],
            last=round(ended[trait], 1),
        )
        for trait in moved[:MOST_MOVES]
    ]
    if more := len(moved) - len(told):
        told.append(say(MOVED_LESS, n=more))
    return say(", ").join(told) or say(UNMOVED)
