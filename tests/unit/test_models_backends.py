"""Backends: presets, wrong settings, the models there are, and how much one may send."""

import asyncio
import gzip
import re
import socket
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from time import monotonic

import orjson
import pytest
from pydantic import SecretStr

from adapters.models.attempts import CallFault, RetryPolicy
from adapters.models.backends import PRESETS, Backend, SearchEndpoint
from adapters.models.connection import pool_size
from adapters.models.discovery import LocalServer, bundled_price, find_local_servers, probe
from adapters.models.moderation import HttpModerator
from adapters.models.router import open_models
from bot.local.demo import local_servers
from engine.values.debate import RETRIEVAL, Model
from engine.values.errors import ModelError, SettingsError
from engine.values.ports import Call, FaultKind, Reply
from tests.doubles import model_server as acts
from tests.doubles.loopback import once, raw_server
from tests.doubles.model_server import Act, ModelServer
from tests.kit import HANG_SECONDS, RecordedAttempts
from tests.scenario.discord_stage import free_port
from tests.slow import slow_after
from tests.unit.test_models_client import call_of

KEY = SecretStr("sk-canary-0123456789")


def test_a_preset_needs_a_key_at_most() -> None:
    for name, preset in PRESETS.items():
        backend = Backend.of(name, preset=name, api_key=KEY if preset.key else None)
        assert backend.base_url == preset.base_url
        assert backend.local is preset.local


def test_what_is_given_wins_over_the_preset_in_any_case_and_a_key_is_not_shown() -> None:
    backend = Backend.of("Mine", preset="Ollama")
    assert (backend.name, backend.local, backend.max_concurrency) == ("mine", True, 4)
    backend = Backend.of(
        "x", preset="ollama", base_url="http://10.0.0.2:9/v1/", max_concurrency=9, local=False
    )
    assert (backend.base_url, backend.max_concurrency) == ("http://10.0.0.2:9/v1", 9)
    assert not backend.local
    backend = Backend.of("x", preset="openai", api_key=KEY)
    assert "canary" not in repr(backend) + backend.model_dump_json()


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
        Backend.of("x", **given)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "a/b", "a#b", "rehearsal", "Rehearsal"])
def test_names_that_no_backend_may_have(name: str) -> None:
    with pytest.raises(SettingsError, match="ROSTRUM_BACKENDS"):
        Backend.of(name, base_url="http://127.0.0.1:1")
    backend = Backend.of("x", base_url="http://127.0.0.1:1")
    with pytest.raises(SettingsError, match="built in"):
        open_models({"rehearsal": backend})


def test_the_pool_leaves_files_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.models.connection._file_limit", lambda: 100)
    assert pool_size(5000) == 80
    assert pool_size(10) == 10


# --- Finding models: at a backend, and on this machine --------------------------------------------


async def test_a_backend_lists_its_models_or_says_what_to_check_without_the_key() -> None:
    async with ModelServer() as server:
        server.models = [{"id": "llama"}, {"id": "qwen"}, {"name": "no id"}]
        near = Backend.of("near", base_url=server.base_url)
        assert await probe(near) == ["llama", "qwen"]
        backend = Backend.of("near", base_url=server.base_url.removesuffix("/v1"))
        with pytest.raises(ModelError, match=r"“near” has no list of models .* ends in /v1"):
            await probe(backend)
    address = f"http://127.0.0.1:{free_port()}/v1"
    with pytest.raises(ModelError, match=r"could not be reached at http://127\.0\.0\.1:") as caught:
        await probe(Backend.of("near", base_url=address, api_key=KEY))
    assert "canary" not in str(caught.value)


async def test_servers_on_this_machine_are_found_and_the_rest_is_silent_and_takes_no_time() -> None:
    async with ModelServer() as server:
        server.models = [{"id": f"m{i}"} for i in range(9)]
        places = (
            LocalServer("ollama", "Ollama", server.base_url),
            LocalServer("lmstudio", "LM Studio", f"http://127.0.0.1:{free_port()}/v1"),
        )
        (found,) = await find_local_servers(places)
    assert (found.preset, found.base_url) == ("ollama", server.base_url)
    assert found.models == ("m0", "m1", "m2", "m3", "m4")
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        place = LocalServer("ollama", "Ollama", f"http://127.0.0.1:{silent.getsockname()[1]}/v1")
        async with asyncio.timeout(HANG_SECONDS):  # it would wait for ever
            assert await find_local_servers((place,), within_s=0.1) == []


