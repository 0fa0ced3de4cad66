"""Votes in a terminal: from `--votes A=3,B=2,tie=1`, or a key for each person."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from adapters.terminal import texts
from engine.errors import UsageError

EXAMPLE = "A=3,B=2,tie=1"
MOST_VOTES = 1000
GUEST = "guest-"
TAKE_BACK = "u"
CLOSING_KEYS = frozenset({"\n", "\r", "\x04", ""})


class Hand(NamedTuple):
    """One person's reaction, added or taken back."""

    user: str
    option: str
    added: bool = True


def parse_votes(text: str, options: Sequence[str]) -> dict[str, int]:
    """Read `A=3,B=2,tie=1` into votes by option; case does not matter.

    Raises UsageError for anything that is not on the ballot, not a number, or twice.
    """
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    if not entries:
        raise UsageError(texts.VOTES_EMPTY.format(example=EXAMPLE))
    votes: dict[str, int] = {}
    for option, number in (_entry(entry, options) for entry in entries):
        if option in votes:
            raise UsageError(texts.VOTES_TWICE.format(option=option))
        votes[option] = number
    return votes


def _entry(entry: str, options: Sequence[str]) -> tuple[str, int]:
    name, equals, number = (piece.strip() for piece in entry.partition("="))
    if not equals or not name:
        raise UsageError(texts.VOTES_FORM.format(entry=entry, example=EXAMPLE))
    known = {option.lower(): option for option in options}
    if name.lower() not in known:
        choice = ", ".join(options)
        raise UsageError(texts.VOTES_OPTION.format(option=name, options=choice))
    if not re.fullmatch("[0-9]{1,9}", number) or int(number) > MOST_VOTES:
        raise UsageError(texts.VOTES_NUMBER.format(number=number, most=MOST_VOTES))
    return known[name.lower()], int(number)


def hands(votes: Mapping[str, int]) -> tuple[Hand, ...]:
    """Return one person, `guest-1` and on, for each of the votes."""
    options = [option for option, number in votes.items() for _ in range(number)]
    return tuple(Hand(f"{GUEST}{i}", option) for i, option in enumerate(options, start=1))


def guests_among(users: Iterable[str]) -> int:
    """Return the highest number of a guest among users; 0 without one."""
    numbers = [user.removeprefix(GUEST) for user in users if user.startswith(GUEST)]
    return max((int(number) for number in numbers if number.isdecimal()), default=0)


def keys_of(options: Sequence[str]) -> dict[str, str]:
    """Return the key of each option: its first letter or digit."""
    return {option[0].lower(): option for option in options}


def key_hint(options: Sequence[str]) -> str:
    """Return the sentence that tells which key does what."""
    named = [
        texts.KEY.format(key=key, option=texts.option_name(option))
        for key, option in keys_of(options).items()
    ]
    return texts.KEYS.format(options=" · ".join(named))


class People:
    """The people who pass by one keyboard, each with one vote.

    The guests up to the number `before` voted here before and keep their names.
    """

    def __init__(self, options: Sequence[str], before: int = 0) -> None:
        self._keys = keys_of(options)
        self._number = before
        self._cast: list[Hand] = []

    def press(self, key: str) -> Hand | None:
        """Return what a key means: one more person's vote, the last one's taken back, nothing."""
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
    """Take votes from a terminal's keys until Enter or its end; the loop runs on meanwhile.

    Raises UsageError where keys cannot be read.
    """
    people = People(options, before)
    with keyboard(fd) as keys:
        while (key := await keys.get()) not in CLOSING_KEYS:
            hand = people.press(key)
            if hand is not None:
                await cast(hand)


@contextmanager
def keyboard(fd: int) -> Iterator[asyncio.Queue[str]]:
    """Deliver each key of a terminal as it is pressed, "" at its end; restore it after.

    Ctrl-C goes on interrupting. Raises UsageError where the descriptor is no terminal.
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


# An arrow key ends in a letter that would be somebody's vote.
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
        except OSError:  # a terminal that was closed says so in this way
            pressed = b""
        if not pressed:
            asyncio.get_running_loop().remove_reader(self.fd)
            self.queue.put_nowait("")
        for key in _ESCAPE.sub("", self.decoder.decode(pressed)):
            self.queue.put_nowait(key)
