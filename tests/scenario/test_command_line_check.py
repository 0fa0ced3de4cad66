"""`rostrum check` fails whenever a debate could not start; what a service manager learns."""

import asyncio
import json
import re
import socket
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from adapters.database.file import lock
from bot.doctor import run_check
from bot.doctor.trial import check_debate
from bot.research.series_runs import plan_file
from bot.serve.health import Health
from bot.settings.load import load_settings
from engine.store import Store
from engine.values.errors import RostrumError
from tests.doubles.command import Ended, printed_by, rostrum
from tests.doubles.model_server import ModelServer
from tests.kit import some
from tests.scenario.discord_stage import free_port
from tests.unit.test_health import ask, served

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


async def test_two_jurors_are_said_to_give_no_first_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """Every debate ended with “no verdict yet”, however clear it was."""
    third = {"JURORS": ",".join(f"near/{name}" for name in (*JURORS, "joy"))}
    file = folder / "near.toml"
    file.write_text('name = "near"\ntopics = ["Tea"]\nmodels = ["near/ana", "near/ben"]')
    async with ModelServer() as server:
        for more, noted in (({}, 1), (third, 0)):
            for name, value in near(server, **more).items():
                monkeypatch.setenv(f"ROSTRUM_{name}", value)
            with suppress(RostrumError):  # its price is unknown
                await run_check()
            with suppress(RostrumError):
                await plan_file(file, as_json=False, yes=True)
            said = capsys.readouterr().out
            assert said.count("6 readings have to agree, and 2 jurors give 4") == 2 * noted


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
    monkeypatch.setattr("bot.doctor.FEWEST_BYTES", 10**18)
    assert "free at least" in (await look(monkeypatch, capsys))["disk"][0]


SECRET = "hunter2-very-secret-value"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "No platform is configured"),
        ({"ROSTRUM_MODLES": "x"}, "ROSTRUM_MODLES is not a setting"),
        ({"ROSTRUM_SLACK__APP_TOKEN": SECRET}, "no token to speak with"),
        ({"ROSTRUM_DISCORD__TOKEN_FILE": "token"}, "The file token of ROSTRUM_DISCORD__TOKEN_FILE"),
    ],
)
def test_settings_that_no_retry_can_mend_end_a_server_with_78(
    tmp_path: Path, given: dict[str, str], said: str
) -> None:
    ended = rostrum(tmp_path, "run", **given)
    assert (ended.code, ended.out) == (78, "")
    assert said in ended.err
    assert SECRET not in ended.err


def test_check_exits_78_for_a_setting_and_1_for_all_else(tmp_path: Path) -> None:
    wrong = rostrum(tmp_path, "check", ROSTRUM_MODLES="x")
    assert wrong.code == 78
    assert "1 check failed" in wrong.err
    alone = rostrum(tmp_path, "check", ROSTRUM_JURORS="rehearsal/birch")
    assert alone.code == 78
    away = rostrum(
        tmp_path,
        "check",
        ROSTRUM_BACKENDS__NEAR__BASE_URL="http://127.0.0.1:9/v1",
        ROSTRUM_MODELS="near/a,near/b",
        ROSTRUM_JURORS="near/c,near/d",
    )
    assert away.code == 1


def test_check_says_where_each_secret_is_from_and_never_the_secret(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(SECRET)
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "rostrum_secret_key").write_text(SECRET)
    (tmp_path / ".env").write_text(f"ROSTRUM_RETRIEVAL__KEY={SECRET}")
    ended = rostrum(
        tmp_path,
        "check",
        ROSTRUM_EXPORT__HMAC_KEY_FILE="key",
        ROSTRUM_DATABASE_URL="sqlite+aiosqlite:///own.db",
        CREDENTIALS_DIRECTORY=str(tmp_path / "given"),
    )
    assert SECRET not in ended.out + ended.err
    lines = [line for line in ended.out.splitlines() if "secret: " in line]
    assert lines == [
        "ok    secret: ROSTRUM_RETRIEVAL__KEY is from .env",
        "ok    secret: ROSTRUM_DATABASE_URL is from the environment",
        "ok    secret: ROSTRUM_EXPORT__HMAC_KEY is from the file key",
        f"ok    secret: ROSTRUM_SECRET_KEY is from the file {tmp_path}/given/rostrum_secret_key",
    ]


