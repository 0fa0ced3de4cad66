"""`rostrum show` and `rostrum list` print nothing that a terminal would obey."""

import json
import re

import pytest

from adapters.database.database import SqlDatabase
from bot.record.tables import list_debates, show_debate
from tests.scenario.conftest import Stage

ODD = (
    "canary \x1b[2J\x1b]0;t\x07 \x1b]52;c;aGk=\x07 \x1b]8;;http://127.0.0.1/\x1b\\x "
    "\x9b31m \x9d0;t\x9c \b\r\x7f \u202eabc \u2066d"
)
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


async def test_a_stored_text_does_nothing_to_a_terminal(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with stage.process() as line:
        debate = await line.hold()
    database = SqlDatabase(stage.url)
    await database.run("UPDATE debates SET reason = :odd, community = :odd", odd=ODD)
    await database.close()
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", stage.url)
    for as_json in (False, True):
        capsys.readouterr()
        await show_debate(debate.code, as_json=as_json)
        shown = capsys.readouterr().out
        await list_debates(None, 10, as_json=as_json)
        listed = capsys.readouterr().out
        assert "canary" in shown
        for printed in (shown, listed):
            assert not OBEYED.search(printed)
        if as_json:
            assert json.loads(shown)["reason"] == ODD
