"""Thumbs on turns while nothing ran, on Discord and on Slack: what people hold is in the record."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

import pytest

from adapters.discord.venue import LIMITS as DISCORD_LIMITS
from adapters.slack.venue import LIMITS as SLACK_LIMITS
from bot.app import App
from engine.dataset.entry import make_entry
from engine.dataset.turn_table import TURNS
from engine.dataset.voters import Pseudonyms
from engine.debate import Status
from engine.judging import Question
from engine.store import ExportFilter
from tests.doubles.discord import Code, DiscordServer, Rates, denied
from tests.doubles.facts import Slack
from tests.doubles.slack import Rules, SlackServer
from tests.scenario.discord_stage import SWIFT, DiscordStage, state, until, voting
from tests.scenario.slack_stage import SlackStage

SLOW = {"models": "rehearsal/maple?latency=0.4, rehearsal/willow?latency=0.4"}
THUMBS = ("thumbs_up", "thumbs_down", "thumbs_up_after", "thumbs_down_after")
Given = dict[str, tuple[int, ...]]


class Platform(ABC):
    """A platform with its people, and the product on it."""

    name: str
    stage: DiscordStage | SlackStage

    def process(self) -> AbstractAsyncContextManager[App]:
        return self.stage.process()

    @abstractmethod
    async def thumb(self, user: str, message: str, *, up: bool = True) -> None:
        """Let somebody give a thumb."""

    @abstractmethod
    async def take_back(self, user: str, message: str, *, up: bool = True) -> None:
        """Let somebody take a thumb back."""

    @abstractmethod
    def delete(self, message: str) -> None:
        """Delete a message."""

    @abstractmethod
    def refuse(self, *, refused: bool) -> None:
        """Let the bot read no reactions, or again."""

    @abstractmethod
    def readings(self, message: str) -> int:
        """Count how often a message's reactions were asked for."""


@dataclass
class OnDiscord(Platform):
    stage: DiscordStage
    name = "discord"

    async def thumb(self, user: str, message: str, *, up: bool = True) -> None:
        self.stage.discord.react(user, message, "👍" if up else "👎")

    async def take_back(self, user: str, message: str, *, up: bool = True) -> None:
        self.stage.discord.unreact(user, message, "👍" if up else "👎")

    def delete(self, message: str) -> None:
        self.stage.discord.delete_message(message)

    def refuse(self, *, refused: bool) -> None:
        self.stage.discord.faults.clear()
        if refused:
            forbidden = denied(Code.MISSING_PERMISSIONS)
            self.stage.discord.fail(forbidden, "GET", "/channels/*/messages/*", times=-1)

    def readings(self, message: str) -> int:
        asked = [s for s in self.stage.discord.sent if s.path.endswith(f"/messages/{message}")]
        return sum(sent.method == "GET" for sent in asked)


@dataclass
class OnSlack(Platform):
    stage: SlackStage
    name = "slack"

    async def thumb(self, user: str, message: str, *, up: bool = True) -> None:
        await self.stage.slack.react(user, message, "+1" if up else "-1")

    async def take_back(self, user: str, message: str, *, up: bool = True) -> None:
        await self.stage.slack.unreact(user, message, "+1" if up else "-1")

    def delete(self, message: str) -> None:
        self.stage.slack.delete_message(message)

    def refuse(self, *, refused: bool) -> None:
        kept = tuple(scope for scope in Slack.SCOPES if scope != "reactions:read")
        self.stage.slack.rules.scopes = kept if refused else Slack.SCOPES

    def readings(self, message: str) -> int:
        asked = [s for s in self.stage.slack.api.sent if s.method == "reactions.get"]
        return sum(message in sent.text for sent in asked)


@pytest.fixture(params=["discord", "slack"])
async def platform(request: pytest.FixtureRequest, database_url: str) -> AsyncIterator[Platform]:
    if request.param == "discord":
        async with DiscordServer(rates=Rates.generous()) as discord:
            yield OnDiscord(DiscordStage(database_url, discord))
    else:
        async with SlackServer(rules=Rules.generous()) as slack:
            yield OnSlack(SlackStage(database_url, slack))


async def turns(app: App) -> dict[str, str]:
    """Return the messages of the newest debate's turns, by step."""
    (debate,) = await app.store.debates.recent(limit=1)
    targets = await app.store.votes.targets(debate.id, Question.TURN)
    return {target.step: target.message for target in targets}


async def held(platform: Platform, app: App) -> dict[str, str]:
    """Hold a debate up to its vote; return the messages of its turns, by step."""
    await platform.stage.vote()
    await voting(app)
    return await turns(app)


