"""A platform's double in a process of its own, and how a test drives it there."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import aiohttp
import orjson
from aiohttp import web

from tests.doubles.command import ROOT, Forked, environment_of, fork, kill_group, streams_to
from tests.doubles.faults import Fault
from tests.doubles.loopback import Listening
from tests.kit import PROCESS_SECONDS, until_asked

D = TypeVar("D", bound=Listening)
Json = dict[str, Any]
SHOWN = 8  # of the newest calls, messages and answers, where a state was not reached


class Control(ABC, Generic[D]):
    """The routes under `/control`: what `Remote` asks for, over HTTP."""

    refusals: ClassVar[tuple[type[Exception], ...]]

    def __init__(self, double: D) -> None:
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
        return self._double.app(app)

    async def serve(self, port_file: Path, app: web.Application | None = None) -> None:
        """Listen, and write the port into a file in one step, until killed."""
        await self._double.start(app=app or self.app())
        written = port_file.with_suffix(".new")
        await asyncio.to_thread(written.write_text, str(self._double.port))
        await asyncio.to_thread(written.replace, port_file)
        await asyncio.Event().wait()

    async def _act(self, request: web.Request) -> web.Response:
        asked: Json = orjson.loads(await request.read())
        act = attrgetter(asked["name"])(self._double)
        try:
            done = act(*asked["args"], **asked["kwargs"])
            if hasattr(done, "__await__"):
                done = await done
        except self.refusals as refused:
            return _answer({"error": str(refused)}, 409)
        return _answer({"done": self.show(done)})

    async def _fail(self, request: web.Request) -> web.Response:
        asked: Json = orjson.loads(await request.read())
        self._double.fail(Fault(**asked.pop("fault")), *asked.pop("where"), **asked)
        return _answer({})

    async def _rules(self, request: web.Request) -> web.Response:
        for name, value in orjson.loads(await request.read()).items():
            setattr(self._double.rules, name, value)
        return _answer({})

    async def _sent(self, _: web.Request) -> web.Response:
        return _answer([asdict(sent) for sent in self._double.sent])

    async def _state(self, _: web.Request) -> web.Response:
        return _answer(self.known())


def _answer(body: Any, status: int = 200) -> web.Response:
    return web.Response(
        status=status, body=orjson.dumps(body), headers={"Content-Type": "application/json"}
    )


class RemoteError(AssertionError):
    """The double refused what the test asked of it."""


class RemoteDouble:
    """A client of `/control`; each platform says what runs its double, and the path of its API."""

    package: ClassVar[str]
    api: ClassVar[str]

    def __init__(self, port: int, session: aiohttp.ClientSession) -> None:
        self.api_url = f"http://127.0.0.1:{port}{self.api}"
        self._base = f"http://127.0.0.1:{port}/control"
        self._session = session

    @classmethod
    @asynccontextmanager
    async def spawned(cls, folder: Path, *options: str) -> AsyncIterator[Self]:
        """Run the double beside the test, where nobody has to wait."""
        port_file = folder / f"{cls.package}.port"
        code = f"from {cls.package} import main; main()"
        with streams_to(folder / f"{cls.package}.log") as streams:
            words = (str(port_file), *options)
            process = await fork(code, ROOT, words, environment_of({}), streams)
        try:
            port = await _port(port_file, process)
            async with aiohttp.ClientSession() as session:
                yield cls(port, session)
        finally:
            kill_group(process)
            await process.wait()

    async def state(self) -> Json:
        """Return everything that it knows, as JSON."""
        found: Json = await self._get("state")
        return found

    async def sent(self) -> list[Json]:
        found: list[Json] = await self._get("sent")
        return found

    async def until(self, reached: Callable[[Json], Any], seconds: float = PROCESS_SECONDS) -> Json:
        """Wait for a state; raises TimeoutError, which has the state in its notes."""
        seen: Json = {}

        async def look() -> Json:
            nonlocal seen
            seen = await self.state()
            return seen

        try:
            return await until_asked(look, reached, seconds)
        except TimeoutError as late:
            late.add_note(f"{self.package} after {seconds:g} s\n{_summary(seen)}")
            raise

    async def act(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Do what the double, or a part of it, has a method for; raises RemoteError if refused."""
        return (await self._post("act", {"name": name, "args": args, "kwargs": kwargs}))["done"]

    async def fail(self, fault: Fault, *where: str, **which: int | str) -> None:
        await self._post("fail", {"fault": asdict(fault), "where": where, **which})

    async def set_rules(self, **rules: float | bool) -> None:
        await self._post("rules", rules)

    async def release(self) -> None:
        await self.act("faults.release")

    async def calm(self) -> None:
        await self.act("faults.clear")

    async def _get(self, what: str) -> Any:
        async with self._session.get(f"{self._base}/{what}") as response:
            return orjson.loads(await response.read())

    async def _post(self, what: str, body: Json) -> Json:
        url = f"{self._base}/{what}"
        async with self._session.post(url, data=orjson.dumps(body)) as response:
            if response.status != 200:
                raise RemoteError(await response.text())
            answer: Json = orjson.loads(await response.read())
            return answer


def _summary(state: Json) -> str:
    """Return a state in lines: of what is long only the end, which is what came last."""
    return "\n".join(f"{name}: {_end(known)}" for name, known in state.items())


def _end(known: Any) -> str:
    if isinstance(known, dict) and all(isinstance(each, list) for each in known.values()):
        known = {name: each[-SHOWN:] for name, each in known.items()}
    return str(known[-SHOWN:] if isinstance(known, list) else known)


async def _port(file: Path, process: Forked) -> int:
    """Wait until the double has written where it listens."""
    async with asyncio.timeout(PROCESS_SECONDS):
        while not (text := await asyncio.to_thread(_read, file)):
            if process.returncode is not None:
                raise RemoteError(f"The double ended with {process.returncode}: see {file.parent}.")
            await asyncio.sleep(0.02)
    return int(text)


def _read(file: Path) -> str:
    return file.read_text() if file.exists() else ""
