"""People who argue a side of a debate in place of a model, and what they wrote."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from engine.store.leases import Lease
from engine.values.debate import Value

MOST_AWAITING = 2  # live debates that one person argues in, or is asked to


class NewGuest(Value):
    """Who is to argue a side: a user of the platform, and the names that would give them away."""

    user: str
    names: tuple[str, ...] = ()


class Guest(Value):
    """Who argues a side of a debate; `user` is None for one who was forgotten.

    `accepted` is None while there is no answer; one who started the debate has accepted.
    """

    person: int
    user: str | None
    names: tuple[str, ...] = ()
    accepted: bool | None = None


Answered = Literal["stored", "closed", "unopened", "others"]
"""What became of an answer.

"unopened": the message that asks is still being posted; "others": someone else is asked.
"""


Withheld = Literal["", "blocked", "flagged"]
"""Why what a person wrote for a turn is not its text: a blocked word, or the moderation model."""


class OpenTurn(NamedTuple):
    """A turn that is asked for: its limit in words (0: none), and the message that asks.

    Until it is `opened` that is still being posted.
    """

    step: str
    words: int
    message: str | None
    opened: bool = True


class SpokenTurn(NamedTuple):
    """A turn of a person; `text` is None if nothing was written, `over` once that is final.

    `withheld` says why what was written when the time was up is not its text.
    """

    text: str | None
    over: bool
    withheld: Withheld = ""


class Guests(Protocol):
    """People who argue a side. They are asked while `Question.CONSENT` or `SPEAK` is open."""

    async def guest(self, debate_id: str) -> Guest | None:
        """Return who argues a side of a debate; None where models argue all."""

    async def answer(self, debate_id: str, user: str, *, accept: bool, now: datetime) -> Answered:
        """Keep a person's answer to whether they argue a side, once. It closes the question."""

    async def awaited(self, debate_id: str) -> bool:
        """Whether a debate waits for a person, who can see what is asked, and for nothing else."""

    async def consent_closed(self, debate_id: str) -> bool:
        """Return whether the time to answer that is over."""

    async def begin(self, lease: Lease, debate_id: str, step: str, words: int) -> None:
        """Note that a turn will be asked for; noting it again changes nothing."""

    async def open_turn(self, debate_id: str) -> OpenTurn | None:
        """Return the turn that a person may write now."""

    async def turn(self, debate_id: str, step: str) -> SpokenTurn:
        """Return what was written for a turn."""

    async def speak(self, debate_id: str, step: str, text: str, now: datetime) -> bool:
        """Keep a turn, which closes its question; False if that was closed before."""
