"""Secret ballots: removes each reaction from its message as soon as it is stored."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.store import Store
from engine.values.ports import Clock, VisibleReaction

if TYPE_CHECKING:
    from engine.values.protocols import Venue


@dataclass(slots=True)
class Removals:
    """Removes reactions in order; a failed removal is left to the recovery."""

    venue: Venue
    store: Store
    clock: Clock
    _waiting: asyncio.Queue[VisibleReaction] = field(default_factory=asyncio.Queue)
    _known: set[VisibleReaction] = field(default_factory=set)

    def add(self, shown: VisibleReaction) -> None:
        """Queue the removal of a reaction that is already stored."""
        if shown not in self._known:
            self._known.add(shown)
            self._waiting.put_nowait(shown)

    async def run(self) -> None:
        """Remove reactions until cancelled."""
        while True:
            shown = await self._waiting.get()
            self._known.discard(shown)
            from engine.votes.hiding import hide  # few ballots are secret

            await hide(shown, self.venue, self.store, self.clock)
