"""Requests that are begun and never sent: each has its time, and they do not take every place."""

import asyncio
import resource
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from aiohttp import ClientSession, web
from structlog.testing import capture_logs

from adapters.site import ARRIVAL_SECONDS, Site
from bot.serve.health import Health, serve_health
from bot.settings.settings import HealthSettings
from engine.store import Store
from tests.kit import HANG_SECONDS, beside, some
from tests.scenario.discord_stage import free_port

HEAD = b"POST /hook HTTP/1.1\r\nHost: x\r\n"
BODY = HEAD + b"Content-Length: 100\r\n\r\n{"
HALF_SENT = 1200
SOON = 0.9 * ARRIVAL_SECONDS
# Opens connections that send half a request, from a process with its own file descriptors.
FLOOD = """
import resource, socket, sys
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
port, half = int(sys.argv[1]), eval(sys.argv[2])
held = []
for i in range(int(sys.argv[3])):
    s = socket.create_connection(("127.0.0.1", port), timeout=50)
    s.sendall(half[i % len(half)])
    held.append(s)
print("sent", flush=True)
sys.stdin.read()
"""


async def hook(request: web.Request) -> web.Response:
    return web.Response(text=await request.text())


@asynccontextmanager
async def served(site: Site) -> AsyncIterator[int]:
    async with site.serving([web.post("/hook", hook)]):
        yield some(site.address)[1]


async def answer_to(port: int, sent: bytes) -> bytes:
    """Return what is answered until the connection is closed, which is soon."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    try:
        async with asyncio.timeout(SOON):
            return await reader.read()
    finally:
        writer.close()


@pytest.mark.parametrize(
    ("sent", "said"),
    [(b"", b""), (HEAD, b""), (BODY, b"HTTP/1.1 408 ")],
    ids=["no", "head", "body"],
)
async def test_a_request_that_does_not_arrive_in_time_is_cut(sent: bytes, said: bytes) -> None:
    async with served(Site("127.0.0.1", 0, arrival=0.2)) as port:
        with capture_logs() as logs:
            assert (await answer_to(port, sent))[:13] == said
        assert [log["status"] for log in logs] == ([408] if said else [])


async def test_a_request_that_trickles_is_cut_too() -> None:
    async with served(Site("127.0.0.1", 0, arrival=0.3)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD)
        began = time.monotonic()
        async with asyncio.timeout(SOON):
            # What was on its way when it was cut is answered by a reset, which is no end of file.
            while not (reader.at_eof() or reader.exception()):
                writer.write(b"X-More: 1\r\n")
                await asyncio.sleep(0.02)
        writer.close()
        assert time.monotonic() - began < SOON


async def test_over_the_limit_the_oldest_that_was_never_sent_gives_way() -> None:
    async with served(Site("127.0.0.1", 0, arrival=2 * HANG_SECONDS, most=5)) as port:
        waiting = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
        for _, writer in waiting:
            writer.write(HEAD)
        async with ClientSession() as session:
            for number in range(3):
                url = f"http://127.0.0.1:{port}/hook"
                async with session.post(url, data=str(number)) as response:
                    assert await response.text() == str(number)
        async with asyncio.timeout(HANG_SECONDS):
            assert await waiting[0][0].read() == b""
        for _, writer in waiting:
            writer.close()


@contextmanager
def few_files(more: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = max(int(path.name) for path in Path("/proc/self/fd").iterdir())
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(opened + more, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="it counts the files of /proc")
async def test_1200_half_sent_requests_leave_health_and_the_site_well(store: Store) -> None:
    settings = HealthSettings(port=free_port())
    health = serve_health(settings, Health(store, {}))
    async with beside(health), served(Site("127.0.0.1", 0)) as port:
        with few_files(600):
            flood = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", FLOOD, str(port), repr([HEAD, BODY]), str(HALF_SENT)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            assert flood.stdout is not None
            assert flood.stdin is not None
            async with asyncio.timeout(HANG_SECONDS):
                assert await flood.stdout.readline() == b"sent\n"
            async with ClientSession() as session:
                began = time.monotonic()
                async with session.get(f"http://127.0.0.1:{settings.port}/readyz") as response:
                    assert response.status == 200
                async with session.post(f"http://127.0.0.1:{port}/hook", data="x") as response:
                    assert await response.text() == "x"
                assert time.monotonic() - began < SOON, "it waited until the flood was cut"
            flood.stdin.close()
            await flood.wait()
