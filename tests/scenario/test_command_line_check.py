"""`rostrum check` fails whenever a debate could not start, and says what to do."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bot.doctor.debate import check_debate
from bot.doctor.doctor import run_check
from bot.research.series import plan_file
from bot.settings.load import load_settings
from engine.values.errors import RostrumError
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


@pytest.mark.each_case
@pytest.mark.parametrize(
    ("more", "subject", "told"),
    [
        ({}, "", ""),
        ({"PRICES": '{"near/ana": [1, 2]}'}, "debate", "ROSTRUM_PRICES"),
        ({"BACKENDS__NEAR__CLIENT": "OpenAI"}, "", ""),
        ({"BACKENDS__NEAR__CLIENT": "httpx"}, "settings", "must be rostrum or openai"),
        ({"RETRIEVAL__URL": "http://127.0.0.1:9/search"}, "", ""),
        (
            {"RETRIEVAL__URL": "http://127.0.0.1:9/v1", "RETRIEVAL__MODEL": "finder"},
            "debate",
            "retrieval/finder",
        ),
        ({"BUDGET__DEBATE_USD": "0.0001"}, "debate", "ROSTRUM_BUDGET__DEBATE_USD"),
        ({"BUDGET__COMMUNITY_DAILY_USD": "0.0001"}, "debate", "COMMUNITY_DAILY_USD"),
        ({"MODELS": "near/ana,near/bem"}, "backend near", "does not list bem; it lists ana"),
        ({"DEFAULT_A": "near/zoe"}, "backend near", "does not list zoe; it lists ana"),
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


@pytest.mark.each_case
@pytest.mark.parametrize(
    ("told", "failed"),
    [
        ({"meta": {"n_ctx": 512, "n_ctx_train": 8192}}, True),
        ({"max_model_len": 512}, True),
        ({"max_model_len": 8192}, False),
        ({"max_model_len": 200_000}, None),
        ({}, None),
    ],
)
@pytest.mark.usefixtures("folder")
async def test_a_context_that_is_too_short_is_found_before_the_first_call(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    told: Mapping[str, Any],
    failed: bool | None,
) -> None:
    async with ModelServer() as server:
        given = near(server)
        for model in server.models:
            model.update(told)
        for name, value in given.items():
            monkeypatch.setenv(f"ROSTRUM_{name}", value)
        settings = load_settings()
        found = [one async for one in check_debate(settings) if one.subject == "context"]
        assert server.requests == []
    words = {True: "--replace-model", False: "that leaves", None: ""}[failed]
    assert {one.good for one in found} == {True: {False}, False: {None}, None: set()}[failed]
    assert all(words in one.text for one in found)
    assert len({one.text for one in found}) == len(found)


async def test_a_plan_says_whose_context_is_too_short(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    file = folder / "near.toml"
    file.write_text(
        'name = "near"\ntopics = ["Tea beats coffee"]\nmodels = ["near/ana", "near/ben"]'
    )
    async with ModelServer() as server:
        for name, value in near(server).items():
            monkeypatch.setenv(f"ROSTRUM_{name}", value)
        server.models[0]["max_model_len"] = 512
        await plan_file(file, as_json=False, yes=True)
        assert server.requests == []
    told = [line for line in capsys.readouterr().out.splitlines() if "holds" in line]
    assert [line.startswith("FAIL  context: near/ana holds 512 tokens") for line in told] == [True]


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
        assert database.execute("SELECT name FROM installation").fetchall() == []
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
    monkeypatch.setattr("bot.doctor.doctor.FEWEST_BYTES", 10**18)
    assert "free at least" in (await look(monkeypatch, capsys))["disk"][0]
