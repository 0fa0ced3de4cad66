"""Debates on Slack from the slash command to the reveal, with the real slack-bolt."""

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from pydantic import SecretStr

from adapters.slack.interactions import _EphemeralReply
from adapters.slack.payloads import ReplyTarget
from adapters.slack.rest import SlackRest
from adapters.slack.workspaces import OneWorkspace
from engine.values.debate import Status
from tests.doubles.model_server import ModelServer
from tests.doubles.slack import Asked, SlackServer, delay
from tests.doubles.slack.state import TEAM
from tests.kit import some
from tests.scenario import crowd
from tests.scenario.conftest import on_slack, play
from tests.scenario.discord_stage import until
from tests.scenario.slack_stage import OPTIONS, SlackStage, ended, title, voting

stage = on_slack


@pytest.mark.postgresql
@pytest.mark.parametrize("http", [False, True])
async def test_its_thread_has_its_colours_and_picture_and_pings_nobody(
    stage: SlackStage, http: bool
) -> None:
    stage.http = http
    async with stage.process() as app:
        asked = await stage.start()
        assert " · free" in asked.text
        assert asked.latency < 3
        ballot = await stage.ballot()
        link = f"archives/{stage.slack.channel.id}/p{stage.root.ts.replace('.', '')}"
        await asked.said(link)
        assert tuple(ballot.reactions) == OPTIONS
        assert not any(stage.slack.holders(ballot.ts, name) for name in OPTIONS)
        await stage.slack.react("ben", ballot.ts, "large_blue_circle")
        await stage.slack.deliveries.heard()
        await voting(app)
        await stage.close()
        await ended(app)
    turns = [m for m in stage.replies if " · turn " in title(m)]
    assert {title(m)[0] for m in turns} == {"🔵", "🔴"}
    assert title(ballot) == "The vote was closed early"
    assert all(m.body or m.files for m in stage.slack.world.everything())
    assert stage.slack.pings == []
    assert len(stage.references()) == len(set(stage.references()))
    (picture,) = (message for message in stage.slack.world.everything() if message.files)
    file = stage.slack.world.files[picture.files[0]]
    assert (file.name, file.data[:4]) == ("result.png", b"\x89PNG")
    assert "People: A (1–0)" in file.alt
    for message in stage.slack.world.everything():
        if message.files:
            continue
        assert some(message.metadata)["event_payload"]["reference"] not in message.text


@pytest.mark.parametrize("broadcast", [False, True])
async def test_the_reveal_is_in_the_channel_too_where_a_manager_wants_that(
    stage: SlackStage, slack: SlackServer, broadcast: bool
) -> None:
    async with stage.process() as app:
        if broadcast:
            asked = await slack.slash("olga", "/debate settings broadcast=on")
            assert "- `broadcast`: on (set here)" in await asked.said()
        await stage.vote()
        await voting(app)
        reveal = await stage.close()
        await ended(app)
    shown = [message.ts for message in slack.world.everything() if message.broadcast]
    assert shown == ([reveal.ts] if broadcast else [])


async def test_the_form_starts_a_debate_and_shows_what_is_wrong(stage: SlackStage) -> None:
    async with stage.process():
        asked = await stage.slack.slash("ada", "/debate")
        await until(lambda: asked.view)
        wrong = await stage.slack.submit(asked, {"topic": "Tea & <coffee>", "minutes": "soon"})
        assert "soon" in wrong.errors["minutes"]
        entered = {
            "topic": "Tea & <coffee>",
            "conditions": "Hot drinks",
            "a": "rehearsal/maple",
            "language": "tr",
            "ballot": "private",
            "minutes": "20m",
        }
        stage.slack.advance(3600)  # one that waited an hour is answered all the same
        sent = await stage.slack.submit(asked, entered)
        assert sent.errors == {}
        assert "Tea & <coffee>" in await asked.said("rehearsal/maple")
        ballot = await stage.ballot()
        said = stage.root.text
        assert "Tea & <coffee>" in said
        assert "Hot drinks" in said
        assert "karşı çıkıyor" in said
        assert "oylama 20 dakika sürer" in said
        assert ballot.reactions == {}


