"""HTTP to backends; the only place.

```
ConnectionPool          made on first use
├── aiohttp session     shared by all backends with Rostrum's own client, the default
└── openai.AsyncOpenAI  one for each backend with CLIENT=openai
```

The SDK's `post` takes four times the processor time of the exchange itself, because it builds URL,
headers and options each time (`rostrum bench live`), and importing it takes half a second. It is
for gateways that need what the SDK sends, such as the headers in OPENAI_CUSTOM_HEADERS. Its retries
are off: every try is limited, budgeted and journaled, whichever client makes it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing
from http import HTTPStatus
from importlib.metadata import version
from typing import TYPE_CHECKING, NamedTuple, cast
from urllib.parse import urlsplit

import orjson

from adapters.models.attempts import CallFault, Next
from adapters.models.backends import Backend
from adapters.models.faults import (
    broken_fault,
    deadline_fault,
    decode_raw,
    endless_fault,
    proxy_fault,
    redact,
    unreachable_fault,
)
from adapters.wire import OtherProxy, find_proxy
from engine.values.ports import FaultKind

if TYPE_CHECKING:
    import ssl

    import aiohttp
    import httpx2
    from openai import AsyncOpenAI

KEEPALIVE_S = 75.0  # with less, each round of calls would reconnect
CONNECT_S = 30.0  # includes our loop's stalls; the SDK's 5 s is too short for a thousand
MOST_BYTES = 16_000_000  # of a response that is not a stream
COST = "x-litellm-response-cost"  # USD; in a stream it is sent before anything is known
TAIL_S = 5.0  # for what follows the end of a streamed answer: its usage, and the stream's own end
_EVENTS = "text/event-stream"


class HttpResponse(NamedTuple):
    """A response: status, headers (lower case; of an answer only its cost) and the whole body."""

    status: int
    headers: dict[str, str]
    content: bytes


# Reads a response: its status, its headers, and its body as it arrives.
Read = Callable[[int, Mapping[str, str], AsyncIterator[bytes]], Awaitable[HttpResponse | CallFault]]


class _Endpoint(NamedTuple):
    """A backend over the shared session, with what all requests to it share."""

    backend: Backend
    session: aiohttp.ClientSession
    timeout: aiohttp.ClientTimeout
    proxy: str | None
    headers: dict[str, str]

    async def ask(self, path: str, content: bytes | None, read: Read) -> HttpResponse | CallFault:
        """Post a JSON body, or get a page without one. Raises what aiohttp raises."""
        async with self.session.request(
            "GET" if content is None else "POST",
            self.backend.base_url + path,
            data=content,
            headers=self.headers,
            timeout=self.timeout,
            proxy=self.proxy,
            allow_redirects=False,  # a 307 would take prompt and key to another host
        ) as raw:
            return await read(raw.status, raw.headers, raw.content.iter_any())


class _SdkEndpoint(NamedTuple):
    """A backend over the SDK's client, which has connections of its own."""

    backend: Backend
    client: AsyncOpenAI

    async def ask(self, path: str, content: bytes | None, read: Read) -> HttpResponse | CallFault:
        """Post a JSON body, or get a page without one; as `_Endpoint` does."""
        import httpx2
        import openai

        try:
            response = await self._send(path, content)
            try:
                async with aclosing(_pieces(response)) as pieces:
                    return await read(response.status_code, response.headers, pieces)
            finally:
                await response.aclose()
        except _RefusedError as refused:
            return refused.response
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            return _transport_fault(self.backend, error)

    async def _send(self, path: str, content: bytes | None) -> httpx2.Response:
        """Send a request as the SDK does; its response is still to be read."""
        import httpx2
        from openai import AsyncStream

        stream = AsyncStream[object]
        response: object
        if content is None:
            response = await self.client.get(
                path, cast_to=httpx2.Response, stream=True, stream_cls=stream
            )
        else:
            response = await self.client.post(
                path, cast_to=httpx2.Response, content=content, stream=True, stream_cls=stream
            )
        return cast("httpx2.Response", response)


