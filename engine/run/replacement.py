"""Replace an unavailable model in a debate that continues.

The old model's turns stay unchanged, and its name stays hidden too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from engine.store import Post
from engine.values.debate import Model, Replacement, Setup
from engine.values.errors import UsageError
from engine.values.language import speaking
from engine.values.messages import Notice
from engine.words.translation import say

if TYPE_CHECKING:
    from engine.values.protocols import Models

Key = TypeVar("Key")


async def replace_models(setup: Setup, changes: Sequence[Replacement], models: Models) -> Setup:
    """Apply replacements in order and price the new models instead. Raises UsageError."""
    for change in changes:
        setup = replace_model(setup, change)
    found = {change.now.ref: await models.price(change.now) for change in changes}
    left = {change.was.ref for change in changes} - _seated(setup).keys()
    prices = {ref: price for ref, price in (setup.prices | found).items() if ref not in left}
    return setup.model_copy(update={"prices": prices})


def replaced_post(setup: Setup) -> Post:
    """Return the notice for the thread, which names no model before the reveal."""
    with speaking(setup.request.language):
        return Post(
            key=f"replaced/{len(setup.replaced)}",
            message=Notice(
                text=say("A model became unavailable, so another one has taken its place.")
            ),
        )


def replace_model(setup: Setup, change: Replacement) -> Setup:
    """Replace a model in all its roles: speaker, juror, judge of the format.

    Raises UsageError if the old one has no role, or the new one may not take it.
    """
    request, old = setup.request, change.was.ref
    seated = _seated(setup)
    if old not in seated:
        raise UsageError(
            f"{old} does not take part in this debate; its models are {', '.join(seated)}."
        )
    change = change.model_copy(update={"was": seated[old]})
    request = request.model_copy(
        update={
            "sides": _put(request.sides, change),
            "seats": _put(request.seats, change),
            "judges": tuple(change.now if one.ref == old else one for one in request.judges),
        }
    )
    setup = setup.model_copy(update={"request": request, "replaced": (*setup.replaced, change)})
    return _seat_jury(setup, change)


def _seated(setup: Setup) -> dict[str, Model]:
    """Return the speakers, judges and jurors."""
    request = setup.request
    models = (*request.speakers, *request.judges, *setup.panel.roster)
    return {model.ref: model for model in models}


def _put(places: Mapping[Key, Model], change: Replacement) -> dict[Key, Model]:
    return {
        place: change.now if model.ref == change.was.ref else model
        for place, model in places.items()
    }


def _seat_jury(setup: Setup, change: Replacement) -> Setup:
    """Replace a juror; recuses the families of all present and past speakers."""
    panel = setup.panel
    speakers = {model.ref for model in setup.request.speakers}
    # A replaced model may have spoken if its successor is a speaker.
    before = (one.was for one in setup.replaced if one.now.ref in speakers)
    spoke = (*setup.request.speakers, *before)
    own = {model.maker for model in spoke}
    sits = {juror.ref for juror in panel.roster}
    if change.was.ref in sits:
        if change.now.ref in sits:
            raise UsageError(f"{change.now.ref} is already on this jury; name another.")
        if change.now.maker in own and not panel.recusal_failed:
            raise UsageError(f"{change.now.ref} belongs to a debater's family; name another juror.")
    roster = [change.now if juror.ref == change.was.ref else juror for juror in panel.roster]
    free = [juror for juror in roster if juror.maker not in own]
    recused = tuple(juror for juror in roster if juror not in free) if free else ()
    seated = {
        "roster": tuple(free or roster),
        "recused": (*panel.recused, *recused),
        "recusal_failed": not free,
    }
    return setup.model_copy(update={"panel": panel.model_copy(update=seated)})
