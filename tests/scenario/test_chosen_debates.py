"""The options that choose debates choose the same ones on every command."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
import typer

from bot.cli import app
from bot.commands.choice import EVERY_DEBATE, DebateChoice
from bot.record.pages import viewing, write_reports
from bot.record.tables import list_debates, show_usage
from bot.research.judgments import run_judge
from engine.dataset.writer import export
from engine.store.archive import ExportFilter
from engine.values.errors import NotFoundError, UsageError
from tests.scenario.conftest import Stage
from tests.scenario.test_format_debates import hold

STRUCTURED = EVERY_DEBATE._replace(formats="structured")
YEAR_AGO = EVERY_DEBATE._replace(until="2020-01-01")


async def test_they_choose_the_same_debates_everywhere(
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", stage.url)
    async with stage.process() as line:
        other, wanted = await hold(line, "oxford"), await hold(line, "structured")

    async def listed(chosen: DebateChoice) -> list[str]:
        await list_debates(None, 10, chosen, as_json=True)
        return [one["code"] for one in orjson.loads(capsys.readouterr().out)["debates"]]

    assert await listed(EVERY_DEBATE) == [wanted.code, other.code]
    assert await listed(STRUCTURED) == [wanted.code]
    assert await listed(YEAR_AGO) == await listed(DebateChoice()) == []
    assert await listed(STRUCTURED._replace(quorum_met=True)) == [wanted.code]

    await show_usage("model", STRUCTURED, as_json=True)
    assert orjson.loads(capsys.readouterr().out)["all"]["debates"] == 1
    await show_usage("model", STRUCTURED._replace(quorum_met=True), as_json=True)
    assert orjson.loads(capsys.readouterr().out)["all"]["debates"] == 1

    async with viewing(None, 0, STRUCTURED) as view:
        assert view.debates == 1

    await write_reports(None, tmp_path / "pages", STRUCTURED)
    assert {one.stem for one in (tmp_path / "pages").iterdir()} == {f"debate-{wanted.code}"}
    for name, chosen in ((wanted.code, STRUCTURED), (None, EVERY_DEBATE)):
        with pytest.raises(UsageError, match="Name a debate, or choose some"):
            await write_reports(name, tmp_path, chosen)
    with pytest.raises(NotFoundError, match="No debate that has ended"):
        await write_reports(None, tmp_path, YEAR_AGO)

    capsys.readouterr()
    with pytest.raises(UsageError, match="Ask them about 1 of the debates"):
        await run_judge(None, "rehearsal/ash", STRUCTURED)
    await run_judge(None, "rehearsal/ash", STRUCTURED, yes=True, as_json=True)
    assert len(orjson.loads(capsys.readouterr().out)["debates"]) == 1


COMMANDS = ("export", "push", "usage", "list", "stats", "report", "view", "judge", "label create")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_chooses_debates_has_every_option_for_it(name: str) -> None:
    command = typer.main.get_command(app)
    for word in name.split():
        command = command.get_command(typer.Context(command), word)  # type: ignore[attr-defined]
    assert {one.name for one in command.params} >= set(DebateChoice._fields)


async def test_a_report_of_an_export_is_that_of_the_database(
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ROSTRUM_DATABASE_URL", stage.url)
    async with stage.process() as line:
        debate = await hold(line, "classic")
        await export(line.store, tmp_path / "out", ExportFilter(), None, version="1")
    await write_reports(debate.code, tmp_path / "stored", EVERY_DEBATE)
    for name, place in ((debate.code, "one"), (None, "all")):
        await write_reports(name, tmp_path / place, EVERY_DEBATE, tmp_path / "out")
        for ending in ("md", "html"):
            told, stored = (
                (tmp_path / each / f"debate-{debate.code}.{ending}").read_text("utf-8")
                for each in (place, "stored")
            )
            assert sorted(told.splitlines()) == sorted(stored.splitlines())
    assert capsys.readouterr().out.count("Wrote ") == 3
    with pytest.raises(UsageError, match="for the database"):
        await write_reports(None, tmp_path, STRUCTURED, tmp_path / "out")
    with pytest.raises(UsageError, match="no folder"):
        await write_reports(None, tmp_path, EVERY_DEBATE, tmp_path / "none")
