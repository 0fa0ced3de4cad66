"""Limits of a turn: measured in one way everywhere, never enforced by cutting.

Only a reply far beyond all of them is cut, and marked with its length.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.floor.structured import CUT_OFF
from engine.values.debate import CUT_SHORT, REPEATS, Violation
from engine.values.ports import Reply
from engine.values.text import count_arguments, count_repeats, count_words

LONG_REPLY = "long_reply"
TOO_OFTEN = 5  # times that a turn says one sentence


class TurnLimits(NamedTuple):
    """The limits of a turn; None is no limit."""

    words: int | None = None
    arguments: int | None = None


REPLACED = "replaced_characters"


def replaced(characters: int) -> tuple[Violation, ...]:
    """Return the violation of a text with characters that cannot be stored, if it has any."""
    if not characters:
        return ()
    return (Violation(kind=REPLACED, measured=characters, limit=0),)


def violations(text: str, limits: TurnLimits, chars_per_word: float) -> tuple[Violation, ...]:
    """Return every limit that a text exceeds, with what was measured."""
    measured: list[tuple[str, float, int | None]] = []
    if limits.words is not None:
        measured.append(("too_many_words", count_words(text, chars_per_word), limits.words))
    if limits.arguments is not None:
        measured.append(("too_many_arguments", count_arguments(text), limits.arguments))
    return tuple(
        Violation(kind=kind, measured=value, limit=limit)
        for kind, value, limit in measured
        if limit is not None and value > limit
    )


def cuts(reply: Reply) -> tuple[Violation, ...]:
    """Return the violation of a reply that was cut, to the debate's cap or at the model's own."""
    if reply.cut_from:
        return (Violation(kind=LONG_REPLY, measured=reply.cut_from, limit=len(reply.text)),)
    return (Violation(kind=CUT_SHORT, measured=1, limit=0),) if reply.finish == CUT_OFF else ()


def repeats(text: str) -> tuple[Violation, ...]:
    """Return the violation of a text that says one sentence over and over, as in a loop."""
    times = count_repeats(text)
    return (Violation(kind=REPEATS, measured=times, limit=0),) if times >= TOO_OFTEN else ()
