"""Thumbs on turns while nothing ran, on Discord and on Slack: what people hold is in the record."""

from dataclasses import replace

import pytest

from adapters.discord.venue import LIMITS as DISCORD_LIMITS
from adapters.slack.venue import LIMITS as SLACK_LIMITS
from bot.app import App
from engine.values.debate import Status
from engine.values.verdicts import Question
from tests.doubles.archive import export_rows
from tests.doubles.discord import DiscordServer, Rates
from tests.doubles.facts import Slack
from tests.kit import held_at, records_of, until_asked
from tests.scenario.chat_stage import Chat
from tests.scenario.discord_stage import SWIFT, DiscordStage, known, state, voting

THUMBS = ("thumbs_up", "thumbs_down", "thumbs_up_after", "thumbs_down_after")
Given = dict[str, tuple[int, ...]]


async def turns(app: App) -> dict[str, str]:
    (debate,) = await app.store.listings.recent(limit=1)
    targets = await app.store.votes.targets(debate.id, Question.TURN)
    return {target.step: target.message for target in targets}


async def exported(app: App) -> Given:
    (record,) = (await records_of(app.store)).values()
    rows = export_rows("turns", record)
    found = {row["step"]: tuple(row[name] for name in THUMBS) for row in rows}
    return {step: given for step, given in found.items() if any(given)}


async def test_thumbs_given_and_taken_back_while_nothing_ran_are_exported(chat: Chat) -> None:
    async with chat.stage.process() as app:
        await chat.stage.vote()
        await voting(app)
        said = await turns(app)
        opening, closing = said["turn/opening/A"], said["turn/closing/B"]
        await chat.react("ada", opening, "up")
        await chat.react("ben", opening, "up")
        await chat.react("cleo", closing, "down")
        await known(app, 3, Question.TURN)
    await chat.unreact("ada", opening, "up")
    await chat.react("cleo", opening, "down")
    await chat.unreact("cleo", closing, "down")
    await chat.react("cleo", closing, "up")
    async with chat.stage.process() as app:
        await known(app, 7, Question.TURN)
        await chat.stage.close()
        after = {"turn/opening/A": (1, 1, 0, 0), "turn/closing/B": (1, 0, 0, 0)}
        assert await exported(app) == after


@pytest.mark.slow
async def test_a_debate_that_ended_in_the_middle_knows_the_thumbs_given_meanwhile(
    chat: Chat,
) -> None:
    chat.stage.settings = {"models": "rehearsal/maple?latency=0.2, rehearsal/willow?latency=0.2"}
    async with chat.stage.process() as app:
        await chat.stage.start()
        await state(app, lambda debate: debate.thread)
        said = await until_asked(lambda: turns(app), lambda posted: len(posted) >= 2)
        first, second = list(said)[:2]
        await chat.react("ada", said[first], "up")
        await chat.react("ben", said[first], "up")
        await known(app, 2, Question.TURN)
    await chat.unreact("ben", said[first], "up")
    await chat.react("cleo", said[second], "up")
    async with chat.stage.process() as app:
        with held_at("turn/closing/B"):
            await known(app, 4, Question.TURN)
            (debate,) = await app.store.listings.recent(limit=1)
            assert debate.status is Status.RUNNING
        await voting(app)
        await chat.stage.ballot()
        await chat.stage.close()
        assert await exported(app) == {first: (1, 0, 0, 0), second: (1, 0, 0, 0)}


async def test_reading_thumbs_keeps_discords_rates(database_url: str) -> None:
    async with DiscordServer(rates=Rates.generous()) as discord:
        paced = replace(SWIFT, read_seconds=DISCORD_LIMITS.read_seconds)
        stage = DiscordStage(database_url, discord, limits=paced)
        said: list[str] = []
        async with stage.process() as app:
            for _ in range(2):
                await stage.start()
                await voting(app)
                said += (await turns(app)).values()
        for message in said:
            discord.react("ben", message, "👍")
            discord.react("ada", message, "👎")
        discord.limiter.rates = Rates()
        discord.advance(1)  # until then what was asked generously counts too
        async with stage.process() as app:
            await known(app, len(said), Question.TURN)  # the newest debate's are read last
        assert discord.violations == []


def test_thumbs_are_read_so_rarely_that_votes_can_be_and_refusals_ban_no_address() -> None:
    assert 60 / SLACK_LIMITS.read_seconds <= 0.8 * Slack.TIERS[Slack.METHODS["reactions.get"]]
    assert 600 / DISCORD_LIMITS.read_seconds < 10_000