async def test_a_demo_finds_a_server_that_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer() as server:
        place = LocalServer("ollama", "Ollama", server.base_url)
        found = partial(find_local_servers, (place,))
        monkeypatch.setattr("adapters.models.discovery.find_local_servers", found)
        monkeypatch.setattr("bot.local.demo.LM_STUDIO", f"http://127.0.0.1:{free_port()}/v1")
        monkeypatch.setattr("bot.local.demo.OLLAMA", server.base_url)
        assert [one.base_url for one in await local_servers()] == [server.base_url]
        monkeypatch.setattr("bot.local.demo.OLLAMA", f"http://127.0.0.1:{free_port()}/v1")
        assert await local_servers() == [], "no port was open"


# --- Every model that a document or a sentence of ours names is one that its provider prices ------


ROOT = Path(__file__).parents[2]
TEXTS = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("deploy/**/*.yaml"),
        *(file for room in ("bot", "engine", "adapters") for file in ROOT.glob(f"{room}/**/*.py")),
        *ROOT.glob("engine/words/locales/*.po"),
        ROOT / ".env.example",
    ]
)
PRICED = [name for name, preset in PRESETS.items() if not preset.local]
MODEL = re.compile(rf"(?<![\w/.~-])(online|{'|'.join(PRICED)})/([\w.:/-]*\w)")


def named_in(text: str) -> set[tuple[str, str]]:
    """Return the presets and names of models; `online` is OpenRouter, as the guide sets it."""
    return {
        ("openrouter" if backend == "online" else backend, name)
        for backend, name in MODEL.findall(text)
        if name not in {"x", "y", "name"}
    }


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, id=str(file.relative_to(ROOT)))
        for file in TEXTS
        if named_in(file.read_text("utf-8"))
    ],
)
def test_every_model_that_is_named_has_a_price(file: Path) -> None:
    unpriced = [
        f"{preset}: {name}"
        for preset, name in sorted(named_in(file.read_text("utf-8")))
        if bundled_price(PRESETS[preset].base_url, name) is None
    ]
    assert unpriced == []


def test_the_guide_and_the_demo_name_models() -> None:
    for file in (ROOT / "docs/debates.md", ROOT / "bot" / "sentences.py"):
        assert len(named_in(file.read_text("utf-8"))) > 4


# --- Where a request may go, and how much a backend may send: no redirect, and a ceiling for all


ZEROS = 200_000_000
MOST_MEMORY = 80_000_000  # bytes, at the worst moment
MOST_SECONDS = 20.0
HEAD = "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n{more}\r\n"
JSON, STREAM = "application/json", "text/event-stream"
PROCESS = Path("/proc/self/status")
ONCE = RetryPolicy(tries=1)
TOO_MUCH = r"answered with more than \S+ MB"
NOT_FOLLOWED = r"redirects are not followed.*set its BASE_URL"


def repeated(piece: bytes, pause: float | None = None) -> Callable[[], AsyncIterator[bytes]]:
    async def pieces() -> AsyncIterator[bytes]:
        while True:
            yield piece
            await asyncio.sleep(pause or 0)

    return pieces


async def ask(address: str, *, streamed: bool, timeout_s: float = 60.0) -> Reply:
    backend = Backend.of("online", base_url=address, api_key=SecretStr("k"), timeout_s=timeout_s)
    models = open_models({"online": backend}, {}, ONCE)
    call: Call = call_of(on_text=(lambda *_: None) if streamed else None)
    try:
        return await models.complete(call, RecordedAttempts())
    finally:
        await models.aclose()


@asynccontextmanager
async def within_bounds() -> AsyncIterator[None]:
    """Check that the body takes little memory, and not long."""
    began, before = monotonic(), memory("VmRSS")
    forget_peak()
    yield
    assert memory("VmHWM") - before < MOST_MEMORY
    assert monotonic() - began < MOST_SECONDS


def forget_peak() -> None:
    """Measure the most memory from here on."""
    Path("/proc/self/clear_refs").write_text("5")


def memory(name: str) -> int:
    [line] = [one for one in PROCESS.read_text().splitlines() if one.startswith(name)]
    return int(line.split()[1]) * 1024


