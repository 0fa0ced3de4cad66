"""Leagues on Discord and Slack: from the command over votes and standings to who won."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from bot.app import App
from engine.values.debate import Debate, Status
from tests.kit import some, until, until_asked
from tests.scenario.chat_stage import Chat, OnDiscord
from tests.scenario.conftest import Shifted

MODELS = ("rehearsal/maple", "rehearsal/willow", "rehearsal/birch")


@asynccontextmanager
async def process(chat: Chat) -> AsyncIterator[App]:
    chat.stage.settings["models"] = ", ".join(MODELS)
    async with chat.stage.process() as app:
        yield app


async def league(chat: Chat, user: str, action: str, expected: str = "", **options: object) -> str:
    if isinstance(chat, OnDiscord):
        given = {"action": action, **options}
        return await chat.ask(user, "league", expected, **given)
    quoted = {name: f'"{value}"' for name, value in options.items()}
    return await chat.ask(user, f"league {action}", expected, **quoted)


async def begun(app: App, number: int) -> None:

    def opened(found: Sequence[Debate]) -> bool:
        newest = found[0] if len(found) == number else None
        return bool(newest and newest.status is Status.VOTING and newest.vote_opened_at)

    await until_asked(app.store.listings.recent, opened)


async def vote(chat: Chat, app: App, what: str = "A") -> None:
    ballot = await chat.ballot()
    await chat.react("ben", ballot, what)
    await chat.stage.close()
    await chat.ended(app)


def in_channel(chat: Chat) -> list[str]:
    """Return everything in the channel that is no announcement, as people read it."""
    if isinstance(chat, OnDiscord):
        posted = [f"{m.embeds}" for m in chat.discord.messages()]
    else:
        posted = [f"{m.text}\n{m.blocks}" for m in chat.slack.messages() if not m.thread_ts]
    return [text for text in posted if "League" in text]


async def standing(chat: Chat, number: int) -> str:
    return (await until(lambda: in_channel(chat)[number - 1 :]))[0]


async def shown(chat: Chat, number: int) -> None:
    """Wait until so many pictures with alt text are in the channel."""

    def alts() -> list[str | None]:
        if isinstance(chat, OnDiscord):
            posted = [file for m in chat.discord.messages() for file in m.attachments]
            return [file.description for file in posted]
        return [file.alt for file in chat.files() if file.name.startswith("standing")]

    await until(lambda: len(alts()) >= number)
    assert all(str(alt).startswith("The standing by points.") for alt in alts())


def named(text: str) -> set[str]:
    return {model for model in MODELS if model.partition("/")[2] in text}


async def test_a_round_robin_is_played_one_match_a_day_until_someone_has_won(
    chat: Chat, clock: Shifted
) -> None:
    async with process(chat) as app:
        said = await league(chat, "olga", "start", quorum=1, every="1d")
        assert "3 models and 3 matches" in said
        assert not named(said)
        await league(chat, "ben", "standing", "3 models have met no one yet.")
        for number in (1, 2, 3):
            await begun(app, number)
            before = await league(chat, "ben", "standing")
            if number == 1:
                assert not named(before)
            await vote(chat, app)
            table = await standing(chat, number)
            assert "people decided" in table
            await shown(chat, number)
            assert len(named(table)) == (2 if number == 1 else 3)
            if number < 3:
                assert f"{number} of 3 matches" in table
                assert "Next match:" in table
                assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d \(UTC\)", table)
                await asyncio.sleep(0.2)
                assert len(await app.store.listings.recent()) == number
                clock.skip(days=1)
        assert "final standing" in table
        assert "won the league" in table or "level at the top" in table
        assert "final standing" in await league(chat, "ben", "standing")
        stored = await app.store.series.all()
        assert [one.due_at for one in stored] == [None]


@pytest.mark.slow
async def test_an_outage_over_two_times_and_a_kill_cost_and_repeat_no_match(
    chat: Chat, clock: Shifted
) -> None:
    async with process(chat) as app:
        await league(chat, "olga", "start", system="swiss", rounds=2)
        await begun(app, 1)
    async with process(chat) as app:
        await vote(chat, app)
        await standing(chat, 1)
    clock.skip(days=2.5)
    async with process(chat) as app:
        await begun(app, 2)
        await asyncio.sleep(0.2)
        assert len(await app.store.listings.recent()) == 2
        assert len(in_channel(chat)) == 1
        await vote(chat, app)
        assert "final standing" in await standing(chat, 2)


async def test_only_managers_start_one_and_stop_it_after_the_match_that_runs(
    chat: Chat, clock: Shifted
) -> None:
    async with process(chat) as app:
        await league(chat, "ben", "standing", "There is no league here yet")
        await league(chat, "ben", "start", "Only a manager of this community can start or stop")
        await league(chat, "olga", "start", "write a time", every="soon")
        await league(chat, "olga", "start", "does not exist", at="09:00 Europe/Berlim")
        await league(chat, "olga", "start", "leave rounds out", system="knockout", rounds=2)
        await league(chat, "olga", "start", "two models meet", format="roundtable")
        assert await app.store.series.all() == []
        assert await app.store.listings.recent() == []
        await league(chat, "olga", "start")
        await begun(app, 1)
        await league(chat, "olga", "start", "A league is running here already")
        await league(chat, "ben", "stop", "Only a manager")
        await league(chat, "olga", "stop", "a match that is going on is finished first")
        await vote(chat, app)
        table = await standing(chat, 1)
        assert "stopped by a manager" in table
        clock.skip(days=2)
        await asyncio.sleep(0.3)
        assert len(await app.store.listings.recent()) == 1
        await league(chat, "olga", "stop", "has ended already")
        two = {"setting": "models", "value": ", ".join(MODELS[:2])}
        if isinstance(chat, OnDiscord):
            await chat.ask("olga", "settings", "models", **two)
        else:
            await chat.ask("olga", f'settings models="{two["value"]}"', "models")
        await league(chat, "olga", "start", "3 to 20 models, and 2 are offered here")


@pytest.mark.slow
async def test_a_knockout_without_a_quorum_goes_by_the_jury_and_is_purged_with_its_community(
    chat: Chat, clock: Shifted
) -> None:
    async with process(chat) as app:
        await league(chat, "olga", "start", system="knockout", quorum=5)
        await begun(app, 1)
        await vote(chat, app)
        table = await standing(chat, 1)
        (debate,) = await app.store.listings.recent()
        verdict = (await app.store.journal.read(debate.id, "verdict")).verdict
        assert ("the jury decided" in table) is (some(verdict).winner is not None)
        await app.store.communities.left(debate.platform, debate.community, clock.now())
        await app.store.communities.purge(debate.platform, debate.community)
        assert await app.store.series.all() == []