async def test_models_format_and_jurors_are_those_of_the_form(stage: SlackStage) -> None:
    stage.settings["models"] = ", ".join(f"rehearsal/model-{n}" for n in range(30))
    jurors = ["rehearsal/elm", "rehearsal/fir"]
    sides = {"a": "rehearsal/model-7", "b": "rehearsal/model-21"}
    async with stage.process() as app:
        asked = await stage.slack.slash("ada", "/debate")
        await until(lambda: asked.view)
        entered = {"topic": "Tea", "format": "structured", "jurors": jurors} | sides
        assert (await stage.slack.submit(asked, entered)).errors == {}
        await stage.ballot()
        debate = await voting(app)
        request = debate.request
        assert request.format == "structured"
        assert {side.lower(): model.ref for side, model in request.sides.items()} == sides
        ballots = (await app.store.journal.read(debate.id, "ballots")).ballots
    assert {ballot.juror for ballot in ballots} == set(jurors)


async def test_a_form_says_why_a_debate_cannot_start(stage: SlackStage, slack: SlackServer) -> None:
    stage.settings["budget"] = {"user_daily_debates": 0}
    async with stage.process():
        asked = await slack.slash("ada", "/debate")
        await until(lambda: asked.view)
        sent = await slack.submit(asked, {"topic": "Tea"})
        assert "today" in sent.errors["topic"] or "day" in sent.errors["topic"]
    assert slack.messages() == []


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("start Tea rounds=many", "rounds is “many”"),
        ("cancel one two", "“two”: this command takes no more"),
        ("settings vote_minutes", "is not a setting; write name=value"),
        ("help strat", "did you mean start?"),
        ("start Tea rounds=40", "rounds is 40"),
        ("start Tea a=rehearsal/nobody", "is not a model offered here"),
        ("topics all", "“all” cannot be done with a topic"),
        ("settings vote_minutes=soon", "vote_minutes is “soon”"),
        ("settings voting=30m", "“voting” is not a setting"),
        ("SETTINGS broadcast=maybe", "broadcast is “maybe”"),
        ("forget confirm=maybe", "confirm is “maybe”"),
    ],
)
async def test_a_malformed_command_is_answered_with_what_is_wrong_and_its_usage(
    stage: SlackStage, slack: SlackServer, line: str, wrong: str
) -> None:
    async with stage.process():
        said = await (await slack.slash("olga", f"/debate {line}")).said()
    assert wrong in said
    name = line.split()[0].casefold()
    assert "Usage: " in said or f"All its options: /debate help {name}" in said
    assert len(said) < 450
    assert slack.messages() == []


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("start Tea a=rehearsal/mapel", "did you mean rehearsal/maple?"),
        ("help", "`/debate settings` opens a form"),
        ("close", "Only a manager"),
        ("privacy", "What is stored"),
        ("status", "No debates in this channel yet"),
        ("models", "rehearsal/maple"),
    ],
)
async def test_commands_are_answered_privately(stage: SlackStage, line: str, answer: str) -> None:
    async with stage.process():
        asked = await stage.slack.slash("ada", f"/debate {line}")
        assert answer in await asked.said()
    assert stage.slack.messages() == []


async def test_debates_start_only_in_channels_that_a_manager_allows(stage: SlackStage) -> None:
    hall = stage.slack.add_channel("hall")
    async with stage.process():
        asked = await stage.slack.slash("olga", "/debate settings channels=#hall")
        assert hall.id in await asked.said()
        refused = await stage.slack.slash("ada", "/debate start Tea")
        assert "use an allowed one" in await refused.said()
        started = await stage.slack.slash("ada", '/debate start "in #hall"', channel=hall.id)
        assert "in #hall" in await started.said()


