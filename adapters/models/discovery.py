"""What backends list: their models, also of servers on this machine, and the models' prices."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import orjson

from adapters.models import LM_STUDIO, OLLAMA
from adapters.models.attempts import CallFault
from adapters.models.backends import Backend
from adapters.models.connection import ConnectionPool, HttpResponse, read_whole
from adapters.models.faults import decode, status_fault
from engine.values.debate import Model, Origin, Price, Tier
from engine.values.errors import ModelError

if TYPE_CHECKING:
    import aiohttp
    from genai_prices.types import ModelInfo, ModelPrice, Provider

# Prices of models: from the settings, 0 if local, the backend's list, or the bundled data.
#
# The source is stored with the price, and with every call that uses it.


# Bundled prices: the data in the installed package genai-prices.
#
# Nothing is fetched: only its opt-in updater would. A price applies if the backend's address is the
# provider's own, and the data name the model, with or without a date. In doubt the higher price
# counts, so that a cap is never exceeded.


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


FREE = Price(usd_in=0, usd_out=0, origin=Origin.LOCAL)
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
        self._known: dict[str, tuple[Price | None, float]] = {}  # with the time to look again
        self._locks: dict[str, asyncio.Lock] = {}
        self._bundled: dict[tuple[str, str], Price | None] = {}
        self._bundled_at = -1e9

    async def price(self, model: Model, backend: Backend) -> Price | None:
        price, until = self._known.get(model.ref, (None, 0.0))
        if monotonic() >= until:
            price = await self._find(model, backend)
            self._known[model.ref] = price, monotonic() + FORGET_FAILURE_S
        return price

    async def _find(self, model: Model, backend: Backend) -> Price | None:
        for name in (model.ref, model.bare, model.name):
            if name.lower() in self._table:
                return self._table[name.lower()]
        if backend.local:
            return FREE
        listed = await self._listed(backend) if backend.known.prices else {}
        if model.name in listed:
            return listed[model.name]
        if monotonic() - self._bundled_at > STEP.total_seconds():
            self._bundled, self._bundled_at = {}, monotonic()
        known, key = self._bundled, (backend.base_url, model.name)
        if key not in known:
            # In a thread: it imports the data and reads two days of prices.
            known[key] = await asyncio.to_thread(bundled_price, backend.base_url, model.name)
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
        body = decode(content)[0]
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


def read_parameters(content: bytes) -> dict[str, frozenset[str]]:
    """Read which fields of a request each model takes, where a `/models` body says it.

    OpenRouter lists them as `supported_parameters`, the effort of reasoning as `reasoning` too.
    """
    found = {}
    for entry in model_entries(content):
        listed = entry.get("supported_parameters")
        if isinstance(listed, list) and listed:
            taken = frozenset(one for one in listed if isinstance(one, str))
            found[entry["id"]] = taken | ({"reasoning_effort"} if "reasoning" in taken else set())
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


PROBE_S = 10.0
SEARCH_S = 0.3
NO_LIST = (404, 405, 501)


class LocalServer(NamedTuple):
    """An OpenAI-compatible server on this machine; `models` are the first it lists, once asked."""

    preset: str
    name: str
    base_url: str
    models: tuple[str, ...] = ()


PLACES = (
    LocalServer("ollama", "Ollama", OLLAMA),
    LocalServer("lmstudio", "LM Studio", LM_STUDIO),
)


class NoListError(ModelError):
    """The backend responds but does not list its models."""


def is_listed(name: str, listed: Collection[str]) -> bool:
    """Return whether a backend lists a model, by its name or an equivalent one.

    Ollama's `llama3` is `llama3:latest`, Gemini lists `models/NAME`, and OpenRouter accepts
    `NAME:nitro` for each NAME.
    """
    same = (name, f"{name}:latest", f"models/{name}", *(name[: name.rfind(":")],) * (":" in name))
    return any(one in listed for one in same)


async def probe(backend: Backend, secrets: Sequence[str] = ()) -> list[str]:
    """Return a backend's models. Raises ModelError that says what to do."""
    connection = ConnectionPool(1)
    try:
        found = await connection.get(backend, "/models", PROBE_S)
    finally:
        await connection.aclose()
    if not isinstance(found, CallFault) and found.status == 200:
        return [entry["id"] for entry in model_entries(found.content)]
    if not isinstance(found, CallFault):
        if found.status in NO_LIST:
            raise NoListError(
                f"Backend “{backend.name}” has no list of models ({found.status}); check its "
                "BASE_URL in ROSTRUM_BACKENDS, which usually ends in /v1."
            )
        hidden = (*backend.secrets, *secrets)
        found = status_fault(found.status, found.content, found.headers, hidden)
    raise ModelError(f"Backend “{backend.name}” {found.whole}; {found.advice}.")


async def find_local_servers(
    places: tuple[LocalServer, ...] = PLACES, within_s: float = SEARCH_S
) -> list[LocalServer]:
    """Find model servers on this machine, within `within_s` seconds; never raises."""
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=within_s)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        found = await asyncio.gather(*(_look(session, place) for place in places))
    return [server for server in found if server is not None]


async def _look(session: aiohttp.ClientSession, place: LocalServer) -> LocalServer | None:
    import aiohttp

    try:
        async with session.get(f"{place.base_url}/models", allow_redirects=False) as response:
            pieces = response.content.iter_any()
            found = await read_whole(response.status, response.headers, pieces)
    except (aiohttp.ClientError, TimeoutError, OSError):
        return None
    if isinstance(found, CallFault) or found.status != 200:
        return None
    models = tuple(entry["id"] for entry in model_entries(found.content))[:5]
    return place._replace(models=models) if models else None
