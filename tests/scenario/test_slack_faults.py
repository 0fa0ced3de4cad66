"""What goes wrong on Slack: nothing is posted twice, nothing is lost, and the state is clear."""

import asyncio
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from engine.store import DeliveryState
from engine.values.debate import Status
from engine.values.errors import SettingsError
from tests.doubles.facts import Slack
from tests.doubles.faults import When
from tests.doubles.model_server import ModelServer
from tests.doubles.slack import (
    Fault,
    Rules,
    SlackServer,
    drop,
    garbage,
    limited,
    page,
    refused,
    status,
)
from tests.doubles.slack.methods import reaction
from tests.doubles.slack.server import BOT_TOKEN
from tests.doubles.slack.state import BOT_USER, TEAM
from tests.kit import record_of, some, until_true, votes_in
from tests.scenario import crowd
from tests.scenario.conftest import play
from tests.scenario.discord_stage import HASTY, SWIFT, state, until
from tests.scenario.slack_stage import SlackStage, counted, ended, title, voting

HISTORY = ("channels:history", "groups:history")


pytestmark = pytest.mark.usefixtures("swift")


@pytest.fixture
def stage(on_slack: SlackStage) -> SlackStage:
    on_slack.limits = HASTY
    return on_slack


def assert_nothing_twice(stage: SlackStage) -> None:
    references = stage.references()
    assert len(references) == len(set(references))


@pytest.mark.parametrize(("when", "shown"), [("after", 8), ("before", 7)])
async def test_without_the_right_to_read_a_post_in_doubt_is_left_alone_and_flagged(
    stage: SlackStage, slack: SlackServer, when: When, shown: int
) -> None:
    stage.limits = SWIFT
    slack.rules.scopes = tuple(scope for scope in Slack.SCOPES if scope not in HISTORY)
    slack.fail(drop(when), "chat.postMessage", text="turn 2 of 8")
    with capture_logs() as logs:
        async with stage.at_vote() as (app, _, _):
            await stage.close()
            debate = await ended(app)
            turns = [title(m) for m in stage.replies if " · turn " in title(m)]
            assert len(turns) == len(set(turns)) == shown
            (flagged,) = [log for log in logs if log["event"] == "message in doubt"]
            assert "channels:history" in flagged["why"]
            intent = some(await app.store.outbox.find(debate.id, flagged["post"]))
            assert intent.state is DeliveryState.DOUBTFUL


@pytest.mark.parametrize(
    ("fault", "method"),
    [
        (drop("after"), "chat.postMessage"),
        (limited(0.2), "chat.postMessage"),
        (status(500, when="after"), "chat.postMessage"),
        (status(500), "reactions.add"),
        (status(500), "chat.update"),
        (refused("ratelimited", 0.2), "chat.postMessage"),
        (status(500), "chat.postMessage"),
        (status(503), "chat.postMessage"),
        (refused("internal_error"), "chat.postMessage"),
        (limited(0.2), "reactions.add"),
    ],
)
async def test_a_debate_goes_on_after_lost_answers_and_refusals_for_now_and_posts_nothing_twice(
    stage: SlackStage, slack: SlackServer, fault: Fault, method: str
) -> None:
    slack.fail(fault, method, times=2, skip=2)
    async with stage.at_vote() as (app, _, _):
        await stage.close()
        await ended(app)
        # The two went wrong, and all that there was to do; an edit is tried again in its own time.
        await until(lambda: slack.calls.count(method) >= 5)
    turns = [m for m in stage.replies if " · turn " in title(m)]
    assert len(turns) == 8
    assert len(slack.messages()) == 1
    assert_nothing_twice(stage)


# What stands between Slack and Rostrum now and then, or stands in for Slack.
NOT_SLACKS = {
    "a sign-in page": page("<html>Sign in</html>", "text/html"),
    "a list of something": garbage('[{"ok": true}]'),
    "bytes that are no text": garbage("\xff\xfe"),
    "a sign-in page in plain text": page("Sign in", "text/plain"),
    "bytes": page("Sign in", "application/gzip"),
    "a number": garbage("1"),
    "nothing": garbage(""),
    "an object that is said to be Slack's": garbage('{"ok": true}'),
    "an object without an end": garbage('{"ok":' * 100_000),
}
STEPS = ("auth.test", "apps.connections.open", "chat.postMessage", "chat.update")


@pytest.mark.parametrize("answer", NOT_SLACKS.values(), ids=NOT_SLACKS.keys())
async def test_an_answer_that_is_not_slacks_is_waited_out_wherever_it_comes(
    stage: SlackStage, slack: SlackServer, answer: Fault
) -> None:
    for method in (*STEPS, "reactions.add", "users.info"):
        slack.fail(answer, method)
    slack.fail(answer, "chat.postMessage", text="turn 2 of 8")
    async with stage.at_vote() as (app, ballot, _):
        await slack.react("ben", ballot.ts, "large_blue_circle")
        await slack.deliveries.heard()
        reveal = await stage.close()
        assert counted(reveal)["A"] == 1
        await ended(app)
    assert len([m for m in stage.replies if " · turn " in title(m)]) == 8
    assert len(slack.messages()) == 1
    assert_nothing_twice(stage)


