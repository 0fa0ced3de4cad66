"""`rematch`: hold a revealed debate once more, with the same models."""

from __future__ import annotations

from engine.chat.answers.debates import StartedAnswer
from engine.chat.context import Context
from engine.chat.invocation import RematchArguments
from engine.chat.lifecycle import begin
from engine.chat.lookup import find_held, find_named, held_here
from engine.chat.permission import check_may_start
from engine.chat.person import Person
from engine.line.intake import Order, Rematch
from engine.line.rematch import check_repeatable
from engine.store import Store
from engine.values.debate import Debate, Status
from engine.values.errors import NotFoundError


async def rematch(context: Context, person: Person, asked: RematchArguments) -> StartedAnswer:
    """Queue a rematch and answer with its estimate. Raises as `start` does."""
    await check_may_start(context.store, person)
    found = await _find_revealed(context.store, person, asked.debate)
    if person.thread is not None and person.thread == found.thread != found.place:
        # In the thread that this debate had to itself: the next one has its own.
        person = person.model_copy(update={"thread": None})
    again = Rematch(of=found, swapped=asked.swap)
    return await begin(context, person, lambda _: _order(person, again))


async def _find_revealed(store: Store, person: Person, code: str | None) -> Debate:
    """Return the named debate, or the newest revealed one here. Raises RostrumError."""
    if code:
        found = await find_named(store, person, code)
    else:
        here = held_here(person, await find_held(store, person, (Status.CLOSED,)))
        if not here:
            raise NotFoundError("No debate in this channel has a result yet; give a debate's code.")
        found = here[0]
    check_repeatable(found, await store.debates.mirror_of(found))
    return found


def _order(person: Person, again: Rematch) -> Order:
    return Order(
        platform=person.platform,
        community=person.community,
        place=person.thread or person.place,
        ground=person.ground,
        user=person.user,
        rematch=again,
    )
