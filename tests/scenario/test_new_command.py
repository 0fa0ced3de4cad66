"""A new command is one entry: text, hints, help, permission and the work follow from it."""

import re
from dataclasses import replace

import pytest

from engine.chat.answers import Answer, to_markdown
from engine.chat.commands import COMMANDS, Command, Commands, parse_command
from engine.chat.context import Context, Requester, managers
from engine.chat.invocation import Invocation
from engine.chat.parameters import DEBATE
from engine.formats import FORMATS
from engine.values.debate import Length
from engine.values.errors import NotAllowedError, UsageError
from engine.values.language import Text
from tests.scenario.conftest import DEFAULTS, Running

MANAGER = Requester(platform="memory", community="club", place="lobby", user="u1", manager=True)


async def frame(context: Context, person: Requester, debate: str) -> Answer:
    return Answer(texts=(Text("- {debate}, framed by {user}", debate=debate, user=person.user),))


ENTRY = Command("frame", "frames a debate", frame, DEBATE, managers("frame a debate"))


@pytest.fixture
def commands(line: Running, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.setitem(COMMANDS, "frame", ENTRY)
    return Commands(line.service, line.store, DEFAULTS, "1.2.3")


async def said(commands: Commands, text: str, person: Requester = MANAGER) -> str:
    answer: Answer = await commands.run(person, parse_command(text))
    return to_markdown(answer)


async def test_it_is_read_carried_out_explained_hinted_at_and_kept_from_others(
    commands: Commands,
) -> None:
    assert parse_command("FRAME #k7") == Invocation("frame", {"debate": "k7"})
    assert await said(commands, "frame k7") == "- k7, framed by u1"
    told = "`/debate frame{}` frames a debate (managers)"
    assert f"- {told.format('')}" in await said(commands, "help")
    assert await said(commands, "help frame") == told.format(" [debate]")
    with pytest.raises(UsageError, match="did you mean frame"):
        parse_command("fraem")
    with pytest.raises(UsageError, match=r"Usage: /debate frame \[debate\]$"):
        parse_command("frame k7 more")
    with pytest.raises(NotAllowedError, match="can frame a debate; please ask one"):
        await said(commands, "frame k7", MANAGER.model_copy(update={"manager": False}))


async def test_formats_say_what_they_are_like_how_long_they_read_and_what_they_cost(
    commands: Commands,
) -> None:
    for text in ("formats", "help"):
        listed = await said(commands, text)
        for name, script in FORMATS.items():
            line = next(one for one in listed.splitlines() if one.startswith(f"- `{name}`: "))
            assert script.about in line
            assert re.search(r"about \d+ minutes? to read · ", line), line
    short = commands.defaults.model_copy(update={"length": Length.SHORT})
    shorter = replace(commands, defaults=short)
    for name in FORMATS:
        assert minutes_of(await said(shorter, "formats"), name) <= minutes_of(
            await said(commands, "formats"), name
        )
    assert minutes_of(await said(shorter, "formats"), "classic") <= 5
    # Where no debate can begin, what the format is like still stands.
    none = replace(
        commands, defaults=commands.defaults.model_copy(update={"models": (), "sides": {}})
    )
    assert FORMATS["classic"].about in await said(none, "formats")
    assert "to read" not in await said(none, "formats")


def minutes_of(listed: str, name: str) -> int:
    found = re.search(rf"`{name}`: .*about (\d+) minute", listed)
    assert found
    return int(found[1])
