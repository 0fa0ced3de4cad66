"""A refused message as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from engine.delivery.fallbacks import is_plain, stem_of
from engine.store import DeliveryState, Intent
from engine.words.pieces import plain_text

if TYPE_CHECKING:
    from engine.values.protocols import Venue

log = structlog.get_logger(__name__)


def in_plain_words(venue: Venue, intent: Intent) -> Intent | None:
    """Return a refused message with its next part as plain text; None if that was refused too.

    Posted parts stay unchanged. No parts means that rendering failed; then all of it is plain.
    """
    at, parts = len(intent.refs), intent.parts or ()
    if is_plain(intent) or (parts and at >= len(parts)):
        return None
    try:
        if parts:
            plain = venue.plain(parts[at], parts[at].reference)
        else:
            plain = venue.plain(plain_text(intent.message), f"{stem_of(intent)}·1/1")
    except Exception:  # the bug that broke rendering may break this too
        log.exception(
            "unhandled error in a plain-text fallback", debate=intent.debate, post=intent.key
        )
        return None
    whole = (*parts[:at], *plain, *parts[at + 1 :])
    fresh = {"parts": whole, "state": DeliveryState.PENDING, "deadline": None}
    return intent.model_copy(update=fresh)
