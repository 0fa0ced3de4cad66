"""A server of models and an endpoint of searches on loopback, which fail on request."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import orjson
from aiohttp import web

from tests.doubles.loopback import LoopbackServer, close

Body = dict[str, Any]
Respond = Callable[[Body], str]
Absence = Literal["refusing", "deaf"]  # connections are refused, or nobody answers them

ANY = "*"
HANGS = 3600.0
EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Act:
    """How one request is answered; a plain `Act()` answers well.

    `body` replaces the whole completion; `text`, `finish`, `model`, `message` and `extra` change
    parts of it; `names` limits it to requests with such a parameter, or such a schema; `wait` is
    seconds on top of the server's latency; `leaves` is how the server is away from the moment
    of this answer on, for `away` seconds if not for good. `pause` is seconds between the parts
    of a stream; a `plain` answer is in one piece even when a stream is asked for. `closes` ends the
    connection with the answer.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = "application/json"
    text: str | None = None
    finish: str = "stop"
    model: str | None = None
    usage: bool = True
    message: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    usage_extra: Mapping[str, Any] = field(default_factory=dict)
    names: str = ""
    wait: float = 0.0
    reset: str = ""
    leaves: Absence | None = None
    away: float = 0.0
    pause: float = 0.0
    plain: bool = False
    closes: bool = False

    def applies(self, body: Body) -> bool:
        if self.names in ("json_schema", "json_object"):
            return bool(body.get("response_format", {}).get("type") == self.names)
        if self.names == "cache_control":
            return any(isinstance(message["content"], list) for message in body["messages"])
        schema = body.get("response_format", {}).get("json_schema", {}).get("name")
        return not self.names or self.names in body or self.names == schema


def status(
    code: int, *, retry_after: float | str | None = None, message: str = "no", kind: str = ""
) -> Act:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    error = {"message": message, "code": kind or None}
    return Act(status=code, headers=headers, body=orjson.dumps({"error": error}))


def refuse(parameter: str) -> Act:
    """Refuse requests that carry a parameter (or a kind of response format), naming it."""
    json = parameter in ("json_schema", "json_object")
    named = "response_format" if json else parameter
    error = {"message": f"Unsupported parameter: '{named}' ({parameter})", "param": named}
    return Act(status=400, body=orjson.dumps({"error": error}), names=parameter)


def events(*chunks: Body, done: bool = True) -> Act:
    """Answer with a stream of these chunks, and its end."""
    ends = (b"data: [DONE]\n\n",) if done else ()
    return Act(body=b"".join((*map(_event, chunks), *ends)), content_type=EVENT_STREAM)


def error_body(message: str = "upstream failed") -> Act:
    return Act(body=orjson.dumps({"error": {"message": message, "code": 502}}))


def says(text: str, finish: str = "stop", **changes: Any) -> Act:
    return replace(Act(text=text, finish=finish), **changes)


def empty(finish: str = "stop") -> Act:
    """Answer without text; `length` and `content_filter` are the interesting ends."""
    return Act(text="", finish=finish)


def refusal() -> Act:
    """Decline in the `refusal` field, without text."""
    return Act(text="", message={"refusal": "I cannot help with that."})


def garbage() -> Act:
    return Act(body=b'{"choices": [{"message"')


def page() -> Act:
    return Act(body=b"<html>sign in</html>", content_type="text/html")


def reset(when: str = "middle") -> Act:
    """Break the connection `before` the answer or in its `middle`."""
    return Act(reset=when)


def hang() -> Act:
    return Act(wait=HANGS)


