"""An attempt log that remembers, and can forbid or stall."""

from __future__ import annotations

import asyncio

from engine.values.ports import Attempt, Reply


class RecordedAttempts:
    """Keeps what reaches it, in order; `began` raises `forbid`, and takes `slow` seconds."""

    def __init__(self, forbid: Exception | None = None, slow: float = 0.0) -> None:
        self.events: list[str] = []
        self.attempts: list[Attempt] = []
        self.replies: list[Reply] = []
        self._forbid = forbid
        self._slow = slow
        self.announced = asyncio.Event()

    async def began(self, number: int) -> None:
        """Note a try, or forbid it."""
        self.announced.set()
        await asyncio.sleep(self._slow)
        if self._forbid is not None:
            raise self._forbid
        self.events.append(f"began {number}")

    def ended(self, attempt: Attempt, reply: Reply | None = None) -> None:
        """Note its end."""
        self.events.append(f"ended {attempt.number}")
        self.attempts.append(attempt)
        if reply is not None:
            self.replies.append(reply)

    @property
    def errors(self) -> list[str]:
        """What each ended try says went wrong."""
        return [attempt.error for attempt in self.attempts]

    @property
    def costs(self) -> list[float | None]:
        """What each ended try cost, in USD."""
        return [attempt.cost for attempt in self.attempts]

    def balanced(self) -> bool:
        """Whether every try began once, ended once, and one after the other."""
        numbers = range(1, len(self.attempts) + 1)
        return self.events == [f"{verb} {n}" for n in numbers for verb in ("began", "ended")]
