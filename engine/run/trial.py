"""An open debate's choice of sides, by the model that argues first."""

from __future__ import annotations

from typing import Literal

from engine.prompts.library import TRIAL
from engine.run.request import exchange
from engine.stage.shapes import TEXT, Shape, choice, named
from engine.stage.stage import Stage
from engine.values.debate import Setup, Value


class _Choice(Value, extra="ignore"):
    """Which answer a model takes for the right one."""

    side: Literal["A", "B"]


CHOICE = Shape(_Choice, named("Choice", {"reasons": TEXT, "side": choice("A", "B")}))


async def choose_side(stage: Stage, setup: Setup) -> Setup:
    """Let the first model choose what it argues, and the other take the rest.

    Models change their sides, not sides their answers. Without a usable choice all stays as it is.
    """
    answer = await stage.consult(
        f"{TRIAL}/choice",
        setup.request.sides["A"],
        system=f"{TRIAL}/chooser",
        template=f"{TRIAL}/choice",
        shape=CHOICE,
        role="debater",
        side="A",
        again=f"{TRIAL}/again",
        sources=setup.request.sources,
    )
    if answer.value is None:
        return setup
    side = answer.value.side
    request = setup.request if side == "A" else exchange(setup.request)
    return setup.model_copy(update={"request": request, "advocate": side})
