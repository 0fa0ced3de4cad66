"""What it takes to ask a juror, its price included; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.jury.plan import WORTHWHILE
from engine.line.estimate import manner_of
from engine.values.debate import Model, Price

READ_TOKENS = 4000  # of a debate, as a juror reads it
POINTS_A_CALL = 100 * WORTHWHILE  # of accuracy, which a call has to gain whatever it costs


def weigh_costs(
    jurors: Sequence[Model], prices: Mapping[str, Price | None], value_per_usd: float
) -> dict[str, float]:
    """Return what asking each juror takes by its reference: 1 for a free one, more by its price.

    `value_per_usd` is how many points of accuracy a USD is worth. A juror of unknown price counts
    as a free one.
    """
    costs: dict[str, float] = {}
    for juror in jurors:
        price = prices.get(juror.ref)
        usd = price.cost(READ_TOKENS, manner_of(juror).ballot) if price else 0.0
        costs[juror.ref] = 1 + value_per_usd * usd / POINTS_A_CALL
    return costs
