"""A new command is one entry: text, hints, help, permission and the work follow from it."""

from __future__ import annotations

import pytest

from engine.chat.answers.answers import Answer, to_markdown
from engine.chat.answers.catalogue import TopicsAnswer
from engine.chat.command_line import read_debate
from engine.chat.commands import COMMANDS, Command, Commands, Takes, parse_command
from engine.chat.context import Context
from engine.chat.invocation import DebateArgument, Invocation
from engine.chat.permission import managers
from engine.chat.person import Person
from engine.errors import NotAllowedError, UsageError
from engine.topics import Topic
from tests.scenario.conftest import DEFAULTS, Running

MANAGER = Person(platform="memory", community="club", place="lobby", user="u1", manager=True)


async def frame(context: Context, person: Person, asked: DebateArgument) -> TopicsAnswer:
    return TopicsAnswer(topics=(Topic(text=f"{asked.debate}, framed by {person.user}"),))


ENTRY = Command(
    "frame", Takes("[debate]", read_debate), "frames a debate", frame, managers("frame a debate")
)


@pytest.fixture
def commands(line: Running, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.setitem(COMMANDS, "frame", ENTRY)
    return Commands(line.service, line.store, DEFAULTS, "1.2.3")


async def said(commands: Commands, text: str, person: Person = MANAGER) -> str:
    answer: Answer = await commands.run(person, parse_command(text))
    return to_markdown(answer)


async def test_it_is_read_and_carried_out(commands: Commands) -> None:
    assert parse_command("FRAME #k7") == Invocation("frame", DebateArgument(debate="k7"))
    assert await said(commands, "frame k7") == "- k7, framed by u1"


async def test_help_and_hints_know_it(commands: Commands) -> None:
    assert "- `/debate frame` frames a debate (managers)" in await said(commands, "help")
    assert (
        await said(commands, "help frame") == "`/debate frame [debate]` frames a debate (managers)"
    )
    with pytest.raises(UsageError, match="did you mean frame"):
        parse_command("fraem")
    with pytest.raises(UsageError, match=r"Usage: /debate frame \[debate\]$"):
        parse_command("frame k7 more")


async def test_only_those_who_may_use_it(commands: Commands) -> None:
    somebody = MANAGER.model_copy(update={"manager": False})
    with pytest.raises(NotAllowedError, match="can frame a debate; please ask one"):
        await said(commands, "frame k7", somebody)
