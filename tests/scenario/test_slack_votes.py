"""Votes on Slack: told late, twice, backwards or never, and what stands is what people hold."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

import engine.votes.window
from bot.app import App
from engine.votes.outcome import standing
from tests.doubles.slack import Rules, SlackServer, delay, limited, status
from tests.kit import record_of, until_asked
from tests.scenario.discord_stage import SWIFT
from tests.scenario.slack_stage import OPTIONS, SlackStage, counted, ended, voting

NOBODY = {"A": 0, "B": 0, "tie": 0, "neither": 0}


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    """Slack, where nobody has to wait, which soon tells again what was not acknowledged."""
    async with SlackServer(rules=Rules.generous(retries=(0.0, 0.1, 0.2))) as server:
        yield server


@pytest.fixture
def stage(database_url: str, slack: SlackServer) -> SlackStage:
    # Readings are counted and made to fail here: those of thumbs are left for later.
    return SlackStage(database_url, slack, limits=replace(SWIFT, read_seconds=60))


async def cast(app: App) -> list[tuple[str, bool]]:
    """Return what the newest debate's log of votes says, in the order of receipt."""
    (debate,) = await app.store.listings.recent(limit=1)
    events = await app.store.votes.events(debate.id)
    return [(event.option, event.added) for event in events]


async def test_doubled_late_and_backward_events_change_nothing(stage: SlackStage) -> None:
    async with stage.at_vote() as (app, ballot, _):
        stage.slack.deliveries.doubled = True
        await stage.slack.react("ada", ballot.ts, "large_blue_circle")
        await stage.slack.react("ben", ballot.ts, "red_circle")
        await stage.slack.deliveries.heard()
        stage.slack.deliveries.held = True
        await stage.slack.unreact("ben", ballot.ts, "red_circle")
        await stage.slack.react("ben", ballot.ts, "handshake")
        await stage.slack.react("cleo", ballot.ts, "red_circle")
        await stage.slack.unreact("cleo", ballot.ts, "red_circle")
        stage.slack.deliveries.flow(backwards=True)
        await stage.slack.deliveries.heard()
        for retry in (1, 2, 3):
            await stage.slack.deliveries.repeat(3, retry)
        assert len(await cast(app)) == 6
        assert counted(await stage.close()) == NOBODY | {"A": 1, "tie": 1}


@pytest.mark.parametrize("http", [False, True])
async def test_a_late_retry_may_be_the_only_telling(stage: SlackStage, http: bool) -> None:
    stage.http = http
    async with stage.at_vote() as (app, ballot, _):
        stage.slack.deliveries.held = True
        await stage.slack.react("ben", ballot.ts, "large_blue_circle")
        await stage.slack.deliveries.repeat(1, retry=3)
        assert await cast(app) == [("A", True)]
        stage.slack.deliveries.flow()
        await stage.slack.deliveries.heard()
        assert await cast(app) == [("A", True)]


async def test_what_is_told_again_after_a_restart_is_still_the_same(stage: SlackStage) -> None:
    async with stage.at_vote() as (_, ballot, _):
        await stage.slack.react("ben", ballot.ts, "large_blue_circle")
        await stage.slack.unreact("ben", ballot.ts, "large_blue_circle")
        await stage.slack.deliveries.heard()
    async with stage.process() as app:
        await stage.slack.deliveries.repeat(2, retry=3)
        assert await cast(app) == [("A", True), ("A", False)]
        await stage.slack.deliveries.repeat(1, retry=3)
        assert await cast(app) == [("A", True), ("A", False)]


async def test_seeds_other_emojis_and_a_bot_which_is_looked_up_once_are_nobodys_vote(
    stage: SlackStage, slack: SlackServer
) -> None:
    slack.add_user("robo", bot=True)
    async with stage.at_vote() as (app, ballot, _):
        before = slack.calls.count("users.info")
        slack.fail(delay(0.3), "users.info", times=-1)
        for name in OPTIONS:
            await slack.react("robo", ballot.ts, name)
        await slack.react("ben", ballot.ts, "tada")
        await slack.react("ben", ballot.ts, "red_circle")
        await slack.react("cleo", stage.root.ts, "large_blue_circle")
        await slack.deliveries.heard()
        # A bot's is stored, and taken back once it is known.
        await until_asked(lambda: cast(app), lambda found: len(found) == 9)
        assert sum(added for _, added in await cast(app)) == 5
        assert counted(await stage.close()) == NOBODY | {"B": 1}
        assert slack.calls.count("users.info") - before <= 3  # the bot, ben, and who closed it


