"""How a debate came to its end, as its members may read it before and after the reveal."""

from __future__ import annotations

import re

from engine.debate import Debate, Status
from engine.errors import BudgetError, RostrumError, StoppedError
from engine.messages import Where
from engine.store import DeliveryState, Outbox

DEFECT = "Rostrum itself failed; the log says where. What was paid for is kept; try to resume it."
MODEL_FAILED = (
    "A model gave no usable answer, also when it was asked again. The operator of Rostrum can see "
    "which one, and resume the debate."
)
REVEAL, CHANNEL_REVEAL, STARTER_REVEAL = "reveal", "reveal/channel", "reveal/starter"
PLACES: dict[str, Where] = {REVEAL: "thread", CHANNEL_REVEAL: "channel", STARTER_REVEAL: "starter"}
GIVEN = (DeliveryState.SENT, DeliveryState.DOUBTFUL)
UNDER_WAY = (DeliveryState.PENDING, DeliveryState.SENDING)
_SETTING = re.compile(r" \(ROSTRUM_\w+\)")


def said_of(error: RostrumError) -> str:
    """Return why a debate stops, without what only the operator may read, as models' names."""
    if isinstance(error, BudgetError | StoppedError) or str(error) == DEFECT:
        return _SETTING.sub("", str(error))
    return MODEL_FAILED


def why(debate: Debate) -> str:
    """Return why a debate ended early, or what it waits for; empty for neither."""
    if debate.status is Status.FAILED and not debate.gone and debate.reason != DEFECT:
        return MODEL_FAILED
    return _SETTING.sub("", debate.reason)


async def where_revealed(outbox: Outbox, debate: Debate) -> Where | None:
    """Return where the models of a closed debate were named; None for one that is not closed."""
    if debate.revealed_at is None:
        return None
    found: Where = "nowhere"
    for key, where in PLACES.items():
        intent = await outbox.find(debate.id, key)
        if intent is not None and intent.state in GIVEN:
            return where
        if intent is not None and intent.state in UNDER_WAY:
            found = "waiting"
    return found
