"""`rostrum health`, as a container's health check runs it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.serve.health import Health
from engine.store import Store
from tests.doubles.command import Ended, printed_by, rostrum
from tests.scenario.discord_stage import free_port
from tests.unit.test_health import ask, served


async def health(folder: Path, *arguments: str, **settings: str) -> Ended:
    return await asyncio.to_thread(rostrum, folder, "health", *arguments, **settings)


def port_of(url: str) -> str:
    return url.rpartition(":")[2]


@pytest.mark.parametrize("host", ["127.0.0.1", None, "0.0.0.0"])  # noqa: S104
async def test_one_that_is_well_is_said_to_be(
    store: Store, tmp_path: Path, host: str | None
) -> None:
    async with served(Health(store, {"discord": lambda: True})) as url:
        await ask(f"{url}/livez")
        address = {} if host is None else {"ROSTRUM_HEALTH__HOST": host}
        ended = await health(tmp_path, ROSTRUM_HEALTH__PORT=port_of(url), **address)
        assert ended.done() == "Rostrum is well.\n"


async def test_what_is_wrong_is_said_and_it_fails(store: Store, tmp_path: Path) -> None:
    async with served(Health(store, {"discord": lambda: False})) as url:
        await ask(f"{url}/livez")
        ended = await health(tmp_path, ROSTRUM_HEALTH__PORT=port_of(url))
        assert ended.failed(1) == "Discord is not connected."
        alive = await health(tmp_path, "--url", f"{url}/livez")
        assert alive.done() == "Rostrum is well.\n"


async def test_what_is_not_rostrum_is_said(store: Store, tmp_path: Path) -> None:
    async with served(Health(store, {})) as url:
        await ask(f"{url}/livez")
        ended = await health(tmp_path, "--url", f"{url}/metrics")
        assert ended.failed(1) == f"What answers at {url}/metrics is not Rostrum; check the port."


async def test_the_port_of_a_file_of_settings_is_asked(store: Store, tmp_path: Path) -> None:
    async with served(Health(store, {})) as url:
        await ask(f"{url}/livez")
        (tmp_path / ".env").write_text(f"ROSTRUM_HEALTH__PORT={port_of(url)}\n")
        assert (await health(tmp_path)).done() == "Rostrum is well.\n"


async def test_without_a_port_it_says_which_setting_to_make(tmp_path: Path) -> None:
    said = (await health(tmp_path)).failed(1)
    assert said.startswith("Health is not served")
    assert "ROSTRUM_HEALTH__PORT" in said


async def test_a_rostrum_that_is_down_fails_with_one_sentence(tmp_path: Path) -> None:
    port = free_port()
    ended = await health(tmp_path, ROSTRUM_HEALTH__PORT=str(port))
    assert ended.code == 1
    assert ended.err == (
        f"rostrum: Rostrum did not answer at http://127.0.0.1:{port}/readyz: Connection refused. "
        "Is it running?\n"
    )


@pytest.mark.parametrize("url", ["x", "ftp://127.0.0.1/", "http://127.0.0.1:ninety/"])
async def test_what_is_no_address_is_refused(tmp_path: Path, url: str) -> None:
    assert "is not an http or https address" in (await health(tmp_path, "--url", url)).failed(1)


def test_it_loads_neither_settings_nor_the_engine() -> None:
    loaded = printed_by("import sys, bot.cli, bot.operations.probe; print(*sys.modules)").split()
    assert not {"pydantic", "sqlalchemy", "aiohttp", "structlog", "asyncio"} & {*loaded}
