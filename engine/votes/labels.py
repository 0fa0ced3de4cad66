"""Labels from thumbs on turns, and from stances before and after a debate. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from engine.debate import BallotKind, Debate
from engine.judging import TIE, Log, Persuasion, Question, Recovery, TurnLabel, Vote, VoteEvent
from engine.store import Intervention
from engine.votes.hands import hands_held, standing_option
from engine.votes.questions import UP, vote_options
from engine.votes.tally import Standing, standing_votes

LEANING = {"for": 1, "unsure": 0, "against": -1}


def turn_labels(events: Iterable[VoteEvent], revealed_at: datetime | None) -> tuple[TurnLabel, ...]:
    """Return each person's standing thumb on each turn, by the turn's step.

    If both thumbs are held, the last one received live stands; if none was live, neither does.
    """
    by_step: dict[str, list[VoteEvent]] = defaultdict(list)
    for event in events:
        if event.question is Question.TURN:
            by_step[event.step].append(event)
    return tuple(
        _label(standing, revealed_at)
        for _, thumbs in sorted(by_step.items())
        for _, hands in sorted(hands_held(thumbs).items())
        if (standing := standing_option(hands)) is not None
    )


def revised_votes(
    debate: Debate, events: Iterable[VoteEvent], recovery: Recovery = "complete"
) -> tuple[Vote, ...]:
    """Return people's answers after the reveal; never gold."""
    options = vote_options(tuple(debate.request.sides))
    return standing_votes(
        [e for e in events if e.question is Question.AGAIN and e.option in options],
        starter=debate.starter,
        judge_visible=True,
        tally_visible=debate.request.ballot is BallotKind.OPEN,
        recovery=recovery,
    )


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


def _label(standing: VoteEvent, revealed_at: datetime | None) -> TurnLabel:
    return TurnLabel(
        step=standing.step,
        person=standing.person,
        up=standing.option == UP,
        blind=revealed_at is None or standing.received_at < revealed_at,
        received_at=standing.received_at,
    )