async def test_skin_tones_are_one_thumb_and_of_two_the_one_that_is_left_is_the_vote(
    stage: SlackStage, slack: SlackServer
) -> None:
    async with stage.at_vote() as (app, ballot, _):
        turn = stage.replies[0]
        await slack.react("ben", turn.ts, "thumbsup", tone=5)
        await slack.react("cleo", turn.ts, "-1", tone=2)
        for user in ("ben", "cleo"):
            await slack.react(user, ballot.ts, "handshake")
            await slack.react(user, ballot.ts, "handshake", tone=4)
        await slack.react("cleo", ballot.ts, "red_circle")
        for user in ("ben", "cleo"):
            await slack.unreact(user, ballot.ts, "handshake", tone=4)
        await slack.deliveries.heard()
        (debate,) = await app.store.listings.recent(limit=1)
        votes = standing(debate, await app.store.votes.events(debate.id))
        assert sorted(vote.option for vote in votes) == ["B", "tie"]
        assert counted(await stage.close()) == NOBODY | {"tie": 1, "B": 1}
        await ended(app)
        record = await record_of(app.store, debate.id)
        assert sorted(label.up for label in record.labels) == [False, True]


async def test_a_crowd_after_a_restart_costs_one_look_at_the_message(stage: SlackStage) -> None:
    crowd = [stage.slack.add_user(f"voter-{n}").name for n in range(60)]
    async with stage.at_vote() as (_, ballot, _):
        pass
    async with stage.process() as app:
        await stage.slack.react(
            "ben", stage.root.ts, "large_blue_circle"
        )  # the reactions at the start are read by now
        await stage.slack.deliveries.heard()
        before = stage.slack.calls.count("reactions.get")
        for name in crowd:
            await stage.slack.react(name, ballot.ts, "large_blue_circle")
        await stage.slack.deliveries.heard()
        assert len(await cast(app)) == len(crowd)
        assert stage.slack.calls.count("reactions.get") - before < 5  # with those of the start


@pytest.mark.parametrize("http", [False, True])
async def test_a_vote_is_acknowledged_once_it_is_stored_whatever_slack_says_of_its_voter(
    stage: SlackStage, slack: SlackServer, http: bool
) -> None:
    """A `users.info` of 5 s was waited for, and Slack told everything again."""
    stage.http = http
    async with stage.at_vote() as (_, ballot, _):
        pass
    async with stage.process() as app:  # one that remembers nobody, nor what it posted
        slack.fail(delay(1.5), "users.info", times=-1)
        slack.rules.ack = 1.0
        await slack.react("ben", ballot.ts, "large_blue_circle")
        await slack.react("ben", ballot.ts, "red_circle")
        await slack.deliveries.heard()
        assert [told.tries for told in slack.deliveries.told[-2:]] == [1, 1]
        assert (await cast(app))[-2:] == [("A", True), ("B", True)]
        assert slack.calls.count("users.info") <= 2  # who started it, and who voted
        slack.faults.clear()
        assert counted(await stage.close()) == NOBODY | {"B": 1}


async def test_a_persons_order_counts_not_that_of_the_telling(stage: SlackStage) -> None:
    async with stage.at_vote() as (_, ballot, _):
        stage.slack.deliveries.held = True
        await stage.slack.react("ben", ballot.ts, "large_blue_circle")
        await stage.slack.react("ben", ballot.ts, "red_circle")
        await stage.slack.react("cleo", ballot.ts, "large_blue_circle")
        await stage.slack.unreact("cleo", ballot.ts, "large_blue_circle")
        await stage.slack.react("cleo", ballot.ts, "large_blue_circle")
        stage.slack.deliveries.flow(backwards=True)
        await stage.slack.deliveries.heard()
        assert counted(await stage.close()) == NOBODY | {"A": 1, "B": 1}


@pytest.mark.slow
async def test_votes_are_read_again_though_slack_limits_and_fails(
    stage: SlackStage, slack: SlackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine.votes.window, "LOOK_SECONDS", 0.05)
    async with stage.process():
        slack.deliveries.held = True
        for fault in (limited(1), limited(1), status(500)):  # the first three readings
            slack.fail(fault, "reactions.get")
        ballot = await stage.vote("Tea vote=1s")
        await slack.react("ben", ballot.ts, "large_blue_circle")
        assert counted(await stage.said("Reveal", 20)) == NOBODY | {"A": 1}
        slack.deliveries.flow()


async def test_a_process_that_begins_again_asks_about_no_voter_that_it_knew(
    stage: SlackStage, slack: SlackServer
) -> None:
    voters = [slack.users[name].id for name in ("ben", "cleo")]
    async with stage.at_vote() as (app, ballot, _):
        for user, option in zip(voters, OPTIONS[:2], strict=True):
            await slack.react(user, ballot.ts, option)
        known = dict.fromkeys(voters, False)
        await until_asked(lambda: app.store.people.bots("slack", voters), known.__eq__)
    asked = slack.calls.count("users.info")
    async with stage.process() as app:
        await app.service.close_vote((await voting(app)).id)
        assert counted(await stage.said("Reveal")) == {"A": 1, "B": 1, "tie": 0, "neither": 0}
    assert slack.calls.count("users.info") == asked