def big(size: int = 1_000_000) -> Act:
    return Act(text="word " * (size // 5))


SERVERS: dict[str, ModelServer] = {}
"""Those that are open, by their address."""


def _pleasant(body: Body) -> str:
    return f"An answer to {len(body['messages'])} messages."


class ModelServer:
    """The server; use it as an async context manager. `latency` is seconds a completion.

    `said` tells a model's steps apart: by default, by the answers that a request has in it.
    While `gate` is clear no completion is answered; `answered` counts those that were.
    `deadlines` are of requests by their body, and pass when one hangs: see `deadlines_by_event`.
    """

    waits_to_be_missed: ClassVar[bool] = False  # before its time away begins

    def __init__(
        self,
        respond: Respond = _pleasant,
        latency: float = 0.0,
        said: Callable[[Body], int] | None = None,
    ) -> None:
        self.respond = respond
        self.said = said or answers_in
        self.latency = latency
        self.requests: list[Body] = []
        self.headers: list[Mapping[str, str]] = []
        self.peers: set[object] = set()
        self.models: list[Body] = [{"id": "plain"}]
        self.model_info: list[Body] = []
        self.stated: list[Body] = []
        self.moderated: list[Body] = []
        self.flags: Mapping[str, str] = {"harassment": "idiots", "violence": "kill"}
        self.cache: MarkedCache | None = None
        self.lists = 0
        self.in_flight = self.most_in_flight = self.answered = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.deadlines: dict[bytes, asyncio.Timeout] = {}
        self.port = 0
        self._scripts: dict[tuple[str, int | None], deque[Act]] = defaultdict(deque)
        self._always: dict[str, list[Act]] = defaultdict(list)
        self._runner: web.AppRunner | None = None
        self._site: web.TCPSite | None = None
        self._revival: asyncio.Task[None] | None = None
        self._down = False
        self._away_s = 0.0
        self._deaf: list[socket.socket] = []

    @property
    def deaf(self) -> bool:
        return bool(self._deaf)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, *acts: Act, model: str = ANY, said: int | None = None) -> None:
        """Answer the next requests (for a model) in these ways, then well again.

        With `said`, only requests that have so many answers of the model in them: one step.
        """
        self._scripts[model, said].extend(acts)

    def always(self, *acts: Act, model: str = ANY) -> None:
        """Answer every request (for a model) so, as far as the act applies."""
        self._always[model].extend(acts)

    def behave(self) -> None:
        self._always.clear()

    async def down(self, seconds: float) -> None:
        """Refuse connections, and break open ones, for so many seconds."""
        self._down = True
        await self.leave(seconds=seconds)

    async def leave(self, how: Absence = "refusing", seconds: float = 0.0) -> None:
        """Take no new connections for so many seconds, 0 for good; open ones may go on."""
        if self._site is not None:
            await self._site.stop()
            self._site = None
        if how == "deaf":
            self._deaf = _deaf_sockets(self.port)
        self._away_s = seconds
        if not self.waits_to_be_missed:
            self.miss()

    def miss(self) -> None:
        """Come back, if it is away for a time: the time runs from now on."""
        seconds, self._away_s = self._away_s, 0.0
        if seconds:
            self._revival = asyncio.create_task(self._revive(seconds))

    async def back(self) -> None:
        for deaf in self._deaf:
            deaf.close()
        self._deaf = []
        if self._site is None:
            await self._listen()
        self._down = False

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_post("/v1/moderations", self._moderate)
        app.router.add_get("/v1/models", self._list)
        app.router.add_get("/v1/model/info", self._inform)
        self._runner = web.AppRunner(app, shutdown_timeout=0.05, access_log=None)
        await self._runner.setup()
        await self._listen()
        SERVERS[self.base_url] = self
        return self

    async def __aexit__(self, *_: object) -> None:
        del SERVERS[self.base_url]
        if self._revival is not None:
            self._revival.cancel()
            await asyncio.gather(self._revival, return_exceptions=True)
        for deaf in self._deaf:
            deaf.close()
        if self._runner is not None:
            await close(self._runner)

    async def _listen(self) -> None:
        assert self._runner is not None
        self._site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await self._site.start()
        self.port = self._runner.addresses[-1][1]

    async def _revive(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self.back()

    async def _list(self, request: web.Request) -> web.Response:
        self.lists += 1
        return web.json_response({"object": "list", "data": self.models})

    async def _inform(self, request: web.Request) -> web.Response:
        return web.json_response({"data": self.model_info})

    async def _moderate(self, request: web.Request) -> web.StreamResponse:
        """Flag inputs with a word of `flags`; acts scripted for their model come first."""
        if self._down:
            return _abort(request)
        content = await request.read()
        body: Body = orjson.loads(content)
        self.moderated.append(body)
        scripted = self._scripts[str(body.get("model")), None]
        if scripted:
            act = scripted.popleft()
            await self._hold(act.wait, content)
            return await self._perform(request, act, body)
        given = body["input"] if isinstance(body["input"], list) else [body["input"]]
        results = []
        for text in given:
            found = {category: word in text for category, word in self.flags.items()}
            scores = {category: 0.9 if holds else 0.01 for category, holds in found.items()}
            flagged = any(found.values())
            results.append({"flagged": flagged, "categories": found, "category_scores": scores})
        return web.json_response({"id": "modr-1", "model": body["model"], "results": results})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        if self._down:
            return _abort(request)
        content = await request.read()
        body: Body = orjson.loads(content)
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        if request.transport is not None:
            self.peers.add(request.transport.get_extra_info("peername"))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            act = self._act(body)
            await self._hold(self.latency + act.wait, content)
            await self.gate.wait()
            self.answered += 1
            return await self._perform(request, act, body)
        finally:
            self.in_flight -= 1

    async def _hold(self, seconds: float, content: bytes) -> None:
        if seconds >= HANGS and content in self.deadlines:
            self.deadlines[content].reschedule(asyncio.get_running_loop().time())
        await asyncio.sleep(seconds)

    def _act(self, body: Body) -> Act:
        for model in (str(body.get("model")), ANY):
            for said in (self.said(body), None):
                if self._scripts[model, said]:
                    return self._scripts[model, said].popleft()
            for act in self._always[model]:
                if act.applies(body):
                    return act
        if self.cache is None:
            return Act()
        found = self.cache.take(body)
        if found is None:
            return status(400, message="messages: at most 4 blocks with cache_control, none empty")
        return Act(usage_extra=found)

    async def _perform(self, request: web.Request, act: Act, body: Body) -> web.StreamResponse:
        if act.reset == "before":
            return _abort(request)
        if body.get("stream") and act.body is None and not act.plain:
            return await self._stream(request, act, self._completion(act, body))
        whole = json.dumps(self._completion(act, body)).encode() if act.body is None else act.body
        if act.reset:
            response = web.StreamResponse(headers={"Content-Length": str(len(whole) + 100)})
            await response.prepare(request)
            await response.write(whole[: len(whole) // 2])
            _abort(request)
            return response
        headers = {**act.headers, "Content-Type": act.content_type}
        response = web.Response(status=act.status, body=whole, headers=headers)
        if act.leaves:
            # Before the answer, so that whoever has it finds nobody any more.
            await self.leave(act.leaves, act.away)
        if act.leaves or act.closes:
            response.force_close()
        return response

    async def _stream(self, request: web.Request, act: Act, completion: Body) -> web.StreamResponse:
        """Send a completion word by word, or the half of it."""
        content = await request.read()
        parts = [*map(_event, _chunks(completion)), b"data: [DONE]\n\n"]
        response = web.StreamResponse(headers={**act.headers, "Content-Type": EVENT_STREAM})
        await response.prepare(request)
        with suppress(ConnectionResetError):  # nobody has to listen to the end
            for part in parts[: len(parts) // 2] if act.reset else parts:
                await response.write(part)
                await self._hold(act.pause, content)
            if act.reset:
                return _abort(request)
            await response.write_eof()
        return response

    def _completion(self, act: Act, body: Body) -> Body:
        text = self.respond(body) if act.text is None else act.text
        message = {"role": "assistant", "content": text, **act.message}
        completion: Body = {
            "id": f"chatcmpl-{len(self.requests)}",
            "object": "chat.completion",
            "model": act.model or body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": act.finish}],
            **act.extra,
        }
        if act.usage and _counts(body):
            read = sum(len(text_of(m)) for m in body["messages"])
            counted = {"prompt_tokens": read // 4 + 1, "completion_tokens": -(-len(text) // 4)}
            completion["usage"] = {**counted, **act.usage_extra}
            if not act.reset:
                self.stated.append(completion["usage"])
        return completion


def text_of(message: Body) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


class MarkedCache:
    """A prompt cache as Anthropic has it behind a gateway, but for its least length.

    It keeps what is marked, up to four places a request, and finds it again where a later request
    has the same parts up to there, and a mark at most 20 parts on.
    """

    def __init__(self) -> None:
        self._kept: set[tuple[str, ...]] = set()

    def take(self, body: Body) -> Body | None:
        """Return the cache's part of the usage; None for a request that is refused."""
        parts: list[str] = []
        marks: list[int] = []
        for message in body["messages"]:
            content = message["content"]
            for part in [{"text": content}] if isinstance(content, str) else content:
                if not part["text"].strip():
                    return None
                parts.append(f"{message['role']}: {part['text']}")
                if part.get("cache_control") == {"type": "ephemeral"}:
                    marks.append(len(parts))
        if len(marks) > 4:
            return None
        seen = [
            end
            for mark in marks
            for end in range(max(0, mark - 20), mark + 1)
            if tuple(parts[:end]) in self._kept
        ]
        self._kept |= {tuple(parts[:mark]) for mark in marks}
        read, last = max(seen, default=0), max(marks, default=0)
        cached, written = (sum(map(len, some)) // 4 for some in (parts[:read], parts[read:last]))
        return {"prompt_tokens_details": {"cached_tokens": cached, "cache_write_tokens": written}}


def answers_in(body: Body) -> int:
    return sum(message.get("role") == "assistant" for message in body.get("messages", ()))


def _deaf_sockets(port: int) -> list[socket.socket]:
    """Listen where nobody accepts, with the queue full: a connection is never made."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(0)
    waiting = [socket.socket() for _ in range(4)]
    for caller in waiting:
        caller.setblocking(False)
        caller.connect_ex(("127.0.0.1", port))
    return [listener, *waiting]


def _counts(body: Body) -> bool:
    return not body.get("stream") or bool(body.get("stream_options", {}).get("include_usage"))


def _chunks(completion: Body) -> list[Body]:
    [choice] = completion["choices"]
    text = choice["message"]["content"]
    deltas: list[Body] = [{"content": word} for word in re.findall(r"\s*\S+", text)]
    if choice["message"].get("refusal"):
        deltas.append({"refusal": choice["message"]["refusal"]})
    head = {"id": completion["id"], "model": completion["model"]}
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in ({"role": "assistant", "content": ""}, *deltas)
    ]
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    chunks.append({**head, "choices": [end]})
    if "usage" in completion:
        chunks.append({**head, "choices": [], "usage": completion["usage"]})
    return chunks


def _event(chunk: Body) -> bytes:
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _abort(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


# --- a search endpoint on loopback that records what it is asked, and fails on request ---


@dataclass
class SearchServer(LoopbackServer):
    """Answers `results`, or what `script` holds for the next requests: a status, or a body.

    From the request of number `hold_from` on it says nothing. In a result `{query}` is replaced by
    what was searched for, `{number}` by the request's number.
    """

    results: list[dict[str, Any]] = field(default_factory=list)
    script: list[int | str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    hold_from: int | None = None
    port: int = 0

    @property
    def url(self) -> str:
        return f"{self.origin}/search?format=json"

    async def _search(self, request: web.Request) -> web.Response:
        self.asked.append(request.query["q"])
        self.keys.add(request.headers.get("Authorization", ""))
        if self.hold_from is not None and len(self.asked) >= self.hold_from:
            await asyncio.sleep(30)  # the client has gone by then
        act = self.script.pop(0) if self.script else 200
        if isinstance(act, str):
            return web.Response(text=act)
        if act != 200:
            return web.Response(status=act)
        query, number = self.asked[-1], str(len(self.asked))
        found = [
            {
                name: said.replace("{query}", query).replace("{number}", number)
                for name, said in one.items()
            }
            for one in self.results
        ]
        return web.json_response({"query": self.asked[-1], "results": found})

    def _app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/search", self._search)
        return app