@cache
def bomb(encoding: str) -> bytes:
    """Return zeros, compressed piece by piece."""
    made = zlib.compressobj(9, wbits=31 if encoding == "gzip" else 15)
    pieces = [made.compress(bytes(1_000_000)) for _ in range(ZEROS // 1_000_000)]
    return b"".join((*pieces, made.flush()))


@pytest.mark.parametrize("encoding", slow_after(1, ["gzip", "deflate"]))
@pytest.mark.parametrize("kind", [JSON, STREAM])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_small_body_that_decompresses_to_much_ends_in_a_sentence(
    encoding: str, kind: str, streamed: bool
) -> None:
    packed = bomb(encoding)
    assert len(packed) < 300_000
    more = f"Content-Encoding: {encoding}\r\nContent-Length: {len(packed)}\r\n"
    served = raw_server(HEAD.format(kind=kind, more=more), once(packed))
    async with served as address, within_bounds():
        with pytest.raises(ModelError, match=TOO_MUCH):
            await ask(address, streamed=streamed)


@pytest.mark.parametrize(
    ("kind", "piece"),
    [
        (JSON, b" " * 65536),
        (STREAM, b"data: " + b"x" * 65536),  # one line without end
        (STREAM, b"x" * 1000),
        (STREAM, b": still there\n\n" * 4000),
        (STREAM, b"data:\n" * 10_000),  # one event without end
        (STREAM, b"data: {}\n\n" * 5000),
    ],
)
async def test_an_answer_without_end_ends_in_a_sentence(kind: str, piece: bytes) -> None:
    served = raw_server(HEAD.format(kind=kind, more=""), repeated(piece))
    async with served as address, within_bounds():
        with pytest.raises(ModelError, match=TOO_MUCH):
            await ask(address, streamed=kind == STREAM)


async def test_text_without_end_is_cut_and_a_local_server_that_sends_for_ever_is_none() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "word " * 20}}]}
    piece = b"".join([b"data: " + orjson.dumps(chunk) + b"\n\n"] * 400)
    served = raw_server(HEAD.format(kind=STREAM, more=""), repeated(piece))
    async with served as address, within_bounds():
        reply = await ask(address, streamed=True)
    assert reply.finish == "length"
    served = raw_server(HEAD.format(kind=JSON, more=""), repeated(b" " * 65536))
    async with served as address, within_bounds():
        place = LocalServer("ollama", "Ollama", address)
        assert await find_local_servers((place,), within_s=10) == []


@pytest.mark.parametrize("kind", [JSON, STREAM])
async def test_an_answer_that_drips_ends_at_the_deadline(kind: str) -> None:
    drips = repeated(b": .\n\n" if kind == STREAM else b" ", pause=0.02)
    async with raw_server(HEAD.format(kind=kind, more=""), drips) as address:
        with pytest.raises(ModelError, match=r"did not answer within 0.5 s"):
            await ask(address, streamed=kind == STREAM, timeout_s=0.5)


async def test_a_compressed_answer_is_read() -> None:
    message = {"role": "assistant", "content": "Yes."}
    body = gzip.compress(orjson.dumps({"choices": [{"message": message}]}))
    head = HEAD.format(kind=JSON, more="Content-Encoding: gzip\r\n")
    async with raw_server(head, once(body)) as address:
        assert (await ask(address, streamed=False)).text == "Yes."


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("streamed", [False, True])
async def test_no_redirect_is_followed(status: int, streamed: bool) -> None:
    async with ModelServer() as server, ModelServer() as elsewhere:
        to = {"Location": f"{elsewhere.base_url}/chat/completions"}
        server.always(Act(status=status, headers=to, body=b"moved"))
        with pytest.raises(ModelError, match=NOT_FOLLOWED) as caught:
            await ask(server.base_url, streamed=streamed)
        assert not caught.value.passing
        assert caught.value.problem == f"no answer: redirected ({status})"
        assert elsewhere.requests == []
        assert len(server.requests) == 1


async def test_a_redirect_that_pretends_to_be_a_stream_is_no_answer() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hi."}, "finish_reason": "stop"}]}
    async with ModelServer() as server:
        server.always(replace(acts.events(chunk), status=307))
        with pytest.raises(ModelError, match=NOT_FOLLOWED):
            await ask(server.base_url, streamed=True)


async def test_lists_of_models_and_prices_moderation_and_search_are_not_redirected() -> None:
    async with ModelServer() as elsewhere:
        to = f"{elsewhere.base_url}/moderations"
        head = f"HTTP/1.1 307 Moved\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"
        async with raw_server(head, once(b"")) as address:
            with pytest.raises(ModelError, match=NOT_FOLLOWED):
                await probe(Backend.of("near", base_url=address))
            assert await find_local_servers((LocalServer("x", "X", address),), 5) == []
            moderator = HttpModerator("guard", address)
            said = await moderator.ask(["a text"])
            await moderator.aclose()
            assert isinstance(said, CallFault)
            assert said.kind is FaultKind.REDIRECTED
            search = SearchEndpoint(url=f"{address}/search", key=SecretStr("k"))
            models = open_models({}, {}, ONCE, search)
            call = call_of(model=Model(backend=RETRIEVAL, name="search", family=RETRIEVAL))
            with pytest.raises(
                ModelError, match=r"refused the search .307.*ROSTRUM_RETRIEVAL__URL"
            ):
                await models.complete(call, RecordedAttempts())
            await models.aclose()
        assert elsewhere.moderated == []
        assert elsewhere.lists == 0
