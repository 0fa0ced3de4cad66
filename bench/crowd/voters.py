"""What people do to a ballot, drawn before anybody does it; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from random import Random
from typing import NamedTuple

OPTIONS = ("A", "B", "tie", "weak")
WEIGHTS = (0.42, 0.36, 0.13, 0.09)
COURSES = ("one", "change", "two", "withdraw", "again", "waver")
COURSE_WEIGHTS = (0.30, 0.26, 0.16, 0.08, 0.10, 0.10)
LEAST_APART = 0.15  # seconds between two acts of one person: a hand moves no faster


class Move(NamedTuple):
    """A person's act on a ballot, in seconds after its opening."""

    at: float
    user: str
    added: bool
    option: str


def draw_crowd(random: Random, people: Sequence[str], seconds: float) -> list[Move]:
    """Return people's acts within some seconds, in order; each person acts at least once."""
    moves: list[Move] = []
    for user in people:
        course = list(_draw_course(random))
        moments = sorted(random.uniform(0.0, seconds) for _ in course)
        moves += [
            Move(at, user, added, option)
            for at, (added, option) in zip(_spread(moments), course, strict=True)
        ]
    return sorted(moves)


def _draw_course(random: Random) -> Iterator[tuple[bool, str]]:
    """Yield one person's acts: (whether it is added, option)."""
    first, second = _draw_options(random, 2)
    yield True, first
    match random.choices(COURSES, COURSE_WEIGHTS)[0]:
        case "change":
            turn = [(True, second), (False, first)]
            yield from turn if random.random() < 0.5 else reversed(turn)
        case "two":
            yield True, second
        case "withdraw":
            yield False, first
        case "again":
            yield False, first
            yield True, random.choice((first, second))
        case "waver":
            yield from _waver(random, first)


def _waver(random: Random, first: str) -> Iterator[tuple[bool, str]]:
    """Add and take away at will."""
    held = {first}
    for _ in range(random.randint(3, 7)):
        [option] = _draw_options(random, 1)
        held ^= {option}
        yield option in held, option


def _draw_options(random: Random, count: int) -> list[str]:
    drawn: list[str] = []
    while len(drawn) < count:
        [option] = random.choices(OPTIONS, WEIGHTS)
        if option not in drawn:
            drawn.append(option)
    return drawn


def _spread(moments: list[float]) -> list[float]:
    """Return moments that are never closer than a hand moves, the last where it was."""
    spread = moments[-1:]
    for earlier, _ in reversed(list(pairwise(moments))):
        spread.insert(0, min(earlier, spread[0] - LEAST_APART))
    return spread
