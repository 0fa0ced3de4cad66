"""A debate in a terminal that goes on where it stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from bot.app import App, run_app
from bot.local.session import TerminalSession, has_ended
from engine.values.debate import Debate, Replacement, Status
from engine.values.errors import StoreError, UsageError

TAKE_UP_SECONDS = 1.0


async def resume(
    session: TerminalSession, begun: Debate, changes: Sequence[Replacement] = ()
) -> Debate:
    """Resume a debate that began in a terminal, and return it revealed.

    Its mirror is resumed with it.
    """
    if session.usd is not None and begun.status not in (Status.FAILED, Status.PARTIAL):
        raise UsageError(
            f"Debate {begun.code} goes on under the cap that it began with: leave --usd out."
        )
    venue = session.open_venue(begun.place)
    venue.replay(*filter(None, (begun.place, begun.thread)))
    if begun.thread:
        venue.watch(begun.thread)
    async with run_app(session.settings, [venue], audience=session.audience(venue)) as app:
        mirror = await app.store.debates.mirror_of(begun)
        caps = session.caps(app, 2 if mirror else 1)
        debate = await app.service.resume(begun.id, caps, changes)
        if mirror is None or has_ended(mirror) or has_ended(debate):
            async with _taking_up(app, debate.id):
                return await session.follow(app, venue, debate.id)
        await app.service.resume(mirror.id, caps)
        first, second = sorted((debate.id, mirror.id))
        async with _taking_up(app, first, second):
            return await session.follow_pair(app, venue, first, second)


@asynccontextmanager
async def _taking_up(app: App, *debates: str) -> AsyncIterator[None]:
    """Take debates up while the body runs: on a server, a dead process holds them for a while."""

    async def take_up() -> None:
        while True:
            await asyncio.sleep(TAKE_UP_SECONDS)
            with suppress(StoreError):  # that another task says
                await app.reconcile(*debates)

    taking = asyncio.create_task(take_up())
    try:
        yield
    finally:
        taking.cancel()
