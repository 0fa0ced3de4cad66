"""What goes wrong on Slack: nothing is posted twice, nothing is lost, and the state is clear."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import replace

import aiohttp
import pytest

from engine.debate import Status
from engine.errors import SettingsError
from tests.doubles.slack import Fault, Rules, SlackServer, drop, limited, refused, status
from tests.doubles.slack.rules import SCOPES
from tests.scenario.discord_stage import state, until
from tests.scenario.slack_stage import SlackStage, counted, ended, title, voting

HISTORY = ("channels:history", "groups:history")


@pytest.fixture
async def stage(database_url: str) -> AsyncIterator[SlackStage]:
    async with SlackServer(rules=Rules(tiered=False, spaced=False)) as slack:
        yield SlackStage(database_url, slack)


@pytest.fixture
def slack(stage: SlackStage) -> SlackServer:
    return stage.slack


def assert_nothing_twice(stage: SlackStage) -> None:
    references = stage.references()
    assert len(references) == len(set(references))


async def test_an_answer_lost_after_storing_posts_nothing_twice(
    stage: SlackStage, slack: SlackServer
) -> None:
    slack.fail(drop("after"), "chat.postMessage", times=3, skip=0)
    async with stage.process() as app:
        await stage.vote()
        await voting(app)
        await stage.close()
        await ended(app)
    turns = [m for m in stage.replies if " · turn " in title(m)]
    assert len(turns) == 8
    assert len(slack.messages()) == 1
    assert_nothing_twice(stage)


async def test_without_the_right_to_read_a_post_in_doubt_is_left_alone(
    stage: SlackStage, slack: SlackServer
) -> None:
    slack.rules.scopes = tuple(scope for scope in SCOPES if scope not in HISTORY)
    slack.fail(drop("after"), "chat.postMessage", text="turn 2 of 8")
    async with stage.process() as app:
        await stage.vote()
        await voting(app)
        await stage.close()
        await ended(app)
    turns = [title(m) for m in stage.replies if " · turn " in title(m)]
    assert len(turns) == len(set(turns)) == 8


@pytest.mark.parametrize("fault", [limited(1), status(500), status(503), refused("internal_error")])
async def test_a_debate_goes_on_after_refusals_for_now(
    stage: SlackStage, slack: SlackServer, fault: Fault
) -> None:
    slack.fail(fault, "chat.postMessage", times=2, skip=2)
    async with stage.process() as app:
        await stage.vote()
        await voting(app)
    turns = [m for m in stage.replies if " · turn " in title(m)]
    assert len(turns) == 8
    assert_nothing_twice(stage)


async def test_one_message_a_second_holds_across_debates_of_a_channel(database_url: str) -> None:
    rules = Rules(tiered=False, post_gap=0.2)
    async with SlackServer(rules=rules) as slack:
        stage = SlackStage(database_url, slack, gap=0.2)
        async with stage.process() as app:
            await asyncio.gather(*(stage.start(f'"Tea {i}"') for i in range(3)))

            async def all_vote() -> bool:
                found = await app.store.debates.recent(limit=3)
                return len(found) == 3 and all(d.vote_opened_at is not None for d in found)

            async with asyncio.timeout(40):
                while not await all_vote():  # noqa: ASYNC110 - it is looked at
                    await asyncio.sleep(0.05)
        assert slack.violations == []
        assert_nothing_twice(stage)


@pytest.mark.parametrize("trouble", ["kick_bot", "archive", "delete_root", "revoke"])
async def test_what_is_gone_for_good_ends_in_a_clear_state_and_keeps_votes(
    stage: SlackStage, slack: SlackServer, trouble: str
) -> None:
    async with stage.process() as app:
        ballot = await stage.vote()
        await slack.react("ben", ballot.ts, "a")
        await slack.deliveries.heard()
        debate = await voting(app)
        _make(slack, stage, trouble)
        await app.service.close_vote(debate.id)
        closed = await state(app, lambda d: d.status is not Status.VOTING)
        assert closed.status in (Status.CLOSED, Status.FAILED, Status.PARTIAL)
        events = await app.store.votes.events(debate.id)
        assert [event.option for event in events] == ["A"]


def _make(slack: SlackServer, stage: SlackStage, trouble: str) -> None:
    if trouble == "delete_root":
        slack.delete_message(stage.root.ts)
    elif trouble == "revoke":
        slack.bot_token = "xoxb-another"
    else:
        getattr(slack, trouble)()


async def test_a_bot_kicked_in_mid_debate_stops_the_calls(
    stage: SlackStage, slack: SlackServer
) -> None:
    stage.settings["models"] = "rehearsal/maple-slow, rehearsal/willow"
    async with stage.process() as app:
        await stage.start()
        await until(lambda: slack.messages())
        slack.kick_bot()
        debate = await state(app, lambda d: not d.status.live)
        assert debate.status is Status.FAILED
        assert "/invite" in debate.reason


@pytest.mark.parametrize("token", ["bot_token", "app_token"])
async def test_a_bad_token_fails_at_start_with_one_sentence(
    stage: SlackStage, slack: SlackServer, token: str
) -> None:
    revoke = "xoxb-another" if token == "bot_token" else "xapp-another"
    known = replace(stage, tokens=(slack.bot_token, slack.app_token))
    setattr(slack, token, revoke)
    with pytest.raises(SettingsError, match=r"Slack refuses the .*ROSTRUM_SLACK__\w+_TOKEN\.$"):
        async with known.process():
            raise AssertionError("it started")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


async def test_health_says_whether_slack_is_connected(
    stage: SlackStage, slack: SlackServer
) -> None:
    port = free_port()
    stage.settings["health"] = {"port": port}
    async with stage.process(), aiohttp.ClientSession() as session:
        address = f"http://127.0.0.1:{port}/healthz"
        async with session.get(address) as response:
            assert (await response.json())["gateways"] == {"slack": True}
        await slack.socket.refuse()
        await slack.socket.drop()

        async def away() -> bool:
            async with session.get(address) as response:
                return response.status == 503

        async with asyncio.timeout(5):
            while not await away():  # noqa: ASYNC110 - it is looked at
                await asyncio.sleep(0.05)


async def test_slack_away_at_start_is_waited_for(stage: SlackStage, slack: SlackServer) -> None:
    slack.fail(status(503), "auth.test")
    slack.fail(status(503), "apps.connections.open")
    async with stage.process():
        asked = await slack.slash("ada", "/debate help")
        assert await asked.said()


async def test_the_workspace_removes_rostrum(stage: SlackStage, slack: SlackServer) -> None:
    async with stage.process() as app:
        await stage.vote()
        debate = await voting(app)
        slack.uninstall()
        await slack.deliveries.heard()
        gone = await state(app, lambda d: d.gone)
        assert gone.id == debate.id


HOSTILE = (
    "<!channel> <@U1> <!subteam^S1|x> <https://x.example|y> & < > &lt; "
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nunclosed <!here>\n" + "שלום " * 20
)


async def test_a_hostile_topic_pings_nobody_and_is_shown_whole(
    stage: SlackStage, slack: SlackServer
) -> None:
    async with stage.process() as app:
        asked = await slack.slash("ada", "/debate")
        await until(lambda: asked.view)
        sent = await slack.submit(asked, {"topic": HOSTILE})
        assert sent.errors == {}
        await stage.ballot()
        await voting(app)
        shown = stage.root.text.replace("\u2060", "")
        for word in ("<!channel>", "<@U1>", "<https://x.example|y>", "& < > &lt;", "<!here>"):
            assert word in shown
        assert counted(await stage.close())
    assert slack.pings == []