class ConnectionPool:
    """The shared pool of at most `pool` connections; each backend with the SDK has one apart."""

    def __init__(self, pool: int) -> None:
        self._pool = pool_size(pool)
        self._session: aiohttp.ClientSession | None = None
        self._trust: ssl.SSLContext | bool = True
        self._endpoints: dict[str, _Endpoint | _SdkEndpoint | CallFault] = {}
        self._opening = asyncio.Lock()

    async def open(self, backend: Backend) -> _Endpoint | _SdkEndpoint | CallFault:
        """Return a backend's endpoint, or why it has none.

        Done before a call, so that making one does not count in the call's time.
        """
        if backend.name not in self._endpoints:
            async with self._opening:
                if backend.name not in self._endpoints:
                    self._endpoints[backend.name] = await self._bind(backend)
        return self._endpoints[backend.name]

    async def post(self, backend: Backend, path: str, content: bytes) -> HttpResponse | CallFault:
        """Send a JSON body within the backend's deadline; every failure is a value."""
        return await self._exchange(backend, path, content, backend.timeout_s, read_whole)

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

        async def read(
            status: int, headers: Mapping[str, str], pieces: AsyncIterator[bytes]
        ) -> HttpResponse | CallFault:
            if not headers.get("content-type", "").startswith(_EVENTS):
                return await read_whole(status, headers, pieces)
            async with asyncio.timeout(None) as tail:
                async for piece in pieces:
                    if not take(piece):
                        break
                    if tail.when() is None and ended():
                        tail.reschedule(asyncio.get_running_loop().time() + TAIL_S)
            return HttpResponse(status, _headers(status, headers), b"")

        return await self._exchange(backend, path, content, backend.timeout_s, read)

    async def get(self, backend: Backend, path: str, timeout_s: float) -> HttpResponse | CallFault:
        """Get a page within `timeout_s`; every failure is a value."""
        return await self._exchange(backend, path, None, timeout_s, read_whole)

    async def aclose(self) -> None:
        """Close the pool; a later call opens a new one."""
        endpoints, self._endpoints = self._endpoints, {}
        session, self._session = self._session, None
        for endpoint in endpoints.values():
            if isinstance(endpoint, _SdkEndpoint):
                await endpoint.client.close()
        if session is not None:
            await session.close()

    async def _exchange(
        self, backend: Backend, path: str, content: bytes | None, deadline_s: float, read: Read
    ) -> HttpResponse | CallFault:
        endpoint = await self.open(backend)
        if isinstance(endpoint, CallFault):
            return endpoint
        import aiohttp

        try:
            async with asyncio.timeout(deadline_s):
                return await endpoint.ask(path, content, read)
        except aiohttp.ClientError as error:
            return _transport_fault(backend, error)
        except TimeoutError:
            return deadline_fault(deadline_s)
        except OSError as error:
            return _transport_fault(backend, error)

    async def _bind(self, backend: Backend) -> _Endpoint | _SdkEndpoint | CallFault:
        # Both imports in threads: they would block the loop.
        if self._session is None:
            self._trust = await asyncio.to_thread(_trust)
            self._session = _open_session(self._pool, self._trust)
        proxy = find_proxy(backend.base_url)
        if isinstance(proxy, OtherProxy):
            return proxy_fault(*proxy)
        # Well before the try's deadline, which could not show that nothing was sent.
        connect_s = min(CONNECT_S, backend.timeout_s / 3)
        if backend.client == "openai":
            return await asyncio.to_thread(_open_sdk, backend, connect_s, proxy, self._trust)
        import aiohttp

        timeout = aiohttp.ClientTimeout(total=None, sock_connect=connect_s)
        return _Endpoint(backend, self._session, timeout, proxy, plain_headers(backend))


