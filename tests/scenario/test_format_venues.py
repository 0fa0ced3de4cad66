"""What formats add to a debate, on both chat platforms: options, contenders, files."""

import re

import orjson
import pytest

from adapters.discord.commands import start_command
from bot.local.orders import order_of
from engine.chat.commands import parse_command
from engine.chat.invocation import StartArguments
from engine.formats.structured.briefing import _Briefing
from tests.doubles.rehearsed import setup_for
from tests.scenario.chat_stage import Chat, OnDiscord, close, vote
from tests.scenario.discord_stage import until, voting

RESULT = "result.png"  # the picture that every reveal has
FILES = ["briefing.json", "briefing.md", RESULT]


OPTIONS = {
    "team": "personalities=A1=logical one_model=yes",
    "structured": "rubric=evidence_first",
    "roundtable": "agents=4 judges=2 personas=sceptic,engineer",
    "audited": "turns=4 elasticity=0.3,0.8",
}


@pytest.mark.each_case
@pytest.mark.parametrize("format", OPTIONS)
def test_a_formats_options_mean_the_same_wherever_they_are_given(format: str) -> None:
    given = OPTIONS[format]
    pairs = tuple(given.split())
    expected = dict(pair.split("=", 1) for pair in pairs)
    in_slack = parse_command(f"start Tea format={format} {given}").arguments["asked"]
    in_discord = start_command({"topic": "Tea", "format": format, "more": given}).arguments["asked"]
    assert isinstance(in_slack, StartArguments)
    assert isinstance(in_discord, StartArguments)
    in_terminal = order_of({"format": format, "option": pairs})
    assert in_slack.options == in_discord.options == in_terminal.options == expected
    assert setup_for(format, options=expected).request.format == format


async def test_a_briefing_is_attached_to_its_message(chat: Chat) -> None:
    async with chat.stage.process() as app:
        await vote(chat, format="structured", rubric="evidence_first")
        await voting(app)
        assert not chat.files()
        await close(chat)
        await chat.ended(app)
        await until(lambda: len(chat.files()) == len(FILES))
    held = {file.name: file.data for file in chat.files()}
    assert sorted(held) == FILES
    posted = [m for m in chat.thread() if m.files or "Decision briefing" in m.title]
    on_discord = isinstance(chat, OnDiscord)  # where a message has its files with it
    assert [m.files for m in posted if m.files] == ([1, 2] if on_discord else [1, 1, 1])
    assert posted[-1].files
    assert on_discord or len([m for m in posted if "Decision briefing" in m.title]) == 1
    text = "".join(m.text for m in posted if on_discord or "Decision briefing" in m.title)
    assert "- A-1 " in text
    briefing = _Briefing.model_validate_json(held["briefing.json"])
    assert set(briefing.traces[0].scores) == {"evidence", "logic", "rebuttal", "clarity"}
    assert orjson.loads(held["briefing.json"])["topic"] == "Tea beats coffee"
    markdown = held["briefing.md"].decode()
    assert markdown.startswith("# Tea beats coffee\n")
    assert "| argument | cross-examination" in markdown


async def test_an_arc_is_a_picture_with_words(chat: Chat) -> None:
    async with chat.stage.process() as app:
        await vote(chat, format="audited", turns=4)
        await voting(app)
        await close(chat)
        await chat.ended(app)
        await until(lambda: len(chat.files()) == 2)
    (picture,) = (file for file in chat.files() if file.name != RESULT)
    assert picture.name == "arc.png"
    assert picture.data.startswith(b"\x89PNG")
    assert re.match(r"Score of 100 by turn: A1 .+, B2 .+, A3 .+, B4 .+\.$", picture.alt or "")


async def test_people_choose_among_all_agents(chat: Chat) -> None:
    seeds = "1⃣ 2⃣ 3⃣ 4⃣ 5⃣" if isinstance(chat, OnDiscord) else "one two three four five"
    async with chat.stage.process() as app:
        await chat.start(format="roundtable", rounds=1, agents=5)
        (ballot,) = await until(
            lambda: [m for m in chat.thread() if m.title == "Vote" and len(m.reactions) == 5 + 2],
            20,
        )
        assert ballot.reactions[:5] == seeds.split()
        await chat.react("ben", ballot.id, "4")
        await voting(app)
        reveal = await close(chat)
        assert "Economist 1" in reveal
        assert "People: Economist (Economist 1)" in reveal.replace("*", "")
