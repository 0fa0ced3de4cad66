"""Fallbacks for messages that could not be posted: plain text, then a notice.

A message that a platform refuses for good is retried once as text without markup. If that fails
too, or the message may be missing, there is a gap: a notice takes its place, and no vote on the
debate is a label.
"""

from __future__ import annotations

import structlog

from engine.store import DeliveryState, Intent, Post
from engine.values.debate import short_code
from engine.values.language import N_, speaking
from engine.values.messages import Content, Notice, TurnPost
from engine.values.ports import Venue
from engine.words.card import BESIDE
from engine.words.cards import plain_text, turn_title
from engine.words.translation import say

SUFFIX = "/gap"
VOTES = N_("Votes on this debate are counted, but there is no winner.")
log = structlog.get_logger(__name__)


def stem_of(intent: Intent) -> str:
    """Return the common stem of a message's references; a notice shares its message's number."""
    beside = BESIDE if intent.key.endswith(SUFFIX) else ""
    return f"{short_code(intent.debate)}{beside}·{intent.number}"


def is_plain(intent: Intent) -> bool:
    """Return whether the next part of a message is already plain text."""
    return any(part.plain for part in (intent.parts or ())[len(intent.refs) :][:1])


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


def notice_of(intent: Intent, state: DeliveryState, platform: str) -> Post | None:
    """Return the notice that replaces a message; None if nothing of the debate is missing."""
    templates = {
        DeliveryState.REFUSED: N_(
            "{what} is missing here: {platform} refused it. It is kept in the record."
        ),
        DeliveryState.DOUBTFUL: N_(
            "{what} may be missing here: {platform} did not confirm it, and "
            "Rostrum may not read this thread to look for it. It is kept "
            "in the record."
        ),
    }
    if state not in templates or intent.target is not None:
        return None
    if not isinstance(intent.message, Content):
        return None
    with speaking(intent.message.language):
        what = _missing(intent.message, partly=any(intent.refs))
        said = say(templates[state], what=what, platform=platform.title())
        if isinstance(intent.message, TurnPost):
            said = f"{said} {say(VOTES)}"
        return Post(key=f"{intent.key}{SUFFIX}", message=Notice(level="warning", text=said))


def _missing(message: Content, *, partly: bool) -> str:
    title = turn_title(message) if isinstance(message, TurnPost) else message.title
    return say("Part of **{title}**", title=title) if partly else f"**{title}**"


def numbered(reference: str, pieces: int) -> list[str]:
    """Return references for the pieces of one part: `k7·3·2/3`, then `k7·3·2.2/3` and so on."""
    head, _, of = reference.rpartition("/")
    return [reference, *(f"{head}.{i}/{of}" for i in range(2, pieces + 1))]
