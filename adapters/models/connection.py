"""The one place that speaks HTTP to backends: one client of the openai SDK for them all.

```
Connection            owns the pool; made on first use, because importing the SDK takes a second
└── SDK clients       one a backend, sharing the pool (with_options)
```
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from adapters.models.backends import Backend
from adapters.models.faults import broken_fault, deadline_fault, unreachable_fault
from adapters.models.outcomes import Fault, redact

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

KEEPALIVE_S = 75.0  # the SDK's 5 s would make every wave of calls reconnect
CONNECT_S = 30.0  # counts our own loop's stalls too; the SDK's 5 s is too little for a thousand
# The SDK leaves the body of an answer unread to a request with this header.
_UNREAD = {"X-Stainless-Raw-Response": "stream"}
_EVENTS = "text/event-stream"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Response(NamedTuple):
    """What came back: a status, headers (lower case) and the whole body."""

    status: int
    headers: dict[str, str]
    content: bytes


class Connection:
    """The shared pool of connections; `pool` is how many are wanted at most."""

    def __init__(self, pool: int) -> None:
        self._pool = pool_size(pool)
        self._root: AsyncOpenAI | None = None
        self._clients: dict[str, AsyncOpenAI] = {}
        self._opening = asyncio.Lock()

    async def post(self, backend: Backend, path: str, content: bytes) -> Response | Fault:
        """Send a JSON body within the backend's deadline; every failure is a value."""

        async def ask(client: AsyncOpenAI) -> Response:
            import httpx2

            return _whole(await client.post(path, cast_to=httpx2.Response, content=content))

        return await self._exchange(backend, backend.timeout_s, ask)

    async def stream(
        self, backend: Backend, path: str, content: bytes, take: Callable[[bytes], bool]
    ) -> Response | Fault:
        """Send a JSON body likewise, and have an answer of events taken as it comes.

        It is read until `take` returns False or it ends, and has no content then; any other
        answer is whole, and nothing of it is taken. A stream that breaks off is a Fault.
        """

        async def ask(client: AsyncOpenAI) -> Response:
            import httpx2

            # Not the SDK's own stream: its events cost 0.13 ms each, ours a tenth.
            raw = await client.post(
                path, cast_to=httpx2.Response, content=content, options={"headers": _UNREAD}
            )
            try:
                return await _taken(raw, take)
            finally:
                await raw.aclose()

        return await self._exchange(backend, backend.timeout_s, ask)

    async def get(self, backend: Backend, path: str, timeout_s: float) -> Response | Fault:
        """Fetch a page within so many seconds; every failure is a value."""

        async def ask(client: AsyncOpenAI) -> Response:
            import httpx2

            return _whole(await client.get(path, cast_to=httpx2.Response))

        return await self._exchange(backend, timeout_s, ask)

    async def aclose(self) -> None:
        """Close the pool; the next call would open a new one."""
        root, self._root = self._root, None
        self._clients.clear()
        if root is not None:
            await root.close()

    async def _exchange(
        self,
        backend: Backend,
        deadline_s: float,
        ask: Callable[[AsyncOpenAI], Awaitable[Response]],
    ) -> Response | Fault:
        client = await self._client(backend)
        import aiohttp
        import httpx2
        import openai

        try:
            async with asyncio.timeout(deadline_s):
                return await ask(client)
        except openai.APIStatusError as error:
            return _whole(error.response)
        except TimeoutError:
            return deadline_fault(deadline_s)
        except (
            openai.APIError,
            aiohttp.ClientError,
            httpx2.HTTPError,
            httpx2.InvalidURL,
            OSError,
        ) as error:
            return _transport_fault(backend, error)

    async def _client(self, backend: Backend) -> AsyncOpenAI:
        client = self._clients.get(backend.name)
        if client is None:
            async with self._opening:
                if self._root is None:
                    # In a thread: the import would stop the loop for a second.
                    self._root = await asyncio.to_thread(_open_client, self._pool)
                client = self._clients[backend.name] = _bind(self._root, backend)
        return client


def _whole(raw: httpx2.Response) -> Response:
    return Response(raw.status_code, dict(raw.headers), raw.content)


async def _taken(raw: httpx2.Response, take: Callable[[bytes], bool]) -> Response:
    if not raw.headers.get("content-type", "").startswith(_EVENTS):
        await raw.aread()
        return _whole(raw)
    async for piece in raw.aiter_bytes():
        if not take(piece):
            break
    return Response(raw.status_code, dict(raw.headers), b"")


def _open_client(pool: int) -> AsyncOpenAI:
    import httpx2
    import openai

    limits = httpx2.Limits(
        max_connections=pool, max_keepalive_connections=pool, keepalive_expiry=KEEPALIVE_S
    )
    http_client = openai.DefaultAioHttpClient(
        limits=limits,
        # A proxy of the environment is for the world, never for a server on this machine.
        mounts={f"all://{host}": None for host in _LOOPBACK},
    )
    return openai.AsyncOpenAI(
        api_key="unused", base_url="http://127.0.0.1", http_client=http_client, max_retries=0
    )


def _bind(root: AsyncOpenAI, backend: Backend) -> AsyncOpenAI:
    import httpx2

    # Well before the deadline of the try, which could not tell that nothing was sent.
    connect_s = min(CONNECT_S, backend.timeout_s / 3)
    client = root.with_options(
        base_url=backend.base_url,
        api_key=backend.secret or "unused",
        timeout=httpx2.Timeout(None, connect=connect_s),
    )
    # The SDK reads these from the environment; they are one provider's, and not ours to send.
    client.organization = client.project = client.admin_api_key = None
    return client


def _transport_fault(backend: Backend, error: BaseException) -> Fault:
    """Judge a failed exchange by its causes: on aiohttp a refusal also looks like a timeout."""
    import aiohttp
    import httpx2

    chain = list(_causes(error))
    unsent = (
        aiohttp.ClientConnectorError,
        aiohttp.ConnectionTimeoutError,
        aiohttp.InvalidURL,
        httpx2.ConnectError,
        httpx2.InvalidURL,
        httpx2.UnsupportedProtocol,
    )
    if any(isinstance(cause, unsent) for cause in chain):
        return unreachable_fault(address(backend))
    if any(isinstance(cause, aiohttp.SocketTimeoutError | TimeoutError) for cause in chain):
        return deadline_fault(backend.timeout_s)
    return broken_fault()


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def address(backend: Backend) -> str:
    """Return host and port as a person may read them: no path, no credentials."""
    parts = urlsplit(backend.base_url)
    port = f":{parts.port}" if parts.port else ""
    return redact(f"{parts.scheme}://{parts.hostname}{port}")


def pool_size(wanted: int) -> int:
    """Return how many connections may be open: at most 80 % of the open-file limit."""
    return max(1, min(wanted, int(0.8 * _file_limit())))


def _file_limit() -> int:
    if sys.platform == "win32":
        return 8192
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 65536 if soft == resource.RLIM_INFINITY else soft
