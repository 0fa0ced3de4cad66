"""A platform's double in a process of its own, and how a test drives it there.

```python
async with Remote.spawned(tmp_path) as discord:
    await discord.fail(hang("after"), "POST", "/channels/*/messages", skip=3)
    …                                          # start the bot's process with discord.api_url
    await discord.until(lambda state: state["hanging"])
    …                                          # kill -9 it: stored, and never answered
    await discord.release()
    await discord.act("react", "ada", message_id, "🔵")
    state = await discord.state()
```
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Self

import aiohttp
import orjson

from tests.doubles.command import ROOT, Forked, environment_of, fork, kill_group, streams_to
from tests.doubles.control import ITSELF, Json
from tests.doubles.faults import Fault
from tests.doubles.waiting import PROCESS_SECONDS, until_asked

SHOWN = 8  # of the newest calls, messages and answers, where a state was not reached


class RemoteError(AssertionError):
    """The double refused what the test asked of it."""


class RemoteDouble:
    """A client of `/control`; each platform says where its double is, and what parts it has."""

    package: ClassVar[str]
    api: ClassVar[str]
    """The path of its API."""

    def __init__(self, port: int, session: aiohttp.ClientSession) -> None:
        self.api_url = f"http://127.0.0.1:{port}{self.api}"
        self._base = f"http://127.0.0.1:{port}/control"
        self._session = session

    @classmethod
    @asynccontextmanager
    async def spawned(cls, folder: Path, *options: str) -> AsyncIterator[Self]:
        """Run the double beside the test; options as of `python -m` with its package."""
        port_file = folder / f"{cls.package}.port"
        code = f"from runpy import run_module; run_module({cls.package!r}, run_name='__main__')"
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
        """Return every text that the bot sent."""
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
        """Do what the double has a method for; raises RemoteError when it refuses."""
        return await self._act(ITSELF, name, args, kwargs)

    async def set_rules(self, **rules: float | bool) -> None:
        """Change its `Rules` by name."""
        await self._post("rules", rules)

    async def release(self) -> None:
        """Cut the connections of all requests that hang."""
        await self._post("release", {})

    async def calm(self) -> None:
        """Let every request go well from now on."""
        await self._post("calm", {})

    async def _act(
        self, part: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        asked = {"part": part, "name": name, "args": args, "kwargs": kwargs}
        return (await self._post("act", asked))["done"]

    async def _fail(self, fault: Fault, **which: int | str) -> None:
        await self._post("fail", {"fault": asdict(fault), **which})

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
