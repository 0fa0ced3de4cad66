"""What a provider says in an error stays with the operator: no chat, page or export repeats it."""

import asyncio
import re
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from adapters.database.database import SqlDatabase
from bot.commands.choice import EVERY_DEBATE
from bot.record.filters import ExportChoices, run_export
from bot.record.pages import export_pages
from engine.values.debate import Debate, Status
from tests.doubles import model_server as acts
from tests.scenario.conftest import JURORS, Running, Stage, in_thread
from tests.scenario.test_reading import _read_all, reading, stored, text_of

KEY = "sk-ant-api03-abcdefghijklmnop"
WORDS = (
    f"upstream-canary said\x1b]52;c;aGk=\x07 that {KEY} at https://ops:hunter22@10.0.0.7/v1 is "
    "\u202ewrong\x9b31m"
)
CANARIES = ("upstream-canary", "hunter22", "10.0.0.7", "Backend “near”")
RAW = f"Backend “near” is overloaded (503): {WORDS} (model “j1”, 6 tries); try again later."


async def everything_public(
    stage: Stage, debate: Debate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    """Return all that people may read of a debate, by where it stands."""
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", stage.url)
    chosen = ExportChoices(EVERY_DEBATE, prompts=True)
    await run_export(tmp_path / "rows", chosen)
    await export_pages(tmp_path / "html", chosen)
    files = await asyncio.to_thread(_read_all, tmp_path)
    found = {path: body.decode() for path, body in files.items() if not path.endswith(".db")}
    found["thread"] = "\n".join(message.body for message in in_thread(stage))
    async with stored(stage.url) as library, reading(library) as client:
        found["page"] = await text_of(client, f"/debates/{debate.code}")
        calls = (await library.calls(debate.id)).sums.calls
        for number in range(1, calls + 1):
            path = f"/debates/{debate.code}/calls/{number}"
            found[path] = await text_of(client, path)
    return found


def check(found: dict[str, str], failure: str) -> None:
    repeated = [(place, word) for place, text in found.items() for word in CANARIES if word in text]
    assert not repeated
    verdicts = "".join(text for place, text in found.items() if "/verdicts" in place)
    assert f"no answer: {failure}" in verdicts
    assert f"no answer: {failure}" in found["page"]


async def hold(line: Running, stage: Stage) -> Debate:
    stage.server.always(acts.status(503, message=WORDS), model=JURORS[0].name)
    stage.server.script(acts.status(500, message=WORDS), acts.error_body(WORDS))
    debate = await line.hold()
    assert debate.status is Status.CLOSED, debate.reason
    return debate


async def test_an_error_of_a_juror_or_in_a_reason_is_told_by_its_kind_and_status_alone(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with capture_logs() as logs:
        async with stage.process() as line:
            debate = await hold(line, stage)
            calls = (await line.record(debate.id)).calls
            failures = await line.store.usage.failures(debate.id)
    check(await everything_public(stage, debate, tmp_path / "one", monkeypatch), "overloaded (503)")
    database = SqlDatabase(stage.url)
    await database.run("UPDATE debates SET reason = :why", why=RAW)
    await database.close()
    check(await everything_public(stage, debate, tmp_path / "two", monkeypatch), "overloaded (503)")
    # The operator reads it in the journal; the log, which may be of a blind debate, has the kind.
    kept = [call.error for call in calls if call.error]
    assert {one.why for one in failures} == set(kept)
    assert sum(one.tries for one in failures) == len(kept)
    assert next(one.model for one in failures if "503" in one.why) == JURORS[0].ref
    assert {error.partition(": ")[0] for error in kept} == {
        "is overloaded (503)",
        "failed (500)",
        "answered with an error",
    }
    whys = {entry["why"] for entry in logs if entry["event"] == "no answer"}
    assert whys == {"no answer: overloaded (503)"}
    for told in kept:
        assert "upstream-canary" in told
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", told)
        assert KEY[6:] not in told
        assert "hunter22" not in told
        assert len(told) < 600
