"""How a debate moved people, from their stances before and after it; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.values.verdicts import TIE, Persuasion, Vote

LEANING = {"for": 1, "unsure": 0, "against": -1}


def persuasion(
    before: Iterable[Vote], after: Iterable[Vote], contenders: Sequence[str]
) -> Persuasion:
    """Count moves towards and away from the thesis, among people with both stances.

    The first contender argues for the thesis, the second against it; a move to unsure counts as
    leaving one's side. An ambiguous or a scripted stance is ignored.
    """
    stood = {
        vote.person: LEANING[vote.option]
        for vote in before
        if not vote.ambiguous and vote.reason != "scripted"
    }
    moves = [
        LEANING[vote.option] - stood[vote.person]
        for vote in after
        if vote.person in stood and not vote.ambiguous
    ]
    towards = sum(move > 0 for move in moves)
    away = sum(move < 0 for move in moves)
    thesis, antithesis = contenders
    winner = TIE if towards == away else thesis if towards > away else antithesis
    return Persuasion(
        moved={thesis: towards, antithesis: away},
        people=len(moves),
        winner=winner if moves else None,
    )
