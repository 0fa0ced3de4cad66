"""Where a message goes that its place refuses: plain text, the channel, its starter, a notice."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from engine.fleet.leases import Notifier
from engine.fleet.shares import PartitionLeases
from engine.store import DeliveryState, Intent, Lease, Post, Store
from engine.store.leases import EVERYONE, Partition
from engine.values.debate import Debate, short_code
from engine.values.errors import LeaseLostError, VenueError
from engine.values.language import N_, speaking
from engine.values.messages import Content, Notice, Reveal, TurnPost
from engine.values.ports import Clock
from engine.words.card import BESIDE
from engine.words.cards import turn_title
from engine.words.translation import say

if TYPE_CHECKING:
    from engine.values.protocols import Venue

# Fallbacks for messages that could not be posted: plain text, then a notice.
#
# A message that a platform refuses for good is retried once as text without markup. If that fails
# too, or the message may be missing, there is a gap: a notice takes its place, and no vote on the
# debate is a label.


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
        partly = any(intent.refs)
        title = (
            turn_title(intent.message)
            if isinstance(intent.message, TurnPost)
            else intent.message.title
        )
        what = say("Part of **{title}**", title=title) if partly else f"**{title}**"
        said = say(templates[state], what=what, platform=platform.title())
        if isinstance(intent.message, TurnPost):
            said = f"{said} {say(VOTES)}"
        return Post(key=f"{intent.key}{SUFFIX}", message=Notice(level="warning", text=said))


def numbered(reference: str, pieces: int) -> list[str]:
    """Return references for the pieces of one part: `k7·3·2/3`, then `k7·3·2.2/3` and so on."""
    head, _, of = reference.rpartition("/")
    return [reference, *(f"{head}.{i}/{of}" for i in range(2, pieces + 1))]


# Where to post a reveal that its thread refuses: the channel, else the starter privately.
#
# Each is a separate message, queued like any other, so it is posted once. The thread's own reveal
# is retried regardless, whenever the thread may accept it again.


REVEAL, CHANNEL_REVEAL, STARTER_REVEAL = "reveal", "reveal/channel", "reveal/starter"
GIVEN = (DeliveryState.SENT, DeliveryState.DOUBTFUL)
AGAIN_SECONDS = 3600.0
TRIED_FOR = timedelta(days=3)


def in_plain_words(venue: Venue, intent: Intent) -> Intent | None:
    """Return a refused message with its next part as plain text; None if that was refused too.

    Posted parts stay unchanged. No parts means that rendering failed; then all of it is plain.
    """
    from engine.words.pieces import plain_text  # few are refused for good

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


@dataclass(frozen=True, slots=True)
class LastWord:
    """Makes sure that a reveal reaches people somewhere."""

    venue: Venue
    store: Store
    notifier: Notifier
    clock: Clock

    async def is_given(self, intent: Intent) -> bool:
        """Return whether a rerouted reveal is in its thread by now, for example after an unlock."""
        if not isinstance(intent.message, Reveal) or not intent.message.aside or intent.refs:
            return False
        reveal = await self.store.outbox.find(intent.debate, REVEAL)
        return reveal is not None and reveal.state in GIVEN

    async def address(self, intent: Intent) -> Intent:
        """Return a message addressed to its place. Raises VenueError if there is none."""
        aside = intent.message.aside if isinstance(intent.message, Reveal) else ""
        if aside == "channel":
            return intent.model_copy(update={"thread": None})
        if aside == "starter":
            user = await self.store.people.starter_of(intent.debate)
            if user is None:
                raise VenueError("The starter of this debate is unknown.")
            if self.venue.direct is None:
                raise VenueError("This platform has no private messages.")
            place = await self.venue.direct(intent.channel, user)
            return intent.model_copy(update={"thread": place})
        return intent

    async def go_elsewhere(self, lease: Lease, intent: Intent) -> None:
        """Queue a closed debate's reveal for the next place, as this message cannot be posted.

        It is queued before the message is given up, so that a debate always has a reveal.
        """
        debate = await self.store.debates.get(intent.debate)
        if debate.revealed_at is None:
            return
        known = [await self.store.outbox.find(debate.id, key) for key in _keys(debate)]
        if any(found is not None and found.state in GIVEN for found in known):
            return
        message = next((found.message for found in known if found is not None), None)
        # Any other message failed in the thread.
        keys = _keys(debate)
        place = keys.index(intent.key) if intent.key in keys else 0
        following = next(iter(keys[place + 1 :]), None)
        if isinstance(message, Reveal) and following is not None:
            log.info("reveal rerouted", debate=debate.id, post=following)
            await self.store.outbox.publish(lease, debate.id, [_post(message, following)])

    async def try_again(self, shares: PartitionLeases) -> None:
        """Retry reveals that their threads refused, now and then until cancelled.

        Those of a share that was taken over are retried with it.
        """
        while True:
            for share in sorted(shares.held):
                if (lease := shares.lease(share)) is not None:
                    served = shares.served._replace(held=frozenset({share}))
                    with suppress(LeaseLostError):
                        await self._reopen(lease, None, served)
            await shares.changed(AGAIN_SECONDS)

    async def reopen(self, lease: Lease, thread: str) -> None:
        """Retry the reveals that belong in a thread."""
        await self._reopen(lease, thread, EVERYONE)

    async def _reopen(self, lease: Lease, thread: str | None, served: Partition) -> None:
        since, platform = self.clock.now() - TRIED_FOR, self.venue.platform
        refused = await self.store.outbox.unrevealed(platform, since, thread, served=served)
        for debate_id in refused:
            await self.store.deliveries.retry(lease, debate_id)
            self.notifier.publish(f"outbox/{platform}", debate_id)


def elsewhere(debate: Debate, reveal: Reveal) -> Post:
    """Return the reveal of a debate that lost its thread."""
    return _post(reveal, _keys(debate)[1])


def _keys(debate: Debate) -> tuple[str, ...]:
    """Return the reveal's places in order; a debate in an existing thread has no channel."""
    outside = debate.place != debate.thread
    return (REVEAL, CHANNEL_REVEAL, STARTER_REVEAL) if outside else (REVEAL, STARTER_REVEAL)


def _post(reveal: Reveal, key: str) -> Post:
    aside = "channel" if key == CHANNEL_REVEAL else "starter"
    return Post(key=key, message=reveal.model_copy(update={"aside": aside, "broadcast": False}))
