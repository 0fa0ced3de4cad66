"""What formats add to a debate, on both chat platforms: options, contenders, files."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import orjson
import pytest

from adapters.discord.commands import start_command
from bot.debate import order_of
from engine.chat.commands import parse_command
from engine.chat.invocation import StartArguments
from engine.formats.structured.briefing import Briefing
from tests.doubles.discord import DiscordServer, Rates
from tests.doubles.rehearsed import setup_for
from tests.doubles.slack import Rules, SlackServer
from tests.scenario import discord_stage, slack_stage
from tests.scenario.discord_stage import DiscordStage, author, until
from tests.scenario.slack_stage import SlackStage, title

FILES = ["briefing.json", "briefing.md"]


@pytest.fixture
async def on_discord(database_url: str) -> AsyncIterator[DiscordStage]:
    async with DiscordServer(rates=Rates.generous()) as discord:
        yield DiscordStage(database_url, discord)


@pytest.fixture
async def on_slack(database_url: str) -> AsyncIterator[SlackStage]:
    async with SlackServer(rules=Rules.generous()) as slack:
        yield SlackStage(database_url, slack)


OPTIONS = {
    "team": "personalities=A1=logical one_model=yes",
    "structured": "rubric=evidence_first",
    "roundtable": "agents=4 judges=2 personas=sceptic,engineer",
    "audited": "turns=4",
}


@pytest.mark.parametrize("format", OPTIONS)
def test_a_formats_options_mean_the_same_wherever_they_are_given(format: str) -> None:
    given = OPTIONS[format]
    pairs = tuple(given.split())
    expected = dict(pair.split("=", 1) for pair in pairs)
    in_slack = parse_command(f"start Tea format={format} {given}").arguments
    in_discord = start_command({"topic": "Tea", "format": format, "more": given}).arguments
    assert isinstance(in_slack, StartArguments)
    assert isinstance(in_discord, StartArguments)
    in_terminal = order_of({"format": format, "option": pairs})
    assert in_slack.options == in_discord.options == in_terminal.options == expected
    assert setup_for(format, options=expected).request.format == format


def expect_briefing(markdown: bytes, data: bytes, posted: str) -> None:
    """See that both files hold the briefing of an evidence-first debate that was posted."""
    briefing = Briefing.model_validate_json(data)
    assert set(briefing.traces[0].scores) == {"evidence", "logic", "rebuttal", "clarity"}
    assert orjson.loads(data)["topic"] == "Tea beats coffee"
    text = markdown.decode()
    assert text.startswith("# Tea beats coffee\n")
    assert "| argument | cross-examination" in text
    assert "- A-1 " in posted


async def test_a_briefing_is_attached_to_its_message_on_discord(on_discord: DiscordStage) -> None:
    async with on_discord.process() as app:
        await on_discord.vote(format="structured", more="rubric=evidence_first")
        await discord_stage.voting(app)
        assert not [m for m in on_discord.discord.messages(on_discord.thread.id) if m.attachments]
        await on_discord.close()
        await discord_stage.ended(app)
    posted = [
        message
        for message in on_discord.discord.messages(on_discord.thread.id)
        if message.attachments or author(message) == "Decision briefing"
    ]
    held = {file.filename: file.data for file in posted[-1].attachments}
    assert sorted(held) == FILES
    text = "".join(str(embed["description"]) for m in posted for embed in m.embeds)
    expect_briefing(held["briefing.md"], held["briefing.json"], text)


async def test_a_briefing_is_shared_in_its_thread_on_slack(on_slack: SlackStage) -> None:
    async with on_slack.process() as app:
        await on_slack.vote('"Tea beats coffee" format=structured rubric=evidence_first')
        await slack_stage.voting(app)
        assert not on_slack.slack.world.files
        await on_slack.close()
        await slack_stage.ended(app)
        await until(lambda: len(on_slack.slack.world.files) == 2)
    held = {file.name: file.data for file in on_slack.slack.world.files.values()}
    assert sorted(held) == FILES
    assert sum(len(message.files) for message in on_slack.replies) == 2
    (briefing,) = [m for m in on_slack.replies if "Decision briefing" in title(m)]
    expect_briefing(held["briefing.md"], held["briefing.json"], briefing.text)


def expect_arc(name: str, picture: bytes, alt: str | None) -> None:
    """See that a file is the picture of four turns' scores, and says so in words."""
    assert name.endswith(".png")
    assert picture.startswith(b"\x89PNG")
    assert re.match(r"Score of 100 by turn: A1 .+, B2 .+, A3 .+, B4 .+\.$", alt or "")


async def test_an_arc_is_a_picture_with_words_on_discord(on_discord: DiscordStage) -> None:
    async with on_discord.process() as app:
        await on_discord.vote(format="audited", more="turns=4")
        await discord_stage.voting(app)
        await on_discord.close()
        await discord_stage.ended(app)
    posted = on_discord.discord.messages(on_discord.thread.id)
    (picture,) = [file for message in posted for file in message.attachments]
    expect_arc(picture.filename, picture.data, picture.description)


async def test_an_arc_is_a_picture_with_words_on_slack(on_slack: SlackStage) -> None:
    async with on_slack.process() as app:
        await on_slack.vote('"Tea beats coffee" format=audited turns=4')
        await slack_stage.voting(app)
        await on_slack.close()
        await slack_stage.ended(app)
        await until(lambda: on_slack.slack.world.files)
    (picture,) = on_slack.slack.world.files.values()
    expect_arc(picture.name, picture.data, picture.alt)


AGENTS = ("1", "2", "3", "4", "5")


async def test_people_choose_among_all_agents_on_discord(on_discord: DiscordStage) -> None:
    async with on_discord.process() as app:
        await on_discord.start(format="roundtable", rounds=1, more="agents=5")
        (ballot,) = await until(
            lambda: [
                message
                for thread in on_discord.discord.threads()
                for message in on_discord.discord.messages(thread.id)
                if author(message) == "Vote" and len(message.reactions) == len(AGENTS) + 2
            ],
            20,
        )
        assert "".join(ballot.reactions).startswith("1⃣2⃣3⃣4⃣5⃣")
        on_discord.discord.react("ben", ballot.id, "4️⃣")
        await discord_stage.voting(app)
        reveal = await on_discord.close()
        assert "4 1" in reveal.text
        assert "People chose 4" in reveal.text.replace("*", "")


async def test_people_choose_among_all_agents_on_slack(on_slack: SlackStage) -> None:
    async with on_slack.process() as app:
        await on_slack.start('"Tea beats coffee" format=roundtable rounds=1 agents=5')
        (ballot,) = await until(
            lambda: (
                on_slack.slack.messages()
                and [
                    message
                    for message in on_slack.replies
                    if title(message) == "Vote" and len(message.reactions) == len(AGENTS) + 2
                ]
            ),
            20,
        )
        assert list(ballot.reactions)[:5] == ["one", "two", "three", "four", "five"]
        await on_slack.slack.react("ben", ballot.ts, "four")
        await on_slack.slack.deliveries.heard()
        await slack_stage.voting(app)
        reveal = await on_slack.close()
        assert "People chose 4" in reveal.text.replace("*", "")
