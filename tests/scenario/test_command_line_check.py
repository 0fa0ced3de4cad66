"""`rostrum check` fails whenever a debate could not start, and says what to do."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from bot.doctor.doctor import run_check
from engine.errors import RostrumError
from tests.doubles.model_server import ModelServer

DEBATERS, JURORS = ("ana", "ben"), ("jo#kin1", "jim#kin2")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def look(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], **given: str
) -> dict[str, list[str]]:
    """Return the lines that failed, by what they are about; none when the check is content."""
    for name, value in given.items():
        monkeypatch.setenv(f"ROSTRUM_{name}", value)
    failed = True
    try:
        await run_check()
        failed = False
    except RostrumError:
        pass
    found: dict[str, list[str]] = {}
    for line in capsys.readouterr().out.splitlines():
        if match := re.fullmatch(r"FAIL  ([^:]+): (.+)", line):
            found.setdefault(match[1], []).append(match[2])
    assert bool(found) == failed
    return found


def near(server: ModelServer, **more: str) -> Mapping[str, str]:
    """Set a backend on which everything is right."""
    server.models = [{"id": name} for name in ("ana", "ben", "jo", "jim")]
    return {
        "BACKENDS__NEAR__BASE_URL": server.base_url,
        "MODELS": ",".join(f"near/{name}" for name in DEBATERS),
        "JURORS": ",".join(f"near/{name}" for name in JURORS),
        "PRICES": '{"near/ana": [1, 2], "near/ben": [1, 2], "near/jo": [1, 2], "near/jim": [1, 2]}',
        **more,
    }


@pytest.mark.parametrize(
    ("more", "subject", "told"),
    [
        ({}, "", ""),
        ({"PRICES": '{"near/ana": [1, 2]}'}, "debate", "ROSTRUM_PRICES"),
        ({"RETRIEVAL__URL": "http://127.0.0.1:9/search"}, "", ""),
        (
            {"RETRIEVAL__URL": "http://127.0.0.1:9/v1", "RETRIEVAL__MODEL": "finder"},
            "debate",
            "retrieval/finder",
        ),
        ({"BUDGET__DEBATE_USD": "0.0001"}, "debate", "ROSTRUM_BUDGET__DEBATE_USD"),
        ({"BUDGET__COMMUNITY_DAILY_USD": "0.0001"}, "debate", "COMMUNITY_DAILY_USD"),
        ({"MODELS": "near/ana,near/bem"}, "backend near", "does not list bem;"),
        ({"DEFAULT_A": "near/zoe"}, "backend near", "does not list zoe;"),
        ({"JURORS": "near/jo#ana,near/jim#kin2"}, "panel", "1 juror of another family is left"),
    ],
)
@pytest.mark.usefixtures("folder")
async def test_a_debate_that_could_not_start_fails_the_check_and_pays_for_nothing(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: Mapping[str, str],
    subject: str,
    told: str,
) -> None:
    async with ModelServer() as server:
        found = await look(monkeypatch, capsys, **near(server, **more))
    assert bool(found) == bool(subject)
    if subject:
        assert told in " ".join(found[subject])


@pytest.mark.usefixtures("folder")
async def test_every_wrong_setting_is_named_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {
        "MODLES": "x/y",
        "PRICES": "{",
        "LOG__LEVEL": "loud",
        "DEFAULT_QUORUM": "many",
        "BACKENDS__A__PRESET": "opensesame",
        "BACKENDS__B__BASE_URL": "nowhere",
        "TEMPLATES_DIR": "missing",
        "SLACK__APP_TOKEN": "xapp-1",
    }
    told = (await look(monkeypatch, capsys, **wrong))["settings"]
    for name in ("MODLES", "PRICES", "LOG__LEVEL", "QUORUM", "B__BASE_URL", "TEMPLATES_DIR"):
        assert sum(f"ROSTRUM_{name}" in line or f"_{name}" in line for line in told) == 1
    assert sum("opensesame" in line for line in told) == 1
    assert sum("no token to speak with" in line for line in told) == 1
    assert len(told) == len(wrong)


@pytest.mark.sqlite
async def test_a_database_that_is_damaged_or_takes_no_write_fails_the_check(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    database_url: str,
    folder: Path,
) -> None:
    there = {"DATABASE_URL": database_url}
    assert await look(monkeypatch, capsys, **there) == {}
    file = folder / "rostrum.db"
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT name FROM installation").fetchall() == [("suits",)]
        database.execute(
            "CREATE TRIGGER full BEFORE INSERT ON installation BEGIN "
            "SELECT RAISE(FAIL, 'database or disk is full'); END"
        )
        database.commit()
    assert "Free some space" in (await look(monkeypatch, capsys, **there))["database"][0]
    whole = file.read_bytes()
    file.write_bytes(whole[:8192] + b"\xff" * (len(whole) - 8192))
    assert "restore it from a backup" in (await look(monkeypatch, capsys, **there))["database"][0]


@pytest.mark.usefixtures("folder")
async def test_a_disk_without_room_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("bot.doctor.database.FEWEST_BYTES", 10**18)
    assert "free at least" in (await look(monkeypatch, capsys))["disk"][0]
