"""Requests as bytes, and answers as bytes: what no client library would send or would hide."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

SECONDS = 10.0  # that only end a hang


class Answer(NamedTuple):
    """An answer; names of headers are in lower case, and each stands as often as it was sent."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes

    @property
    def text(self) -> str:
        """The body."""
        return self.body.decode("utf-8")

    @property
    def raw(self) -> str:
        """Everything that was sent, but for the clock of the server."""
        told = (f"{name}: {value}" for name, value in self.headers if name != "date")
        return "\n".join([str(self.status), *told, "", self.text])

    def all(self, name: str) -> list[str]:
        """Return the values of a header."""
        return [value for known, value in self.headers if known == name]

    def one(self, name: str) -> str:
        """Return the value of a header, which stands there once; empty without it."""
        values = self.all(name)
        assert len(values) <= 1, f"{name} stands there {len(values)} times"
        return values[0] if values else ""


async def ask(
    port: int,
    target: str,
    method: str = "GET",
    *,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    host: str = "",
) -> Answer:
    """Send a request as it stands, and return what comes until the server closes."""
    sent = {"Host": host or f"127.0.0.1:{port}", "Connection": "close", **(headers or {})}
    if body or method == "POST":
        sent.setdefault("Content-Type", "application/x-www-form-urlencoded")
        sent["Content-Length"] = str(len(body))
    head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    return await send(port, f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode() + body)


async def send(port: int, request: bytes) -> Answer:
    """Send bytes, and return the answer to them."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        async with asyncio.timeout(SECONDS):
            writer.write(request)
            await writer.drain()
            return _read(await reader.read())
    finally:
        writer.close()


def _read(received: bytes) -> Answer:
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = (line.partition(":") for line in lines)
    headers = [(name.strip().lower(), value.strip()) for name, _, value in parts]
    if ("transfer-encoding", "chunked") in headers:
        body = _join_chunks(body)
    return Answer(int(first.split()[1]), headers, body)


def _join_chunks(body: bytes) -> bytes:
    joined = b""
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size, 16)
        joined, body = joined + rest[:length], rest[length + 2 :]
    return joined
