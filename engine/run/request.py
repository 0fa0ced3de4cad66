"""From options to a complete request, with who sits where; and its mirror."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from engine.formats import FORMATS, Format
from engine.formats.format import Roles
from engine.run.order import Defaults, Order
from engine.values.debate import (
    OTHER,
    SOMEBODY,
    UNATTENDED,
    Length,
    Model,
    Request,
    side_of,
)
from engine.values.errors import UsageError
from engine.values.language import Text
from engine.values.options import BUILT_IN, Options

MOST_JUDGES = 9  # of a format's own


def request_of(
    order: Order,
    offer: Defaults,
    options: Options,
    script: Format,
    motion: dict[str, str],
    roster: Sequence[Model],
    seed: int,
) -> Request:
    """Return an order's request, with who sits where. Raises UsageError."""
    roles = script.roles(options.options)
    asked, beside = _models_of(order, offer, script, roles)
    sides, drawn = _seat_contenders(roles, asked, offer.sides, offer.models, seed)
    seats = {seat: model for seat, model in beside.items() if seat in roles.seats}
    speakers = (*sides.values(), *seats.values())
    attended = order.platform != UNATTENDED
    person = any(model.person for model in sides.values())
    sized = script.sized(options.length or Length.NORMAL)
    return Request(
        **options.model_dump(exclude={"mirror", "panel"})
        | motion
        | {
            "sides": sides,
            "drawn": drawn,
            "seats": seats,
            "judges": seat_judges(roles, order.judges, offer.own_judges, roster, speakers),
            "sources": order.sources,
            "rounds": options.rounds or sized.rounds or script.default_rounds,
            "turn_order": script.turn_order or options.turn_order,
            "stance": script.stance or (options.stance and not script.question),
            # A default counts only where anyone can ask.
            "questions": (options.questions or 0) * (script.takes_questions and attended),
            "why": options.why and attended,  # else no one reads the reveal
            "reasons": options.reasons and attended,
            "guess": options.guess and attended,
            "turn_minutes": (options.turn_minutes or BUILT_IN.turn_minutes) if person else 0.0,
        }
    )


def _models_of(
    order: Order, offer: Defaults, script: Format, roles: Roles
) -> tuple[Mapping[str, Model], Mapping[str, Model]]:
    """Return the models asked for, with what stands for a person, and these beside the usual ones.

    A person's side has no usual models, and a rematch has none. Raises UsageError.
    """
    if order.guest is None:
        usual = {} if order.rematch else offer.seats
        return order.models, {**usual, **order.models}
    if not script.takes_person:
        known = ", ".join(name for name in FORMATS if FORMATS[name].takes_person)
        raise UsageError(
            "In the format {name} only models can argue; choose one of {known} for a person.",
            name=script.name,
            known=known,
        )
    if order.mirror:
        raise UsageError(
            "A mirror swaps the models of both sides, and a person can argue only one debate at a "
            "time; leave mirror out."
        )
    if order.platform == UNATTENDED or order.series is not None:
        raise UsageError("Only a single debate that people watch can have a person as a side.")
    side = order.guest.side
    own = [seat for seat in order.models if seat != side and seat[0] == side]
    if own or side not in roles.contenders:
        raise UsageError(
            "A person argues for a whole side, 🔵 A or 🔴 B; name no models for its speakers."
        )
    asked = {**order.models, side: SOMEBODY}
    usual = {seat: model for seat, model in offer.seats.items() if seat[0] != side}
    return asked, usual | asked


