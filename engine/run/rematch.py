"""A rematch: a revealed debate held once more, with the same models.

People know who was who, so by default the sides are drawn again and no one knows who has which:
votes stay blind. Swapped on purpose, everyone can tell; then no vote is gold. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from engine.formats import Format, find_format
from engine.formats.format import Roles, read_own
from engine.run.plan import (
    Defaults,
    Order,
    Rematch,
    check_ground,
    check_words,
    seat_judges,
    texts_of,
)
from engine.values.debate import ENDED, OTHER, Debate, Request, side_of
from engine.values.errors import UsageError
from engine.values.language import N_

# A debate and its mirror: the same debate with sides swapped, to cancel position effects.
#
# A jury cannot undo the advantage of speaking last; a pair in which each model has had both sides
# can. engine/store/votes.py decides when their votes end. Pure.


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


NO_RESULT = N_(
    "Debate {code} ended without a result, so there is nothing to repeat; start its motion again."
)


def repeat(order: Order, rematch: Rematch, defaults: Defaults, seed: int) -> tuple[Request, Format]:
    """Return the request of a rematch. Raises UsageError if it is impossible."""
    request = rematch.of.request
    script = find_format(request.format)
    own = read_own(script.name, script.options, request.options).model_dump(mode="json")
    roles = script.roles(own)
    request = _offered_again(request, defaults).model_copy(update={"drawn": ()})
    if rematch.swapped:
        request = _swap(request, roles)
    else:
        sides = list(request.sides)
        drawn = Random(f"rematch/{seed}").sample(sides, len(sides))
        request = seated(request, dict(zip(sides, drawn, strict=True)))
    judges = {model.ref: model for model in defaults.judges}
    kept = tuple(judges[one.ref] for one in request.judges if one.ref in judges)
    if len(kept) < len(request.judges):
        kept = ()  # today's then
    speakers = (*request.sides.values(), *request.seats.values())
    named = order.model_copy(update={"judges": kept})
    seats = seat_judges(roles, named, defaults, speakers)
    request = request.model_copy(update={"options": own, "judges": seats})
    if rematch.swapped or request.guest:  # no vote can be gold, so nothing waits for a quorum
        request = request.model_copy(update={"quorum": 0, "extend": False})
    check_words(defaults.blocked_words, *texts_of(request))
    check_ground(order.ground, request.ballot, script)
    return request, script


def check_repeatable(debate: Debate, mirror: Debate | None) -> None:
    """Refuse a rematch before a debate and its mirror have their results. Raises UsageError."""
    if debate.revealed_at is None:
        raise UsageError(
            NO_RESULT
            if debate.status in ENDED
            else N_("Debate {code} has no result yet. A rematch can begin once it has one."),
            code=debate.code,
        )
    if mirror is not None and mirror.status not in ENDED:
        raise UsageError(
            "Debate {code} has the same models as {mirror}, which is still going on. A rematch can "
            "begin once that one has its result.",
            code=debate.code,
            mirror=mirror.code,
        )


def _offered_again(request: Request, defaults: Defaults) -> Request:
    """Return the request with its models as they are offered today. Raises UsageError."""
    offered = {model.ref: model for model in defaults.debaters}
    missing = sorted({one.ref for one in request.speakers} - offered.keys())
    if missing:
        raise UsageError(
            "{models:and} cannot debate here any more, so there is no rematch with the same "
            "models. Start the motion with other models; the command models lists them.",
            models=tuple(missing),
        )
    return request.model_copy(
        update={
            "sides": {
                side: model if model.person else offered[model.ref]
                for side, model in request.sides.items()
            },
            "seats": {seat: offered[model.ref] for seat, model in request.seats.items()},
        }
    )


def _swap(request: Request, roles: Roles) -> Request:
    if roles.contenders != tuple(OTHER):
        raise UsageError(
            "Only two sides can be swapped, and this debate has {number} speakers; start a rematch "
            "instead.",
            number=len(roles.contenders),
        )
    swapped = exchange(request)
    if (swapped.sides, swapped.seats) == (request.sides, request.seats):
        raise UsageError(
            "The same model argued both sides, so there is nothing to swap; start a rematch "
            "instead."
        )
    return swapped
