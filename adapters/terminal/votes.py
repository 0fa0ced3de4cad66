"""Votes and stances in a terminal: from options such as `--votes A=3,tie=1`, or by keys."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import permutations
from typing import NamedTuple

from adapters.terminal import texts
from engine.tally.questions import (
    CLEAR,
    CLOSE,
    CONFIDENCE_NAMES,
    CONFIDENCES,
    DOWN,
    ONE_SIDED,
    STANCE_NAMES,
    STANCES,
    UNSURE,
    UP,
)
from engine.values.errors import UsageError
from engine.values.judging import EVEN
from engine.words.phrases import NO_STANCES, option_name

EXAMPLE = "A=3,B=2,tie=1"
SURE_EXAMPLE = "close=2,one-sided=1"
ROUNDS_EXAMPLE = "A=3,even=1;B=4"
STANCES_EXAMPLE = "against>for=2,for=1"
KEYS = {
    UP: "+",
    DOWN: "-",
    UNSURE: "?",
    CLOSE: "1",
    CLEAR: "2",
    ONE_SIDED: "3",
}  # their first letters are taken, or equal
MOST_VOTES = 1000
GUEST = "guest-"
TAKE_BACK = "u"
CLOSING_KEYS = frozenset({"\n", "\r", "\x04", ""})


class Hand(NamedTuple):
    """One person's reaction, added or withdrawn."""

    user: str
    option: str
    added: bool = True


class Move(NamedTuple):
    """A person's stances before and after a debate."""

    before: str
    after: str


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


def parse_stances(text: str) -> tuple[Move, ...]:
    """Read `against>for=2,for=1` into each person's stances before and after.

    Raises UsageError as for votes.
    """
    known = {name: Move(stance, stance) for stance, name in STANCE_NAMES.items()}
    known |= {
        f"{first}>{last}": Move(known[first].before, known[last].after)
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


def keys_of(options: Sequence[str]) -> dict[str, str]:
    """Return the key of each option: its first letter or digit, or a sign for a stance."""
    return {KEYS.get(option, option[0].lower()): option for option in options}


def key_hint(options: Sequence[str], names: Mapping[str, str] = NO_STANCES, quorum: int = 0) -> str:
    """Return the help on keys, with the quorum of a vote that has one."""
    keys = {key: option_name(option, names) for key, option in keys_of(options).items()}
    goes_on = tuple(options) in (STANCES, CONFIDENCES) or EVEN in options
    return texts.key_help(keys, goes_on=goes_on, quorum=quorum)


class Voters:
    """The people at one keyboard, each with one vote.

    Guests up to number `before` have voted earlier and keep their names.
    """

    def __init__(self, options: Sequence[str], before: int = 0) -> None:
        self._keys = keys_of(options)
        self._number = before
        self._cast: list[Hand] = []

    def press(self, key: str) -> Hand | None:
        """Return a key's effect: another person's vote, the last vote withdrawn, or None."""
        if key.lower() == TAKE_BACK:
            return self._cast.pop()._replace(added=False) if self._cast else None
        option = self._keys.get(key.lower())
        if option is None:
            return None
        self._number += 1
        self._cast.append(Hand(f"{GUEST}{self._number}", option))
        return self._cast[-1]


async def vote_by_keys(
    fd: int,
    options: Sequence[str],
    cast: Callable[[Hand], Awaitable[None]],
    *,
    before: int = 0,
) -> None:
    """Read votes from a terminal's keys until Enter or the end of input.

    Raises UsageError if keys cannot be read.
    """
    people = Voters(options, before)
    with keyboard(fd) as keys:
        while (key := await keys.get()) not in CLOSING_KEYS:
            hand = people.press(key)
            if hand is not None:
                await cast(hand)


async def press_any_key(fd: int) -> bool:
    """Wait for a key; False at the end of input. Raises UsageError if keys cannot be read."""
    with keyboard(fd) as keys:
        return await keys.get() != ""


@contextmanager
def keyboard(fd: int) -> Iterator[asyncio.Queue[str]]:
    """Yield a queue of a terminal's keys, "" at the end of input; restores the terminal afterwards.

    Ctrl-C still interrupts. Raises UsageError if the descriptor is not a terminal.
    """
    if sys.platform == "win32" or not os.isatty(fd):
        raise UsageError(texts.NO_KEYBOARD)
    import termios
    import tty

    keys = _Keys(fd, asyncio.Queue())
    loop = asyncio.get_running_loop()
    usual = termios.tcgetattr(fd)
    try:
        tty.setcbreak(fd)
        loop.add_reader(fd, keys.read)
        yield keys.queue
    finally:
        loop.remove_reader(fd)
        termios.tcsetattr(fd, termios.TCSADRAIN, usual)


# An arrow key ends in a letter that would count as a vote.
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[@-~]|O.|.)?", re.DOTALL)


@dataclass(slots=True)
class _Keys:
    fd: int
    queue: asyncio.Queue[str]
    decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )

    def read(self) -> None:
        try:
            pressed = os.read(self.fd, 1024)
        except OSError:  # raised for a closed terminal
            pressed = b""
        if not pressed:
            asyncio.get_running_loop().remove_reader(self.fd)
            self.queue.put_nowait("")
        for key in _ESCAPE.sub("", self.decoder.decode(pressed)):
            self.queue.put_nowait(key)
