"""Buttons and menus of a chat, which work after any restart: what one does is all in its id."""

from __future__ import annotations

from typing import NamedTuple

from engine.votes.hearing import Heard
from engine.words import cards as card_markdown

PREFIX = "rostrum"


class Pressed(NamedTuple):
    """What a button or menu asks for, and `of` which debate or option."""

    what: str
    of: str


def read_button(button_id: str) -> Pressed | None:
    """Read the id of a button or menu, None for one that no version of Rostrum knows."""
    match button_id.split(":"):
        case [prefix, ("stop" | "status" | "vote" | "review") as what, of] if (
            prefix == PREFIX and of
        ):
            return Pressed(what, of)
        case [prefix, "withdraw"] if prefix == PREFIX:
            return Pressed("withdraw", "")
    return None


def vote_answer(heard: object) -> str:
    """Say what became of a button of a vote."""
    match heard:
        case Heard(outcome="stored" | "duplicate", option=None):
            return card_markdown.VOTE_WITHDRAWN
        case Heard(outcome="stored" | "duplicate", option=str(option)):
            return card_markdown.VOTED.format(option=card_markdown.option_name(option))
        case Heard(outcome="closed"):
            return card_markdown.VOTE_CLOSED
        case Heard(outcome="forgotten"):
            return card_markdown.VOTE_FORGOTTEN
    return card_markdown.VOTE_UNKNOWN
