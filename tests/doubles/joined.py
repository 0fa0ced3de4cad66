"""The product's main line, joined as one process joins it, on a database and on platforms."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from adapters.metrics.counts import Counts
from adapters.models.router import open_models
from adapters.storage.database import Database
from adapters.storage.store import SqlStore
from bot.app import MainLine
from engine.ports import Audience, Clock, Models, Moderator, Venue
from engine.prompts.library import Prompts, load_prompts


class Joined(NamedTuple):
    """A line that runs, and its store."""

    line: MainLine
    store: SqlStore


@asynccontextmanager
async def joined(
    url: str,
    *venues: Venue,
    models: Models | None = None,
    prompts: Prompts | None = None,
    audience: Audience | None = None,
    clock: Clock | None = None,
    counts: Counts | None = None,
    moderator: Moderator | None = None,
) -> AsyncIterator[Joined]:
    """Run a process until the body ends; it stops in order, and closes models and store."""
    store, models = SqlStore(Database(url)), models or open_models({})
    line = MainLine(
        store,
        models,
        prompts or load_prompts(),
        venues,
        audience=audience,
        clock=clock,
        counts=counts,
        moderator=moderator,
    )
    try:
        async with line.running():
            yield Joined(line, store)
    finally:
        await models.aclose()
        await store.close()
