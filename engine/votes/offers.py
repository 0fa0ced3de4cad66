"""Which revealed debates are offered for more answers: those on which it is least clear who won.

Pure. Everybody reads the same list on the same day, but for what they have answered already.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import chain, zip_longest
from random import Random
from typing import Literal, NamedTuple

from engine.judging import TIE, WEAK, Question
from engine.store import DebateRecord
from engine.votes.tally import count

OFFERED = 5
DRAWN = OFFERED // 5  # a random fifth, so that the list also says how the clear ones fare

Why = Literal["differ", "close", "drawn"]


class Doubt(NamedTuple):
    """How unclear a debate's outcome is.

    `difference` lies between people's shares of the gold votes and the panel's probabilities, as
    their total variation distance (of two sides: how far the shares of A are apart); `lead` is
    that of the likeliest winner over the second, in probability. Both are from 0 to 1, and None
    without a blind panel's verdict, the difference also without gold votes.
    """

    debate: str
    difference: float | None = None
    lead: float | None = None


class Offer(NamedTuple):
    """A debate to answer, and why."""

    debate: str
    why: Why


def doubt_of(record: DebateRecord) -> Doubt:
    """Work out how unclear a revealed debate's outcome is."""
    verdict = record.verdict
    if verdict is None or not verdict.blind or len(verdict.p) < 2:
        return Doubt(record.debate.id)
    first, second = sorted(verdict.p.values(), reverse=True)[:2]
    return Doubt(record.debate.id, _difference(record, verdict.p), first - second)


def _difference(record: DebateRecord, p: Mapping[str, float]) -> float | None:
    """Compare people with the panel; a tie and both weak prefer nobody, and count for all alike."""
    sides = tuple(record.debate.request.sides)
    gold = count(record.asked(Question.VOTE), sides, quorum=0).gold
    cast = sum(gold.values())
    if not cast:
        return None
    undecided = (gold[TIE] + gold[WEAK]) / len(sides)
    return sum(abs((gold[side] + undecided) / cast - p.get(side, 0.0)) for side in sides) / 2


def offer(doubts: Iterable[Doubt], day: date) -> tuple[Offer, ...]:
    """Choose at most five: by turns where people and jury differ most and where it was closest.

    One of them is drawn at random from all that are left, by the day.
    """
    held = sorted(doubts)
    offers = _dedupe(_ranked(held))[: OFFERED - DRAWN]
    chosen = {one.debate for one in offers}
    left = sorted(
        (doubt.debate for doubt in held if doubt.debate not in chosen),
        key=lambda debate: Random(f"review/{day}/{debate}").random(),
    )
    return (*offers, *(Offer(debate, "drawn") for debate in left[: OFFERED - len(offers)]))


def _ranked(doubts: Sequence[Doubt]) -> Iterable[Offer]:
    differing = [(-d.difference, d.debate) for d in doubts if d.difference is not None]
    closest = [(d.lead, d.debate) for d in doubts if d.lead is not None]
    by_turns = zip_longest(
        (Offer(debate, "differ") for _, debate in sorted(differing)),
        (Offer(debate, "close") for _, debate in sorted(closest)),
    )
    return (one for one in chain.from_iterable(by_turns) if one is not None)


def _dedupe(offers: Iterable[Offer]) -> tuple[Offer, ...]:
    by_debate: dict[str, Offer] = {}
    for one in offers:
        by_debate.setdefault(one.debate, one)
    return tuple(by_debate.values())