async def read_whole(
    status: int, headers: Mapping[str, str], pieces: AsyncIterator[bytes]
) -> HttpResponse | CallFault:
    """Read a response; one with too much in it, as it is decompressed, is a fault."""
    import aiohttp

    taken, size = [], 0
    try:
        async for piece in pieces:
            taken.append(piece)
            size += len(piece)
            if size > MOST_BYTES:
                return endless_fault(MOST_BYTES)
    except aiohttp.ClientPayloadError:
        if not _is_json(b"".join(taken)):
            raise
    return HttpResponse(status, _headers(status, headers), b"".join(taken))


def _is_json(content: bytes) -> bool:
    """Return whether a body is whole, though its connection did not end as it should."""
    try:
        decode_raw(content)
    except orjson.JSONDecodeError:
        return False
    return True


def _headers(status: int, headers: Mapping[str, str]) -> dict[str, str]:
    if status < HTTPStatus.MULTIPLE_CHOICES:
        cost = headers.get(COST)
        return {COST: cost} if cost else {}
    return {name.lower(): value for name, value in headers.items()}


# --- our own client --------------------------------------------------------------------


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


def plain_headers(backend: Backend) -> dict[str, str]:
    """Return the SDK's headers without the SDK, and without its data on the machine."""
    return {
        "Accept": "application/json",
        "Content-Type": "application/json",
        "User-Agent": f"AsyncOpenAI/Python {version('openai')}",
        "Authorization": f"Bearer {backend.secret or 'unused'}",
    }


# --- the SDK ---------------------------------------------------------------------------


class _RefusedError(Exception):
    """A response with an error status, read within our limits.

    Raised by a hook of the SDK's HTTP client. The SDK itself would read it however long it is.
    """

    def __init__(self, response: HttpResponse | CallFault) -> None:
        super().__init__()
        self.response = response


def _open_sdk(
    backend: Backend, connect_s: float, proxy: str | None, trust: ssl.SSLContext | bool
) -> _SdkEndpoint | CallFault:
    """Import the SDK and return its client for a backend.

    It adds what its own variables say: OPENAI_CUSTOM_HEADERS, OPENAI_ORG_ID, OPENAI_PROJECT_ID.
    Key and address are the backend's alone.
    """
    import ssl

    import httpx2
    import openai

    async def refuse(response: httpx2.Response) -> None:
        if response.status_code >= HTTPStatus.MULTIPLE_CHOICES:
            async with aclosing(_pieces(response)) as pieces:
                read = await read_whole(response.status_code, response.headers, pieces)
            raise _RefusedError(read)

    timeout = httpx2.Timeout(None, connect=connect_s)
    pool = pool_size(backend.max_concurrency + 8)
    client = openai.AsyncOpenAI(
        api_key=backend.secret or "unused",
        base_url=backend.base_url,
        max_retries=0,
        timeout=timeout,
        http_client=openai.DefaultAioHttpClient(
            timeout=timeout,
            limits=httpx2.Limits(max_connections=pool, keepalive_expiry=KEEPALIVE_S),
            verify=ssl.create_default_context() if trust is True else trust,
            trust_env=False,
            proxy=proxy,
            follow_redirects=False,
            event_hooks={"response": [refuse]},
        ),
    )
    client.admin_api_key = None  # of OpenAI's own account, for nothing that is asked here
    given = [value for value in client.default_headers.values() if isinstance(value, str)]
    if not all(value.isascii() and value.isprintable() for value in given):
        return CallFault(
            "cannot be sent the headers that are set for it",
            "correct OPENAI_CUSTOM_HEADERS: one “Name: value” a line, in plain ASCII",
            Next.FINAL,
            kind=FaultKind.UNREACHABLE,
        )
    return _SdkEndpoint(backend, client)


async def _pieces(response: httpx2.Response) -> AsyncGenerator[bytes]:
    """Yield a body as it arrives; one that breaks off raises what aiohttp raises."""
    import aiohttp
    import httpx2

    try:
        async for piece in response.aiter_bytes():
            yield piece
    except (httpx2.ReadError, httpx2.DecodingError) as error:
        raise aiohttp.ClientPayloadError(str(error)) from error


# --- both ------------------------------------------------------------------------------


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
