"""Labels from thumbs on turns, and from stances before and after a debate. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from engine.store import Intervention
from engine.tally.tally import Standing
from engine.values.judging import TIE, Log, Persuasion, Question, Vote, VoteEvent

LEANING = {"for": 1, "unsure": 0, "against": -1}


def seen_by_others(
    votes: Iterable[Vote], events: Sequence[VoteEvent], interventions: Iterable[Intervention]
) -> tuple[Vote, ...]:
    """Mark the votes of a secret ballot that were cast beside a reaction that stayed."""
    shown: dict[Log, datetime] = {}
    for noted in interventions:
        if noted.act == "shown":
            shown.setdefault(Log(noted.question, noted.step), noted.at)

    def told(vote: Vote) -> Vote:
        log = Log(vote.question, vote.step)
        since = shown.get(log)
        if vote.tally_visible or since is None or vote.last_at <= since:
            return vote
        own = [e for e in events if (e.person, e.question, e.step) == (vote.person, *log)]
        seen = max(own, key=lambda event: event.number).votes_seen_before
        return vote.model_copy(update={"tally_visible": True, "votes_seen_before": seen})

    return tuple(map(told, votes))


def persuasion(
    before: Iterable[Standing], after: Iterable[Standing], contenders: Sequence[str]
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


def asked(votes: Iterable[Vote], question: Question) -> tuple[Vote, ...]:
    """Return the votes that answer a question."""
    return tuple(vote for vote in votes if vote.question is question)
