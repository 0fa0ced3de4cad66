"""Votes and stances by the keys of a terminal, which a debate with given votes does not load."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from adapters.terminal import texts
from adapters.terminal.texts import GUEST, Hand
from engine.tally.questions import (
    CLEAR,
    CLOSE,
    CONFIDENCES,
    DOWN,
    ONE_SIDED,
    STANCES,
    UNSURE,
    UP,
)
from engine.values.errors import UsageError
from engine.values.language import N_, NN_
from engine.values.verdicts import EVEN
from engine.words.phrases import NO_STANCES, option_name
from engine.words.translation import plural, say

KEYS = {
    UP: "+",
    DOWN: "-",
    UNSURE: "?",
    CLOSE: "1",
    CLEAR: "2",
    ONE_SIDED: "3",
}  # their first letters are taken, or equal
TAKE_BACK = "u"
VOTES_NEEDED = NN_(
    "The vote counts with {n} vote or more.", "The vote counts with {n} votes or more."
)
PEOPLE_NEEDED = NN_(
    "The room decides once {n} person has answered before and after the debate.",
    "The room decides once {n} people have answered before and after the debate.",
)
CLOSING_KEYS = frozenset({"\n", "\r", "\x04", ""})


# An arrow key ends in a letter that would count as a vote.
_ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[@-~]|O.|.)?", re.DOTALL)


def keys_of(options: Sequence[str]) -> dict[str, str]:
    """Return the key of each option: its first letter or digit, or a sign for a stance."""
    return {KEYS.get(option, option[0].lower()): option for option in options}


def key_hint(options: Sequence[str], names: Mapping[str, str] = NO_STANCES, quorum: int = 0) -> str:
    """Return the help on keys, with the quorum of a vote that has one."""
    keys = {key: option_name(option, names) for key, option in keys_of(options).items()}
    goes_on = tuple(options) in (STANCES, CONFIDENCES) or EVEN in options
    return key_help(keys, goes_on=goes_on, quorum=quorum)


def key_help(keys: Mapping[str, str], *, goes_on: bool, quorum: int = 0) -> str:
    """Return the help on keys, each with its option's name; a stance's last key goes on.

    `quorum` is how many votes it takes to count, or stances to decide, if any number is too few.
    """
    named = (say("{key} = {option}", key=key, option=option) for key, option in keys.items())
    hint = say(
        N_("Keys: {options} · u = undo the last one · Enter = continue")
        if goes_on
        else N_("Keys: {options} · u = undo the last vote · Enter = close the vote"),
        options=" · ".join(named),
    )
    needed = PEOPLE_NEEDED if goes_on else VOTES_NEEDED
    return f"{hint}\n{plural(*needed, quorum)}" if quorum else hint


class _Voters:
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
    people = _Voters(options, before)
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
