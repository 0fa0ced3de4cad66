"""Secrets in files: where they are found, which is refused, and that none is shown."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.settings import load
from bot.settings.load import find_secrets, load_settings
from engine.values.errors import SettingsError
from tests.kit import some

SECRET = "hunter2-very-secret-value"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with an empty environment; `mounted` stands for /run/secrets."""
    for name in [name for name in os.environ if name.upper().startswith("ROSTRUM_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv(load.GIVEN_BY_SYSTEMD, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(load, "MOUNTED", tmp_path / "mounted")
    (tmp_path / "mounted").mkdir()
    return tmp_path


def refusal() -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings()
    sentence = str(caught.value)
    assert SECRET not in sentence
    assert "\n" not in sentence
    assert sentence.endswith((".", "?"))
    return sentence


def test_every_secret_can_be_in_a_file_that_a_setting_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "sqlite+aiosqlite:///elsewhere.db"
    held = {
        "DATABASE_URL": address,
        "BACKENDS__BOX__API_KEY": "box-key",
        "DISCORD__TOKEN": "discord-token",
        "SLACK__BOT_TOKEN": "bot-token",
        "SLACK__APP_TOKEN": "app-token",
        "SLACK__SIGNING_SECRET": "signing-secret",
        "SECRET_KEY": "a-newer-secret-key, an-older-secret-key",
        "EXPORT__HMAC_KEY": "hmac-key",
        "RETRIEVAL__KEY": "search-key",
    }
    for name, value in held.items():
        (folder / name).write_text(f"{value}\n")
        monkeypatch.setenv(f"ROSTRUM_{name}_FILE", name)
    monkeypatch.setenv("ROSTRUM_BACKENDS__BOX__BASE_URL", "http://127.0.0.1:9/v1")
    settings = load_settings()
    assert settings.database_url.get_secret_value() == address
    assert settings.vault_keys() == ("a-newer-secret-key", "an-older-secret-key")
    masked = {*held.values(), *settings.vault_keys()} - {address, held["SECRET_KEY"]}
    assert settings.secrets() == masked
    assert dict(find_secrets()) == {f"ROSTRUM_{name}": f"the file {name}" for name in held}


@pytest.mark.parametrize("by_systemd", [False, True])
def test_files_of_the_host_are_found_by_their_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch, by_systemd: bool
) -> None:
    given = folder / "mounted"
    if by_systemd:
        given = folder / "credentials"
        given.mkdir()
        monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(given))
    (given / "rostrum_discord__token").write_text("discord-token\r\n")
    (given / "rostrum_backends__box__api_key").write_text("box-key")
    (given / "database_password").write_text("another program's")
    monkeypatch.setenv("ROSTRUM_BACKENDS__BOX__PRESET", "openai")
    settings = load_settings()
    assert some(settings.discord.token).get_secret_value() == "discord-token"
    assert settings.endpoints()[0].api_key == settings.backends["box"].api_key is not None
    assert settings.secrets() == {"discord-token", "box-key"}
    found = dict(find_secrets())["ROSTRUM_DISCORD__TOKEN"]
    assert found == f"the file {given / 'rostrum_discord__token'}"


def test_files_of_every_kind_name_files_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        (folder / name).write_text(f"secret-{name}")
    (folder / ".env").write_text("ROSTRUM_DISCORD__TOKEN_FILE=a\n")
    (folder / "rostrum.toml").write_text('[slack]\nbot_token_file = "b"\napp_token = "app"\n')
    monkeypatch.setenv("ROSTRUM_BACKENDS", '{"box": {"preset": "openai", "api_key_file": "c"}}')
    settings = load_settings()
    assert settings.secrets() == {"secret-a", "secret-b", "secret-c", "app"}
    (folder / "d").write_text("secret-d")
    monkeypatch.setenv("ROSTRUM_DISCORD__TOKEN_FILE", "d")  # over the one in .env
    assert "secret-d" in load_settings().secrets()


BROKEN: list[tuple[str, Callable[[Path], object]]] = [
    ("does not exist; create it, or leave the setting out.", lambda file: None),
    ("is a folder; name the file that holds the secret.", Path.mkdir),
    ("is empty; write the secret into it", lambda file: file.write_text(" \n")),
    ("is larger than 64 KiB; it must hold", lambda file: file.write_text(SECRET * 10_000)),
    ("is not UTF-8 text; save it", lambda file: file.write_bytes(SECRET.encode("utf-16"))),
    ("must hold one line of text", lambda file: file.write_text(f"{SECRET}\n{SECRET}\n")),
    ("cannot be read: ", lambda file: file.symlink_to(file)),
]


@pytest.mark.parametrize(("problem", "make"), BROKEN)
def test_a_file_without_a_secret_is_refused_by_setting_and_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, problem: str, make: Callable[[Path], object]
) -> None:
    file = folder / "token"
    make(file)
    monkeypatch.setenv("ROSTRUM_DISCORD__TOKEN_FILE", str(file))
    assert refusal().startswith(f"The file {file} of ROSTRUM_DISCORD__TOKEN_FILE {problem}")
    monkeypatch.delenv("ROSTRUM_DISCORD__TOKEN_FILE")
    if problem.startswith("does not"):
        return
    mounted = folder / "mounted" / "rostrum_discord__token"
    make(mounted)
    assert refusal().startswith(f"The file {mounted} of ROSTRUM_DISCORD__TOKEN {problem}")


def test_a_secret_given_twice_is_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "token").write_text(f"{SECRET}\n")
    monkeypatch.setenv("ROSTRUM_DISCORD__TOKEN_FILE", "token")
    monkeypatch.setenv("ROSTRUM_DISCORD__TOKEN", SECRET)
    assert load_settings().secrets() == {SECRET}
    differs = "ROSTRUM_DISCORD__TOKEN differs in {} and in the file token; keep one of them."
    monkeypatch.setenv("ROSTRUM_DISCORD__TOKEN", f"{SECRET}-old")
    assert refusal() == differs.format("the environment")
    monkeypatch.delenv("ROSTRUM_DISCORD__TOKEN")
    mounted = folder / "mounted" / "rostrum_discord__token"
    mounted.write_text(f"{SECRET}-old")
    assert refusal() == differs.format(f"the file {mounted}")


def test_a_value_in_a_file_is_checked_and_only_known_secrets_have_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = folder / "mounted" / "rostrum_secret_key"
    file.write_text("too-short")
    assert refusal().startswith(f"ROSTRUM_SECRET_KEY in {file} has a key of fewer than 16")
    for name, advice in (
        ("rostrum_discord__tokn", "did you mean rostrum_discord__token?"),
        ("rostrum_log__level", "remove it, or name it after a setting."),
    ):
        file = file.replace(folder / "mounted" / name)
        assert refusal() == f"The file {file} is named after no secret setting; {advice}"
    file.unlink()
    monkeypatch.setenv("ROSTRUM_LOG__LEVEL_FILE", "level")
    unknown = "ROSTRUM_LOG__LEVEL_FILE is not a setting; did you mean ROSTRUM_LOG__LEVEL?"
    assert refusal() == unknown
