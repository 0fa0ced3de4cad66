"""A debate and its mirror: the same one with sides exchanged, so that neither place decides.

Who speaks last cannot be swapped away by a jury; a pair in which each model has had both sides
can. When their votes end is in engine/store/pairs.py. Pure.
"""

from __future__ import annotations

from engine.debate import Model, Request, side_of
from engine.errors import UsageError
from engine.formats.format import Roles
from engine.messages import Estimate

OTHER = {"A": "B", "B": "A"}


def check_mirrored(name: str, roles: Roles, request: Request) -> None:
    """Refuse a mirror that would tell nothing. Raises UsageError saying why."""
    if roles.contenders != tuple(OTHER):
        raise UsageError(
            f"A mirror swaps two sides, but a {name} debate has {len(roles.contenders)}; "
            "leave mirror out, or choose another format."
        )
    if exchange(request).model_copy(update={"drawn": request.drawn}) == request:
        raise UsageError(
            "The same model argues both sides, so the mirror would be the same debate; "
            "leave mirror out, or name two models."
        )


def exchange(request: Request) -> Request:
    """Return the same request with the models of the two sides, and of their seats, exchanged."""
    return request.model_copy(
        update={
            "sides": {side: request.sides[other] for side, other in OTHER.items()},
            "drawn": tuple(side for side, other in OTHER.items() if other in request.drawn),
            "seats": _exchange_seats(request.seats),
        }
    )


def _exchange_seats(seats: dict[str, Model]) -> dict[str, Model]:
    return {OTHER[side_of(seat)] + seat[1:]: model for seat, model in seats.items()}


def add_up(one: Estimate, other: Estimate) -> Estimate:
    """Return what two debates held at the same time take together."""
    return Estimate(
        calls=one.calls + other.calls,
        calls_max=one.calls_max + other.calls_max,
        tokens_in=one.tokens_in + other.tokens_in,
        tokens_out=one.tokens_out + other.tokens_out,
        minutes=max(one.minutes, other.minutes),
        usd=None if one.usd is None or other.usd is None else one.usd + other.usd,
        usd_max=None
        if one.usd_max is None or other.usd_max is None
        else one.usd_max + other.usd_max,
    )
