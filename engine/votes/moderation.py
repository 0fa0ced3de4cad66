"""Texts by people, shown to a moderation model where one is named."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from engine.values.debate import Moderation
from engine.values.errors import FlaggedError
from engine.values.ports import Moderator

log = structlog.get_logger(__name__)


async def moderate(
    moderator: Moderator | None, texts: Sequence[str], refusal: str
) -> Moderation | None:
    """Return what a moderation model says of texts by people; None without one.

    Raises FlaggedError with `refusal`, and ModelError if it cannot be asked.
    """
    if moderator is None:
        return None
    said = await moderator.check([text for text in texts if text])
    if said.flagged:
        # Without the text, which is not logged.
        log.info("topic flagged", model=said.model, categories=said.categories)
        raise FlaggedError(refusal)
    return said
