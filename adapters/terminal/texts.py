"""Every message that only the terminal shows, ready for translation.

Templates are filled with `str.format`; values are data and never parsed as templates. Messages
that every chat shows are worded in engine/words/cards.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.tally.questions import STANCES
from engine.values.language import N_
from engine.values.ports import Draft
from engine.values.text import marked
from engine.words.card import Reference
from engine.words.phrases import NO_STANCES, option_name, round_name
from engine.words.translation import say

TOPIC = N_("Topic: {topic}")
FILE = N_("File: {name}")

NO_VOTE_OPEN = "No vote is open in this terminal; vote after the invitation is posted."
NO_SUCH_OPTION = "“{option}” is not on this ballot; choose from {options}."
NO_SUCH_MESSAGE = "This terminal has no message {message}; its record may belong to another one."
BODY_UNREADABLE = (
    "A message from another version of Rostrum cannot be shown; use the version that wrote it."
)
RECORD_UNREADABLE = "The transcript {path} cannot be read: {why}. Move it away or repair it."
RECORD_UNWRITABLE = (
    "The transcript {path} cannot be written: {why}. Free space or fix its permissions."
)
RECORDS_STAY = "The transcripts in {folder} cannot be deleted: {why}. Delete that folder yourself."
FILES_UNWRITABLE = "Files cannot be written to {folder}: {why}. Free space or fix its permissions."
VOTES_EMPTY = "{given} has no votes; write it as {example}."
VOTES_FORM = "“{entry}” in {given} is not OPTION=NUMBER; write it as {example}."
VOTES_OPTION = "“{option}” in {given} is not on this ballot; choose from {options}."
VOTES_TWICE = "“{option}” is in {given} twice; give each option once."
VOTES_NUMBER = "“{number}” in {given} is not a number from 0 to {most}."
NO_KEYBOARD = "No keyboard input here; give the votes with --votes."


def draft_title(draft: Draft) -> str:
    """Return the title of a turn being written."""
    return say(
        "{seat} · {round}", seat=draft.name or marked(draft.seat), round=round_name(draft.round)
    )


def next_round(name: str) -> str:
    """Return the line that waits for a key between two rounds."""
    return say("Press any key for the next round: {round}.", round=round_name(name))


def thinking(seats: Sequence[str]) -> str:
    """Return the line that shows who is thinking."""
    return say(
        N_("{seats} is thinking…") if len(seats) == 1 else N_("{seats} are thinking…"),
        seats=say(", ").join(map(marked, seats)),
    )


def earlier() -> str:
    """Return the line above messages that were shown before."""
    return say("Earlier in this debate:")


def edited(reference: str) -> str:
    """Return the line on a message that was edited."""
    return say("{number} was edited", number=Reference.read(reference).mark)


def hand_text(
    user: str, option: str, names: Mapping[str, str] = NO_STANCES, *, raised: bool
) -> str:
    """Return the line for a raised or lowered hand: a vote, a stance, or a withdrawal.

    `names` are those of agents who answered a question.
    """
    template = (
        (N_("{user} is {option}") if option in STANCES else N_("{user} votes: {option}"))
        if raised
        else N_("{user} withdraws: {option}")
    )
    return say(template, user=user, option=option_name(option, names))
