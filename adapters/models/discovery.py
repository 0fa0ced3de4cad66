"""Lists models: of a configured backend, or of servers on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from adapters.models import LM_STUDIO, OLLAMA
from adapters.models.attempts import CallFault
from adapters.models.backends import Backend
from adapters.models.connection import ConnectionPool, read_whole
from adapters.models.faults import status_fault
from adapters.models.prices import model_entries
from engine.values.errors import ModelError

if TYPE_CHECKING:
    import aiohttp

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


async def probe(
    backend: Backend, timeout_s: float = PROBE_S, secrets: Sequence[str] = ()
) -> list[str]:
    """Return a backend's models. Raises ModelError that says what to do."""
    connection = ConnectionPool(1)
    try:
        found = await connection.get(backend, "/models", timeout_s)
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
