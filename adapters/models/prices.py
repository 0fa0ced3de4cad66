"""Prices of models: from the settings, 0 if local, the backend's list, or the bundled data.

The source is stored with the price, and with every call that uses it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic
from typing import Any

import orjson

from adapters.models.backends import Backend
from adapters.models.bundled import STEP, bundled_price
from adapters.models.connection import ConnectionPool, HttpResponse
from adapters.models.decoding import decode
from engine.values.debate import Model, Origin, Price

FETCH_S = 8.0
FORGET_FAILURE_S = 60.0
_CONTEXTS = ("max_model_len", "context_length", "context_window", "max_context_length")
_FIELDS = ("prompt", "completion", "input_cache_read", "input_cache_write")
_LITELLM_FIELDS = (
    *("input_cost_per_token", "output_cost_per_token"),
    *("cache_read_input_token_cost", "cache_creation_input_token_cost"),
)


class PriceBook:
    """Prices of every backend; a backend's list is fetched once, after failures again later."""

    def __init__(self, table: Mapping[str, Price], connection: ConnectionPool) -> None:
        set_here = {"origin": Origin.SETTINGS}
        self._table = {
            name.strip().lower(): price.model_copy(update=set_here) for name, price in table.items()
        }
        self._connection = connection
        self._lists: dict[str, dict[str, Price | None]] = {}
        self._failed_at: dict[str, float] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._bundled: dict[tuple[str, str], Price | None] = {}
        self._bundled_at = -1e9

    async def price(self, model: Model, backend: Backend) -> Price | None:
        for name in (model.ref, model.name):
            if name.lower() in self._table:
                return self._table[name.lower()]
        if backend.local:
            return Price(usd_in=0, usd_out=0, origin=Origin.LOCAL)
        listed = await self._listed(backend) if backend.known.prices else {}
        if model.name in listed:
            return listed[model.name]
        return await self._look_up(backend.base_url, model.name)

    async def _look_up(self, base_url: str, name: str) -> Price | None:
        """Return a bundled price, refreshed as often as prices may change."""
        if monotonic() - self._bundled_at > STEP.total_seconds():
            self._bundled, self._bundled_at = {}, monotonic()
        known, key = self._bundled, (base_url, name)
        if key not in known:
            # In a thread: it imports the data and reads two days of prices.
            known[key] = await asyncio.to_thread(bundled_price, base_url, name)
        return known[key]

    async def _listed(self, backend: Backend) -> dict[str, Price | None]:
        async with self._locks.setdefault(backend.name, asyncio.Lock()):
            known = self._lists.get(backend.name)
            if known is not None:
                return known
            if monotonic() - self._failed_at.get(backend.name, -1e9) < FORGET_FAILURE_S:
                return {}
            response = await self._connection.get(backend, backend.known.prices, FETCH_S)
            if not isinstance(response, HttpResponse) or response.status != 200:
                self._failed_at[backend.name] = monotonic()
                return {}
            return self._lists.setdefault(backend.name, read_prices(response.content))


def model_entries(content: bytes) -> list[dict[str, Any]]:
    """Return the models that a `/models` body lists, each with an `id`; none if unreadable."""
    return [entry for entry in _entries(content) if isinstance(entry.get("id"), str)]


def _entries(content: bytes) -> list[dict[str, Any]]:
    try:
        body = decode(content).value
    except orjson.JSONDecodeError:
        return []
    entries = body.get("data") if isinstance(body, dict) else body
    return [one for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []


def read_prices(content: bytes) -> dict[str, Price | None]:
    """Read the prices of a `/models` body, in USD per token, or of LiteLLM's `/model/info`.

    None is for a model whose listed price varies or is unreadable. Of several servers behind one
    of LiteLLM's names, any may answer: the dearest counts.
    """
    prices: dict[str, Price | None] = {}
    for entry in model_entries(content):
        pricing = entry.get("pricing")
        if isinstance(pricing, dict):
            prices[entry["id"]] = _price(pricing, _FIELDS)
    for entry in _entries(content):
        name, about = entry.get("model_name"), entry.get("model_info")
        if isinstance(name, str) and isinstance(about, dict):
            price = _price(about, _LITELLM_FIELDS)
            known = prices.get(name, price)
            dearer = known and price and price.usd_out > known.usd_out
            prices[name] = price if price is None or dearer else known
    return prices


def read_contexts(content: bytes) -> dict[str, int]:
    """Read the length of each model's context from a `/models` body, in tokens, where it says it.

    vLLM, OpenRouter, Groq and Mistral have it in fields of their own, llama.cpp in `meta`.
    """
    found = {}
    for entry in model_entries(content):
        meta = entry.get("meta")
        told = [entry.get(name) for name in _CONTEXTS]
        told += [meta.get("n_ctx")] if isinstance(meta, dict) else []
        sizes = [one for one in told if isinstance(one, int) and one > 0]
        if sizes:
            found[entry["id"]] = sizes[0]
    return found


def _price(pricing: dict[str, Any], fields: tuple[str, str, str, str]) -> Price | None:
    usd_in, usd_out, usd_cached, usd_written = (_per_million(pricing, field) for field in fields)
    if usd_in is None or usd_out is None:
        return None
    return Price(
        usd_in=usd_in,
        usd_out=usd_out,
        usd_cached=usd_cached,
        usd_written=usd_written,
        origin=Origin.BACKEND,
    )


def _per_million(pricing: dict[str, Any], field: str) -> float | None:
    try:
        usd = float(pricing[field])
    except (KeyError, TypeError, ValueError):
        return None
    # A negative price means that it varies; NaN fails both comparisons.
    return usd * 1e6 if 0 <= usd < 1 else None
