"""What an operator does about Discord: run, check and watch the program in its own process."""

import asyncio
import os
import signal
import sys
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from pydantic import SecretStr

from adapters import Finding
from adapters.discord.checkup import check
from adapters.discord.rest import DiscordRest
from adapters.dispatch import LocalDispatcher
from adapters.dispatch.procrastinate import ProcrastinateDispatcher
from bot import __version__
from bot.doctor import then_close
from tests.doubles.collector import Collector
from tests.doubles.command import running
from tests.doubles.databases import is_file
from tests.doubles.discord import DiscordServer
from tests.kit import HANG_SECONDS, until_asked
from tests.scenario.discord_stage import DiscordStage, free_port, until

ROSTRUM = Path(sys.executable).with_name("rostrum")


def program(
    discord: DiscordServer, folder: Path, *command: str, **settings: str
) -> AbstractAsyncContextManager[asyncio.subprocess.Process]:
    """Run the command line in a folder of its own."""
    environment = {"PATH": os.environ["PATH"], "PYTHONWARNINGS": "ignore"} | discord.settings
    return running(
        str(ROSTRUM),
        *command,
        cwd=folder,
        env=environment | settings,
        stdout=asyncio.subprocess.PIPE,
    )


async def fetch(url: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return response.status, await response.text()


async def test_rostrum_runs_says_that_it_is_well_and_ends_in_order(
    discord: DiscordServer, tmp_path: Path
) -> None:
    port = free_port()
    health = {"ROSTRUM_HEALTH__PORT": str(port), "ROSTRUM_REVISION": "abc123"}
    async with program(discord, tmp_path, "run", **health) as process:
        await discord.gateway.until_connected()
        await until(lambda: discord.world.commands[None])
        asked = await discord.slash("ada", "debate start", {"topic": "Tea"}).finished()
        assert "Your debate starts now" in asked.text
        called = 'rostrum_model_calls_total{backend="rehearsal"'  # once the first call has ended
        told = partial(fetch, f"http://127.0.0.1:{port}/metrics")
        _, metrics = await until_asked(told, lambda answer: called in answer[1])
        assert 'rostrum_gateway_connected{platform="discord"} 1' in metrics
        assert f'rostrum_build_info{{revision="abc123",version="{__version__}"}} 1.0' in metrics
        for page in ("livez", "readyz"):
            status, body = await fetch(f"http://127.0.0.1:{port}/{page}")
            assert (status, orjson.loads(body)["problems"]) == (200, [])
        process.send_signal(signal.SIGTERM)
        _, said = await process.communicate()
    assert process.returncode == 0
    assert b"rostrum stopped" in said
    assert discord.token.encode() not in said


def reached(discord: DiscordServer, number: int) -> bool:
    threads = discord.threads()
    return len(discord.messages(threads[0].id) if threads else []) >= number


@pytest.mark.slow
async def test_a_lost_gateway_is_seen_and_a_revoked_token_ends_the_program(
    discord: DiscordServer, tmp_path: Path
) -> None:
    port = free_port()
    async with program(discord, tmp_path, "run", ROSTRUM_HEALTH__PORT=str(port)) as process:
        await discord.gateway.until_connected()
        discord.gateway.refusing = True
        await discord.gateway.disconnect(1001, forget=True)
        ready = partial(fetch, f"http://127.0.0.1:{port}/readyz")
        _, body = await until_asked(ready, lambda answer: answer[0] == 503)
        assert orjson.loads(body)["problems"] == ["Discord is not connected."]
        assert (await fetch(f"http://127.0.0.1:{port}/livez"))[0] == 200
        discord.token = "MTAwMA.another.one"
        discord.gateway.refusing = False
        async with asyncio.timeout(HANG_SECONDS):
            _, said = await process.communicate()
    assert process.returncode == 78
    assert said.decode().splitlines()[-1].startswith("rostrum: Discord")


async def test_a_token_that_is_refused_ends_the_program_with_one_sentence(
    discord: DiscordServer, tmp_path: Path
) -> None:
    async with program(discord, tmp_path, "run", ROSTRUM_DISCORD__TOKEN="MTIz.x.y") as process:
        _, said = await process.communicate()
    assert process.returncode == 78
    assert said.decode().splitlines()[-1].startswith("rostrum: Discord refuses the bot's token")


@pytest.mark.slow
async def test_traces_of_a_server_that_ends_are_sent(
    discord: DiscordServer, tmp_path: Path
) -> None:
    slow = "rehearsal/maple?latency=0.1, rehearsal/willow?latency=0.1"
    async with Collector() as collector:
        settings = {"ROSTRUM_TRACES": "on", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint}
        async with program(discord, tmp_path, "run", ROSTRUM_MODELS=slow, **settings) as process:
            await discord.gateway.until_connected()
            await until(lambda: discord.world.commands[None])
            await discord.slash("ada", "debate start", {"topic": "Tea"}).answered()
            await until(partial(reached, discord, 2))
            process.send_signal(signal.SIGTERM)
            await process.communicate()
        [root] = collector.named("debate")
        assert {span.trace for span in collector.spans} == {root.trace}
        assert [span for span in collector.spans if span.name == "turn"]


async def checked(discord: DiscordServer, token: str = "") -> list[Finding]:
    rest = DiscordRest(SecretStr(token or discord.token), discord.api_url)
    try:
        return [one async for one in check(rest) if one.subject != "discord commands"]
    finally:
        await rest.close()


async def test_a_check_names_what_lacks_where_and_what_to_do(discord: DiscordServer) -> None:
    found = await checked(discord)
    assert all(one.good for one in found)
    assert "all permissions are there" in found[-1].text
    discord.add_channel("quiet")
    discord.deny("embed_links", discord.channel.id)
    [note] = [one.text for one in await checked(discord) if one.good is None]
    assert "lacks Embed Links in #debates;" in note
    for role in discord.guild.roles.values():
        role.permissions &= ~(1 << 35)
    [bad] = [one.text for one in await checked(discord) if one.good is False]
    assert "Create Public Threads" in bad
    assert "rostrum invite" in bad
    [refused] = await checked(discord, "MTIz.x.y")
    assert (refused.good, "ROSTRUM_DISCORD__TOKEN" in refused.text) == (False, True)


async def test_a_check_says_whether_discord_has_the_commands_of_this_version(
    discord: DiscordServer, database_url: str
) -> None:
    async def said() -> Finding:
        rest = DiscordRest(SecretStr(discord.token), discord.api_url)
        async for one in then_close(check(rest), rest.close):
            if one.subject == "discord commands":
                return one
        raise AssertionError

    assert "rostrum run registers them" in (await said()).text
    async with DiscordStage(database_url, discord).process():
        assert (await said()).good
    next(iter(discord.world.commands[None].values()))["description"] = "Of an older version"
    assert (await said()).good is None


async def test_a_debate_that_was_queued_beside_the_process_is_taken_up(
    discord: DiscordServer, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = LocalDispatcher if is_file(database_url) else ProcrastinateDispatcher
    submit, lost = kind.submit, list[str]()

    async def lose_the_first(dispatcher: Any, debate_id: str) -> None:
        if lost:
            await submit(dispatcher, debate_id)
        lost.append(debate_id)

    monkeypatch.setattr(kind, "submit", lose_the_first)
    monkeypatch.setattr("bot.serve.run.RECONCILE_SECONDS", 0.05)
    stage = DiscordStage(database_url, discord)
    async with stage.process():
        await stage.vote()
    assert len(set(lost)) == 1
