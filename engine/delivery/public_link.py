"""The link from a debate's announcement and reveal to its page on the web."""

from __future__ import annotations

from typing import TypeVar

from engine.store import Intent, Store
from engine.store.communities import PublicPart
from engine.values.messages import Announcement, Reveal
from engine.values.ports import Permalinks

M = TypeVar("M", Announcement, Reveal)


async def with_page(
    permalinks: Permalinks, store: Store, platform: str, intent: Intent, message: M
) -> M:
    """Return a message with the address of its debate's page, if its community shows debates."""
    page = permalinks.debate(intent.debate)
    if page and PublicPart.DEBATES in (
        (await store.communities.get(platform, intent.community)).public
    ):
        return message.model_copy(update={"page": page})
    return message
