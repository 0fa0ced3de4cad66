"""Messages on their way to a thread."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from engine.debate import Value
from engine.messages import Message
from engine.ports import Part
from engine.store.leases import Lease


class Post(Value):
    """A message on its way to the outbox, under a key that is unique in its debate.

    `target` is the key of an earlier message that this one replaces; None posts anew.
    """

    key: str
    message: Message
    target: str | None = None


class DeliveryState(StrEnum):
    """How far an outbox row is."""

    HELD = "held"  # waits for the reveal
    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    DOUBTFUL = "doubtful"  # sent, never seen, and reading back is refused: left alone
    REFUSED = "refused"


class Intent(Value):
    """An outbox row: what to say, the parts it was frozen into, and what is known of them.

    `refs` are the platform's message references of the parts posted so far; `sending` is
    set while the next part may be on its way, until `deadline`.
    """

    id: int
    debate: str
    platform: str
    channel: str
    thread: str | None
    number: int
    key: str
    message: Message
    target: str | None
    parts: tuple[Part, ...] | None
    refs: tuple[str, ...]
    state: DeliveryState
    deadline: datetime | None


class Gap(Value):
    """A message of a debate that is not in its thread, or may not be, and why."""

    key: str
    state: DeliveryState
    error: str


class Outbox(Protocol):
    """Messages on their way to a thread."""

    async def publish(self, lease: Lease, debate_id: str, posts: Sequence[Post]) -> None:
        """Queue messages, once for each key."""

    async def waiting(self, platform: str, channel: str | None = None) -> list[str]:
        """Return the debates with something to deliver on a platform, or one channel of it."""

    async def next(self, debate_id: str) -> Intent | None:
        """Return the first message of a debate that is not settled yet."""

    async def undelivered_turns(self, debate_id: str) -> int:
        """Return how many turns are not settled yet."""

    async def sending(
        self, lease: Lease, intent: Intent, parts: Sequence[Part], deadline: datetime
    ) -> Intent:
        """Freeze the parts, and note that the next one is about to be sent."""

    async def unsent(self, lease: Lease, intent: Intent) -> Intent:
        """Note that the part that was about to be sent surely was not."""

    async def posted(self, lease: Lease, intent: Intent, ref: str) -> Intent:
        """Note the platform's reference of the part that was being sent."""

    async def settle(
        self,
        lease: Lease,
        intent: Intent,
        state: DeliveryState,
        error: str = "",
        instead: Post | None = None,
    ) -> Intent | None:
        """Finish a message: sent, doubtful or refused. Returns the debate's next one.

        `instead` takes its place, before all that follows; then the debate has one more gap.
        """

    async def find(self, debate_id: str, key: str) -> Intent | None:
        """Return a debate's message, whatever has become of it."""

    async def gaps(self, debate_id: str) -> tuple[Gap, ...]:
        """Return what is missing of a debate in its thread, or may be, in order."""

    async def set_thread(
        self, lease: Lease, debate_id: str, thread: str, now: datetime | None = None
    ) -> None:
        """Note the thread that a debate is held in, and since when; None: the machine's time."""

    async def unrevealed(
        self, platform: str, since: datetime, thread: str | None = None
    ) -> list[str]:
        """Return the debates closed since then whose reveal its thread did not take."""

    async def retry(self, lease: Lease, debate_id: str) -> None:
        """Queue again what a closed debate's thread did not take: its reveal and what follows."""

    async def abandon(self, lease: Lease, debate_id: str, reason: str) -> None:
        """Give up everything undelivered, as the thread is gone, but what goes elsewhere.

        A debate that runs is asked to stop, and a vote that is open is due at once.
        """
