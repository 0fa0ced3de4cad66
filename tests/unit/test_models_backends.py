"""Backends: presets, and the sentences for what is wrong with a setting."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from adapters.models.backends import PRESETS, Backend
from adapters.models.connection import pool_size
from adapters.models.router import open_models
from engine.values.errors import SettingsError

KEY = SecretStr("sk-canary-0123456789")


def test_a_preset_needs_a_key_at_most() -> None:
    for name, preset in PRESETS.items():
        backend = Backend.of(name, preset=name, api_key=KEY if preset.key else None)
        assert backend.base_url == preset.base_url
        assert backend.local is preset.local


def test_local_presets_cost_nothing_and_take_few_calls_at_once() -> None:
    backend = Backend.of("mine", preset="Ollama")
    assert backend.local
    assert backend.max_concurrency == 4


def test_what_is_given_wins_over_the_preset() -> None:
    backend = Backend.of(
        "x", preset="ollama", base_url="http://10.0.0.2:9/v1/", max_concurrency=9, local=False
    )
    assert (backend.base_url, backend.max_concurrency) == ("http://10.0.0.2:9/v1", 9)
    assert not backend.local


def test_names_are_case_insensitive() -> None:
    assert Backend.of("Online", base_url="http://127.0.0.1:1").name == "online"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"preset": "opnai"}, "did you mean openai"),
        ({"preset": "nope"}, "unknown preset “nope”; known are openai, "),
        ({"preset": "zzz"}, "known are openai"),
        ({}, "ROSTRUM_BACKENDS__X__BASE_URL or a preset"),
        ({"base_url": "ftp://host"}, "not an http or https address"),
        ({"base_url": "http://host:99999"}, "not an http or https address"),
        ({"base_url": "http://u:canary@host/v1"}, "holds a user name or password"),
        ({"base_url": "http://a b"}, "not an http or https address"),
        ({"base_url": "http://api..example/v1"}, "not an http or https address"),
        ({"base_url": f"http://{'a' * 64}.example/v1"}, "not an http or https address"),
        ({"preset": "openai"}, "ROSTRUM_BACKENDS__X__API_KEY"),
        ({"preset": "openai", "api_key": SecretStr("  ")}, "has no key"),
        ({"preset": "openai", "api_key": SecretStr("sk\u00a0x")}, "copy the key again"),
    ],
)
def test_a_wrong_setting_is_one_sentence(given: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError, match=said) as caught:
        Backend.of("x", **given)  # type: ignore[arg-type]
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "a/b", "a#b", "rehearsal", "Rehearsal"])
def test_names_that_no_backend_may_have(name: str) -> None:
    with pytest.raises(SettingsError, match="ROSTRUM_BACKENDS"):
        Backend.of(name, base_url="http://127.0.0.1:1")


def test_the_built_in_backend_cannot_be_replaced() -> None:
    backend = Backend.of("x", base_url="http://127.0.0.1:1")
    with pytest.raises(SettingsError, match="built in"):
        open_models({"rehearsal": backend})


def test_a_key_is_not_shown() -> None:
    backend = Backend.of("x", preset="openai", api_key=KEY)
    assert "canary" not in repr(backend) + backend.model_dump_json()


def test_the_pool_leaves_files_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.models.connection._file_limit", lambda: 100)
    assert pool_size(5000) == 80
    assert pool_size(10) == 10
