"""Several gateways divide Discord's shards: who hears, who answers, who takes over."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import SecretStr

from adapters.discord import connection
from adapters.discord.connection import DiscordConnection
from adapters.discord.presence import IdentifyLimit
from adapters.discord.rest import DiscordRest
from adapters.discord.venue import DiscordVenue
from bot.app import App
from bot.serve.platforms import Discord
from bot.serve.run import serving
from engine.fleet import leases
from engine.fleet.shares import PartitionLeases
from tests.doubles.databases import PostgresDouble
from tests.doubles.discord import DiscordServer
from tests.doubles.wire import wired
from tests.scenario.discord_stage import SWIFT, settings_of, until

PROMPT = 3.0  # seconds in which Discord takes an answer


@dataclass
class Gateway:
    """A process that runs."""

    app: App
    platform: Discord
    connection: DiscordConnection

    @property
    def shares(self) -> PartitionLeases:
        return self.app.deliveries["discord"].shares

    @property
    def state(self) -> dict[str, str]:
        return self.platform.presence(self.shares.standing).report()


@asynccontextmanager
async def gateway(
    url: str, discord: DiscordServer, *, gap: float = 0.0, **settings: Any
) -> AsyncIterator[Gateway]:
    """Run a process on the shared database until the body ends; it then leaves in order."""
    secret = SecretStr(discord.token)
    rest = DiscordRest(secret, discord.api_url)
    venue = DiscordVenue(rest, limits=SWIFT, gap=0.0)
    connection = DiscordConnection(
        secret, (), rest, identifies=IdentifyLimit(gap=gap), first_pause=0.05
    )
    platform = Discord(rest, venue, connection)
    async with serving(settings_of(url, **settings), platform) as app:
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
            assert len(await only.app.store.debates.recent()) == 1
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
