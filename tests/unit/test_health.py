"""What `/livez`, `/readyz` and `/metrics` say, as a probe and Prometheus read it."""

import asyncio
import re
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectionError, ClientResponse, ClientSession
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from adapters.database.database import SqlDatabase
from adapters.metrics import FAMILIES, Counts
from bot.serve import health as rooms
from bot.serve.health import Connected, Health, PlatformPresence, _Build, serve_health
from bot.settings.settings import HealthSettings
from engine.store import Post, Store
from engine.values.debate import Model
from engine.values.messages import Notice
from tests.kit import HANG_SECONDS, NO_CAPS, beside, new_debate, until_asked
from tests.scenario.discord_stage import free_port

MANUAL = Path(__file__).parents[2] / "docs" / "operations.md"
ROW = re.compile(r"^\| `(rostrum_\w+)` \| (\w+) \|([^|]*)\|", re.MULTILINE)
CONTRACT = {
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
Samples = dict[str, dict[tuple[tuple[str, str], ...], float]]


def read(text: str) -> Samples:
    found = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation
        found[family.name] = {
            tuple(sorted(one.labels.items())): one.value for one in family.samples
        }
    return found


async def fetch(session: ClientSession, url: str) -> ClientResponse:
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            try:
                return await session.get(url)
            except ClientConnectionError:
                await asyncio.sleep(0.01)


@asynccontextmanager
async def served(health: Health) -> AsyncIterator[str]:
    settings = HealthSettings(port=free_port())
    async with beside(serve_health(settings, health)):
        yield f"http://127.0.0.1:{settings.port}"


async def ask(url: str) -> tuple[int, dict[str, Any]]:
    async with ClientSession() as session:
        response = await fetch(session, url)
        return response.status, await response.json()


async def test_metrics_have_the_manuals_names_and_labels_alone(store: Store) -> None:
    await store.debates.create([(new_debate(), [])], NO_CAPS)
    health = Health(store, {"discord": lambda: True, "slack": lambda: False})
    async with served(health) as url, ClientSession() as session:
        for _ in range(2):  # a second scrape finds no figures of the first
            response = await fetch(session, f"{url}/metrics")
            assert response.content_type == "text/plain"
            assert "version=0.0.4" in response.headers["Content-Type"]
            found = read(await response.text())
            assert {name: found[name] for name in CONTRACT} == CONTRACT
            own = {name for name in found if name.startswith("rostrum_")}
            assert own == {family.name for family in FAMILIES}
            assert all(name.startswith("process_") for name in found.keys() - own)
    assert not [one.name for one in REGISTRY.collect() if one.name.startswith("rostrum")]


def test_the_manual_lists_every_metric_with_its_kind_and_labels() -> None:
    exported = {
        (f"{one.name}_total" if one.kind == "counter" else one.name, one.kind, one.labels)
        for one in FAMILIES
    }
    listed = {
        (name, kind, tuple(re.findall(r"`(\w+)`", labels)))
        for name, kind, labels in ROW.findall(MANUAL.read_text(encoding="utf-8"))
    }
    assert listed == exported


async def test_the_build_the_outbox_and_what_alerts_watch_at_0_are_shown(store: Store) -> None:
    said = Post(key="a", message=Notice(text="Hello."))
    [debate] = await store.debates.create([(new_debate(), [said])], NO_CAPS)
    health = Health(store, build=_Build("1.2", "abc"))
    health.begin(store, {}, Counts([Model.parse("online/x")]))
    async with served(health) as url, ClientSession() as session:
        found = read(await (await fetch(session, f"{url}/metrics")).text())
    assert found["rostrum_build_info"] == {(("revision", "abc"), ("version", "1.2")): 1}
    here = (("platform", debate.platform),)
    assert found["rostrum_outbox_messages"] == {here: 1}
    assert 0 <= found["rostrum_outbox_oldest_age_seconds"][here] < 60
    assert found["rostrum_lease_losses"][(("kind", "debate"),)] == 0
    assert found["rostrum_debates_ended"][(("cause", "bug"), ("status", "failed"))] == 0
    assert found["rostrum_model_cost_usd"] == {(("backend", "online"), ("model", "x")): 0}


async def test_a_platform_that_is_away_makes_it_unready_and_not_dead(store: Store) -> None:
    standing_by = PlatformPresence(connected=False, standing_by=True, shares="bucket 2 of 4")
    there: list[bool] = []
    gateways: dict[str, Connected] = {"discord": lambda: bool(there), "slack": lambda: standing_by}
    async with served(Health(store, gateways)) as url, ClientSession() as session:
        assert (await ask(f"{url}/livez"))[0] == 200
        status, body = await ask(f"{url}/readyz")
        assert (status, body["ok"]) == (503, False)
        assert body["problems"] == ["Discord is not connected."]
        assert body["platforms"] == {
            "discord": {"state": "disconnected"},
            "slack": {"state": "standing by", "shares": "bucket 2 of 4"},
        }
        there.append(True)
        status, body = await ask(f"{url}/readyz")
        assert (status, body["ok"], body["problems"], body["database"]) == (200, True, [], True)
        found = read(await (await fetch(session, f"{url}/metrics")).text())
    standing = found["rostrum_gateway_standing_by"]
    assert standing == {(("platform", "slack"),): 1, (("platform", "discord"),): 0}


async def test_a_database_that_does_not_answer_is_said_until_it_does(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms, "PROBE_SECONDS", 0.0)
    health = Health(store, {"discord": lambda: True})
    async with served(health) as url, ClientSession() as session:
        assert (await ask(f"{url}/livez"))[0] == 200
        monkeypatch.setattr(rooms, "ANSWER_SECONDS", 0.2)
        assert isinstance(store.database, SqlDatabase)
        other = sqlite3.connect(store.database.path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")  # nothing else can write
        status, body = await ask(f"{url}/readyz")
        said = ["The database did not answer within 0.2 s."]
        assert (status, body["problems"], body["database"]) == (503, said, False)
        assert (await ask(f"{url}/livez"))[0] == 200
        found = read(await (await fetch(session, f"{url}/metrics")).text())
        assert found["rostrum_database_writable"] == {(): 0}
        other.execute("ROLLBACK")
        other.close()
        await until_asked(lambda: ask(f"{url}/readyz"), lambda answer: answer[0] == 200)


async def test_a_loop_that_was_blocked_is_said_for_a_while(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    health = Health(store, {})
    async with served(health) as url, ClientSession() as session:
        assert (await ask(f"{url}/livez"))[0] == 200
        monkeypatch.setattr(rooms, "BLOCKED_SECONDS", 0.5)
        time.sleep(1.0)  # noqa: ASYNC251 - what is tested
        await asyncio.sleep(0.01)
        status, body = await ask(f"{url}/livez")
        assert status == 503
        assert body["loop_lag_seconds"] > 0.5
        [said] = body["problems"]
        assert said.startswith("The event loop was blocked for ")
        page = await (await fetch(session, f"{url}/metrics")).text()
        monkeypatch.setattr("bot.serve.health.RECENT_SECONDS", 0.0)
        assert (await ask(f"{url}/livez"))[0] == 200
    buckets = {
        one.labels["le"]: one.value
        for family in text_string_to_metric_families(page)
        for one in family.samples
        if one.name == "rostrum_event_loop_lag_seconds_bucket"
    }
    assert buckets["+Inf"] > buckets["0.5"], "a lag above half a second was counted"
