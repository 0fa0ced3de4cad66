"""What a command needs that asks models about debates which have ended, beside other processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from ulid import ULID

from bot.app import open_configured_models
from bot.reading import read_store
from bot.settings.settings import Settings
from engine.fleet.leases import Bell, Keeper
from engine.fleet.limits import Fleet, Member
from engine.store import Store
from engine.values.ports import Models


class Asking(NamedTuple):
    """The joints of such a command."""

    store: Store
    models: Models
    keeper: Keeper


@asynccontextmanager
async def asking(settings: Settings) -> AsyncIterator[Asking]:
    """Keep the command's leases while the body runs, and to its part of the backends' limits."""
    async with read_store(settings) as store:
        fleet, bell = Fleet(), Bell()
        models = open_configured_models(settings, fleet)
        keeper = Keeper(store, bell, holder=str(ULID()))
        works = [keeper.run()]
        if settings.shared:
            works.append(Member(fleet, store, keeper, bell).run())
        tasks = [asyncio.create_task(work) for work in works]
        try:
            yield Asking(store, models, keeper)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await models.aclose()
