"""Bundled prices: the data in the installed package genai-prices.

Nothing is fetched: only its opt-in updater would. A price applies if the backend's address is the
provider's own, and the data name the model, with or without a date. In doubt the higher price
counts, so that a cap is never exceeded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from engine.values.debate import Origin, Price, Tier

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, Provider

AHEAD = timedelta(hours=48)  # the longest debate; prices may change by day and hour
STEP = timedelta(minutes=30)
# Units other than tokens, which our prices do not cover.
_BESIDE = frozenset({"input_mchars", "input_text_messages_kcount", "requests_kcount"})
_CACHED = "cache_read_mtok"
_OWN_CACHING = "anthropic"  # its OpenAI-compatible endpoint has no prompt caching
_VERSION = re.compile(r"(-preview)?([-@](20\d{6}|20\d\d-\d\d-\d\d|\d\d-\d\d|\d{3,4}|latest))?$")


def bundled_price(base_url: str, name: str, now: datetime | None = None) -> Price | None:
    """Return a model's price at an address, None if the data are not certain.

    Importing the data takes half a second: run this in a thread.
    """
    from genai_prices.data_snapshot import get_snapshot

    provider = next((p for p in get_snapshot().providers if _serves(p, base_url)), None)
    if provider is None:
        return None
    model = _find(provider, name.lower().removeprefix("models/"))
    if model is None:
        return None
    began = now or datetime.now(UTC)
    at = [began + STEP * step for step in range(AHEAD // STEP)]
    prices = [model.get_prices(moment) for moment in at]
    return _highest(prices, caches=provider.id != _OWN_CACHING)


def _serves(provider: Provider, base_url: str) -> bool:
    """Return whether an address is on the provider's own host, not one that contains its name."""
    parts = urlsplit(base_url)
    if parts.scheme != "https" or parts.port not in (None, 443) or parts.hostname is None:
        return False
    host = f"https://{parts.hostname}"
    found = re.match(provider.api_pattern, f"{host}/")
    return found is not None and found.end() >= len(host)


def _find(provider: Provider, name: str) -> ModelInfo | None:
    """Return the model of exactly that name; the data's own matching accepts longer ones."""
    model = provider.find_model(name)
    if model is None:
        return None
    known = {model.id.lower(), *_names(model.match)}
    return model if known & {name, _VERSION.sub("", name)} else None


def _names(clause: Any) -> Iterator[str]:
    """Yield the literal names in a matching rule."""
    for part in (*getattr(clause, "or_", ()), *getattr(clause, "and_", ())):
        yield from _names(part)
    for field in ("equals", "starts_with"):
        if isinstance(spelled := getattr(clause, field, None), str):
            yield spelled.lower()


def _highest(prices: list[ModelPrice], *, caches: bool) -> Price | None:
    """Return the highest of several prices, for each prompt length."""
    rates = [vars(price) for price in prices]
    if any(rate.get(field) for rate in rates for field in _BESIDE):
        return None
    read = ("input_mtok", "cache_write_mtok") if caches else ("input_mtok",)
    written = ("output_mtok", "output_reasoning_mtok")
    if not all(
        rate.get(read[0]) is not None and rate.get(written[0]) is not None for rate in rates
    ):
        return None
    used = [rate[field] for rate in rates for field in (*read, *written) if rate.get(field)]
    starts = sorted({tier.start for price in used for tier in getattr(price, "tiers", ())})

    def most(fields: tuple[str, ...], tokens: int) -> float:
        return max(_rate(rate.get(field), tokens) for rate in rates for field in fields)

    # Reads are billed less only if they always are; writes are in `usd_in`.
    cached = caches and all(rate.get(_CACHED) is not None for rate in rates)
    return Price(
        usd_in=most(read, 0),
        usd_out=most(written, 0),
        usd_cached=most((_CACHED,), 0) if cached else None,
        usd_written=most(read, 0) if caches else None,
        tiers=tuple(
            Tier(above=start, usd_in=most(read, start + 1), usd_out=most(written, start + 1))
            for start in starts
        ),
        origin=Origin.BUNDLED,
    )


def _rate(price: Any, tokens: int) -> float:
    """Return USD per million tokens for a prompt length."""
    if price is None:
        return 0.0
    tiers = [tier.price for tier in getattr(price, "tiers", ()) if tokens > tier.start]
    return float(max([getattr(price, "base", price), *tiers]))
