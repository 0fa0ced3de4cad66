"""What people's thumbs say of turns, and how a debate moved people's stances. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from engine.debate import (
    TIE,
    BallotKind,
    Debate,
    Persuasion,
    Question,
    TurnLabel,
    Vote,
    VoteEvent,
)
from engine.votes.options import THUMBS, UP, vote_options
from engine.votes.tally import Standing, hands_held, standing_option, standing_votes

LEANING = {"for": 1, "unsure": 0, "against": -1}


def turn_labels(
    events: Mapping[str, Sequence[VoteEvent]], revealed_at: datetime | None
) -> tuple[TurnLabel, ...]:
    """Return the thumb that stands of each person on each turn, by the turn's step.

    Of both thumbs held, the one last received stands.
    """
    labels = []
    for step in sorted(events):
        thumbs = [event for event in events[step] if event.option in THUMBS]
        for person, hands in sorted(hands_held(thumbs).items()):
            standing = standing_option(hands)
            if standing is not None:
                labels.append(_label(step, person, standing, revealed_at))
    return tuple(labels)


def revised_votes(debate: Debate, events: Iterable[VoteEvent]) -> tuple[Vote, ...]:
    """Return what people answer to who debated better when they know the models; never gold."""
    options = vote_options(tuple(debate.request.sides))
    return standing_votes(
        [event for event in events if event.option in options],
        starter=debate.starter,
        judge_visible=True,
        tally_visible=debate.request.ballot is BallotKind.OPEN,
    )


def persuasion(
    before: Iterable[Standing], after: Iterable[Standing], contenders: Sequence[str]
) -> Persuasion:
    """Count who moved towards the thesis and against it, of those who took a stance twice.

    The first contender argues for the thesis, the second against it; towards being unsure is
    away from where one was. An ambiguous stance is none.
    """
    stood = {vote.person: LEANING[vote.option] for vote in before if not vote.ambiguous}
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


def _label(step: str, person: int, standing: VoteEvent, revealed_at: datetime | None) -> TurnLabel:
    return TurnLabel(
        step=step,
        person=person,
        up=standing.option == UP,
        blind=revealed_at is None or standing.received_at < revealed_at,
        received_at=standing.received_at,
    )