@pytest.mark.slow
async def test_one_message_a_second_holds_across_debates_of_a_channel(database_url: str) -> None:
    rules = Rules(tiered=False, post_gap=0.1)
    async with SlackServer(rules=rules) as slack:
        stage = SlackStage(database_url, slack, gap=0.1)
        async with stage.process() as app:
            await asyncio.gather(*(stage.start(f'"Tea {i}"') for i in range(3)))

            async def all_vote() -> bool:
                found = await app.store.listings.recent(limit=3)
                return len(found) == 3 and all(d.vote_opened_at is not None for d in found)

            await until_true(all_vote)
        assert slack.violations == []
        assert_nothing_twice(stage)


@pytest.mark.slow
async def test_files_that_are_shared_keep_the_distance_of_messages_too(database_url: str) -> None:
    async with SlackServer(rules=Rules(tiered=False, post_gap=0.2)) as slack:
        stage = SlackStage(database_url, slack, gap=0.2)
        async with stage.at_vote("Tea format=structured") as (app, _, _):
            await stage.close()
            await ended(app)
        assert len(slack.world.files) == 3  # those of the format, and the picture of the result
        assert slack.violations == []


WHY = {
    "kick_bot": "/invite",
    "archive": "unarchive it",
    "delete_channel": "unless it was deleted",
    "delete_root": "thread",
    "revoke": "refuses the bot's token",
    "restrict": "ask an admin to allow it",
}
UNREADABLE = ("kick_bot", "delete_channel", "revoke")  # of the others it is found at the reveal


def make(slack: SlackServer, stage: SlackStage, trouble: str) -> None:
    match trouble:
        case "delete_root":
            slack.delete_message(stage.root.ts)
        case "revoke":
            slack.bot_token = "xoxb-another"
        case "restrict":
            slack.fail(refused("restricted_action"), "chat.postMessage", times=-1)
        case _:
            getattr(slack, trouble)()


@pytest.mark.parametrize("trouble", WHY)
async def test_what_is_gone_in_a_vote_ends_in_a_clear_state_and_keeps_votes(
    stage: SlackStage, slack: SlackServer, trouble: str
) -> None:
    with capture_logs() as logs:
        async with stage.at_vote() as (app, ballot, debate):
            await slack.react("ben", ballot.ts, "large_blue_circle")
            await slack.deliveries.heard()
            make(slack, stage, trouble)
            await app.service.close_vote(debate.id)
            closed = await ended(app)
            assert closed.status is Status.CLOSED
            assert (WHY[trouble] in closed.reason) is (trouble in UNREADABLE)
            record = await record_of(app.store, debate.id)
            assert [vote.option for vote in votes_in(record)] == ["A"]
    assert WHY[trouble] in str([log["why"] for log in logs if log["event"] == "thread is gone"])


@pytest.mark.parametrize("trouble", WHY)
async def test_what_is_gone_in_mid_debate_stops_the_calls_and_can_be_resumed(
    stage: SlackStage, slack: SlackServer, trouble: str
) -> None:
    stage.settings["models"] = "rehearsal/maple?latency=0.1, rehearsal/willow?latency=0.1"
    async with stage.process() as app:
        await stage.start()
        await until(lambda: slack.messages() and len(stage.replies) >= 2)
        make(slack, stage, trouble)
        debate = await state(app, lambda d: not d.status.live)
        assert debate.status is Status.FAILED
        assert WHY[trouble] in debate.reason
        assert await app.store.journal.turns_held(debate.id) < 8
        if trouble in ("delete_root", "delete_channel"):
            return
        match trouble:
            case "kick_bot":
                slack.channel.members.add(BOT_USER)
            case "archive":
                slack.channel.archived = False
            case "revoke":
                slack.bot_token = BOT_TOKEN
            case "restrict":
                slack.faults.clear()
        await app.service.resume(debate.id, app.commands.defaults.caps)
        await stage.ballot()
        await voting(app)
        assert [title(m)[2] for m in stage.replies if " · turn " in title(m)] == ["A", "B"] * 4
        assert len(slack.messages()) == 1
        assert_nothing_twice(stage)


@pytest.mark.slow
async def test_a_debate_waits_while_an_admin_has_locked_its_thread(stage: SlackStage) -> None:
    stage.settings["models"] = "rehearsal/maple?latency=0.1, rehearsal/willow?latency=0.1"
    async with stage.process() as app:
        await stage.start()
        await until(lambda: stage.slack.messages() and len(stage.replies) >= 2)
        locked = refused("restricted_action_thread_locked")
        stage.slack.fail(locked, "chat.postMessage", times=-1)
        waiting = await state(app, lambda debate: debate.reason)
        assert "An admin locked the thread" in waiting.reason
        assert not waiting.gone
        stage.slack.faults.clear()
        await stage.ballot()
        assert not (await voting(app)).reason
        assert_nothing_twice(stage)


