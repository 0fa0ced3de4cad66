"""The outbox: messages on their way to a thread."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from engine.store.leases import Lease
from engine.store.served import EVERYONE, Served
from engine.values.debate import Value
from engine.values.messages import Message
from engine.values.ports import Part


class Post(Value):
    """A message on its way to the outbox, under a key that is unique in its debate.

    `target` is the key of an earlier message that this one replaces; None for a new message.
    """

    key: str
    message: Message
    target: str | None = None


class DeliveryState(StrEnum):
    """The state of an outbox row."""

    HELD = "held"  # waits for the reveal
    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    DOUBTFUL = "doubtful"  # sent, never seen, and reading back is refused: left alone
    REFUSED = "refused"


class Intent(Value):
    """An outbox row: its message, the frozen parts, and how far they are posted.

    `refs` are the platform's message references of the parts posted so far; `sending` is
    set while the next part may be on its way, until `deadline`. `reason` is the debate's, at the
    time when this was read. It is posted when it is `due`: people may be reading
    the turn before it, in a debate that has not ended and was not asked to stop; None for at once.
    """

    id: int
    debate: str
    platform: str
    community: str
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
    reason: str
    due: datetime | None = None


class Gap(Value):
    """A message that is missing, or may be missing, in its debate's thread, and why."""

    key: str
    state: DeliveryState
    error: str


class Backlog(NamedTuple):
    """How many messages are not settled yet, and since when the oldest may be sent, if known."""

    messages: int
    oldest: datetime | None


class Outbox(Protocol):
    """The outbox: messages on their way to a thread."""

    async def publish(self, lease: Lease, debate_id: str, posts: Sequence[Post]) -> None:
        """Queue messages; each key is queued once."""

    async def waiting(
        self,
        platform: str,
        channel: str | None = None,
        *,
        served: Served = EVERYONE,
        now: datetime | None = None,
    ) -> list[str]:
        """Return the debates with something due on a platform, or one channel of it."""

    async def backlog(self) -> dict[str, Backlog]:
        """Return what is not settled yet, by platform."""

    async def next(self, debate_id: str) -> Intent | None:
        """Return the first message of a debate that is not settled yet."""

    async def undelivered_turns(self, debate_id: str) -> int:
        """Return how many turns are not settled yet."""

    async def sending(
        self, lease: Lease, intent: Intent, parts: Sequence[Part], deadline: datetime
    ) -> Intent:
        """Freeze the parts, and record that the next one is about to be sent."""

    async def unsent(self, lease: Lease, intent: Intent) -> Intent:
        """Record that the part about to be sent was certainly not sent."""

    async def posted(self, lease: Lease, intent: Intent, ref: str) -> Intent:
        """Record the platform's reference of the part that was sent."""

    async def settle(
        self,
        lease: Lease,
        intent: Intent,
        state: DeliveryState,
        error: str = "",
        instead: Post | None = None,
        read_at: datetime | None = None,
    ) -> Intent | None:
        """Finish a message: sent, doubtful or refused. Returns the debate's next one.

        `instead` takes its place in the order and counts as a gap in the debate. What follows is
        due at `read_at`.
        """

    async def find(self, debate_id: str, key: str) -> Intent | None:
        """Return a debate's message in any state."""

    async def newest(self, platform: str, community: str, keys: Sequence[str]) -> Intent | None:
        """Return a community's newest message under one of these keys that was not refused."""

    async def gaps(self, debate_id: str) -> tuple[Gap, ...]:
        """Return the messages that are, or may be, missing in a debate's thread, in order."""

    async def set_thread(
        self, lease: Lease, debate_id: str, thread: str, now: datetime | None = None
    ) -> None:
        """Record a debate's thread and when it was opened; None means now."""

    async def unrevealed(
        self,
        platform: str,
        since: datetime,
        thread: str | None = None,
        *,
        served: Served = EVERYONE,
    ) -> list[str]:
        """Return the debates closed since then whose thread refused the reveal."""

    async def retry(self, lease: Lease, debate_id: str) -> None:
        """Queue again what a closed debate's thread refused: the reveal and what follows it."""

    async def abandon(self, lease: Lease, debate_id: str, reason: str) -> None:
        """Give up a lost thread's undelivered messages; those for other places stay.

        A running debate is asked to stop, and an open vote is due at once.
        """
