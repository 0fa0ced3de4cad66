"""Every message that only the terminal shows, ready for translation; and votes typed there.

Templates are filled with `str.format`; values are data and never parsed as templates. Messages
that every chat shows are worded in engine/words/cards.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

from engine.tally.questions import CONFIDENCE_NAMES, STANCE_NAMES, STANCES
from engine.values.errors import UsageError
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


# Votes and stances in a terminal: from options such as `--votes A=3,tie=1`, or by keys.


EXAMPLE = "A=3,B=2,tie=1"
SURE_EXAMPLE = "close=2,one-sided=1"
ROUNDS_EXAMPLE = "A=3,even=1;B=4"
STANCES_EXAMPLE = "against>for=2,for=1"
MOST_VOTES = 1000
GUEST = "guest-"


class Hand(NamedTuple):
    """One person's reaction, added or withdrawn."""

    user: str
    option: str
    added: bool = True


def parse_votes(
    text: str, options: Sequence[str], option: str = "--votes", example: str = EXAMPLE
) -> dict[str, int]:
    """Read `A=3,B=2,tie=1` into votes by option; case does not matter.

    Raises UsageError for anything that is not on the ballot, not a number, or twice.
    """
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    if not entries:
        raise UsageError(VOTES_EMPTY.format(given=option, example=example))
    votes: dict[str, int] = {}
    for entry in entries:
        name, equals, number = (piece.strip() for piece in entry.partition("="))
        if not equals or not name:
            raise UsageError(VOTES_FORM.format(given=option, entry=entry, example=example))
        known = {known.lower(): known for known in options}
        if name.lower() not in known:
            choice = ", ".join(options)
            raise UsageError(VOTES_OPTION.format(given=option, option=name, options=choice))
        if not re.fullmatch("[0-9]{1,9}", number) or int(number) > MOST_VOTES:
            raise UsageError(VOTES_NUMBER.format(given=option, number=number, most=MOST_VOTES))
        if known[name.lower()] in votes:
            raise UsageError(VOTES_TWICE.format(given=option, option=known[name.lower()]))
        votes[known[name.lower()]] = int(number)
    return votes


def parse_stances(text: str) -> tuple[tuple[str, str], ...]:
    """Read `against>for=2,for=1` into each person's stances before and after.

    Raises UsageError as for votes.
    """
    known = {name: (stance, stance) for stance, name in STANCE_NAMES.items()}
    known |= {
        f"{first}>{last}": (known[first][0], known[last][1])
        for first, last in permutations(STANCE_NAMES.values(), 2)
    }
    counted = parse_votes(text, tuple(known), "--stances", STANCES_EXAMPLE)
    return tuple(known[name] for name, number in counted.items() for _ in range(number))


def parse_rounds(text: str, options: Sequence[str]) -> tuple[Mapping[str, int], ...]:
    """Read `A=3,even=1;B=4` into votes by option, round by round. Raises UsageError."""
    return tuple(
        parse_votes(piece, options, "--ahead", ROUNDS_EXAMPLE) for piece in text.split(";")
    )


def parse_sure(text: str) -> dict[str, int]:
    """Read `close=2,one-sided=1` into answers by option. Raises UsageError."""
    known = {name: option for option, name in CONFIDENCE_NAMES.items()}
    said = parse_votes(text, tuple(known), "--sure", SURE_EXAMPLE)
    return {known[name]: number for name, number in said.items()}


def hands(votes: Mapping[str, int]) -> tuple[Hand, ...]:
    """Return one hand per vote, by `guest-1` and so on."""
    options = [option for option, number in votes.items() for _ in range(number)]
    return tuple(Hand(f"{GUEST}{i}", option) for i, option in enumerate(options, start=1))


def guests_among(users: Iterable[str]) -> int:
    """Return the highest number of a guest among users; 0 without one."""
    numbers = [user.removeprefix(GUEST) for user in users if user.startswith(GUEST)]
    return max((int(number) for number in numbers if number.isdecimal()), default=0)
