"""Who sits where in a debate: contenders, a format's own judges, and a mirror's exchange."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from engine.formats import FORMATS, Format
from engine.formats.format import Roles
from engine.values.debate import OTHER, SOMEBODY, UNATTENDED, Model, Request, side_of
from engine.values.errors import UsageError
from engine.values.language import Text

if TYPE_CHECKING:
    from engine.run.order import Defaults, Order

MOST_JUDGES = 9  # of a format's own


def seat(
    order: Order, offer: Defaults, script: Format, roles: Roles, roster: Sequence[Model], seed: int
) -> dict[str, Any]:
    """Return the fields of a request that say who sits where. Raises UsageError."""
    asked, beside = _models_of(order, offer, script, roles)
    sides, drawn = _seat_contenders(roles, asked, offer.sides, offer.models, seed)
    seats = {seat: model for seat, model in beside.items() if seat in roles.seats}
    speakers = (*sides.values(), *seats.values())
    judges = seat_judges(roles, order.judges, offer.own_judges, roster, speakers)
    return {"sides": sides, "drawn": drawn, "seats": seats, "judges": judges}


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
