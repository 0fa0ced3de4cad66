"""What the audience of a debate asks its sides, until the round in which they answer."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from engine.values.debate import Value

MOST_ASKED = 100  # questions of one debate that are kept
MOST_EACH = 3  # of one person, one after another: each before was taken back

Removed = Literal["", "asker", "manager", "forgotten"]
"""Who took a question back; empty for one that stands."""


class NewQuestion(Value):
    """A question as somebody asks it."""

    debate: str
    platform: str
    user: str
    text: str
    asked_at: datetime


class AudienceQuestion(Value):
    """A question that was asked; `number` counts from 1 in its debate, in the order of asking.

    `person` is a surrogate id, None for one who was forgotten, whose text is deleted.
    """

    number: int
    person: int | None
    text: str
    asked_at: datetime
    removed: Removed = ""


class AskOutcome(NamedTuple):
    """What became of a question, and its number where it stands.

    "again": the person has asked one already; "often": they may not ask another one; "full": the
    debate takes no more.
    """

    outcome: Literal["stored", "again", "often", "full", "closed", "forgotten"]
    number: int = 0


RemoveOutcome = Literal["removed", "closed", "unknown", "others"]
"""What became of a wish to remove a question; "others": it is somebody else's."""


class QuestionTime(NamedTuple):
    """When the time to ask began, when it is due to end, and when it did; None: not yet."""

    opened_at: datetime | None
    closes_at: datetime | None
    closed_at: datetime | None


class Asking(Protocol):
    """The questions of audiences. They are taken while `Question.SUPPORT` is open."""

    async def ask(self, new: NewQuestion) -> AskOutcome:
        """Keep a question, at once; the same one again changes nothing."""

    async def remove(
        self, debate_id: str, number: int, platform: str, user: str, *, manager: bool, now: datetime
    ) -> RemoveOutcome:
        """Take a question back; only its own person and managers may."""

    async def asked(self, debate_id: str) -> tuple[AudienceQuestion, ...]:
        """Return a debate's questions in the order of asking, those taken back too."""

    async def time(self, debate_id: str) -> QuestionTime | None:
        """Return when questions are taken; None before that was said in the thread."""
