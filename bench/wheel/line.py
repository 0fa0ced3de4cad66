"""The main line on a temporary database, for benchmarks."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from adapters.database.database import SqlDatabase
from adapters.database.migrate import migrate
from bench.wheel.venue import SilentVenue
from bot.app import MainLine, defaults_of, first_error
from bot.settings.settings import Settings
from engine.prompts import load_prompts
from engine.run.order import Defaults
from engine.run.service import Service
from engine.store import Store
from engine.values.debate import Model
from engine.values.limits import Caps
from engine.values.protocols import Models


@dataclass(slots=True)
class _HeldBack:
    """A dispatcher that runs debates on demand, so that they can be timed."""

    think: Callable[[str], Awaitable[None]] | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    async def submit(self, debate_id: str) -> None:
        """Leave the debate to the benchmark."""

    async def run(self, think: Callable[[str], Awaitable[None]]) -> None:
        """Remember how to run debates."""
        self.think = think
        self.ready.set()
        await asyncio.Event().wait()

    async def stop(self, seconds: float) -> None:
        """Do nothing."""

    async def measure(self, debate_id: str) -> float:
        """Run a debate and return the seconds it took."""
        await self.ready.wait()
        began = time.perf_counter()
        if self.think is not None:
            await self.think(debate_id)
        return time.perf_counter() - began


def defaults_with(spell: Callable[[str], str], **changes: object) -> Defaults:
    """Return settings without caps; `spell` writes a model's name as `backend/name#family`."""

    def model(name: str) -> Model:
        return Model.parse(spell(name))

    return defaults_of(Settings()).model_copy(
        update={
            "models": (model("maple"), model("cedar")),
            "jurors": tuple(map(model, ("birch", "elm", "rowan"))),
            "caps": Caps.model_validate(dict.fromkeys(Caps.model_fields)),
            "why": False,  # the calls up to the vote are compared
            **changes,
        }
    )


@asynccontextmanager
async def open_line(models: Models) -> AsyncIterator[tuple[Service, _HeldBack]]:
    """Open the main line on a temporary database, with a venue that nobody reads."""
    with tempfile.TemporaryDirectory() as folder:
        database = SqlDatabase(f"sqlite+aiosqlite:///{Path(folder) / 'bench.db'}")
        await migrate(database)
        store = Store(database)
        dispatcher = _HeldBack()
        line = MainLine(store, models, load_prompts(), [SilentVenue()], dispatcher)
        try:
            async with line.running():
                yield line.service, dispatcher
        except BaseExceptionGroup as group:
            raise first_error(group) from group
        finally:
            await models.aclose()
            await store.close()
