"""What a shell may complete: debates, series and models. Errors complete nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeAlias

from bot.read_only import read_store
from bot.settings.load import load_settings, load_store_settings
from engine.store import Store
from engine.values.errors import RostrumError
from engine.values.text import clean, headline

Completions: TypeAlias = list[tuple[str, str]]

MOST = 50
SECONDS = 1.0  # a person waits
TOPIC_WIDTH = 50


def debates(typed: str) -> Completions:
    """Return the codes of the newest debates, with their topics."""
    return _begun(typed, _read(_debates))


def series(typed: str) -> Completions:
    """Return the names of series."""
    return _begun(typed, _read(_series))


def models(typed: str) -> Completions:
    """Return the configured models; of a list, the last one is completed."""
    try:
        settings = load_settings()
    except RostrumError:
        return []
    refs = dict.fromkeys(model.ref for model in (*settings.models, *settings.jurors))
    before, comma, last = typed.rpartition(",")
    return [(f"{before}{comma}{ref}", "") for ref in refs if ref.startswith(last)]


async def _debates(store: Store) -> Completions:
    found = await store.debates.recent(limit=MOST)
    return [(one.code, headline(clean(one.request.topic), TOPIC_WIDTH)) for one in found]


async def _series(store: Store) -> Completions:
    return [(one.name, "") for one in await store.series.all()]


def _read(ask: Callable[[Store], Awaitable[Completions]]) -> Completions:
    async def answer() -> Completions:
        async with read_store(load_store_settings()) as store:
            return await ask(store)

    try:
        return asyncio.run(asyncio.wait_for(answer(), SECONDS))
    except (RostrumError, OSError, TimeoutError):
        return []


def _begun(typed: str, found: Iterable[tuple[str, str]]) -> Completions:
    return [one for one in found if one[0].startswith(typed.lower())]
