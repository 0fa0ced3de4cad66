"""What a series will hold and take, worked out without paying anything."""

from __future__ import annotations

from itertools import chain, islice

from engine.formats import find_format
from engine.line.intake import Defaults, check_prices
from engine.line.service import Service
from engine.series.expand import expand
from engine.series.pairing import choose
from engine.series.runner import defaults_of, order_of
from engine.series.spec import Series
from engine.store import Caps
from engine.values.debate import Value
from engine.values.errors import UsageError
from engine.values.text import dollars

SAMPLED = 2000  # debates that are estimated one by one
CAPPED = Caps()  # of which prices must be known


class SeriesPlan(Value):
    """A series before it is held: how many debates, and what they take together.

    `debates` are at most those of the series; the rest is the expected sum over them, `calls_max`
    and `usd_max` their maxima. USD are None if a price is unknown. `hours` is with as many debates
    at once as the file allows. `dearest_usd` is what a debate may cost at most, and `sampled` how
    many were estimated, the others being like them. `longest_prompts` are in tokens, by model.
    `ends_early`: what is said may end debates
    before their last round, so that the sums are a maximum but for retries.
    """

    debates: int
    calls: int
    calls_max: int
    tokens_in: int
    tokens_out: int
    usd: float | None
    usd_max: float | None
    dearest_usd: float | None
    hours: float
    sampled: int
    longest_prompts: dict[str, int]
    ends_early: bool


def one_of_each(series: Series) -> Series:
    """Return a series with one debate of each kind, on the longest topic of each language.

    What is impossible or too dear for a kind is so on every topic, and to plan a long series
    takes seconds.
    """
    by_length = sorted(series.topics, key=lambda topic: len(topic.text))
    longest = {topic.language: topic for topic in by_length}
    return series.model_copy(update={"topics": tuple(longest.values()), "repeats": 1})


async def plan_series(series: Series, service: Service, installed: Defaults) -> SeriesPlan:
    """Estimate a series by dry runs of its debates.

    Raises UsageError for a cap below the cost of one debate and for a debate that is impossible,
    and BudgetError for a cap without known prices.
    """
    free = series.model_copy(update={"limits": series.limits.model_copy(update={"usd": None})})
    defaults, step = defaults_of(free, installed), -(-series.size // SAMPLED)
    quotes = [
        await service.quote(order_of(series, planned), defaults, planned.ordinal)
        for planned in islice(expand(series), 0, None, step)
    ]
    debates = choose(series).total()
    share = debates / len(quotes)
    found = [quote.expected for quote in quotes]
    costs = [one.usd for one in found if one.usd is not None]
    most = [quote.setup.reserved_usd for quote in quotes]
    known = len(costs) == len(found)
    cap = series.limits.usd
    if cap is not None and not known:
        check_prices(
            dict(chain.from_iterable(quote.setup.prices.items() for quote in quotes)), CAPPED
        )
    if cap is not None and cap < min(costs):
        raise UsageError(
            f"limits.usd is {dollars(cap)} USD, and a single debate is expected to cost "
            f"{dollars(min(costs))}. Raise it, or choose cheaper models."
        )
    return SeriesPlan(
        debates=debates,
        calls=round(share * sum(one.calls for one in found)),
        calls_max=round(share * sum(one.calls_max for one in found)),
        tokens_in=round(share * sum(one.tokens_in for one in found)),
        tokens_out=round(share * sum(one.tokens_out for one in found)),
        usd=share * sum(costs) if known else None,
        usd_max=share * sum(most) if known else None,
        dearest_usd=max(most) if known else None,
        hours=share * sum(one.minutes for one in found) / 60 / series.limits.debates_at_once,
        sampled=len(quotes),
        longest_prompts={
            ref: max(quote.longest.get(ref, 0) for quote in quotes)
            for ref in dict.fromkeys(chain.from_iterable(quote.longest for quote in quotes))
        },
        ends_early=any(find_format(one.format or "").ends_early for one in series.formats),
    )
