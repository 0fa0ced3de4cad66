"""HTTP to backends; the only place.

```
ConnectionPool        made on first use
├── aiohttp session   the pool for every request
└── SDK clients       one a backend (with_options): headers and key
```

The SDK's own `post` takes four times the processor time of the exchange itself, because it builds
URL, headers and options each time (`rostrum bench live`). Importing the SDK takes half a second, so
the first calls send the same headers without it (`python -m bench.start`).
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from http import HTTPStatus
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import orjson

from adapters.models.backends import Backend
from adapters.models.decoding import decode_raw
from adapters.models.faults import (
    broken_fault,
    deadline_fault,
    endless_fault,
    proxy_fault,
    unreachable_fault,
)
from adapters.models.outcomes import CallFault
from adapters.models.redaction import redact
from adapters.proxies import OtherProxy, find_proxy

if TYPE_CHECKING:
    import ssl

    import aiohttp
    from aiohttp import ClientResponse
    from openai import AsyncOpenAI

KEEPALIVE_S = 75.0  # with less, each round of calls would reconnect
CONNECT_S = 30.0  # includes our loop's stalls; the SDK's 5 s is too short for a thousand
LOAD_AFTER_S = 3.0  # after the first call, then the SDK is imported
MOST_BYTES = 16_000_000  # of a response that is not a stream
COST = "x-litellm-response-cost"  # USD; in a stream it is sent before anything is known
TAIL_S = 5.0  # for what follows the end of a streamed answer: its usage, and the stream's own end
_EVENTS = "text/event-stream"


class HttpResponse(NamedTuple):
    """A response: status, headers (lower case; of an answer only its cost) and the whole body."""

    status: int
    headers: dict[str, str]
    content: bytes


class Endpoint(NamedTuple):
    """What all requests to one backend share."""

    session: aiohttp.ClientSession
    base_url: str
    headers: dict[str, str]
    timeout: aiohttp.ClientTimeout
    proxy: str | None

    def ask(
        self, path: str, content: bytes | None = None
    ) -> AbstractAsyncContextManager[ClientResponse]:
        """Post a JSON body, or get a page without one."""
        return self.session.request(
            "GET" if content is None else "POST",
            self.base_url + path,
            data=content,
            headers=self.headers,
            timeout=self.timeout,
            proxy=self.proxy,
            allow_redirects=False,  # a 307 would take prompt and key to another host
        )


class ConnectionPool:
    """The shared pool of at most `pool` connections."""

    def __init__(self, pool: int) -> None:
        self._pool = pool_size(pool)
        self._root: AsyncOpenAI | None = None
        self._session: aiohttp.ClientSession | None = None
        self._loading: asyncio.Task[None] | None = None
        self._endpoints: dict[str, Endpoint | CallFault] = {}
        self._opening = asyncio.Lock()

    async def open(self) -> aiohttp.ClientSession:
        """Open the pool if it is not; done before a call, so as not to count in its time."""
        if self._session is None:
            async with self._opening:
                if self._session is None:
                    # In a thread: the import would block the loop.
                    trust = await asyncio.to_thread(_trust)
                    self._session = _open_session(self._pool, trust)
                    self._loading = asyncio.create_task(self._load_sdk(), name="SDK")
        return self._session

    async def post(self, backend: Backend, path: str, content: bytes) -> HttpResponse | CallFault:
        """Send a JSON body within the backend's deadline; every failure is a value."""

        async def ask(endpoint: Endpoint) -> HttpResponse | CallFault:
            async with endpoint.ask(path, content) as raw:
                return await read_whole(raw)

        return await self._exchange(backend, backend.timeout_s, ask)

    async def stream(
        self,
        backend: Backend,
        path: str,
        content: bytes,
        take: Callable[[bytes], bool],
        ended: Callable[[], bool],
    ) -> HttpResponse | CallFault:
        """Post a JSON body, and pass an event stream to `take` as it arrives.

        It is read until `take` returns False or it ends, and has no content then; any other
        response is returned whole, without `take`. A stream that breaks off is a Fault, as is one
        that goes on for long after its answer `ended`.
        """

        async def ask(endpoint: Endpoint) -> HttpResponse | CallFault:
            async with endpoint.ask(path, content) as raw:
                return await _taken(raw, take, ended)

        return await self._exchange(backend, backend.timeout_s, ask)

    async def get(self, backend: Backend, path: str, timeout_s: float) -> HttpResponse | CallFault:
        """Get a page within `timeout_s`; every failure is a value."""

        async def ask(endpoint: Endpoint) -> HttpResponse | CallFault:
            async with endpoint.ask(path) as raw:
                return await read_whole(raw)

        return await self._exchange(backend, timeout_s, ask)

    async def aclose(self) -> None:
        """Close the pool; a later call opens a new one."""
        loading, self._loading = self._loading, None
        if loading is not None:
            loading.cancel()
            await asyncio.wait({loading})
        root, self._root = self._root, None
        session, self._session = self._session, None
        self._endpoints.clear()
        if root is not None:
            await root.close()
        if session is not None:
            await session.close()

    async def _exchange(
        self,
        backend: Backend,
        deadline_s: float,
        ask: Callable[[Endpoint], Awaitable[HttpResponse | CallFault]],
    ) -> HttpResponse | CallFault:
        endpoint = await self._endpoint(backend)
        if isinstance(endpoint, CallFault):
            return endpoint
        import aiohttp

        try:
            async with asyncio.timeout(deadline_s):
                return await ask(endpoint)
        except aiohttp.ClientError as error:
            return _transport_fault(backend, error)
        except TimeoutError:
            return deadline_fault(deadline_s)
        except OSError as error:
            return _transport_fault(backend, error)

    async def _endpoint(self, backend: Backend) -> Endpoint | CallFault:
        endpoint = self._endpoints.get(backend.name)
        if endpoint is None:
            session = await self.open()
            endpoint = self._endpoints[backend.name] = _bind(self._root, session, backend)
        return endpoint

    async def _load_sdk(self) -> None:
        """Use the SDK's own headers, once the process has lived longer than a short debate."""
        await asyncio.sleep(LOAD_AFTER_S)
        self._root = await asyncio.to_thread(open_client)
        self._endpoints.clear()


