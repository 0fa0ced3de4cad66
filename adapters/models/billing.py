"""What a try counts at: a backend's figures are believed only where they can be true."""

from __future__ import annotations

from dataclasses import replace

from adapters.models.outcomes import CallAnswer, Outcome
from engine.values.debate import Origin, Price, Usage

ABSURD = 10  # times the highest possible; some providers count tokens that no one asked for
SCANT = 40  # characters; no text has fewer tokens than one for so many
FEW = 1_000  # tokens; a provider's own instructions may be longer than a prompt
DEAREST = Price(usd_in=150, usd_out=600)  # of any model, where no price says what is possible


def bounded(outcome: Outcome, read: int, written: int) -> Outcome:
    """Return an outcome without token counts that are absurd: far too many, or too few for a text.

    `read` and `written` are the most tokens that the call may take.
    """
    usage = outcome.usage
    most_in, most_out = (ABSURD * max(FEW, n) for n in (read, _longest(outcome, written)))
    least_in = least_out = 0
    if isinstance(outcome, CallAnswer):
        # Some count what a cache held apart from the rest.
        elsewhere = (usage.tokens_cached or 0) + (usage.tokens_written or 0)
        least_in = read // SCANT - elsewhere
        least_out = max(1, len(outcome.text) // SCANT)
    kept = Usage(
        tokens_in=_within(usage.tokens_in, most_in, least_in),
        tokens_out=_within(usage.tokens_out, most_out, least_out),
        tokens_cached=_within(usage.tokens_cached, most_in),
        tokens_written=_within(usage.tokens_written, most_in),
        tokens_reasoning=_within(usage.tokens_reasoning, most_out),
    )
    return replace(outcome, usage=kept, doubtful=outcome.doubtful or kept != usage)


def billed(outcome: Outcome, price: Price | None, read: int, written: int) -> Outcome:
    """Return a bounded outcome with its cost: the greater of the stated one and price × tokens.

    None is unknown, and counts at its highest: where a figure is doubtful, or the cost absurd.
    """
    if outcome.cost is not None and outcome.origin is not Origin.REPLY:
        return outcome  # certainly not billed
    free = price is not None and price.free
    counted = _counted(outcome.usage, price)
    cost = max((one for one in (outcome.cost, counted) if one is not None), default=None)
    dear = DEAREST if price is None or free else price
    highest = dear.cost(read, _longest(outcome, written), written=read)
    gift = cost == 0 and counted is None and price is not None  # and no tokens can tell
    if outcome.doubtful or gift or cost is None or cost > ABSURD * highest:
        cost = 0.0 if free else None
    if cost is None or price is None:
        return replace(outcome, cost=cost, origin=None if cost is None else Origin.REPLY)
    return replace(outcome, cost=cost, origin=price.origin if cost == counted else Origin.REPLY)


def _longest(outcome: Outcome, written: int) -> int:
    """Return the most tokens that can have been written: some backends heed no cap."""
    return max(written, len(outcome.text)) if isinstance(outcome, CallAnswer) else written


def _within(count: int | None, most: int, least: int = 0) -> int | None:
    return count if count is not None and least <= count <= most else None


def _counted(usage: Usage, price: Price | None) -> float | None:
    """Return price × tokens, None if one of them is unknown."""
    if price is None:
        return None
    if price.free:
        return 0.0
    if usage.tokens_in is None or usage.tokens_out is None:
        return None
    return price.cost(
        usage.tokens_in,
        usage.tokens_out,
        cached=usage.tokens_cached or 0,
        written=usage.tokens_written or 0,
    )
