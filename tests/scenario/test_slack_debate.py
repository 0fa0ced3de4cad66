"""Debates on Slack from the slash command to the reveal, with the real slack-bolt."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator

import pytest

from engine.debate import Status
from tests.doubles.slack import Rules, SlackServer
from tests.scenario.discord_stage import until
from tests.scenario.slack_stage import OPTIONS, SlackStage, counted, ended, title, voting

NAMES = ("rehearsal/maple", "rehearsal/willow", "rehearsal/oak", "rehearsal/elm", "rehearsal/ash")


@pytest.fixture
async def stage(database_url: str) -> AsyncIterator[SlackStage]:
    async with SlackServer(rules=Rules(tiered=False, spaced=False)) as slack:
        yield SlackStage(database_url, slack)


@pytest.fixture
def slack(stage: SlackStage) -> SlackServer:
    return stage.slack


@pytest.mark.parametrize("http", [False, True])
async def test_a_debate_from_the_command_to_the_reveal(
    stage: SlackStage, slack: SlackServer, http: bool
) -> None:
    stage.http = http
    async with stage.process() as app:
        asked = await stage.start()
        assert "model calls" in asked.text
        assert asked.latency < 3
        ballot = await stage.ballot()
        link = f"archives/{slack.channel.id}/p{stage.root.ts.replace('.', '')}"
        await asked.said(link)
        await slack.react("ben", ballot.ts, "a")
        await slack.deliveries.heard()
        await voting(app)
        reveal = await stage.close()
        assert counted(reveal) == {"A": 1, "B": 0, "a tie": 0, "both were weak": 0}
        assert {"rehearsal/maple", "rehearsal/willow"} <= set(reveal.text.split("`"))
        await ended(app)
    turns = [m for m in stage.replies if " · turn " in title(m)]
    assert [title(m)[2] for m in turns] == ["A", "B"] * 4
    assert {title(m)[0] for m in turns} == {"🔵", "🔴"}
    assert title(ballot) == "The vote was closed early"
    assert all(m.body for m in slack.world.everything())
    assert slack.pings == []
    assert len(stage.references()) == len(set(stage.references()))


async def test_before_the_reveal_no_byte_names_a_model_but_the_starters_own_answer(
    stage: SlackStage, slack: SlackServer
) -> None:
    async with stage.process() as app:
        asked = await stage.start('"Tea" a=rehearsal/maple')
        assert "`rehearsal/maple` for A" in await asked.said("maple")
        await stage.ballot()
        await voting(app)
        for what in ("status", "result", "list"):
            await (await slack.slash("ben", f"/debate {what}")).said()
        await (await slack.press("ben", stage.root.ts, "Status")).said("Tea")
        posted = [s.text for s in slack.sent if s.method not in ("response_url", "views.open")]
        assert not [text for text in posted if any(name in text for name in NAMES)]
        others = [a for a in slack.interactions.all if a.user != asked.user]
        assert not [a.text for a in others if any(name in a.text for name in NAMES)]
        await stage.close()


async def test_the_form_starts_a_debate_and_shows_what_is_wrong(
    stage: SlackStage, slack: SlackServer
) -> None:
    async with stage.process():
        asked = await slack.slash("ada", "/debate")
        await until(lambda: asked.view)
        wrong = await slack.submit(asked, {"topic": "Tea & <coffee>", "minutes": "soon"})
        assert "soon" in wrong.errors["minutes"]
        entered = {
            "topic": "Tea & <coffee>",
            "conditions": "Hot drinks",
            "a": "rehearsal/maple",
            "language": "tr",
            "ballot": "private",
            "minutes": "20m",
        }
        sent = await slack.submit(asked, entered)
        assert sent.errors == {}
        assert "Tea & <coffee>" in await asked.said("rehearsal/maple")
        ballot = await stage.ballot()
        said = stage.root.text
        assert "Tea & <coffee>" in said
        assert "Hot drinks" in said
        assert "language tr" in said
        assert "20 minutes" in said
        assert ballot.reactions == {}


async def test_a_form_says_why_a_debate_cannot_start(stage: SlackStage, slack: SlackServer) -> None:
    stage.settings["budget"] = {"user_daily_debates": 0}
    async with stage.process():
        asked = await slack.slash("ada", "/debate")
        await until(lambda: asked.view)
        sent = await slack.submit(asked, {"topic": "Tea"})
        assert "today" in sent.errors["topic"] or "day" in sent.errors["topic"]
    assert slack.messages() == []


async def test_private_ballots_are_cast_by_buttons(stage: SlackStage, slack: SlackServer) -> None:
    async with stage.process() as app:
        ballot = await stage.vote('"Tea" ballot=private')
        await voting(app)
        pressed = await slack.press("ben", ballot.ts, ":b: B")
        assert "recorded: B" in await pressed.said()
        pressed = await slack.press("cleo", ballot.ts, ":a: A")
        assert "recorded: A" in await pressed.said()
        back = await slack.press("cleo", ballot.ts, "Take my vote back")
        assert "taken back" in await back.said()
        assert counted(await stage.close()) == {"A": 0, "B": 1, "a tie": 0, "both were weak": 0}


async def test_secret_ballots_are_refused_with_the_reason(
    stage: SlackStage, slack: SlackServer
) -> None:
    async with stage.process():
        for line in ("start Tea ballot=secret", "settings ballot=secret"):
            asked = await slack.slash("olga", f"/debate {line}")
            assert "ballot=private" in await asked.said()
    assert slack.messages() == []


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("strat Tea", "did you mean start?"),
        ("start Tea rounds=many", "write a whole number"),
        ("start Tea a=rehearsal/mapel", "did you mean rehearsal/maple?"),
        ('start "Tea', "Write it as: /debate start"),
        ("help", "/debate start"),
        ("close", "Only a manager"),
        ("status", "No debate was held in this channel yet"),
        ("models", "rehearsal/maple"),
        ("privacy", "What is stored"),
    ],
)
async def test_commands_are_answered_privately(
    stage: SlackStage, slack: SlackServer, line: str, answer: str
) -> None:
    async with stage.process():
        asked = await slack.slash("ada", f"/debate {line}")
        assert answer in await asked.said()
    assert slack.messages() == []


async def test_debates_start_only_in_channels_that_a_manager_allows(
    stage: SlackStage, slack: SlackServer
) -> None:
    hall = slack.add_channel("hall")
    async with stage.process():
        asked = await slack.slash("olga", "/debate settings channels=#hall")
        assert hall.id in await asked.said()
        refused = await slack.slash("ada", "/debate start Tea")
        assert "use one that a manager has allowed" in await refused.said()
        started = await slack.slash("ada", '/debate start "in #hall"', channel=hall.id)
        assert "in #hall" in await started.said()


async def test_only_managers_stop_others_debates(stage: SlackStage, slack: SlackServer) -> None:
    stage.settings["models"] = "rehearsal/maple-slow, rehearsal/willow"
    async with stage.process() as app:
        await stage.start()
        await until(lambda: slack.messages())
        refused = await slack.press("ben", stage.root.ts, "Stop")
        assert "Only whoever started" in await refused.said()
        stopped = await slack.press("ada", stage.root.ts, "Stop")
        assert await stopped.said()
        await ended(app)


async def test_an_export_is_handed_over_in_direct_messages(
    stage: SlackStage, slack: SlackServer
) -> None:
    async with stage.process() as app:
        await stage.vote()
        await voting(app)
        await stage.close()
        await ended(app)
        asked = await slack.slash("olga", "/debate export")
        assert "direct messages" in await asked.said()
    (file,) = slack.world.files.values()
    assert file.channel == slack.world.direct(slack.users["olga"].id).id
    assert "README.md" in "".join(zipfile.ZipFile(io.BytesIO(file.data)).namelist())


async def test_a_channel_without_rostrum_gets_an_answer_that_says_so(
    stage: SlackStage, slack: SlackServer
) -> None:
    elsewhere = slack.add_channel("elsewhere", with_bot=False)
    async with stage.process():
        asked = await slack.slash("ada", "/debate start Tea", channel=elsewhere.id)
        assert "/invite" in await asked.said("/invite", 15)


@pytest.mark.parametrize("when", ["used", "old"])
async def test_an_answer_finds_its_way_when_the_response_url_is_no_good(
    stage: SlackStage, slack: SlackServer, when: str
) -> None:
    if when == "old":
        slack.rules.response_seconds = -1
    else:
        slack.rules.response_uses = 0
    async with stage.process():
        asked = await slack.slash("ada", "/debate help")
        assert "/debate start" in await asked.said()
    assert "chat.postEphemeral" in slack.calls


async def test_every_option_is_seeded_in_order(stage: SlackStage, slack: SlackServer) -> None:
    async with stage.process():
        ballot = await stage.vote()
    assert tuple(ballot.reactions) == OPTIONS
    assert not any(slack.holders(ballot.ts, name) for name in OPTIONS)


async def test_two_hundred_debates_keep_nobody_waiting(
    stage: SlackStage, slack: SlackServer
) -> None:
    stage.settings["models"] = "rehearsal/maple?latency=2, rehearsal/willow?latency=2"
    channels = [slack.add_channel(f"room-{n}") for n in range(200)]
    async with stage.process() as app:
        starts = (slack.slash("ada", "/debate start Tea", channel=c.id) for c in channels)
        await asyncio.gather(*starts)
        await until(lambda: all(slack.messages(channel.id) for channel in channels), 60)
        asked = await slack.slash("ben", "/debate help")
        form = await slack.slash("ben", "/debate")
        await until(lambda: form.view, 3)
        assert await asked.said(seconds=3)
        running = await app.store.debates.recent((Status.RUNNING,), 300)
        assert len(running) == 200
    assert max(asked.latency for asked in slack.interactions.all) < 3
