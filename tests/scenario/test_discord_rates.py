"""Discord's own rates, strictly kept by the double and never met."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest
import structlog

from adapters.discord.venue import LIMITS
from bot.app import App
from engine.values.debate import Status
from tests.doubles.discord import DiscordServer, Rate, Rates, delay
from tests.doubles.discord.state import Message
from tests.kit import Starved, beside, until_asked
from tests.scenario.discord_stage import OPTIONS, DiscordStage, author, reference, until

VOTES = 15
ON_THE_WAY = 0.5


@pytest.mark.slow
async def test_discords_rates_are_kept_without_a_single_429(database_url: str) -> None:
    async with DiscordServer() as discord:
        stage = DiscordStage(database_url, discord, limits=LIMITS, gap=1.0)
        async with stage.process():
            for _ in range(2):
                await stage.start(topic="A sentence of a certain length. " * 120)
            await until(lambda: len(discord.threads()) == 2)
            await until(lambda: len(discord.messages(stage.thread.id)) > 6, 120)
        assert discord.violations == []
        for place in (discord.channel, *discord.threads()):
            sent = [m.created for m in discord.messages(place.id)]
            # They leave a second apart; the first of six may have been longer on its way.
            assert all(b - a > 5 - ON_THE_WAY for a, b in zip(sent, sent[5:], strict=False))
        assert all(re.match(r"\w{6}·", reference(m)) for m in discord.messages())


def announced(discord: DiscordServer) -> list[Message]:
    return [m for m in discord.messages() if reference(m)]


def looked_for(discord: DiscordServer) -> int:
    """Count how often the channel was read, as for a post in doubt."""
    read = ("GET", f"/channels/{discord.channel.id}/messages")
    return sum((c.method, c.path) == read for c in discord.rest.requests)


@asynccontextmanager
async def scaled(database_url: str, gap: float) -> AsyncIterator[tuple[DiscordStage, App]]:
    """Run a process where a message takes `gap` seconds, and Discord takes five in five of them."""
    rates = Rates(messages=Rate(5, 5 * gap), edits=Rate(5, 5 * gap))
    async with DiscordServer(rates=rates) as discord:
        # Models take their time, so that the processor is for what is asked of Discord.
        slow = {"models": "rehearsal/maple?latency=3, rehearsal/willow?latency=3"}
        stage = DiscordStage(database_url, discord, settings=slow, limits=LIMITS, gap=gap)
        async with stage.process() as app:
            yield stage, app


async def start_all(stage: DiscordStage, number: int, gap: float) -> float:
    """Start debates at once; return how many gaps passed from the first announcement to the last.

    They are counted beside them by a timer, which a busy machine makes just as late; what the
    process waited for a processor is left out.
    """
    discord, gaps, starved = stage.discord, list[float](), Starved()

    async def count() -> None:
        while True:
            await asyncio.sleep(gap)
            gaps.append(discord.clock.now())

    async with beside(count()):
        await asyncio.gather(*(stage.start(topic=f"Topic {n}") for n in range(number)))
        await until(lambda: len(announced(discord)) == number, 120)
    moments = [message.created for message in announced(discord)]
    passed = sum(moments[0] < moment <= moments[-1] for moment in gaps)
    return passed - starved.seconds / gap


@pytest.mark.parametrize("starts", [12, 50])
async def test_many_debates_are_announced_as_fast_as_one_channel_takes_them(
    database_url: str, starts: int
) -> None:
    with structlog.testing.capture_logs() as logged:
        async with scaled(database_url, 0.4) as (stage, app):
            gaps = await start_all(stage, starts, 0.4)
            live = [Status.QUEUED, Status.RUNNING]
            reasons = {debate.reason for debate in await app.store.listings.recent(live, starts)}
    discord = stage.discord
    assert gaps <= 1.1 * starts
    assert discord.violations == []
    assert not looked_for(discord)
    assert reasons <= {""}
    assert not [line for line in logged if line["event"] == "platform unavailable"]
    assert len({reference(message) for message in announced(discord)}) == starts


@pytest.mark.slow
async def test_a_slow_way_to_discord_makes_announcements_no_rarer(database_url: str) -> None:
    async with scaled(database_url, 1.0) as (stage, _):
        stage.discord.fail(delay(0.15), times=-1)
        stage.discord.fail(delay(0.15, when="after"), times=-1)
        gaps = await start_all(stage, 8, 1.0)
        assert gaps <= 1.1 * 8
        assert stage.discord.violations == []
        assert not looked_for(stage.discord)


@pytest.mark.slow
async def test_many_votes_are_caught_up_with_after_a_restart_without_a_single_429(
    database_url: str,
) -> None:
    async with DiscordServer(rates=Rates.generous()) as discord:
        stage = DiscordStage(database_url, discord, limits=LIMITS)

        def ballots() -> list[Message]:
            said = [m for thread in discord.threads() for m in discord.messages(thread.id)]
            return [m for m in said if author(m) == "Vote" and len(m.reactions) == len(OPTIONS)]

        async with stage.process() as app:
            await asyncio.gather(*(stage.start(rounds=1) for _ in range(VOTES)))
            await until(lambda: len(ballots()) == VOTES, 120)
        for ballot in ballots():
            for person, emoji in zip(("ada", "ben", "cleo"), OPTIONS.values(), strict=False):
                discord.react(person, ballot.id, emoji)
        discord.limiter.rates = Rates()
        discord.advance(1)  # until then what was asked generously counts too
        asked = len(discord.rest.requests)
        async with stage.process() as app:
            debates = await app.store.listings.recent([Status.VOTING])
            assert len(debates) == VOTES
            for debate in debates:
                logged = partial(app.store.votes.events, debate.id)
                await until_asked(logged, lambda found: len(found) >= 3)
        assert len(discord.rest.requests) - asked > 4 * VOTES  # in one second, were it not paced
        assert discord.violations == []
