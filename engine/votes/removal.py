"""Secret ballots: removes each reaction from its message as soon as it is stored."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from engine.store import Cast, Intervention, Store
from engine.values.errors import VenueAwayError, VenueError
from engine.values.ports import Clock
from engine.values.text import split_variant

if TYPE_CHECKING:
    from engine.values.protocols import Venue

MOST_TRIES = 5
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class VisibleReaction:
    """A visible reaction that must be removed; `variant` is what its log calls it."""

    place: str
    message: str
    user: str
    reaction: str
    variant: str

    @property
    def option(self) -> str:
        """What it stands for."""
        return split_variant(self.reaction)[0]


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
            await self._remove(shown)

    async def _remove(self, shown: VisibleReaction) -> None:
        remove = self.venue.remove_reaction
        if remove is None:
            log.warning("secret vote visible", message=shown.message, why="nobody may remove it")
            await self._note_shown(shown)
            return
        for _ in range(MOST_TRIES):
            try:
                await remove(shown.place, shown.message, shown.user, shown.reaction)
            except VenueAwayError as error:
                await self.clock.sleep(error.retry_after)
            except VenueError as error:
                log.warning("secret vote visible", message=shown.message, why=str(error))
                await self._note_shown(shown)
                return
            else:
                # A reaction found on the message later is a new choice.
                await self.store.votes.cast(
                    Cast(
                        platform=self.venue.platform,
                        place=shown.place,
                        message=shown.message,
                        user=shown.user,
                        option=shown.option,
                        variant=shown.variant,
                        added=False,
                        received_at=self.clock.now(),
                    )
                )
                return
        log.warning("secret vote still visible", message=shown.message, tries=MOST_TRIES)
        await self._note_shown(shown)

    async def _note_shown(self, shown: VisibleReaction) -> None:
        """Record since when a choice was visible to others."""
        votes = self.store.votes
        target = await votes.target(self.venue.platform, shown.place, shown.message)
        if target is not None:
            noted = Intervention.on(target, "shown", self.clock.now(), shown.option)
            await votes.intervene(target, noted)
