"""What stands where a message of a debate could not be posted: plain words, or a notice.

A message that a platform refuses for good is tried once as text without markup. What is refused
then, and what may not be there, leaves a gap: a notice stands in its place, and no vote on the
debate is a label.
"""

from __future__ import annotations

import structlog

from engine.debate import short_code
from engine.messages import Content, Notice, TurnPost
from engine.ports import Venue
from engine.store import DeliveryState, Intent, Post
from engine.words.cards import plain_text, turn_title

SUFFIX = "/gap"
REFUSED = "{what} is missing here: {platform} refused it. It is kept in the record."
DOUBTFUL = (
    "{what} may be missing here: {platform} did not confirm it, and Rostrum may not read this "
    "thread to look for it. It is kept in the record."
)
VOTES = "Votes on this debate are counted, but there is no winner."
log = structlog.get_logger(__name__)


def stem_of(intent: Intent) -> str:
    """Return what the references of a message begin with; a notice shares its message's number."""
    beside = "gap" if intent.key.endswith(SUFFIX) else ""
    return f"{short_code(intent.debate)}{beside}·{intent.number}"


def is_plain(intent: Intent) -> bool:
    """Tell whether the next part of a message is plain text already."""
    return any(part.plain for part in (intent.parts or ())[len(intent.refs) :][:1])


def in_plain_words(venue: Venue, intent: Intent) -> Intent | None:
    """Return a refused message with its next part as plain text; None when that was refused too.

    Parts that are posted stay as they are. Without parts rendering failed, and all is plain.
    """
    at, parts = len(intent.refs), intent.parts or ()
    if is_plain(intent) or (parts and at >= len(parts)):
        return None
    try:
        if parts:
            plain = venue.plain(parts[at], parts[at].reference)
        else:
            plain = venue.plain(plain_text(intent.message), f"{stem_of(intent)}·1/1")
    except Exception:  # the defect that made it fail may be met again
        log.exception(
            "unhandled error in a plain-text fallback", debate=intent.debate, post=intent.key
        )
        return None
    whole = (*parts[:at], *plain, *parts[at + 1 :])
    fresh = {"parts": whole, "state": DeliveryState.PENDING, "deadline": None}
    return intent.model_copy(update=fresh)


def notice_of(intent: Intent, state: DeliveryState, platform: str) -> Post | None:
    """Return what stands in a message's place; None where nothing of the debate is missing."""
    templates = {DeliveryState.REFUSED: REFUSED, DeliveryState.DOUBTFUL: DOUBTFUL}
    if state not in templates or intent.target is not None:
        return None
    if not isinstance(intent.message, Content):
        return None
    what = _missing(intent.message, partly=any(intent.refs))
    said = templates[state].format(what=what, platform=platform.title())
    if isinstance(intent.message, TurnPost):
        said = f"{said} {VOTES}"
    return Post(key=f"{intent.key}{SUFFIX}", message=Notice(level="warning", text=said))


def _missing(message: Content, *, partly: bool) -> str:
    title = turn_title(message) if isinstance(message, TurnPost) else message.title
    return f"Part of **{title}**" if partly else f"**{title}**"


def numbered(reference: str, pieces: int) -> list[str]:
    """Return a reference for each piece of what had one: `k7·3·2/3`, then `k7·3·2.2/3` and on."""
    head, _, of = reference.rpartition("/")
    return [reference, *(f"{head}.{i}/{of}" for i in range(2, pieces + 1))]
