"""What a service manager learns from `rostrum`: whether starting it again can help."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from adapters.database.file import lock
from tests.doubles.command import rostrum

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


@pytest.mark.parametrize("role", ["gateway", "worker"])
def test_a_process_of_a_fleet_on_sqlite_ends_with_78(tmp_path: Path, role: str) -> None:
    assert "ROSTRUM_DATABASE_URL" in rostrum(tmp_path, role).failed(78)


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


def test_other_commands_exit_1_for_a_wrong_setting(tmp_path: Path) -> None:
    refused = rostrum(tmp_path, "list", ROSTRUM_MODLES="x")
    assert (refused.code, refused.out) == (1, "")
    assert "ROSTRUM_MODLES is not a setting" in refused.err
