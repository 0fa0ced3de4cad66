"""Ending while Discord is being connected: a process that is told to stop does stop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from discord.gateway import DiscordWebSocket
from pydantic import SecretStr

from adapters.discord.connection import DiscordConnection
from adapters.discord.presence import IdentifyLimit
from adapters.discord.rest import DiscordRest
from adapters.discord.venue import DiscordVenue
from tests.doubles.discord import DiscordServer
from tests.doubles.shares import EveryShard


async def test_a_stop_that_comes_just_as_the_gateway_connects_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connect = DiscordWebSocket.from_client

    async def connect_and_stop(*arguments: Any, **options: Any) -> DiscordWebSocket:
        connected = await connect(*arguments, **options)
        running.cancel()
        # In this very round of the loop discord.py's own waiting is told of both.
        return connected

    monkeypatch.setattr(DiscordWebSocket, "from_client", connect_and_stop)
    async with DiscordServer() as server:
        secret = SecretStr(server.token)
        nobody: Any = None
        rest = DiscordRest(secret, server.api_url)
        connection = DiscordConnection(secret, (), rest, identifies=IdentifyLimit(gap=0.0))
        running = asyncio.create_task(
            connection.run(nobody, nobody, DiscordVenue(rest), EveryShard())
        )
        ended, _ = await asyncio.wait([running], timeout=5)
        for _ in range(2):
            running.cancel()
            await asyncio.wait([running], timeout=1)
        await rest.close()
    assert ended
    assert running.cancelled()
    assert not connection.connected