def _seat_contenders(
    roles: Roles,
    asked: Mapping[str, Model],
    usual: Mapping[str, Model],
    models: Sequence[Model],
    seed: int,
) -> tuple[dict[str, Model], tuple[str, ...]]:
    """Assign every contender a model: the requested one, the usual one, or a drawn one.

    Returns them by contender, and the contenders whose model was drawn. Raises UsageError.
    """
    contenders = roles.contenders
    strange = sorted(set(asked) - {*contenders, *roles.seats})
    if strange:
        raise UsageError(
            "This format has no side {strange}; its sides are {contenders:and}.",
            strange=strange[0],
            contenders=tuple(contenders),
        )
    chosen = {**usual, **asked}
    drawn = tuple(side for side in contenders if side not in chosen)
    taken = {chosen[side].ref for side in contenders if side in chosen}
    offered = [model for model in models if model.ref not in taken]
    offered = offered if len(offered) >= len(drawn) else list(models) * len(contenders)
    if drawn and not offered:
        raise UsageError(
            "No models are configured; name one for each side.", hint="Or set ROSTRUM_MODELS."
        )
    picked = Random(f"sides/{seed}").sample(offered, len(drawn))
    if roles.one_model and drawn:
        alike = next((chosen[side] for side in contenders if side in chosen), picked[0])
        picked = [alike] * len(drawn)
    sides = {**chosen, **dict(zip(drawn, picked, strict=True))}
    return {side: sides[side] for side in contenders}, drawn


def seat_judges(
    roles: Roles,
    asked: Sequence[Model],
    usual: Sequence[Model],
    roster: Sequence[Model],
    speakers: Sequence[Model],
) -> tuple[Model, ...]:
    """Assign a format's own judges: the requested ones, else jurors of other families first.

    `usual` are the operator's or the community's, and `roster` are the jurors. Raises UsageError.
    """
    if not roles.judges:
        if asked:
            raise UsageError(
                "This format, with these options, has no judges of its own; leave "
                "judges out. To choose the jury, use jurors."
            )
        return ()
    own = {model.maker for model in speakers}
    free = [juror for juror in roster if juror.maker not in own] or list(roster)
    most = roles.judges if roles.fixed else MOST_JUDGES
    if len(asked) > most:
        raise UsageError(_too_many(most, fixed=roles.fixed), most=most, n=len(asked))
    named = asked or usual
    seated = named or free
    wanted = len(named) if named and not roles.fixed else roles.judges
    return tuple(seated[at % len(seated)] for at in range(wanted))


def _too_many(most: int, *, fixed: bool) -> str:
    if not fixed:
        return Text(
            "This format, with these options, has at most {most} judges of its own, and you named "
            "{n}. Leave out the rest. To choose the jury, use jurors."
        )
    if most == 1:
        return Text(
            "This format, with these options, has 1 judge of its own, and you named {n}. Leave out "
            "the rest. To choose the jury, use jurors."
        )
    return Text(
        "This format, with these options, has {most} judges of its own, and you named {n}. Leave "
        "out the rest. To choose the jury, use jurors."
    )


# A debate and its mirror: the same debate with sides swapped, to cancel position effects.
#
# A jury cannot undo the advantage of speaking last; a pair in which each model has had both sides
# can. engine/store/votes.py decides when their votes end.


def exchange(request: Request) -> Request:
    """Return the request with the models of both sides, and of their seats, swapped."""
    return request.model_copy(
        update={
            "sides": {side: request.sides[other] for side, other in OTHER.items()},
            "drawn": tuple(side for side, other in OTHER.items() if other in request.drawn),
            "seats": {OTHER[side_of(seat)] + seat[1:]: one for seat, one in request.seats.items()},
        }
    )


def mirror(request: Request) -> Request:
    """Return the request of a debate's mirror. Raises UsageError if that adds no information."""
    if tuple(request.sides) != tuple(OTHER):
        raise UsageError(
            "A mirror swaps two sides, but a {name} debate has {n}; leave mirror out, or "
            "choose another format.",
            name=request.format,
            n=len(request.sides),
        )
    mirrored = exchange(request)
    if mirrored.model_copy(update={"drawn": request.drawn}) == request:
        raise UsageError(
            "The same model argues both sides, so the mirror would be the same debate; "
            "leave mirror out, or name two models."
        )
    return mirrored
