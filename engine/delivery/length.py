"""How many turns a debate has, as far as that is known while it is held."""

from __future__ import annotations

from engine.formats import length_of
from engine.store import Store
from engine.values.debate import Debate
from engine.values.judging import QUESTIONS


async def turns_expected(store: Store, debate: Debate) -> int:
    """Return a debate's number of turns, without those that no one's question called for.

    0 where a clock decides.
    """
    total = length_of(debate.setup)
    if not (total and debate.request.questions):
        return total
    asked = await store.journal.found(debate.id, QUESTIONS)
    skipped = bool(asked) and not asked[0].body["put"]
    return total - len(debate.request.sides) if skipped else total
