"""Finding models: at a backend, and on this machine."""

from __future__ import annotations

import asyncio
import socket
from functools import partial

import pytest
from pydantic import SecretStr

from adapters.models.backends import Backend
from adapters.models.discovery import KnownServer, find_local_servers, probe
from bot.demo import local_servers
from engine.values.errors import ModelError
from tests.doubles.model_server import ModelServer
from tests.kit import HANG_SECONDS
from tests.scenario.discord_stage import free_port


async def test_a_backend_lists_its_models() -> None:
    async with ModelServer() as server:
        server.models = [{"id": "llama"}, {"id": "qwen"}, {"name": "no id"}]
        assert await probe(Backend.of("near", base_url=server.base_url)) == ["llama", "qwen"]


async def test_an_address_without_a_list_says_what_to_check() -> None:
    async with ModelServer() as server:
        backend = Backend.of("near", base_url=server.base_url.removesuffix("/v1"))
        with pytest.raises(ModelError, match=r"“near” has no list of models .* ends in /v1"):
            await probe(backend)


async def test_a_backend_that_is_not_there_says_so_without_the_key() -> None:
    key = SecretStr("sk-canary-123456789")
    address = f"http://127.0.0.1:{free_port()}/v1"
    with pytest.raises(ModelError, match=r"could not be reached at http://127\.0\.0\.1:") as caught:
        await probe(Backend.of("near", base_url=address, api_key=key))
    assert "canary" not in str(caught.value)


async def test_servers_on_this_machine_are_found_and_the_rest_is_silent() -> None:
    async with ModelServer() as server:
        server.models = [{"id": f"m{i}"} for i in range(9)]
        places = (
            KnownServer("ollama", "Ollama", server.base_url),
            KnownServer("lmstudio", "LM Studio", f"http://127.0.0.1:{free_port()}/v1"),
        )
        (found,) = await find_local_servers(places)
    assert (found.preset, found.base_url) == ("ollama", server.base_url)
    assert found.models == ("m0", "m1", "m2", "m3", "m4")


async def test_a_demo_finds_a_server_that_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer() as server:
        place = KnownServer("ollama", "Ollama", server.base_url)
        found = partial(find_local_servers, (place,))
        monkeypatch.setattr("adapters.models.discovery.find_local_servers", found)
        monkeypatch.setattr("bot.demo.LM_STUDIO", f"http://127.0.0.1:{free_port()}/v1")
        monkeypatch.setattr("bot.demo.OLLAMA", server.base_url)
        assert [one.base_url for one in await local_servers()] == [server.base_url]
        monkeypatch.setattr("bot.demo.OLLAMA", f"http://127.0.0.1:{free_port()}/v1")
        assert await local_servers() == [], "no port was open"


async def test_a_server_that_never_answers_takes_no_time() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        place = KnownServer("ollama", "Ollama", f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        async with asyncio.timeout(HANG_SECONDS):  # it would wait for ever
            assert await find_local_servers((place,), within_s=0.1) == []
