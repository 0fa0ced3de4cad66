"""The topic that a community wants debated next."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from engine.store import Store
from engine.store.suggestions import Suggestion
from engine.values.topics import has_blocked


async def next_topic(store: Store, platform: str, community: str) -> Suggestion | None:
    """Return the most upvoted approved topic without a debate and blocked words; None without any.

    It is used once a debate with its text as topic is stored, in the same transaction; until then
    it is returned again.
    """
    settings = await store.communities.get(platform, community)
    suggested = await store.suggestions.open(platform, community)
    return next(iter(listed(suggested, settings.blocked_words)), None)


def listed(suggested: Iterable[Suggestion], blocked: Collection[str]) -> list[Suggestion]:
    """Return those of the suggestions that everyone sees."""
    return [one for one in suggested if one.approved and not has_blocked(blocked, one.text)]
