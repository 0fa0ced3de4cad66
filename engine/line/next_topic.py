"""The topic that a community wants debated next."""

from __future__ import annotations

from engine.store import Store
from engine.store.suggestions import Suggestion


async def next_topic(store: Store, platform: str, community: str) -> Suggestion | None:
    """Return the most upvoted approved topic without a debate; None if there is none.

    It is used once a debate with its text as topic is stored, in the same transaction; until then
    it is returned again.
    """
    suggested = await store.suggestions.open(platform, community)
    return next((one for one in suggested if one.approved), None)
