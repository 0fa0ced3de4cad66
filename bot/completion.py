"""What a shell may complete: debates, series and models. Errors complete nothing.

The database and the settings are imported once a shell asks, as every command names these.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from engine.store import Store

Completions: TypeAlias = list[tuple[str, str]]

MOST = 50
SECONDS = 1.0  # a person waits
TOPIC_WIDTH = 50


def complete_debates(incomplete: str) -> Completions:
    """Return the codes of the newest debates, with their topics."""

    async def read(store: Store) -> Completions:
        from engine.values.text import clean, headline

        found = await store.listings.recent(limit=MOST)
        return [(one.code, headline(clean(one.request.topic), TOPIC_WIDTH)) for one in found]

    return _begun(incomplete, _read(read))


def complete_series(incomplete: str) -> Completions:
    """Return the names of series."""

    async def read(store: Store) -> Completions:
        return [(one.name, "") for one in await store.series.all()]

    return _begun(incomplete, _read(read))


def complete_both(incomplete: str) -> Completions:
    """Return names of series, and codes of debates."""
    return [*complete_series(incomplete), *complete_debates(incomplete)]


def complete_models(incomplete: str) -> Completions:
    """Return the configured models; of a list, the last one is completed."""
    from bot.settings.load import load_settings
    from engine.values.errors import RostrumError

    try:
        settings = load_settings()
    except RostrumError:
        return []
    refs = dict.fromkeys(model.ref for model in (*settings.models, *settings.jurors))
    before, comma, last = incomplete.rpartition(",")
    return [(f"{before}{comma}{ref}", "") for ref in refs if ref.startswith(last)]


def complete_panels(incomplete: str) -> list[str]:
    """Return how a jury may read."""
    from engine.values.debate import PanelMode

    return [mode.value for mode in PanelMode if mode.startswith(incomplete)]


def _read(ask: Callable[[Store], Awaitable[Completions]]) -> Completions:
    import asyncio

    from bot.database import read_store
    from bot.settings.load import load_store_settings
    from engine.values.errors import RostrumError

    async def answer() -> Completions:
        async with read_store(load_store_settings()) as store:
            return await ask(store)

    try:
        return asyncio.run(asyncio.wait_for(answer(), SECONDS))
    except (RostrumError, OSError, TimeoutError):
        return []


def _begun(typed: str, found: Iterable[tuple[str, str]]) -> Completions:
    return [one for one in found if one[0].startswith(typed.lower())]
