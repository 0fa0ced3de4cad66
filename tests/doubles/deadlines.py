"""Deadlines of model calls that pass because a server hangs, and not while a machine is busy."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import aiohttp
import httpx2
import pytest

from adapters.models.backends import Backend
from adapters.models.connection import Read, _Endpoint, _SdkEndpoint
from tests.doubles.model_server import SERVERS, ModelServer

CONNECT_SECONDS = 0.05  # to a server that accepts no connection; it never would

_newest: ContextVar[asyncio.Timeout] = ContextVar("newest")


@contextmanager
def deadlines_by_event() -> Iterator[None]:
    """Let the deadline of a request pass when its `ModelServer` hangs, however long it is.

    A server that is away comes back so many seconds after the first request that missed it. Where
    nobody accepts connections, the wait for one is short.
    """
    timeout, ask, ask_sdk = asyncio.timeout, _Endpoint.ask, _SdkEndpoint.ask

    def remember(seconds: float | None) -> asyncio.Timeout:
        made = timeout(seconds)
        _newest.set(made)
        return made

    def look_at(backend: Backend, content: bytes | None) -> ModelServer:
        server = SERVERS[backend.base_url]
        if content is not None:
            server.deadlines[content] = _newest.get()
        server.miss()
        return server

    def watch(endpoint: _Endpoint, path: str, content: bytes | None, read: Read) -> Any:
        if look_at(endpoint.backend, content).deaf:
            quick = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS)
            endpoint = endpoint._replace(timeout=quick)
        return ask(endpoint, path, content, read)

    def watch_sdk(endpoint: _SdkEndpoint, path: str, content: bytes | None, read: Read) -> Any:
        if look_at(endpoint.backend, content).deaf:
            quick = httpx2.Timeout(None, connect=CONNECT_SECONDS)
            endpoint = endpoint._replace(client=endpoint.client.with_options(timeout=quick))
        return ask_sdk(endpoint, path, content, read)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(asyncio, "timeout", remember)
        patched.setattr(_Endpoint, "ask", watch)
        patched.setattr(_SdkEndpoint, "ask", watch_sdk)
        patched.setattr(ModelServer, "waits_to_be_missed", True)
        yield
