"""The gateway's connection: lost and found again, who left meanwhile, and by which proxy."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
import structlog
from discord.backoff import ExponentialBackoff
from pydantic import SecretStr

from adapters.discord import registration
from adapters.discord.connection import DiscordConnection
from adapters.discord.presence import IdentifyLimit
from adapters.discord.rest import DiscordRest
from adapters.discord.venue import DiscordVenue
from adapters.proxies import proxy_of
from bot.app import App
from bot.serve.platforms import Discord, open_platforms
from bot.serve.run import serving
from engine.values.debate import Status
from engine.values.errors import SettingsError
from tests.doubles.discord import DiscordServer
from tests.doubles.facts import Code
from tests.doubles.faults import denied, drop, garbage, limited, status
from tests.doubles.wire import proxying
from tests.kit import HANG_SECONDS
from tests.scenario.discord_stage import (
    SWIFT,
    DiscordStage,
    ended,
    settings_of,
    until,
    voting,
)

PATIENCE = 0.3
ONLY_BY_PROXY = "discord.invalid"


@asynccontextmanager
async def connected(
    url: str, server: DiscordServer, api_url: str = "", proxy: str | None = None
) -> AsyncIterator[tuple[App, DiscordConnection]]:
    """Serve with little patience."""
    token = SecretStr(server.token)
    rest = DiscordRest(token, api_url or server.api_url, proxy=proxy)
    venue = DiscordVenue(rest, limits=SWIFT, gap=0.0)
    connection = DiscordConnection(
        token, (), rest, identifies=IdentifyLimit(gap=0.0), first_pause=0.05, patience=PATIENCE
    )
    async with serving(settings_of(url), Discord(rest, venue, connection)) as app:
        await until(lambda: connection.connected)
        yield app, connection


# --- what a start asks for ---------------------------------------------------------------

COMMANDS = "/applications/*/commands"
REFUSALS = {
    "429": limited(600),
    "429 of Cloudflare": limited(600, via=False),
    "30034": denied(Code.TOO_MANY_NEW_COMMANDS),
    "403": denied(Code.MISSING_ACCESS),
    "500": status(500),
    "cut": drop(),
}


@pytest.mark.parametrize("asked", [("PUT", COMMANDS), ("GET", COMMANDS)], ids=["put", "get"])
@pytest.mark.parametrize("why", REFUSALS)
async def test_commands_that_discord_refuses_keep_nobody_off_it(
    database_url: str,
    discord: DiscordServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    asked: tuple[str, str],
    why: str,
) -> None:
    monkeypatch.setattr(registration, "FIRST_PAUSE", 0.1)
    discord.fail(REFUSALS[why], *asked, times=-1 if "429" in why else 2)
    with structlog.testing.capture_logs() as logged:
        async with connected(database_url, discord):
            lines = await until(lambda: [one for one in logged if "not registered" in one["event"]])
            assert ("30034" in lines[0]["why"]) == (why == "30034")
            assert lines[0]["seconds"] >= (600 if "429" in why else 0)
            if "429" not in why:
                await until(lambda: discord.world.commands[None])
                assert len(lines) <= 2
    assert not [record for record in caplog.records if record.exc_info]


async def test_a_start_asks_nothing_about_its_application_and_outlasts_what_discord_did_not_say(
    database_url: str, discord: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy's answer ended the registration of commands, and nobody was told."""
    monkeypatch.setattr(registration, "FIRST_PAUSE", 0.1)
    discord.fail(garbage('{"message": "Sign in"}'), "GET", COMMANDS, times=2)
    discord.fail(limited(600), "GET", "/oauth2/applications/@me", times=-1)
    async with connected(database_url, discord):
        await until(lambda: discord.world.commands[None])
        asked = await discord.slash("ada", "debate help").finished()
        assert "start" in asked.text


# --- lost and found ----------------------------------------------------------------------


