"""The options of each question; venues use the same names."""

from __future__ import annotations

from engine.judging import TIE, WEAK, Question

UP, DOWN, UNSURE = "up", "down", "unsure"
THUMBS = (UP, DOWN)
STANCES = (UP, DOWN, UNSURE)
STANCE_NAMES = {UP: "for", DOWN: "against", UNSURE: "unsure"}


def vote_options(contenders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the options of a vote: every contender (A and B, or 1 to 9), a tie, and both weak."""
    return (*contenders, TIE, WEAK)


def stance_name(option: str) -> str:
    """Return the stance that a thumb stands for; for several, as in `down+up`, each of them."""
    return "+".join(STANCE_NAMES[thumb] for thumb in option.split("+"))


def options_of(question: Question, contenders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the possible answers to a question."""
    match question:
        case Question.VOTE | Question.AGAIN:
            return vote_options(contenders)
        case Question.TURN:
            return THUMBS
        case Question.STANCE_BEFORE | Question.STANCE_AFTER:
            return STANCES
