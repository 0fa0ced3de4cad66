"""A process that holds one debate in a folder: `python -m tests.crash.driver FOLDER [chain]`.

It starts the debate, or goes on with the one that it finds. With `chain` it does so in one child
after the other, until one of them comes to the end; each child is a fork, which makes a restart
cheap.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import structlog

from adapters.memory.venue import ReactionSeen
from adapters.models.router import ModelRouter, open_models
from adapters.storage.database import Database
from bot.app import Line
from engine.debate import Debate, Status
from engine.intake import Order
from engine.ports import AttemptLog, Call, Reply
from engine.prompts.library import Prompts, load_prompts
from engine.store import Store
from tests.crash.fate import Fate, FatedStore, SurvivingVenue, append
from tests.doubles.hall import DEFAULTS, LOBBY, has_ended, hearing

ORDER = Order(platform="memory", community="club", place=LOBBY, user="ann", seed=7)
PEOPLE = (
    ("react", "ann", "A"),
    ("react", "bob", "B"),
    ("unreact", "ann", "A"),
    ("react", "cem", "tie"),
    ("react", "ann", "B"),
    ("react", "dee", "A"),
    ("unreact", "bob", "B"),
    ("react", "eve", "A"),
    ("react", "eve", "weak"),
    ("unreact", "eve", "A"),
)


class TellingModels(ModelRouter):
    """The rehearsal models, which note each step that they are really asked for."""

    log: Path

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        append(self.log, call.step.encode())
        return await super().complete(call, log)


async def hold(folder: Path) -> None:
    """Hold the folder's debate from wherever it is to its end."""
    fate = Fate(folder)
    store = FatedStore(Database(f"sqlite+aiosqlite:///{folder / 'debate.db'}"), fate)
    venue = SurvivingVenue(folder / "platform.jsonl", fate)
    await venue.remember()
    models = open_models({})
    models.__class__ = TellingModels
    line = Line(store, models, prompts_of(await found(store)), [venue])
    venue.listener = hearing(line.service, venue)
    async with line.running():
        debate = await found(store) or (await line.service.start(ORDER, DEFAULTS)).debate
        await line.service.recover()
        await vote(line, store, venue, debate.id)
        await until(store, debate.id, has_ended)
        await line.deliveries["memory"].settled(debate.id)
    await store.close()