async def entries(app: App, number: int) -> None:
    """Wait until the newest debate's log of thumbs has so many entries."""
    (debate,) = await app.store.debates.recent(limit=1)
    async with asyncio.timeout(10):
        while len(await app.store.votes.events(debate.id, Question.TURN)) < number:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def exported(app: App) -> Given:
    """Return how many thumbs an export shows for each turn, where there are any."""

    def read() -> Given:
        with app.store.archive.reading(ExportFilter()) as records:
            (record,) = records
        rows = TURNS.rows(make_entry(record, Pseudonyms(b"key", ExportFilter(), None), b"salt"))
        return {row["step"]: tuple(row[name] for name in THUMBS) for row in rows}

    return {step: given for step, given in (await asyncio.to_thread(read)).items() if any(given)}


async def test_thumbs_given_and_taken_back_while_nothing_ran_are_exported(
    platform: Platform,
) -> None:
    async with platform.process() as app:
        said = await held(platform, app)
        opening, closing = said["turn/opening/A"], said["turn/closing/B"]
        await platform.thumb("ada", opening)
        await platform.thumb("ben", opening)
        await platform.thumb("cleo", closing, up=False)
        await entries(app, 3)
    await platform.take_back("ada", opening)
    await platform.thumb("cleo", opening, up=False)
    await platform.take_back("cleo", closing, up=False)
    await platform.thumb("cleo", closing)
    async with platform.process() as app:
        await entries(app, 7)
        await platform.stage.close()
        after = {"turn/opening/A": (1, 1, 0, 0), "turn/closing/B": (1, 0, 0, 0)}
        assert await exported(app) == after


async def test_a_debate_that_ended_in_the_middle_knows_the_thumbs_given_meanwhile(
    platform: Platform,
) -> None:
    platform.stage.settings = SLOW
    async with platform.process() as app:
        await platform.stage.start()
        said = await until_spoken(app, 2)
        first, second = list(said)[:2]
        await platform.thumb("ada", said[first])
        await platform.thumb("ben", said[first])
        await entries(app, 2)
    await platform.take_back("ben", said[first])
    await platform.thumb("cleo", said[second])
    async with platform.process() as app:
        await entries(app, 4)
        (debate,) = await app.store.debates.recent(limit=1)
        assert debate.status is Status.RUNNING
        await voting(app)
        await platform.stage.ballot()
        await platform.stage.close()
        assert await exported(app) == {first: (1, 0, 0, 0), second: (1, 0, 0, 0)}


async def until_spoken(app: App, number: int) -> dict[str, str]:
    """Wait until so many turns are posted."""
    await state(app, lambda debate: debate.thread)
    async with asyncio.timeout(10):
        while len(said := await turns(app)) < number:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return said


async def test_a_turn_deleted_meanwhile_keeps_its_thumbs_and_holds_up_no_other(
    platform: Platform,
) -> None:
    async with platform.process() as app:
        said = await held(platform, app)
        deleted, other = said["turn/closing/A"], said["turn/opening/A"]
        await platform.thumb("ada", deleted)
        await entries(app, 1)
    platform.delete(deleted)
    await platform.thumb("ben", other)
    for _ in range(2):
        async with platform.process() as app:
            await entries(app, 2)
    assert platform.readings(deleted) <= 1
    async with platform.process() as app:
        await platform.stage.close()
        after = {"turn/closing/A": (1, 0, 0, 0), "turn/opening/A": (1, 0, 0, 0)}
        assert await exported(app) == after


async def test_where_reading_is_refused_thumbs_stay_until_it_is_allowed(
    platform: Platform,
) -> None:
    async with platform.process() as app:
        said = await held(platform, app)
        for message in said.values():
            await platform.thumb("ada", message)
        await entries(app, len(said))
    for message in said.values():
        await platform.take_back("ada", message)
        await platform.thumb("ben", message)
    platform.refuse(refused=True)
    async with platform.process() as app:
        await until(lambda: all(platform.readings(message) for message in said.values()))
        (debate,) = await app.store.debates.recent(limit=1)
        assert debate.reason == ""
    platform.refuse(refused=False)
    async with platform.process() as app:
        (debate,) = await app.store.debates.recent(limit=1)
        log = await app.store.votes.events(debate.id, Question.TURN)
        assert [event.added for event in log[: len(said)]] == [True] * len(said)
        await entries(app, 3 * len(said))
        await platform.stage.close()
        assert await exported(app) == dict.fromkeys(said, (1, 0, 0, 0))


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
            await entries(app, len(said))  # the newest debate's are read last
        assert discord.violations == []


def test_slack_is_asked_for_thumbs_so_rarely_that_votes_can_be_read_beside() -> None:
    assert 60 / SLACK_LIMITS.read_seconds <= 0.8 * Slack.TIERS[Slack.METHODS["reactions.get"]]


def test_were_all_readings_refused_discord_would_not_ban_the_address() -> None:
    assert 600 / DISCORD_LIMITS.read_seconds < 10_000
