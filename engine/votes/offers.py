"""Which revealed debates to offer for review: those with the least clear winner.

Pure. Everyone gets the same list on the same day, minus their own answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import islice, zip_longest
from random import Random
from typing import Literal, NamedTuple

from engine.store import DebateRecord
from engine.tally import count
from engine.values.verdicts import TIE, WEAK, Question

OFFERED = 5
DIFFERENT, NEAR = 0.25, 0.2  # from which difference, and up to which lead, a winner is unclear
DRAWN = OFFERED // 5  # one in five is random, so that clear debates are covered too

Why = Literal["differ", "close", "drawn"]


class Doubt(NamedTuple):
    """How unclear a debate's outcome is.

    `difference` is the total variation distance between people's gold shares and the panel's
    probabilities (for two sides: the difference in A's share); `lead` is the probability of the
    likeliest winner minus the second's. Both are from 0 to 1. Both are None without a blind
    panel's verdict; `difference` is also None without gold votes.
    """

    debate: str
    difference: float | None = None
    lead: float | None = None


def doubt_of(record: DebateRecord) -> Doubt:
    """Measure how unclear a revealed debate's outcome is."""
    verdict = record.verdict
    if verdict is None or not verdict.blind or len(verdict.p) < 2:
        return Doubt(record.debate.id)
    first, second = sorted(verdict.p.values(), reverse=True)[:2]
    return Doubt(record.debate.id, _difference(record, verdict.p), first - second)


def _difference(record: DebateRecord, p: Mapping[str, float]) -> float | None:
    """Compare people with the panel; ties and “neither” are split evenly among the sides."""
    sides = tuple(record.debate.request.sides)
    gold = count(record.asked(Question.VOTE), sides, quorum=0).gold
    cast = sum(gold.values())
    if not cast:
        return None
    undecided = (gold[TIE] + gold[WEAK]) / len(sides)
    return sum(abs((gold[side] + undecided) / cast - p.get(side, 0.0)) for side in sides) / 2


def offer(doubts: Iterable[Doubt], day: date) -> dict[str, Why]:
    """Choose at most five, alternating between the largest difference and the closest verdict.

    One of them is drawn at random from the rest, by day. Returns why each is to be reviewed.
    """
    held = sorted(doubts)
    offers = dict(islice(_ranked(held).items(), OFFERED - DRAWN))
    left = sorted(
        (doubt.debate for doubt in held if doubt.debate not in offers),
        key=lambda debate: Random(f"review/{day}/{debate}").random(),
    )
    return offers | dict.fromkeys(left[: OFFERED - len(offers)], "drawn")


def in_doubt(doubt: Doubt) -> bool:
    """Return whether a debate's winner is unclear: people and panel differ, or the panel barely."""
    differs = doubt.difference is not None and doubt.difference >= DIFFERENT
    return differs or (doubt.lead is not None and doubt.lead <= NEAR)


def ranked(doubts: Iterable[Doubt]) -> tuple[str, ...]:
    """Return debates with a panel's verdict, alternating as in `offer`, the least clear first."""
    return tuple(_ranked(sorted(doubts)))


def _ranked(doubts: Sequence[Doubt]) -> dict[str, Why]:
    differing = [(-d.difference, d.debate) for d in doubts if d.difference is not None]
    closest = [(d.lead, d.debate) for d in doubts if d.lead is not None]
    why: dict[str, Why] = {}
    for differs, is_close in zip_longest(sorted(differing), sorted(closest)):
        if differs is not None:
            why.setdefault(differs[1], "differ")
        if is_close is not None:
            why.setdefault(is_close[1], "close")
    return why
