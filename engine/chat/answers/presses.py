"""Answers to a press of a vote button, as canonical Markdown."""

from __future__ import annotations

from engine.values.judging import Question
from engine.votes.hearing import Heard
from engine.words.phrases import option_name
from engine.words.translation import say

VOTED = "Vote recorded: {option}. Press another option to change it, or the same one to withdraw."
WITHDRAWN = "Your vote is withdrawn."
CLOSED = "This vote is closed; nothing was changed."
FORGOTTEN = (
    "You asked to be forgotten, so your vote is not stored. Use /debate optin to vote on debates "
    "that start after it."
)
SUPPORTED = (
    "You support question {number}. Press another number to change that, or the same one to "
    "withdraw."
)
UNSUPPORTED = "You support no question any more."
UNKNOWN = "This message has no open vote yet; try again in a moment."


def voted_in(heard: object) -> str:
    """Return the id of the debate in whose vote somebody has made a choice; empty for none."""
    return heard.voted if isinstance(heard, Heard) else ""


def vote_answer(heard: object) -> str:
    """Return the answer to a press, by its outcome."""
    match heard:
        case Heard(outcome="stored" | "duplicate", question=Question.SUPPORT, option=number):
            return say(SUPPORTED, number=number) if number else say(UNSUPPORTED)
        case Heard(outcome="stored" | "duplicate", option=None):
            return say(WITHDRAWN)
        case Heard(outcome="stored" | "duplicate", option=str(option), name=name):
            return say(VOTED, option=name or option_name(option))
        case Heard(outcome="closed"):
            return say(CLOSED)
        case Heard(outcome="forgotten"):
            return say(FORGOTTEN)
    return say(UNKNOWN)
