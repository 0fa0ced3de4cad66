"""What people can vote for."""

from __future__ import annotations

from engine.debate import TIE, WEAK


def vote_options(contenders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the options of a vote: every contender, a tie, and “both weak”."""
    return (*contenders, TIE, WEAK)
