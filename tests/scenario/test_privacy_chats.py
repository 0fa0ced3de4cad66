"""Forgetting through Discord and Slack as they are: no byte of the database keeps the account."""

from collections.abc import AsyncIterator

import orjson
import pytest

from tests.doubles.databases import traces
from tests.doubles.slack import Rules, SlackServer
from tests.kit import some
from tests.scenario.discord_stage import (
    OPTIONS,
    DiscordStage,
    counted as counted_on_discord,
    known,
    voting as voting_on_discord,
)
from tests.scenario.slack_stage import SlackStage, counted as counted_on_slack


@pytest.fixture
async def on_slack(database_url: str) -> AsyncIterator[SlackStage]:
    rules = Rules.generous(retries=(0.0, 0.1, 0.2))
    async with SlackServer(rules=rules) as slack:
        yield SlackStage(database_url, slack)


def own_of(data: bytes, user: str, *, stranger: str) -> None:
    found = orjson.loads(data)
    assert (found["user"], found["person"]["user"]) == (user, user)
    (cast,) = found["tables"]["vote_events"]
    assert (cast["option"], cast["added"], cast["question"]) == ("A", True, "vote")
    assert found["debates"][cast["debate"]]["topic"].startswith("Tea beats coffee")
    assert stranger.encode() not in data
    # The vote is open: no model is named yet.
    assert b"rehearsal/" not in data


async def test_on_discord_who_votes_and_who_starts_may_be_forgotten(
    on_discord: DiscordStage,
) -> None:
    discord = on_discord.discord
    ada, ben = (discord.users[name].id for name in ("ada", "ben"))
    async with on_discord.process() as app:
        topic = f"Tea beats coffee, says <@{ben}>"
        ballot = await on_discord.vote(topic=topic)
        for user in ("ada", "ben", "cleo"):
            discord.react(user, ballot.id, OPTIONS["A"])
        await voting_on_discord(app)
        await known(app, 3)
        asked = await discord.slash("ben", "debate forget").finished()
        assert asked.answer is not None
        assert "a vote on 1 debate" in asked.text
        given = await discord.slash("ben", "debate mydata").finished()
        assert given.ephemeral
        (file,) = some(given.answer).attachments
        own_of(file.data, ben, stranger=ada)
        nothing = await discord.slash("olga", "debate mydata").finished()
        assert nothing.text.strip() == "Nothing is stored about you."
        assert traces(on_discord.url, ada, ben)
        for user in ("ada", "ben"):
            done = await discord.slash(user, "debate forget", {"confirm": True}).finished()
            assert "You are forgotten." in done.text
        assert traces(on_discord.url, ada, ben) == []
        counted = counted_on_discord(await on_discord.close())
        assert counted == {"A": 3, "B": 0, "tie": 0, "weak": 0}
    assert traces(on_discord.url, ada, ben) == []


async def test_on_slack_a_press_is_forgotten_with_the_person(on_slack: SlackStage) -> None:
    slack = on_slack.slack
    ada, ben = (slack.world.user(name).id for name in ("ada", "ben"))
    async with on_slack.at_vote('"Tea beats coffee" ballot=private') as (_, ballot, _):
        for user in ("ada", "ben"):
            await (await slack.press(user, ballot.ts, "🔵 A")).said()
        given = await slack.slash("ben", "/debate mydata")
        assert "direct messages" in await given.said("direct messages")
        (file,) = slack.world.files.values()
        assert file.channel == slack.world.direct(ben).id
        own_of(file.data, ben, stranger=ada)
        for user in ("ada", "ben"):
            asked = await slack.slash(user, "/debate forget confirm=yes")
            await asked.said("You are forgotten.")
        assert traces(on_slack.url, ada, ben) == []
        late = await slack.press("ben", ballot.ts, "🔴 B")
        await late.said("You asked to be forgotten")
        counted = counted_on_slack(await on_slack.close())
        assert counted["A"] == 2
    assert traces(on_slack.url, ada, ben) == []
