"""`rostrum run` as a process that a benchmark kills and starts again."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

import orjson

from bench.crowd.oracle import AMBIGUOUS
from engine.values.errors import RostrumError
from tests.doubles.command import ROOT
from tests.doubles.discord.server import TOKEN
from tests.doubles.slack.server import APP_TOKEN, BOT_TOKEN

MOST_CRASHES = 5
PROGRAM = ("-m", "bench.crowd.program", "run")
STANDING = """
SELECT questions.message, people.user, votes.body
FROM votes JOIN questions
    ON questions.debate = votes.debate AND questions.question = votes.question
JOIN people ON people.id = votes.person
WHERE votes.question = 'vote'
"""


READ = "SELECT message, read_at FROM questions WHERE question = 'vote' AND read_at IS NOT NULL"
CLOSED = """
SELECT questions.message, debates.revealed_at
FROM questions JOIN debates ON debates.id = questions.debate
WHERE questions.question = 'vote' AND debates.revealed_at IS NOT NULL
"""


class Subject:
    """One process after the other on the same database, with real settings and rates."""

    def __init__(self, folder: Path, platform: str, api_url: str, minutes: float) -> None:
        self._folder = folder
        self._environment = _environment(platform, api_url, minutes)
        self._process: asyncio.subprocess.Process | None = None
        self.kills = 0
        self.crashes = 0

    @property
    def log(self) -> Path:
        """What every process logged."""
        return self._folder / "rostrum.log"

    async def start(self) -> None:
        """Start a process; it is not connected yet."""
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *PROGRAM,
                cwd=self._folder,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    async def revive(self) -> None:
        """Start another process where the last one ended by itself, which none should.

        Raises RostrumError when it does so again and again.
        """
        if self._process is not None and self._process.returncode is not None:
            self.crashes += 1
            if self.crashes > MOST_CRASHES:
                raise RostrumError(
                    f"rostrum run ended by itself {self.crashes} times: {self._said()}"
                )
            await self.start()

    async def kill(self) -> None:
        """Kill the process, and wait until it is gone."""
        await self.revive()
        self.kills += 1
        await self.end()

    async def end(self) -> None:
        """Kill the process if there is one."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            process.send_signal(signal.SIGKILL)
            await process.wait()

    def readings(self) -> dict[str, float]:
        """Return when the last whole reading of each ballot began; none of what is not there yet.

        Only the bot knows: the double cannot tell what it made of an answer.
        """
        return self._moments(READ)

    def closed(self) -> dict[str, float]:
        """Return when each vote was closed."""
        return self._moments(CLOSED)

    def _moments(self, query: str) -> dict[str, float]:
        database = self._folder / "rostrum.db"
        with (
            suppress(sqlite3.OperationalError),
            closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection,
        ):
            return {
                message: datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
                for message, moment in connection.execute(query)
            }
        return {}

    def _said(self) -> str:
        """Return the last line of the log."""
        return (self.log.read_text().splitlines() or ["it said nothing."])[-1]

    def votes(self) -> dict[str, dict[str, str]]:
        """Return what stood at each close, by ballot and user, as exports read it."""
        found: dict[str, dict[str, str]] = {}
        database = self._folder / "rostrum.db"
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
            for message, user, body in connection.execute(STANDING):
                vote = orjson.loads(body)
                option = AMBIGUOUS if vote["ambiguous"] else vote["option"]
                found.setdefault(message, {})[user] = option
        return found


def _environment(platform: str, api_url: str, minutes: float) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if "ROSTRUM" not in name}
    ours = {
        "DATABASE_URL": "sqlite+aiosqlite:///rostrum.db",
        "DEFAULT_VOTE_MINUTES": f"{minutes:g}",
        "BUDGET__USER_DAILY_DEBATES": "1000000",
        "BUDGET__MAX_LIVE_PER_COMMUNITY": "1000000",
        "LOG__FORMAT": "json",
    }
    given = {
        "discord": {"DISCORD__TOKEN": TOKEN, "DISCORD__API_URL": api_url},
        "slack": {
            "SLACK__BOT_TOKEN": BOT_TOKEN,
            "SLACK__APP_TOKEN": APP_TOKEN,
            "SLACK__API_URL": api_url,
        },
    }[platform]
    settings = {f"ROSTRUM_{name}": value for name, value in (ours | given).items()}
    return kept | settings | {"PYTHONPATH": str(ROOT)}
