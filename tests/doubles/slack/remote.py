"""The double in a process of its own, and how a test drives it there.

```python
async with Remote.spawned(tmp_path) as slack:
    await slack.fail(hang("after"), "chat.postMessage", skip=3)
    …                                          # start the bot's process with slack.api_url
    await slack.until(lambda state: state["hanging"])
    …                                          # kill -9 it: stored, and never answered
    await slack.release()
    await slack.act("react", "ada", ts, "a")
    state = await slack.state()
```
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from tests.doubles.slack.faults import Fault
from tests.doubles.slack.refusals import Json

ROOT = Path(__file__).resolve().parents[3]
MODULE = "tests.doubles.slack"


class RemoteError(AssertionError):
    """The double refused what the test asked of it."""


class Remote:
    """A client of `/control`."""

    def __init__(self, port: int, session: aiohttp.ClientSession) -> None:
        self.api_url = f"http://127.0.0.1:{port}/api"
        self._base = f"http://127.0.0.1:{port}/control"
        self._session = session

    @classmethod
    @asynccontextmanager
    async def spawned(cls, folder: Path, *options: str) -> AsyncIterator[Remote]:
        """Run the double beside the test; options as of `python -m tests.doubles.slack`."""
        port_file = folder / "slack.port"
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", MODULE, str(port_file), *options, cwd=ROOT
        )
        try:
            port = await _port(port_file)
            async with aiohttp.ClientSession() as session:
                yield cls(port, session)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def state(self) -> Json:
        """Return everything that it knows, as JSON."""
        found: Json = await self._get("state")
        return found

    async def sent(self) -> list[Json]:
        """Return every text that the bot sent."""
        found: list[Json] = await self._get("sent")
        return found

    async def until(self, reached: Callable[[Json], Any], seconds: float = 20.0) -> Json:
        """Wait for a state; raises TimeoutError."""
        async with asyncio.timeout(seconds):
            state = await self.state()
            while not reached(state):
                await asyncio.sleep(0.02)
                state = await self.state()
        return state

    async def act(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Do what `SlackServer` has a method for; raises RemoteError when it refuses."""
        asked = {"name": name, "args": args, "kwargs": kwargs, "socket": False}
        return (await self._post("act", asked))["done"]

    async def socket(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Do what its socket has a method for."""
        await self._post("act", {"name": name, "args": args, "kwargs": kwargs, "socket": True})

    async def fail(self, fault: Fault, method: str = "**", **which: int | str) -> None:
        """Let a fault happen, as `SlackServer.fail` does."""
        await self._post("fail", {"fault": asdict(fault), "method": method, **which})

    async def clear_faults(self) -> None:
        """Let everything go well from now on."""
        await self._post("fail", {"clear": True})

    async def set_rules(self, **rules: float | bool) -> None:
        """Change `Rules` by name."""
        await self._post("rules", rules)

    async def release(self) -> None:
        """Cut the connections of all requests that hang."""
        await self._post("release", {})

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


async def _port(file: Path) -> int:
    """Wait until the double has written where it listens."""
    for _ in range(1000):
        if text := await asyncio.to_thread(_read, file):
            return int(text)
        await asyncio.sleep(0.02)
    raise RemoteError(f"The double did not start: {file} has no port.")


def _read(file: Path) -> str:
    return file.read_text() if file.exists() else ""
