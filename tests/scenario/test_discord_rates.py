"""Discord's own rates, strictly kept by the double and never met."""

from __future__ import annotations

import re

from adapters.discord.venue import LIMITS
from tests.doubles.discord import DiscordServer
from tests.scenario.discord_stage import DiscordStage, reference, until


async def test_discords_rates_are_kept_without_a_single_429(database_url: str) -> None:
    async with DiscordServer() as discord:
        stage = DiscordStage(database_url, discord, limits=LIMITS, gap=1.0)
        async with stage.process():
            for _ in range(2):
                await stage.start(topic="A sentence of a certain length. " * 120)
            await until(lambda: len(discord.threads()) == 2, 30)
            await until(lambda: len(discord.messages(stage.thread.id)) > 6, 60)
        assert discord.violations == []
        for place in (discord.channel, *discord.threads()):
            sent = [m.created for m in discord.messages(place.id)]
            assert all(b - a > 5 for a, b in zip(sent, sent[5:], strict=False))
        assert all(re.match(r"\w{6}·", reference(m)) for m in discord.messages())
