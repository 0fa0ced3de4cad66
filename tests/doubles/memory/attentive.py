"""A platform in memory that also keeps what each message meant."""

from __future__ import annotations

from engine.messages import Message
from engine.ports import Part, VenueLimits
from tests.doubles.memory.venue import MemoryVenue


class AttentiveVenue(MemoryVenue):
    """`meant` are all messages as they were rendered, `meaning` what each posted one meant."""

    def __init__(self, *, limits: VenueLimits | None = None) -> None:
        super().__init__(limits=limits)
        self.meant: list[Message] = []
        self.meaning: dict[str, list[Message]] = {}

    def render(self, message: Message, stem: str) -> tuple[Part, ...]:
        """Turn a message into plain text, and keep what it meant."""
        self.meant.append(message)
        parts = super().render(message, stem)
        for part in parts:
            self.meaning.setdefault(part.reference, []).append(message)
        return parts

    async def edit(self, place: str, message: str, part: Part) -> None:
        """Replace what a posted message shows, and note what it means now."""
        await super().edit(place, message, part)
        meaning = self.meaning[self.messages[message].reference]
        if meaning is not self.meaning[part.reference]:
            meaning += self.meaning[part.reference]
