"""The state of each debate on its announcement, edited when it changes.

It holds no state that a restart could lose: what an announcement shows is read before it is edited.
"""

from __future__ import annotations

import asyncio
from typing import Any

import structlog

from adapters.discord import texts
from adapters.discord.answering import PLATFORM
from adapters.discord.buttons import debate_buttons
from adapters.discord.venue import DiscordVenue
from engine.debate import Debate, Status
from engine.errors import NotFoundError, VenueAwayError, VenueError
from engine.formats import find_format
from engine.store import Store
from engine.text import headline

LOOK_SECONDS = 5.0
LOOKED_BACK = 20  # debates that may have ended while nothing ran
REASON_LENGTH = 500  # of 1,024 characters of a field
KEPT = ("title", "description", "color", "author", "footer")
log = structlog.get_logger(__name__)


class Board:
    """Shows the state of Discord's debates; a debate that has ended is shown once more."""

    def __init__(self, venue: DiscordVenue, store: Store, every: float = LOOK_SECONDS) -> None:
        self._venue, self._store, self._every = venue, store, every
        self._shown: dict[str, str] = {}

    async def run(self) -> None:
        """Look and edit until cancelled."""
        ended = await self._store.debates.recent(limit=LOOKED_BACK)
        watched = {debate.id for debate in ended if debate.platform == PLATFORM}
        while True:
            watched |= set(await self._store.debates.unfinished())
            watched |= set(await self._store.votes.deadlines(PLATFORM))
            watched = {debate_id for debate_id in watched if await self._update(debate_id)}
            self._shown = {key: self._shown[key] for key in watched & self._shown.keys()}
            await asyncio.sleep(self._every)

    async def _update(self, debate_id: str) -> bool:
        """Show a debate's state if it is a new one; tell whether to look at it again."""
        try:
            debate = await self._store.debates.get(debate_id)
        except NotFoundError:
            return False
        if debate.platform != PLATFORM:
            return False
        refs = await self._store.outbox.reference(debate.id, "announcement")
        if not refs:
            return debate.status.live
        state = await self._state_of(debate)
        if self._shown.get(debate.id) != state:
            try:
                await self._show(debate, refs[-1], state)
            except VenueAwayError:
                return True
            except VenueError as error:
                log.info("state was not shown", debate=debate.id, why=str(error))
            self._shown[debate.id] = state
        return debate.status.live or debate.status is Status.VOTING

    async def _show(self, debate: Debate, message: str, state: str) -> None:
        kept = await self._venue.read(debate.place, message)
        embed = kept["embeds"][0]
        field: dict[str, Any] = {"name": texts.STATE, "value": state}
        if any(old["value"] == state for old in embed.get("fields", ())):
            return
        shown = {key: _plain(embed[key]) for key in KEPT if key in embed} | {"fields": [field]}
        buttons = debate_buttons(debate.code, stoppable=debate.status.live)
        await self._venue.patch(debate.place, message, {"embeds": [shown], "components": buttons})

    async def _state_of(self, debate: Debate) -> str:
        turns = await self._store.journal.turns_held(debate.id)
        total = find_format(debate.request.format).turns(debate.request)
        name = _phase(debate, judging=turns >= total)
        until = int(debate.vote_deadline.timestamp()) if debate.vote_deadline else 0
        return texts.STATES[name].format(
            turns=turns,
            total=total,
            thread=debate.thread,
            until=until,
            reason=headline(debate.reason, REASON_LENGTH),
        )


def _phase(debate: Debate, *, judging: bool) -> str:
    """Return which of the states to show a debate is in."""
    if debate.gone:
        return "gone"
    if debate.status is Status.RUNNING and debate.thread is None:
        return Status.QUEUED.value
    opening = debate.status is Status.VOTING and debate.vote_deadline is None
    return "judging" if opening or (debate.status is Status.RUNNING and judging) else debate.status


def _plain(value: Any) -> Any:
    """Return what was sent of a part of an embed: Discord adds addresses of its own."""
    if isinstance(value, dict):
        return {key: value[key] for key in ("name", "text") if key in value}
    return value
