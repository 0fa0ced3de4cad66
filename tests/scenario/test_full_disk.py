"""A disk that is full under a running Rostrum: it waits for room, says so, and nothing is lost."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from adapters.database import sqlite
from adapters.database.database import SqlDatabase
from adapters.database.sqlite import SqliteFile
from bot.app import App
from bot.exits import END_SECONDS
from bot.serve import health
from engine.values.debate import Status
from tests.doubles.discord import DiscordServer
from tests.doubles.model_server import ModelServer
from tests.scenario.discord_stage import DiscordStage, free_port, state, until
from tests.unit.test_health import ask

FALSE = {"debate ended early", "debate held by another process"}


@pytest.fixture
async def backend() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
def stage(
    discord: DiscordServer, tmp_path: Path, backend: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> DiscordStage:
    monkeypatch.setattr(sqlite, "AGAIN_SECONDS", 0.05)
    monkeypatch.setattr(health, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(health, "PROBE_SECONDS", 0.0)
    settings = {
        "backends": {"local": {"base_url": backend.base_url, "local": True}},
        "models": "local/ann, local/bob",
        "jurors": "local/cora, local/dan, local/eve",
        "health": {"port": free_port()},
        "stop_seconds": END_SECONDS + 0.2,
    }
    return DiscordStage(
        f"sqlite+aiosqlite:///{tmp_path / 'rostrum.db'}", discord, settings=settings
    )


def resize(app: App, pages: int) -> None:
    """Let the disk have no more than so many pages for the database, or what it has already."""
    assert isinstance(app.store.database, SqlDatabase)
    dialect = app.store.database.dialect
    assert isinstance(dialect, SqliteFile)
    driver = getattr(dialect._connection, "driver")  # noqa: B009 - only this kind has one
    assert isinstance(driver, sqlite3.Connection)
    driver.execute(f"PRAGMA max_page_count = {pages}")


async def test_a_full_disk_is_waited_for_and_the_debate_goes_on(
    stage: DiscordStage, backend: ModelServer
) -> None:
    url = f"http://127.0.0.1:{stage.settings['health']['port']}"
    with capture_logs() as logs:
        async with stage.process() as app:
            backend.gate.clear()
            await stage.start()
            await until(lambda: backend.in_flight)
            assert (await ask(f"{url}/readyz"))[0] == 200
            resize(app, 1)
            backend.gate.set()
            await until(lambda: app.store.away)
            status, body = await ask(f"{url}/readyz")
            said = ["The database cannot be written; the log says why."]
            assert (status, body["problems"]) == (503, said)
            assert (await ask(f"{url}/livez"))[0] == 200, "a restart makes no room"
            asked = await stage.discord.slash("olga", "debate start", {"topic": "Tea"}).finished()
            assert "The database is away; try again in a minute." in asked.text
            resize(app, 100_000)
            await state(app, lambda debate: debate.status is Status.VOTING)
            assert not app.store.away
            assert (await ask(f"{url}/readyz"))[0] == 200
    events = [line["event"] for line in logs]
    assert not FALSE & set(events)
    away = next(line for line in logs if line["event"] == "database away")
    assert away["why"] == "database or disk is full"
    assert "database back" in events


@pytest.mark.slow
async def test_a_stop_on_a_full_disk_ends_no_debate(
    stage: DiscordStage, backend: ModelServer
) -> None:
    with capture_logs() as logs:
        async with stage.process() as app:
            backend.gate.clear()
            await stage.start()
            await until(lambda: backend.in_flight)
            resize(app, 1)
            backend.gate.set()
            await until(lambda: app.store.away)
    assert not FALSE & {line["event"] for line in logs}
    async with stage.process() as app:
        await state(app, lambda debate: debate.status is Status.VOTING)
