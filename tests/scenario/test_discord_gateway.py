"""The gateway's connection: lost and found, by a proxy, and shards divided among processes."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
import structlog
from discord.backoff import ExponentialBackoff
from discord.gateway import DiscordWebSocket
from pydantic import SecretStr

from adapters.discord import commands, connection
from adapters.discord.client import IdentifyLimit
from adapters.discord.connection import DiscordConnection
from adapters.discord.rest import DiscordRest
from adapters.discord.venue import DiscordVenue
from adapters.wire import proxy_of
from bot.app import App
from bot.serve.platforms import Discord, open_platforms
from bot.serve.run import serving
from engine.fleet import leases
from engine.fleet.shares import PartitionLeases
from engine.values.debate import Status
from engine.values.errors import SettingsError
from tests.doubles.databases import PostgresDouble
from tests.doubles.discord import DiscordServer
from tests.doubles.facts import Code
from tests.doubles.faults import denied, drop, garbage, limited, status
from tests.doubles.wire import proxying, wired
from tests.kit import HANG_SECONDS, until_asked
from tests.scenario.discord_stage import SWIFT, DiscordStage, ended, settings_of, until, voting

PATIENCE = 0.3
ONLY_BY_PROXY = "discord.invalid"


@asynccontextmanager
async def connected(*where: Any) -> AsyncIterator[tuple[App, DiscordConnection]]:
    """Serve with little patience."""
    async with gateway(*where, patience=PATIENCE) as it:
        await until(lambda: it.connection.connected)
        yield it.app, it.connection


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
    monkeypatch.setattr(commands, "FIRST_PAUSE", 0.1)
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
    monkeypatch.setattr(commands, "FIRST_PAUSE", 0.1)
    discord.fail(garbage('{"message": "Sign in"}'), "GET", COMMANDS, times=2)
    discord.fail(limited(600), "GET", "/oauth2/applications/@me", times=-1)
    async with connected(database_url, discord):
        await until(lambda: discord.world.commands[None])
        asked = await discord.slash("ada", "debate help").finished()
        assert "start" in asked.text


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
    online = {"event": "discord connected", "log_level": "info", "shard": 0, "of": 1, "servers": 1}
    named = [line for line in logged if line["event"] == online["event"]]
    assert [line.pop("bot") for line in named] == ["Rostrum#0000"] * 2
    assert named == [online] * 2
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
    gone = partial(app.store.communities.gone, app.service.clock.now() + timedelta(days=1))
    await until_asked(gone, lambda found: [community for _, community in found] == expected)


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


class EveryShard(PartitionLeases):
    """Shares of which the only one is held, without a database."""

    @property
    def held(self) -> frozenset[int]:
        return frozenset({0})

    async def turn(self, name: str, seconds: float) -> None:
        """Wait for no one."""


async def test_a_stop_that_comes_just_as_the_gateway_connects_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connect = DiscordWebSocket.from_client

    async def connect_and_stop(*arguments: Any, **options: Any) -> DiscordWebSocket:
        connected = await connect(*arguments, **options)
        running.cancel()
        # discord.py learns of both in the same turn of the loop.
        return connected

    monkeypatch.setattr(DiscordWebSocket, "from_client", connect_and_stop)
    async with DiscordServer() as server:
        secret = SecretStr(server.token)
        nobody: Any = None
        shards = EveryShard("discord", nobody, nobody, nobody, count=1)
        rest = DiscordRest(secret, server.api_url)
        connection = DiscordConnection(secret, (), rest, identify_limit=IdentifyLimit(gap=0.0))
        running = asyncio.create_task(connection.run(nobody, nobody, DiscordVenue(rest), shards))
        ended, _ = await asyncio.wait([running], timeout=HANG_SECONDS)
        for _ in range(2):
            running.cancel()
            await asyncio.wait([running], timeout=1)
        await rest.close()
    assert ended
    assert running.cancelled()
    assert not connection.connected


PROMPT = 3.0  # seconds in which Discord takes an answer


@dataclass
class Gateway:
    app: App
    platform: Discord
    connection: DiscordConnection

    @property
    def shares(self) -> PartitionLeases:
        return self.app.deliveries["discord"].shares

    @property
    def state(self) -> dict[str, str]:
        return self.platform.presence(self.shares).report()


@asynccontextmanager
async def gateway(
    url: str,
    discord: DiscordServer,
    api_url: str = "",
    proxy: str | None = None,
    *,
    gap: float = 0.0,
    **waits: Any,
) -> AsyncIterator[Gateway]:
    secret = SecretStr(discord.token)
    rest = DiscordRest(secret, api_url or discord.api_url, proxy=proxy)
    venue = DiscordVenue(rest, limits=SWIFT, gap=0.0)
    connection = DiscordConnection(
        secret, (), rest, identify_limit=IdentifyLimit(gap=gap), first_pause=0.05, **waits
    )
    platform = Discord(rest, venue, connection)
    async with serving(settings_of(url), platform) as app:
        yield Gateway(app, platform, connection)


async def test_a_second_gateway_stands_by_and_takes_over_and_no_command_goes_unanswered(
    url: str, discord: DiscordServer
) -> None:
    answered = list[float]()

    async def ask() -> None:
        while True:
            said = await discord.slash("ada", "debate help").answered(PROMPT)
            answered.append(said.latency or 0.0)
            assert (await said.finished()).text
            await asyncio.sleep(0.02)

    async with AsyncExitStack() as second_stays:
        async with gateway(url, discord) as first:
            await until(lambda: first.connection.connected)
            second = await second_stays.enter_async_context(gateway(url, discord))
            stands_by = {"state": "standing by", "shares": "shards none of 1"}
            await until(lambda: second.state == stands_by)
            assert first.state == {"state": "connected", "shares": "shard 0 of 1"}
            asking = asyncio.create_task(ask())
            await until(lambda: len(answered) > 3)
        await until(lambda: second.connection.connected)
        known = len(answered)
        await until(lambda: len(answered) > known + 3)
        assert not asking.done()
        asking.cancel()
        assert second.shares.held == {0}
    assert max(answered) < PROMPT
    assert discord.gateway.identifies == 2
    # Both heard some of them.
    assert {len(each.edits) for each in discord.interactions.all if each.filled} == {1}


@pytest.mark.slow
async def test_a_lone_gateway_stays_connected_and_answers_while_the_database_is_away(
    postgres: PostgresDouble,
    migrated_name: str,
    discord: DiscordServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leases, "RENEW_SECONDS", 0.1)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.6)
    monkeypatch.setattr(connection, "LOOK_SECONDS", 0.02)
    name = postgres.create(migrated_name)
    with wired(postgres.port) as wire:
        async with gateway(postgres.tcp(name, port=wire.port), discord) as only:
            await until(lambda: only.connection.connected and discord.world.commands[None])
            wire.cut()
            await until(lambda: only.app.store.away and not only.shares.held)
            for command, given in (("debate help", {}), ("debate start", {"topic": "Tea"})):
                said = await discord.slash("ada", command, given).finished()
                assert said.text.strip() == "The database is away; try again in a minute."
            assert discord.gateway.connected == 1
            wire.mend()
            await until(lambda: only.shares.held)
            assert (await discord.slash("ada", "debate start", {"topic": "Tea"}).finished()).text
            assert len(await only.app.store.listings.recent()) == 1
        wire.mend()
    assert discord.gateway.identifies == 1, "it hung up on Discord"
    postgres.drop(name)


@pytest.mark.slow
async def test_each_of_two_gateways_hears_half_of_the_shards_and_one_registers_commands(
    url: str, discord: DiscordServer
) -> None:
    discord.gateway.shards = 4
    deaf = set[int]()

    async def watch() -> None:
        while True:
            sessions = discord.gateway.sessions.values()
            deaf.update(set(range(4)) - {s.shard for s in sessions if s.socket is not None})
            await asyncio.sleep(0.01)

    async with gateway(url, discord, gap=0.3) as first:
        await until(lambda: first.connection.connected and len(first.shares.held) == 4)
        watching = asyncio.create_task(watch())
        async with gateway(url, discord, gap=0.3) as second:
            await until(lambda: len(second.shares.held) == 2 and second.connection.connected)
            await until(lambda: discord.gateway.connected == 4)
            assert not first.shares.held & second.shares.held
            assert sorted(first.shares.held | second.shares.held) == [0, 1, 2, 3]
            await discord.slash("ada", "debate start", {"topic": "Tea beats coffee"}).finished()
            await until(lambda: discord.threads())
        await until(lambda: len(first.shares.held) == 4 and first.connection.connected)
        watching.cancel()
    assert not deaf, "there was a moment in which no one heard them"
    put = [sent for sent in discord.sent if sent.method == "PUT" and "/commands" in sent.path]
    assert len(put) == 1


async def test_introductions_of_all_gateways_are_spaced_by_bucket(
    url: str, discord: DiscordServer
) -> None:
    discord.gateway.shards, discord.gateway.concurrency = 4, 2
    gap = 0.4
    async with gateway(url, discord, gap=gap), gateway(url, discord, gap=gap):
        await until(lambda: discord.gateway.connected == 4)
    for bucket in range(2):
        moments = [at for at, connection in discord.gateway.introduced if connection % 2 == bucket]
        assert all(later - at >= 0.9 * gap for at, later in itertools.pairwise(moments))