async def test_after_a_short_outage_it_hears_again_however_long_discord_py_would_wait(
    database_url: str,
    discord: DiscordServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    # As after ten lost connections within half an hour.
    monkeypatch.setattr(ExponentialBackoff, "delay", lambda _: 1000.0)
    caplog.set_level(logging.INFO)
    with structlog.testing.capture_logs() as logged:
        async with connected(database_url, discord) as (_, connection):
            discord.gateway.refusing = True
            discord.gateway.drop()
            await until(lambda: not connection.connected)
            await asyncio.sleep(2 * PATIENCE)
            discord.gateway.refusing = False
            await until(lambda: connection.connected)
            await asyncio.sleep(2 * PATIENCE)  # one that hears stays, in spite of its silence
            assert connection.connected
            assert discord.gateway.identifies == 2
    said = [line["event"] for line in logged if line["event"].startswith("gateway")]
    assert said.count("gateway reconnected") == 1
    assert said.index("gateway reconnected") == len(said) - 1
    away = [line for line in logged if line["event"] == "gateway unavailable"]
    assert any("1000.00s" in line.get("tried", "") for line in away)
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.slow
async def test_an_outage_in_which_nothing_answers_is_one_line_a_try(
    database_url: str, discord: DiscordServer, caplog: pytest.LogCaptureFixture
) -> None:
    with structlog.testing.capture_logs() as logged:
        async with connected(database_url, discord) as (_, connection):
            await discord.stop()
            await until(lambda: not connection.connected)
            await asyncio.sleep(4 * PATIENCE)
            await discord.start()
            await until(lambda: connection.connected)
    assert [line["event"] for line in logged].count("gateway reconnected") == 1
    assert not [record for record in caplog.records if record.exc_info]


async def left(app: App, expected: list[str]) -> None:
    """Wait until these servers are those whose debates will be purged."""
    later = app.service.clock.now() + timedelta(days=1)
    async with asyncio.timeout(HANG_SECONDS):
        while [one.community for one in await app.store.communities.gone(later)] != expected:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


# --- servers -----------------------------------------------------------------------------


async def test_a_removal_while_away_ends_its_debates_and_is_noted_for_the_purge(
    database_url: str, discord: DiscordServer
) -> None:
    stage = DiscordStage(database_url, discord)
    async with stage.process() as app:
        await stage.start()
        await voting(app)
    discord.kick_bot()
    async with stage.process() as app:
        debate = await ended(app)
        assert debate.gone
        assert debate.status is Status.CLOSED
        await left(app, [discord.guild.id])
    discord.invite_bot()
    async with stage.process() as app:
        await left(app, [])


@pytest.mark.slow
async def test_a_removal_between_two_sessions_of_one_client_is_noticed(
    database_url: str, discord: DiscordServer
) -> None:
    stage = DiscordStage(database_url, discord)
    async with stage.process() as app:
        await stage.start()
        await voting(app)
        discord.gateway.paused = True
        discord.kick_bot()
        discord.gateway.forget_sessions()
        discord.gateway.paused = False
        discord.gateway.drop()
        assert (await ended(app)).gone
        await left(app, [discord.guild.id])


@pytest.mark.parametrize("shards", [1, 2])
async def test_a_server_that_is_down_or_another_shards_is_not_taken_for_lost(
    database_url: str, discord: DiscordServer, shards: int
) -> None:
    discord.gateway.shards = shards
    stage = DiscordStage(database_url, discord)
    async with stage.process() as app:
        await stage.start()
        await voting(app)
    discord.gateway.outage = True  # READY names the server, and no GUILD_CREATE follows
    async with stage.process() as app:
        await asyncio.sleep(0.3)
        assert not (await voting(app)).gone
        assert await app.store.communities.known("discord") == {discord.guild.id}


# --- proxies -----------------------------------------------------------------------------


async def test_everything_goes_by_the_proxy_that_is_set(
    database_url: str, discord: DiscordServer
) -> None:
    stage = DiscordStage(database_url, discord)
    # A name that leads nowhere: what came to the double, the WebSocket too, came by the proxy.
    host = f"{ONLY_BY_PROXY}:{discord.port}"
    discord.gateway.url = f"ws://{host}/gateway"
    api_url = f"http://{host}/api/v10"
    async with (
        proxying() as proxy,
        connected(database_url, discord, api_url, proxy.url) as (app, _),
    ):
        await until(lambda: discord.world.commands[None])
        await stage.start()
        await voting(app)
    assert f"GET {api_url}/users/@me" in proxy.asked
    assert {address.split("/")[2] for address in proxy.asked} == {host}


def test_discord_goes_by_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "all_proxy", "no_proxy", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    settings = settings_of("sqlite+aiosqlite:///x.db", discord={"token": "a.b.c"})
    [platform] = open_platforms(settings)
    assert isinstance(platform, Discord)
    assert platform.rest.proxy == "http://proxy.example:3128"
    monkeypatch.setenv("NO_PROXY", "discord.com")
    assert proxy_of("https://discord.com/api/v10") is None
    assert proxy_of("http://127.0.0.1:4600/api/v10") is None
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTPS_PROXY", "socks5://proxy.example:1080")
    with pytest.raises(SettingsError, match=r"socks5 proxy of HTTPS_PROXY.*NO_PROXY"):
        open_platforms(settings)
