"""What `/metrics` shows, as Prometheus reads it."""

from __future__ import annotations

import asyncio

from aiohttp import ClientConnectionError, ClientResponse, ClientSession
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from adapters.storage.store import SqlStore
from bot.health import Health, serve_health
from bot.settings.sections import HealthSettings
from tests.sample import NO_CAPS, new_debate
from tests.scenario.discord_stage import free_port

METRICS = {
    "rostrum_database_writable": {(): 1},
    "rostrum_gateway_connected": {
        (("platform", "discord"),): 1,
        (("platform", "slack"),): 0,
    },
    "rostrum_debates": {
        (("status", "queued"),): 1,
        (("status", "running"),): 0,
        (("status", "voting"),): 0,
    },
}


def read(text: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return every gauge with its samples, by name and labels."""
    found = {}
    for family in text_string_to_metric_families(text):
        assert (family.type, bool(family.documentation)) == ("gauge", True)
        found[family.name] = {tuple(one.labels.items()): one.value for one in family.samples}
    return found


async def fetch(session: ClientSession, url: str) -> ClientResponse:
    """Fetch a page, once it is served."""
    async with asyncio.timeout(10):
        while True:
            try:
                return await session.get(url)
            except ClientConnectionError:
                await asyncio.sleep(0.01)


async def test_metrics_have_the_names_and_labels_of_the_manual_and_nothing_else(
    store: SqlStore,
) -> None:
    await store.debates.create([(new_debate(), [])], NO_CAPS)
    health = Health(store, {"discord": lambda: True, "slack": lambda: False})
    settings = HealthSettings(port=free_port())
    serving = asyncio.create_task(serve_health(settings, health))
    async with ClientSession() as session:
        for _ in range(2):  # a second scrape finds no figures of the first
            response = await fetch(session, f"http://127.0.0.1:{settings.port}/metrics")
            assert response.content_type == "text/plain"
            assert "version=0.0.4" in response.headers["Content-Type"]
            assert read(await response.text()) == METRICS
    serving.cancel()
    await asyncio.wait({serving})
    assert not [one.name for one in REGISTRY.collect() if one.name.startswith("rostrum")]