async def test_an_export_is_handed_over_in_direct_messages(stage: SlackStage) -> None:
    async with ModelServer(play) as server:
        stage.settings |= crowd.settings_for(server)
        async with stage.at_vote() as (app, _, _):
            await stage.close()
            await ended(app)
            asked = await stage.slack.slash("olga", "/debate export")
            assert "direct messages" in await asked.said()
    (file,) = (file for file in stage.slack.world.files.values() if file.name != "result.png")
    assert file.channel == stage.slack.world.direct(stage.slack.users["olga"].id).id
    assert "README.md" in "".join(zipfile.ZipFile(io.BytesIO(file.data)).namelist())


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


async def test_a_response_url_is_used_no_oftener_than_slack_takes(slack: SlackServer) -> None:
    async with whispering(slack) as (whisper, asked):
        for number in range(7):
            await whisper.say(f"answer {number}")
    assert asked.text.split("\n") == [f"answer {number}" for number in range(7)]
    assert [sent.method for sent in slack.sent].count("response_url") == asked.uses == 5


async def test_an_answer_longer_than_a_message_is_said_whole(slack: SlackServer) -> None:
    long = " ".join(f"word{number}" for number in range(4000))
    async with whispering(slack) as (whisper, asked):
        await whisper.say(long)
    assert asked.uses > 2
    assert asked.text.split() == long.split()


@asynccontextmanager
async def whispering(slack: SlackServer) -> AsyncIterator[tuple[_EphemeralReply, Asked]]:
    """Offer what answers ada, and what she reads of it."""
    rest = SlackRest(SecretStr(slack.bot_token), slack.api_url)
    asked = slack.interactions.new(slack.users["ada"].id, slack.channel.id)
    url = f"{slack.origin}/response/{asked.id}"
    asker = ReplyTarget(TEAM, slack.channel.id, asked.user, response_url=url)
    yield _EphemeralReply(OneWorkspace(rest), asker), asked
    await rest.close()


async def test_what_was_asked_just_before_the_end_is_answered(stage: SlackStage) -> None:
    stage.slack.fail(delay(0.5), "response_url")
    async with stage.process():
        asked = await stage.slack.slash("ada", "/debate help")
    assert "/debate start" in asked.text


@pytest.mark.slow
@crowd.SIZES
async def test_many_debates_at_once_keep_nobody_waiting(stage: SlackStage, debates: int) -> None:
    # What is late is seen by what was done before it, not by a clock of a busy machine.
    slack = stage.slack
    slack.rules.ack = slack.rules.trigger = 60.0
    channels = [slack.add_channel(f"room-{n}") for n in range(debates)]
    long = f"/debate start Tea rounds={crowd.ROUNDS}"

    async def ask(server: ModelServer) -> int:
        """Ask fifty people's questions, and return how many calls ended before all were told."""
        before, some = server.answered, channels[::8]
        asked = await asyncio.gather(
            *(slack.slash("ben", "/debate help", channel=c.id) for c in some),
            *(slack.press("cleo", slack.messages(c.id)[0].ts, "Status") for c in some),
        )
        for one in asked:
            await one.said(seconds=60)
        form = await slack.slash("ben", "/debate")
        await until(lambda: form.view, 120)
        return server.answered - before

    async with crowd.open_server() as server:
        stage.settings |= crowd.settings_for(server)
        async with stage.process() as app:
            await asyncio.gather(*(slack.slash("ada", long, channel=c.id) for c in channels))
            await until(lambda: server.in_flight == debates, 120)
            await until(lambda: all(slack.messages(channel.id) for channel in channels), 120)
            # A command that waited for a debate's call would never be answered.
            await ask(server)
            for channel in channels[::4]:
                await slack.react("ben", slack.messages(channel.id)[0].ts, "large_blue_circle")
            await slack.deliveries.heard()
            assert server.answered == 0
            server.gate.set()
            await until(lambda: server.answered > debates, 120)
            # Now all debates go on as fast as they can: a command stands in no line behind them.
            assert max([await ask(server) for _ in range(3)]) < crowd.MANY * debates
            running = await app.store.listings.recent((Status.RUNNING,), 300)
            assert len(running) == debates
    assert {told.tries for told in slack.deliveries.told} == {1}
