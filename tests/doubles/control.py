"""Driving a platform's double from another process: what `Remote` asks for, over HTTP."""

from __future__ import annotations

import argparse
import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Protocol

import orjson
from aiohttp import web

from tests.doubles.faults import Fault, Faults

Json = dict[str, Any]
ITSELF = ""  # the double, where others are its parts


class Double(Protocol):
    """What every platform's double has."""

    faults: Faults
    port: int

    @property
    def rules(self) -> object:
        """Numbers that a test may change by name."""
        ...

    @property
    def sent(self) -> Sequence[Any]:
        """Every text that the bot sent."""
        ...

    @property
    def fail(self) -> Callable[..., None]:
        """Let a fault happen."""
        ...

    def app(self, app: web.Application | None = None) -> web.Application:
        """Make its application, or add its routes to one."""
        ...

    async def start(self, port: int = 0, app: web.Application | None = None) -> None:
        """Listen on loopback."""
        ...


class Control(ABC):
    """The routes under `/control`."""

    acts: ClassVar[Mapping[str, frozenset[str]]]
    """The methods that may be asked for: those of the double itself, and of parts of it."""
    refusals: ClassVar[tuple[type[Exception], ...]]

    def __init__(self, double: Double) -> None:
        self._double = double

    @abstractmethod
    def known(self) -> Json:
        """Return everything that the double knows."""

    @abstractmethod
    def show(self, thing: object) -> Json | None:
        """Return what an act returned, None for what nobody asks about."""

    def app(self, app: web.Application | None = None) -> web.Application:
        """Make the double's application with these routes before its own, or add to one."""
        app = app or web.Application(client_max_size=64 * 2**20)
        app.router.add_get("/control/state", self._state)
        app.router.add_get("/control/sent", self._sent)
        app.router.add_post("/control/act", self._act)
        app.router.add_post("/control/fail", self._fail)
        app.router.add_post("/control/rules", self._rules)
        app.router.add_post("/control/release", self._release)
        app.router.add_post("/control/calm", self._calm)
        return self._double.app(app)

    async def serve(self, port_file: Path, port: int, app: web.Application | None = None) -> None:
        """Listen, and write the port into a file in one step, until killed."""
        await self._double.start(port, app or self.app())
        written = port_file.with_suffix(".new")
        await asyncio.to_thread(written.write_text, str(self._double.port))
        await asyncio.to_thread(written.replace, port_file)
        await asyncio.Event().wait()

    async def _act(self, request: web.Request) -> web.Response:
        asked: Json = orjson.loads(await request.read())
        name, part = asked["name"], asked["part"]
        if name not in self.acts[part]:
            return _answer({"error": f"There is no act {name!r}."}, 404)
        owner: Any = self._double if part == ITSELF else getattr(self._double, part)
        act: Callable[..., Any] = getattr(owner, name)
        try:
            done = act(*asked["args"], **asked["kwargs"])
            if hasattr(done, "__await__"):
                done = await done
        except self.refusals as refused:
            return _answer({"error": str(refused)}, 409)
        return _answer({"done": self.show(done)})

    async def _fail(self, request: web.Request) -> web.Response:
        asked: Json = orjson.loads(await request.read())
        self._double.fail(Fault(**asked.pop("fault")), **asked)
        return _answer({})

    async def _rules(self, request: web.Request) -> web.Response:
        for name, value in orjson.loads(await request.read()).items():
            setattr(self._double.rules, name, value)
        return _answer({})

    async def _release(self, _: web.Request) -> web.Response:
        self._double.faults.release()
        return _answer({})

    async def _calm(self, _: web.Request) -> web.Response:
        self._double.faults.clear()
        return _answer({})

    async def _sent(self, _: web.Request) -> web.Response:
        return _answer([asdict(sent) for sent in self._double.sent])

    async def _state(self, _: web.Request) -> web.Response:
        return _answer(self.known())


def run(platform: str, make: Callable[[bool], Control]) -> None:
    """Read the command line and serve; `make` is told whether rates are never limited."""
    parser = argparse.ArgumentParser(description=f"{platform} on loopback")
    parser.add_argument("port_file", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--generous", action="store_true", help="never limit rates")
    given = parser.parse_args()
    asyncio.run(make(given.generous).serve(given.port_file, given.port))


def _answer(body: Any, status: int = 200) -> web.Response:
    return web.Response(
        status=status, body=orjson.dumps(body), headers={"Content-Type": "application/json"}
    )