@pytest.mark.each_case
@pytest.mark.parametrize("token", ["bot_token", "app_token"])
async def test_a_bad_token_fails_at_start_with_one_sentence(stage: SlackStage, token: str) -> None:
    revoke = "xoxb-another" if token == "bot_token" else "xapp-another"
    known = replace(stage, tokens=(stage.slack.bot_token, stage.slack.app_token))
    setattr(stage.slack, token, revoke)
    with pytest.raises(SettingsError, match=r"Slack refuses the .*ROSTRUM_SLACK__\w+_TOKEN\.$"):
        async with known.process():
            raise AssertionError("it started")


@pytest.mark.parametrize("method", ["auth.test", "apps.connections.open"])
async def test_an_absence_or_a_refusal_that_nobody_knows_at_start_ends_nothing(
    stage: SlackStage, slack: SlackServer, method: str
) -> None:
    for away in ("auth.test", "apps.connections.open"):
        slack.fail(status(503), away)
    slack.fail(refused("team_is_being_moved"), method, times=2)
    with capture_logs() as logs:
        async with stage.process():
            asked = await slack.slash("ada", "/debate help")
            assert await asked.said()
    failed = [log["why"] for log in logs if log["event"] == "connection failed"]
    assert sum("team is being moved" in why for why in failed) == 2


async def test_the_workspace_removes_rostrum(stage: SlackStage, slack: SlackServer) -> None:
    async with stage.at_vote() as (app, _, debate):
        slack.uninstall()
        await slack.deliveries.heard()
        gone = await state(app, lambda d: d.gone)
        assert gone.id == debate.id


async def test_a_person_who_takes_a_token_of_their_own_back_removes_nothing(
    stage: SlackStage, slack: SlackServer
) -> None:
    async with stage.at_vote() as (app, _, _):
        own = {"oauth": [slack.users["ben"].id], "bot": []}
        slack.deliveries.tell_of(slack.world.teams[TEAM], {"type": "tokens_revoked", "tokens": own})
        await slack.deliveries.heard()
        await stage.close()
        assert not (await ended(app)).gone


async def test_another_workspace_is_refused_in_words_and_changes_nothing(stage: SlackStage) -> None:
    lounge = stage.slack.add_team("bay")
    async with stage.at_vote() as (app, ballot, debate):
        for line in ("", "help", "settings", 'start "Tea"', "settings language=de", "export"):
            asked = await stage.slack.slash("bay-olga", f"/debate {line}", lounge.id)
            assert "another Slack workspace" in await asked.said(), line
            assert asked.view is None
        for event in (
            {"type": "app_uninstalled"},
            {"type": "tokens_revoked", "tokens": {"bot": ["U1"]}},
            reaction("reaction_added", "U1", "large_blue_circle", ballot) | {"item_user": None},
        ):
            stage.slack.deliveries.tell_of(stage.slack.world.teams["T0BAY"], event)
        await stage.slack.deliveries.heard()
        asked = await stage.slack.press("olga", stage.root.ts, "Status")
        assert debate.code in await asked.said(debate.code)
        (kept,) = await app.store.listings.recent()
        assert (kept.status, kept.gone) == (Status.VOTING, False)
        assert await app.store.votes.events(debate.id) == ()


async def test_an_export_that_the_app_may_not_send_says_what_to_turn_on(stage: SlackStage) -> None:
    stage.slack.rules.messages_tab = False
    async with ModelServer(play) as server:
        stage.settings |= crowd.settings_for(server)
        async with stage.at_vote() as (app, _, _):
            await stage.close()
            await ended(app)
            asked = await stage.slack.slash("olga", "/debate export")
            assert "Messages tab under App Home" in await asked.said("Messages tab")


@pytest.mark.parametrize("error", ["no_permission", "too_many_emoji", "missing_scope"])
async def test_a_reaction_that_slack_refuses_keeps_no_vote_from_opening(
    stage: SlackStage, slack: SlackServer, error: str
) -> None:
    slack.fail(refused(error), "reactions.add", text='"red_circle"', times=-1)
    async with stage.process() as app:
        await stage.start()
        debate = await voting(app)
        ballot = await stage.said("Vote")
        assert set(ballot.reactions) == {"large_blue_circle", "handshake", "no_entry_sign"}
        await slack.react("ben", ballot.ts, "red_circle")
        await slack.react("cleo", ballot.ts, "large_blue_circle")
        await slack.deliveries.heard()
        assert counted(await stage.close()) == {"A": 1, "B": 1, "tie": 0, "neither": 0}
        assert (await ended(app)).id == debate.id
