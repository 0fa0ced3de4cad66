"""A model server for benchmarks: OpenAI's wire format, in a process of its own.

It answers after a fixed time and computes almost nothing, so that the client is what is measured.
`python -m bench.wheel.loopback SECONDS` prints its port and serves until its input ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import orjson

# 252 words, within every round's limits: a short synthesis, then a decision.
SENTENCE = "Evidence from the field supports the point made here."
SPEECH = "\n\n".join([" ".join([SENTENCE] * 8), " ".join([SENTENCE] * 20)])
SUMMARY = " ".join([SENTENCE] * 9)  # within 400 and 600 characters
SUMMARISED = b" characters, spaces included, as one paragraph"  # only in requests for one
HIGH, LOW = 9, 5
USAGE = {"prompt_tokens": 900, "completion_tokens": 700, "total_tokens": 1600}


class Answering(asyncio.Protocol):
    """One connection: answers requests in turn, each after the same time."""

    def __init__(self, seconds: float, ballots: dict[bytes, bytes]) -> None:
        self._seconds = seconds
        self._ballots = ballots
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is not a subclass

    def connection_lost(self, error: Exception | None) -> None:
        """Stop answering."""
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Schedule an answer for every complete request."""
        self._received += data
        while (end := self._received.find(b"\r\n\r\n")) >= 0:
            size = _content_length(self._received[:end])
            if len(self._received) < end + 4 + size:
                return
            body = self._received[end + 4 : end + 4 + size]
            self._received = self._received[end + 4 + size :]
            self.take(body)

    def take(self, body: bytes) -> None:
        """Answer a request after the fixed time."""
        asyncio.get_running_loop().call_later(self._seconds, self.answer, body)

    def answer(self, body: bytes) -> None:
        """Answer a request now."""
        if self._transport is None:
            return
        content = self._reply(body)
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
        self._transport.write(head % len(content) + content)

    def _reply(self, body: bytes) -> bytes:
        schema = schema_of(body)
        if not schema:
            return SUMMED_UP if SUMMARISED in body else SPOKEN
        if schema not in self._ballots:
            form = orjson.loads(body)["response_format"]["json_schema"]["schema"]
            self._ballots[schema] = completion(orjson.dumps(fill_in(form)).decode())
        return self._ballots[schema]


def schema_of(body: bytes) -> bytes:
    """Return the part of a request from its schema on, empty without one."""
    return body.partition(b'"response_format"')[2]


def asks_for_ballot(body: bytes) -> bool:
    """Whether a juror is asked."""
    return b'"scores"' in schema_of(body)


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


def completion(text: str) -> bytes:
    """Return a chat completion with a text."""
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    }
    return orjson.dumps(
        {
            "id": "bench",
            "object": "chat.completion",
            "created": 0,
            "model": "bench",
            "choices": [choice],
            "usage": USAGE,
        }
    )


SPOKEN, SUMMED_UP = completion(SPEECH), completion(SUMMARY)


def fill_in(form: dict[str, Any]) -> Any:
    """Return an answer that satisfies a schema; a ballot decides for a side."""
    fields = form.get("properties", {})
    if "scores" in fields:
        return _vote(fields["scores"]["properties"])
    match form:
        case {"enum": [first, *_]}:
            return first
        case {"type": "object"}:
            return {name: fill_in(field) for name, field in fields.items()}
        case {"type": "string"}:
            return SENTENCE
        case _:
            raise ValueError(f"No answer is known to {form}.")


def _vote(scores: dict[str, Any]) -> dict[str, Any]:
    """Return a valid ballot with the same winner in every order of names."""
    best = min(scores)
    return {
        "reasons": "The better evidence.",
        "scores": {
            name: dict.fromkeys(sheet["properties"], HIGH if name == best else LOW)
            for name, sheet in scores.items()
        },
        "verdict": best,
        "confidence": 0.8,
    }


async def serve(seconds: float) -> None:
    """Serve on a free loopback port, which is printed, until the input ends."""
    loop = asyncio.get_running_loop()
    ballots: dict[bytes, bytes] = {}
    server = await loop.create_server(
        lambda: Answering(seconds, ballots), "127.0.0.1", 0, backlog=4096
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)
    server.close()


@asynccontextmanager
async def model_server(seconds: float) -> AsyncIterator[str]:
    """Run a server in its own process, and yield its base URL."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.wheel.loopback", str(seconds), stdin=pipe, stdout=pipe
    )
    try:
        if process.stdout is not None:
            yield f"http://127.0.0.1:{int(await process.stdout.readline())}/v1"
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(float(sys.argv[1])))
