"""The connection to Slack, cut, refreshed, silent or refused: health tells, and nothing is lost."""

import asyncio
import time

import aiohttp
import pytest
from structlog.testing import capture_logs

from adapters.slack import interactions
from bot.app import App
from engine.values.verdicts import How, VoteEvent
from tests.doubles.slack import DidNotRespondError, Rules, SlackServer
from tests.kit import until_true
from tests.scenario.discord_stage import free_port, until
from tests.scenario.slack_stage import SlackStage, voting

pytestmark = pytest.mark.usefixtures("swift")


@pytest.fixture
def stage(on_slack: SlackStage) -> SlackStage:
    on_slack.ping = 0.2
    return on_slack


async def until_cast(app: App, *options: str) -> tuple[VoteEvent, ...]:
    """Wait until the newest debate's log of votes names these options, in whichever order."""
    debate = await voting(app)

    async def cast() -> bool:
        events = await app.store.votes.events(debate.id)
        return sorted(event.option for event in events) == sorted(options)

    await until_true(cast)
    return await app.store.votes.events(debate.id)


@pytest.mark.parametrize("trouble", ["drop", "silence"])
async def test_health_says_so_until_slack_is_connected_again(
    stage: SlackStage, slack: SlackServer, trouble: str
) -> None:
    port = free_port()
    stage.settings["health"] = {"port": port}
    address = f"http://127.0.0.1:{port}/readyz"
    async with stage.process(), aiohttp.ClientSession() as session:

        async def answers(status: int) -> bool:
            async with session.get(address) as response:
                return response.status == status

        assert await answers(200)
        await slack.socket.refuse()
        await getattr(slack.socket, trouble)()
        await until_true(lambda: answers(503))
        await until(lambda: slack.socket.refused >= 2)  # an address that is used up is left
        await slack.socket.refuse(False)
        await until_true(lambda: answers(200))
        assert await (await slack.slash("ada", "/debate help")).said()


async def test_a_connection_that_is_refused_at_start_is_opened_later(stage: SlackStage) -> None:
    await stage.slack.socket.refuse()

    async def relent() -> None:
        await until(lambda: stage.slack.socket.refused >= 2)
        await stage.slack.socket.refuse(False)

    relenting = asyncio.ensure_future(relent())
    with capture_logs() as logs:
        async with stage.process():
            assert await (await stage.slack.slash("ada", "/debate help")).said()
    await relenting
    assert [log["event"] for log in logs].count("slack connected") == 1


@pytest.mark.parametrize("trouble", ["refresh", "drop", "silence"])
async def test_votes_that_were_missed_are_read_as_soon_as_slack_is_back(
    stage: SlackStage, slack: SlackServer, trouble: str
) -> None:
    async with stage.at_vote() as (app, ballot, _):
        await slack.react("ada", ballot.ts, "large_blue_circle")
        await until_cast(app, "A")
        slack.deliveries.held = True  # for good: only the reactions themselves tell of it
        await slack.react("ben", ballot.ts, "red_circle")
        before = slack.socket.connects
        await getattr(slack.socket, trouble)()
        await until(lambda: slack.socket.connects > before)
        events = await until_cast(app, "A", "B")
        assert [event.how for event in events] == [How.LIVE, How.RECOVERED]


@pytest.mark.parametrize("http", [False, True])
async def test_votes_cast_while_nothing_ran_are_read_at_the_start(
    stage: SlackStage, slack: SlackServer, http: bool
) -> None:
    stage.http = http
    async with stage.process() as app:
        ballot = await stage.vote()
        await slack.react("ada", ballot.ts, "large_blue_circle")
        await until_cast(app, "A")
    await slack.unreact("ada", ballot.ts, "large_blue_circle")
    for user in ("ben", "cleo", "olga"):  # more than Slack names unless it is asked for all
        await slack.react(user, ballot.ts, "red_circle")
    async with stage.process() as app:
        events = await until_cast(app, "A", "A", "B", "B", "B")
        assert {(e.option, e.added) for e in events[1:]} == {("A", False), ("B", True)}
        assert {event.how for event in events[1:]} == {How.RECOVERED}


@pytest.mark.parametrize("http", [False, True])
async def test_a_command_that_slack_gave_up_starts_no_debate(
    database_url: str, monkeypatch: pytest.MonkeyPatch, http: bool
) -> None:
    monkeypatch.setattr(interactions, "WAKING_SECONDS", 2.0)
    async with SlackServer(rules=Rules.generous()) as slack:
        stage = SlackStage(database_url, slack, http=http)
        async with stage.process() as app:
            asking = asyncio.create_task(slack.slash("ada", "/debate start Tea beats coffee"))
            await asyncio.sleep(0)
            time.sleep(interactions.GIVEN_UP_SECONDS + 0.2)  # noqa: ASYNC251 - what it is about
            with pytest.raises(DidNotRespondError):
                await asking
            await asyncio.sleep(interactions.WAKING_SECONDS)
            assert await app.store.listings.recent(limit=1) == []
            await (await slack.slash("ada", "/debate start Tea beats coffee")).said()
            assert len(await app.store.listings.recent(limit=9)) == 1
