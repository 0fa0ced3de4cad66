"""What a press of a vote's button answers, as canonical Markdown."""

from __future__ import annotations

from engine.votes.hearing import Heard
from engine.words.phrases import option_name

VOTED = "Your vote is recorded: {option}. Press it again, or another, to change it."
WITHDRAWN = "Your vote is taken back."
CLOSED = "This vote is closed; your press changed nothing."
FORGOTTEN = (
    "You asked to be forgotten, so nothing is stored of you in this debate. With /debate optin you "
    "can vote on debates that begin from then on."
)
UNKNOWN = "There is no vote at this message, or not yet; try again in a moment."


def vote_answer(heard: object) -> str:
    """Say what became of a button of a vote."""
    match heard:
        case Heard(outcome="stored" | "duplicate", option=None):
            return WITHDRAWN
        case Heard(outcome="stored" | "duplicate", option=str(option)):
            return VOTED.format(option=option_name(option))
        case Heard(outcome="closed"):
            return CLOSED
        case Heard(outcome="forgotten"):
            return FORGOTTEN
    return UNKNOWN
