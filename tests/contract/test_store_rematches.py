"""The Store port on rematches: of several at once, one is stored."""

import asyncio

from engine.store import Store
from engine.values.debate import Debate, Status
from engine.values.errors import UsageError
from tests.kit import NO_CAPS, begin, create, make_setup, new_debate


async def again(store: Store, before: str) -> Debate:
    setup = make_setup().model_copy(update={"rematch_of": before})
    (debate,) = await store.debates.create([(new_debate(user=None, setup=setup), [])], NO_CAPS)
    return debate


async def test_of_two_presses_one_starts_a_rematch_and_another_may_follow_it(store: Store) -> None:
    before = new_debate(user=None)
    await create(store, before)
    asked = await asyncio.gather(
        *(again(store, before.id) for _ in range(4)), return_exceptions=True
    )
    (begun,) = (one for one in asked if isinstance(one, Debate))
    refused = [one for one in asked if isinstance(one, UsageError)]
    assert len(refused) == 3
    assert all(begun.code in str(one) for one in refused)
    assert (await store.debates.get(begun.id)).setup.rematch_of == before.id
    await (await begin(store, begun.id)).advance(Status.CANCELLED)
    assert (await again(store, before.id)).id != begun.id