async def read_whole(raw: ClientResponse) -> HttpResponse | CallFault:
    """Read a response; one with too much in it, as it is decompressed, is a fault."""
    import aiohttp

    pieces, size = [], 0
    try:
        async for piece in raw.content.iter_any():
            pieces.append(piece)
            size += len(piece)
            if size > MOST_BYTES:
                return endless_fault(MOST_BYTES)
    except aiohttp.ClientPayloadError:
        if not _is_json(b"".join(pieces)):
            raise
    return HttpResponse(raw.status, _headers(raw), b"".join(pieces))


def _is_json(content: bytes) -> bool:
    """Return whether a body is whole, though its connection did not end as it should."""
    try:
        decode_raw(content)
    except orjson.JSONDecodeError:
        return False
    return True


async def _taken(
    raw: ClientResponse, take: Callable[[bytes], bool], ended: Callable[[], bool]
) -> HttpResponse | CallFault:
    if not raw.headers.get("content-type", "").startswith(_EVENTS):
        return await read_whole(raw)
    async with asyncio.timeout(None) as tail:
        async for piece in raw.content.iter_any():
            if not take(piece):
                break
            if tail.when() is None and ended():
                tail.reschedule(asyncio.get_running_loop().time() + TAIL_S)
    return HttpResponse(raw.status, _headers(raw), b"")


def _headers(raw: ClientResponse) -> dict[str, str]:
    if raw.status < HTTPStatus.MULTIPLE_CHOICES:
        cost = raw.headers.get(COST)
        return {COST: cost} if cost else {}
    return {name.lower(): value for name, value in raw.headers.items()}


def open_client() -> AsyncOpenAI:
    """Import the SDK and return a client; its own connections are never used."""
    import openai

    # With the environment's proxies it would refuse to start behind some of them.
    unused = openai.DefaultAioHttpClient(trust_env=False)
    return openai.AsyncOpenAI(
        api_key="unused", base_url="http://127.0.0.1", http_client=unused, max_retries=0
    )


def _trust() -> ssl.SSLContext | bool:
    """Load aiohttp, and the system's certificates if OpenSSL finds none itself."""
    import ssl

    import aiohttp  # noqa: F401 - imported here, in a thread

    paths = ssl.get_default_verify_paths()
    if paths.cafile or (paths.capath and os.listdir(paths.capath)):
        return True
    import truststore

    return truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _open_session(pool: int, trust: ssl.SSLContext | bool) -> aiohttp.ClientSession:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=pool, keepalive_timeout=KEEPALIVE_S, ssl=trust)
    return aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar())


def _bind(
    root: AsyncOpenAI | None, session: aiohttp.ClientSession, backend: Backend
) -> Endpoint | CallFault:
    import aiohttp

    proxy = find_proxy(backend.base_url)
    if isinstance(proxy, OtherProxy):
        return proxy_fault(*proxy)
    # Well before the try's deadline, which could not show that nothing was sent.
    connect_s = min(CONNECT_S, backend.timeout_s / 3)
    headers = plain_headers(backend) if root is None else sdk_headers(root, backend)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_s)
    return Endpoint(session, backend.base_url.rstrip("/"), headers, timeout, proxy)


def plain_headers(backend: Backend) -> dict[str, str]:
    """Return the SDK's headers without the SDK, and without its data on the machine."""
    return {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "User-Agent": f"AsyncOpenAI/Python {version('openai')}",
        "Authorization": f"Bearer {backend.secret or 'unused'}",
    }


def sdk_headers(root: AsyncOpenAI, backend: Backend) -> dict[str, str]:
    """Return the headers that the SDK sends to a backend."""
    client = root.with_options(base_url=backend.base_url, api_key=backend.secret or "unused")
    # The SDK reads these from the environment; they belong to one provider and must not be sent.
    client.organization = client.project = client.admin_api_key = None
    given = {**client.default_headers, **client.auth_headers}
    return {name: value for name, value in given.items() if isinstance(value, str)}


def _transport_fault(backend: Backend, error: BaseException) -> CallFault:
    """Classify a failed exchange by its causes: in aiohttp a refusal can look like a timeout."""
    import aiohttp

    chain = list(_causes(error))
    unsent = (
        aiohttp.ClientConnectorError,
        aiohttp.ConnectionTimeoutError,
        aiohttp.InvalidURL,
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
    """Return host and port for messages: no path, no credentials."""
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
