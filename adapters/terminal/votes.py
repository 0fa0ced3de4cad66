"""Votes and stances in a terminal: from options such as `--votes A=3,tie=1`, or by keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

from adapters.terminal import texts
from engine.tally.questions import CONFIDENCE_NAMES, STANCE_NAMES
from engine.values.errors import UsageError

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
        raise UsageError(texts.VOTES_EMPTY.format(given=option, example=example))
    votes: dict[str, int] = {}
    for entry in entries:
        name, equals, number = (piece.strip() for piece in entry.partition("="))
        if not equals or not name:
            raise UsageError(texts.VOTES_FORM.format(given=option, entry=entry, example=example))
        known = {known.lower(): known for known in options}
        if name.lower() not in known:
            choice = ", ".join(options)
            raise UsageError(texts.VOTES_OPTION.format(given=option, option=name, options=choice))
        if not re.fullmatch("[0-9]{1,9}", number) or int(number) > MOST_VOTES:
            raise UsageError(
                texts.VOTES_NUMBER.format(given=option, number=number, most=MOST_VOTES)
            )
        if known[name.lower()] in votes:
            raise UsageError(texts.VOTES_TWICE.format(given=option, option=known[name.lower()]))
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