def test_what_the_next_start_may_get_exits_1(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        slack = {"BOT_TOKEN": SECRET, "MODE": "http", "SIGNING_SECRET": SECRET, "PORT": port}
        slack["API_URL"] = "http://127.0.0.1:9/api"
        given = {f"ROSTRUM_SLACK__{name}": value for name, value in slack.items()}
        busy = rostrum(tmp_path, "run", ROSTRUM_HEALTH__PORT=port, **given)
        assert busy.code == 1
        assert f"Health cannot be served at 127.0.0.1:{port}: another program uses" in busy.err
        with lock(tmp_path / "rostrum.db"):
            held = rostrum(tmp_path, "run", **given)
    assert "Another Rostrum already runs" in held.failed(1)


async def health(folder: Path, *arguments: str, **settings: str) -> Ended:
    return await asyncio.to_thread(rostrum, folder, "health", *arguments, **settings)


def port_of(url: str) -> str:
    return url.rpartition(":")[2]


async def test_one_that_is_well_is_said_to_be_wherever_its_port_is_set(
    store: Store, tmp_path: Path
) -> None:
    connected = True
    async with served(Health(store, {"discord": lambda: connected})) as url:
        await ask(f"{url}/livez")
        for host in ("127.0.0.1", None, "0.0.0.0"):  # noqa: S104
            address = {} if host is None else {"ROSTRUM_HEALTH__HOST": host}
            ended = await health(tmp_path, ROSTRUM_HEALTH__PORT=port_of(url), **address)
            assert ended.done() == "Rostrum is well.\n"
        ended = await health(tmp_path, "--url", f"{url}/metrics")
        assert ended.failed(1) == f"What answers at {url}/metrics is not Rostrum; check the port."
        (tmp_path / ".env").write_text(f"ROSTRUM_HEALTH__PORT={port_of(url)}\n")
        assert (await health(tmp_path)).done() == "Rostrum is well.\n"
        connected = False
        assert (await health(tmp_path)).failed(1) == "Discord is not connected."
        alive = await health(tmp_path, "--url", f"{url}/livez")
        assert alive.done() == "Rostrum is well.\n"


async def test_without_a_port_or_an_address_or_a_rostrum_it_fails_with_one_sentence(
    tmp_path: Path,
) -> None:
    said = (await health(tmp_path)).failed(1)
    assert said.startswith("Health is not served")
    assert "ROSTRUM_HEALTH__PORT" in said
    port = free_port()
    assert (await health(tmp_path, ROSTRUM_HEALTH__PORT=str(port))).err == (
        f"rostrum: Rostrum did not answer at http://127.0.0.1:{port}/readyz: Connection refused. "
        "Is it running?\n"
    )
    for url in ("x", "ftp://127.0.0.1/", "http://127.0.0.1:ninety/"):
        ended = await health(tmp_path, "--url", url)
        assert "is not an http or https address" in ended.failed(1)


def test_it_loads_neither_settings_nor_the_engine() -> None:
    loaded = printed_by("import sys, bot.cli, bot.operations.probe; print(*sys.modules)").split()
    assert not {"pydantic", "sqlalchemy", "aiohttp", "structlog", "asyncio"} & {*loaded}


async def test_usd_caps_a_debate_and_its_mirror_before_anything_is_paid(tmp_path: Path) -> None:
    async with ModelServer() as server:
        given = {f"ROSTRUM_{name}": value for name, value in near(server).items()}

        async def run(*arguments: str) -> Ended:
            return await asyncio.to_thread(
                rostrum, tmp_path, "debate", "Tea", *arguments, "--votes", "A=1", **given
            )

        refused = (await run("--usd", "0")).failed(1)
        expected = float(some(re.search(r"expected to cost ([\d.]+) USD", refused))[1])
        assert refused.endswith("The cap is ROSTRUM_BUDGET__DEBATE_USD, or --usd in a terminal.")
        pair = (await run("--mirror", "--usd", f"{1.5 * expected:f}")).failed(1)
        assert "expected to cost" in pair
        assert not server.requests
    short = ("debate", "Tea", "--usd", "0.5", "--length", "short", "--votes", "A=1")
    sides = ("--a", "rehearsal/maple", "--b", "rehearsal/cedar")
    (await asyncio.to_thread(rostrum, tmp_path, *short, *sides)).done()
    with closing(sqlite3.connect(tmp_path / "rostrum.db")) as database:
        [setup] = database.execute("SELECT setup FROM debates").fetchone()
    assert json.loads(setup)["cap_usd"] == 0.5


@pytest.mark.parametrize("role", ["gateway", "worker"])
def test_a_process_of_a_fleet_on_sqlite_ends_with_78(tmp_path: Path, role: str) -> None:
    assert "ROSTRUM_DATABASE_URL" in rostrum(tmp_path, role).failed(78)
