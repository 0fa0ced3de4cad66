"""The bot's processes on Discord, as a test starts, kills and follows them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from tests.crash.conftest import ROOT, Scene
from tests.crash.discord_driver import CONNECTED, LIVES, OVER
from tests.crash.fate import lines
from tests.doubles.discord import Remote, hang

PATIENCE = 60.0


class Send(NamedTuple):
    """So many requests that change what people see; `text` is in their body."""

    method: str
    path: str
    times: int = 1
    text: str = ""


class Bot:
    """One process after the other, each killed from here or by its fate."""

    def __init__(self, scene: Scene, discord: Remote, chain: asyncio.subprocess.Process) -> None:
        self.scene = scene
        self.discord = discord
        self._chain = chain
        self._killed = 0

    @property
    def kills(self) -> int:
        """How many processes have been killed so far."""
        return self._killed + len(self.scene.met)

    async def back(self) -> None:
        """Wait until the process after the last kill is connected."""
        await self._until(lambda: self._newest() and self._newest() == self._lives(CONNECTED)[-1:])

    async def kill(self) -> None:
        """Kill the process that lives now."""
        await self._until(self._newest)
        os.kill(int(self._newest()[0]), signal.SIGKILL)
        self._killed += 1

    @asynccontextmanager
    async def away(self) -> AsyncIterator[None]:
        """Kill it, and let none follow before the body ends."""
        self._chain.send_signal(signal.SIGSTOP)
        try:
            await self.kill()
            yield
        finally:
            self._chain.send_signal(signal.SIGCONT)
        await self.back()

    async def die(self, points: int) -> None:
        """Wait until it has died at so many points of its fate in all, and is back."""
        await self._until(lambda: len(self.scene.met) >= points)
        await self.back()

    async def kill_at(self, sends: Sequence[Send], begin: Callable[[], Awaitable[object]]) -> None:
        """Kill it at each of these sends, before it is stored and after; `begin` leads to them."""
        points = [(s, when) for s in sends for _ in range(s.times) for when in ("before", "after")]
        await self._plan(*points[0])
        await begin()
        for following in [*points[1:], None]:
            await self.discord.until(lambda state: state["hanging"], PATIENCE)
            if following is not None:
                await self._plan(*following)
            await self.kill()
            await self.discord.release()
            await self.discord.until(lambda state: not state["hanging"])

    async def _plan(self, send: Send, when: Any) -> None:
        await self.discord.fail(hang(when), send.method, send.path, text=send.text)

    def _lives(self, name: str) -> list[str]:
        return lines(self.scene.folder / name)

    def _newest(self) -> list[str]:
        """Return the id of the process after the last kill, nothing while there is none."""
        lives = self._lives(LIVES)
        return lives[-1:] if len(lives) > self.kills else []

    async def _until(self, reached: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not reached():  # noqa: ASYNC110 - files are looked at, which tell nobody
                await asyncio.sleep(0.02)


@asynccontextmanager
async def serving(scene: Scene, discord: Remote) -> AsyncIterator[Bot]:
    """Run the bot's processes until the body ends."""
    command = (sys.executable, "-m", "tests.crash.discord_driver", str(scene.folder))
    chain = await asyncio.create_subprocess_exec(*command, discord.api_url, cwd=ROOT)
    bot = Bot(scene, discord, chain)
    try:
        await bot.back()
        yield bot
    finally:
        (scene.folder / OVER).touch()
        while chain.returncode is None:  # one more may just have been born
            for life in lines(scene.folder / LIVES)[-1:]:
                with suppress(ProcessLookupError):
                    os.kill(int(life), signal.SIGKILL)
            with suppress(TimeoutError):
                await asyncio.wait_for(chain.wait(), 0.5)
