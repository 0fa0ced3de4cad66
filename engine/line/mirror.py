"""A debate and its mirror: the same debate with sides swapped, to cancel position effects.

A jury cannot undo the advantage of speaking last; a pair in which each model has had both sides
can. engine/store/votes.py decides when their votes end. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping

from engine.formats.format import Roles
from engine.values.debate import OTHER, Request, side_of
from engine.values.errors import UsageError


def check_mirrored(name: str, roles: Roles, request: Request) -> None:
    """Refuse a mirror that would add no information. Raises UsageError with the reason."""
    if roles.contenders != tuple(OTHER):
        raise UsageError(
            "A mirror swaps two sides, but a {name} debate has {n}; leave mirror out, or "
            "choose another format.",
            name=name,
            n=len(roles.contenders),
        )
    if exchange(request).model_copy(update={"drawn": request.drawn}) == request:
        raise UsageError(
            "The same model argues both sides, so the mirror would be the same debate; "
            "leave mirror out, or name two models."
        )


def exchange(request: Request) -> Request:
    """Return the request with the models of both sides, and of their seats, swapped."""
    return seated(request, OTHER)


def seated(request: Request, whose: Mapping[str, str]) -> Request:
    """Return the request with each contender in the place of another, which `whose` names."""
    taken = {was: side for side, was in whose.items()}
    return request.model_copy(
        update={
            "sides": {side: request.sides[was] for side, was in whose.items()},
            "drawn": tuple(side for side, was in whose.items() if was in request.drawn),
            "seats": {
                taken[side_of(seat)] + seat[1:]: model for seat, model in request.seats.items()
            },
        }
    )
