"""A rematch: a revealed debate held once more, with the same models.

People know who was who, so by default the sides are drawn again and no one knows who has which:
votes stay blind. Swapped on purpose, everyone can tell; then no vote is gold. Pure.
"""

from __future__ import annotations

from random import Random

from engine.formats import find_format
from engine.run.order import Defaults, Order, Rematch
from engine.values.debate import ENDED, OTHER, Debate, Model, Request, side_of
from engine.values.errors import UsageError
from engine.values.language import N_
from engine.values.options import Options

NO_RESULT = N_(
    "Debate {code} ended without a result, so there is nothing to repeat; start its motion again."
)


def repeat(order: Order, rematch: Rematch, offer: Defaults, new_seed: int) -> Order:
    """Return the order with all that the debate before had; `new_seed` is for one without.

    Raises UsageError if it cannot be held again.
    """
    seed = new_seed if order.seed is None else order.seed
    before, request = rematch.of.setup, rematch.of.request
    models = _offered_again(request, offer)
    if rematch.swapped:
        taken = _swapped(request)
    else:
        sides = list(request.sides)
        drawn = Random(f"rematch/{seed}").sample(sides, len(sides))
        taken = dict(zip(drawn, sides, strict=True))
    judges = {model.ref: model for model in offer.judges}
    asked = {model.ref for model in (*before.panel.roster, *before.panel.recused)}
    kept = tuple(judges[one.ref] for one in request.judges if one.ref in judges)
    update = {
        name: getattr(request, name) for name in Options.model_fields if hasattr(request, name)
    }
    update |= {
        "rounds": request.rounds if find_format(request.format).takes_rounds else None,
        "rematch": rematch,
        "seed": seed,
        "models": {taken[side_of(seat)] + seat[1:]: model for seat, model in models.items()},
        "judges": kept if len(kept) == len(request.judges) else (),  # else today's
        "jurors": order.jurors or tuple(one for ref, one in judges.items() if ref in asked),
        "sources": request.sources,
        "panel": order.panel or before.panel.mode,
    }
    if rematch.swapped or request.guest:  # no vote can be gold, so nothing waits for a quorum
        update |= {"quorum": 0, "extend": False}
    return order.model_copy(update=update)


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


def _offered_again(request: Request, offer: Defaults) -> dict[str, Model]:
    """Return who had which side or seat, as it is offered today. Raises UsageError."""
    offered = {model.ref: model for model in offer.debaters}
    missing = sorted({one.ref for one in request.speakers} - offered.keys())
    if missing:
        raise UsageError(
            "{models:and} cannot debate here any more, so there is no rematch with the same "
            "models. Start the motion with other models; the command models lists them.",
            models=tuple(missing),
        )
    seated = {**request.sides, **request.seats}
    return {seat: model if model.person else offered[model.ref] for seat, model in seated.items()}


def _swapped(request: Request) -> dict[str, str]:
    """Return the side that each one's models take. Raises UsageError where nothing would change."""
    if tuple(request.sides) != tuple(OTHER):
        raise UsageError(
            "Only two sides can be swapped, and this debate has {number} speakers; start a rematch "
            "instead.",
            number=len(request.sides),
        )
    one, other = (
        {
            seat[1:]: model
            for seat, model in (*request.sides.items(), *request.seats.items())
            if side_of(seat) == side
        }
        for side in OTHER
    )
    if one == other:
        raise UsageError(
            "The same model argued both sides, so there is nothing to swap; start a rematch "
            "instead."
        )
    return OTHER
