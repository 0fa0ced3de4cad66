"""`rostrum gateway` and `rostrum worker`: what each needs, and what it says without it."""

from pathlib import Path

import pytest

from adapters.database.database import SqlDatabase
from bot.settings.load import load_settings
from bot.settings.settings import PLATFORMS
from engine.values.errors import SettingsError, StoreError
from tests.doubles.command import rostrum

SHARED = "postgresql+psycopg://rostrum@127.0.0.1:1/rostrum"


@pytest.mark.parametrize("role", ["gateway", "worker"])
def test_on_sqlite_a_gateway_and_a_worker_end_with_one_sentence(role: str, tmp_path: Path) -> None:
    said = rostrum(tmp_path, role).failed(78)
    assert said.startswith(f"rostrum {role} shares its database with other processes")
    assert said.endswith("set ROSTRUM_DATABASE_URL to a PostgreSQL address, or use rostrum run.")
    assert not list(tmp_path.iterdir()), "nothing was created"


def test_a_gateway_without_a_token_says_which_to_set(tmp_path: Path) -> None:
    ended = rostrum(tmp_path, "gateway", ROSTRUM_DATABASE_URL=SHARED)
    said = ended.failed(ended.code or -1)
    assert said.startswith("No platform is configured: set ROSTRUM_DISCORD__TOKEN")


def test_a_worker_reads_no_platform_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that is wrong, or half a set of them, is none of its business."""
    monkeypatch.setenv("ROSTRUM_DISCORD__TOKEN", "canary-token")
    monkeypatch.setenv("ROSTRUM_SLACK__APP_TOKEN", "canary-app")
    monkeypatch.setenv("ROSTRUM_SLACK__PORT", "many")
    files = (tmp_path / ".env", tmp_path / "rostrum.toml")
    with pytest.raises(SettingsError):
        load_settings(*files)
    settings = load_settings(*files, without=PLATFORMS)
    assert settings.discord.token is None
    assert not [secret for secret in settings.secrets() if "canary" in secret]


def test_without_its_extra_postgresql_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.database.database.find_spec", lambda name: None)
    with pytest.raises(StoreError, match=r"needs psycopg and procrastinate.*run pip install"):
        SqlDatabase(SHARED)
