"""Where a process may be made to die or to stand still, and a store and a platform that tell.

A point has the same name in every process: what is written or sent, and whether that has
happened yet. So a chain of processes, each killed at a point where none was killed before, meets
every point of a debate.
"""

import os
import signal
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from adapters.database.database import SqlDatabase
from engine.store import AttemptStart, Cast, Intent, Lease, Note, Post, Store
from engine.values.debate import Status, Turn
from engine.values.ports import Inbound, Listener, Part, Reactions, VenueLimits
from engine.values.verdicts import Question
from tests.doubles.venue import MemoryVenue

DOOMED, MET, FREEZE, TRAIL, URL = "doomed", "met", "freeze", "trail", "database"
SERVER = "postgresql:"
LIMITS = VenueLimits(typing_seconds=60, send_seconds=0.05)
# A debate exists from the moment it is created; leases are renewed by time, not by step.
WRITES = {
    "leases": ("claim", "release"),
    "debates": ("advance",),
    "journal": ("began", "ended", "record_turn", "note", "record_verdict"),
    "outbox": ("publish", "sending", "posted", "settle", "set_thread"),
    "votes": ("open", "cast", "close"),
    "guests": ("answer", "begin", "speak"),
}


class Fate:
    """Decides at each point whether the process goes on.

    Without a file `doomed` it notes every point in `met`; with one, it kills the process at
    each point named there that no process has met yet. At the point in `freeze` the process
    stands still until it is told to continue.
    """

    def __init__(self, folder: Path) -> None:
        self._met = folder / MET
        self._known = set(lines(self._met))
        self._doomed = set(lines(folder / DOOMED))
        self._freeze = set(lines(folder / FREEZE))
        self._trail = folder / TRAIL
        self._file = folder / "debate.db"

    def note(self, what: str) -> None:
        """Leave a line in the trail, which shows in which order things happened."""
        append(self._trail, what)

    def meet(self, point: str) -> None:
        if point in self._known:
            return
        if self._doomed and point not in self._doomed:
            return
        self._known.add(point)
        append(self._met, point)
        if point in self._doomed:
            os.kill(os.getpid(), signal.SIGKILL)
        if point in self._freeze:
            self._let_writes_end()
            os.kill(os.getpid(), signal.SIGSTOP)

    def _let_writes_end(self) -> None:
        """Wait for the write in progress: frozen, it would lock a file for all others.

        A server ends what a frozen process has begun, so there it is frozen as it is.
        """
        if not self._file.exists():
            return
        with closing(sqlite3.connect(self._file, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")


class FatedPart:
    """A part of the store that comes to a point before and after each write."""

    def __init__(self, part: object, name: str, fate: Fate) -> None:
        self._part = part
        self._name = name
        self._fate = fate

    def __getattr__(self, method: str) -> Any:
        act = getattr(self._part, method)
        if method not in WRITES[self._name]:
            return act

        async def write(*args: Any, **options: Any) -> Any:
            point = " ".join(filter(None, [f"{self._name}.{method}", *map(_label, args)]))
            self._fate.meet(f"{point}, before")
            result = await act(*args, **options)
            self._fate.note(point)
            self._fate.meet(f"{point}, after")
            return result

        return write


class FatedStore(Store):
    """A store each of whose writes is a point."""

    def __init__(self, database: SqlDatabase, keys: Sequence[str] = (), *, fate: Fate) -> None:
        super().__init__(database, keys)
        for name in WRITES:
            setattr(self, name, FatedPart(getattr(self, name), name, fate))


def _label(value: object) -> str:
    match value:
        case AttemptStart() | Turn():
            return value.step
        case Intent():
            return f"{value.key}/{len(value.refs)}"
        case Post():
            return value.key
        case Note():
            return (*(found.name for found in value.artifacts), *(p.key for p in value.posts))[0]
        case Cast():
            return f"{value.user}{'+' if value.added else '-'}{value.option}"
        case Lease() | Status():
            return str(value if isinstance(value, Status) else value.name.split("/")[0])
        case Question():
            return "" if value is Question.VOTE else str(value)
        case [Post() as post, *_]:
            return post.key
        case str() if "/" in value:  # what a lease is asked for, or a turn's step
            return value if value.startswith("turn/") else value.split("/")[0]
        case _:
            return ""


class SurvivingVenue(MemoryVenue):
    """A platform whose messages outlive the bot's process: one JSON line for each act.

    It stores whatever is sent, twice when it is sent twice.
    """

    def __init__(self, path: Path, fate: Fate, listener: Listener | None = None) -> None:
        super().__init__(limits=LIMITS, listener=listener)
        self._path = path
        self._fate = fate
        self._known = 0  # lines
        self._catching_up = 0
        self.voted = 0

    async def remember(self) -> None:
        """Be what the file says that the platform has become, through other processes too."""
        acts: dict[str, Callable[..., Awaitable[object]]] = {
            "post": super().post,
            "edit": super().edit,
            "seed": super().seed,
            "open_thread": super().open_thread,
            "react": super().react,
            "unreact": super().unreact,
        }
        done = lines(self._path)
        self._catching_up += 1
        while self._known < len(done):
            name, *args = orjson.loads(done[self._known])
            self._known += 1
            self.voted += name in ("react", "unreact")
            known = [Part.model_validate(arg) if isinstance(arg, dict) else arg for arg in args]
            await acts[name](*known)
        self._catching_up -= 1

    async def tell(self, event: Inbound) -> None:
        """Tell what happens now, and nothing of what others were told."""
        if not self._catching_up:
            await super().tell(event)

    async def post(self, place: str, part: Part, *, notify: str = "") -> str:
        """Post a part, coming to a point before it is stored and before it is answered."""
        point = f"send {part.reference.partition('·')[2]}"
        self._fate.meet(f"{point}, before")
        await self._keep("post", place, part)
        message = await super().post(place, part, notify=notify)
        self._fate.meet(f"{point}, stored")
        return message

    async def edit(self, place: str, message: str, part: Part) -> None:
        """Edit a message, between two points."""
        self._fate.meet(f"edit {message}, before")
        await self._keep("edit", place, message, part)
        await super().edit(place, message, part)
        self._fate.meet(f"edit {message}, stored")

    async def open_thread(self, channel: str, message: str, title: str) -> str:
        """Open a thread, between two points."""
        self._fate.meet("open thread, before")
        await self._keep("open_thread", channel, message, title)
        thread = await super().open_thread(channel, message, title)
        self._fate.meet("open thread, stored")
        return thread

    async def seed(self, place: str, message: str, options: Sequence[str]) -> None:
        """Seed a message, between two points; without options, only look at it."""
        if not options:
            await self.remember()
            await super().seed(place, message, options)
            return
        self._fate.meet("seed, before")
        await self._keep("seed", place, message, list(options))
        await super().seed(place, message, options)
        self._fate.meet("seed, stored")

    async def act(self, name: str, user: str, place: str, message: str, option: str) -> None:
        """Let a person `react` or `unreact`; the platform stores it before it sends the event."""
        await self._keep(name, user, place, message, option)
        self.voted += 1
        self._fate.meet(f"{name} {user} {option}, not told")
        await (self.react if name == "react" else self.unreact)(user, place, message, option)

    async def reactions(self, place: str, message: str) -> Reactions:
        await self.remember()
        return await super().reactions(place, message)

    async def _keep(self, name: str, *args: Any) -> None:
        await self.remember()
        plain = [arg.model_dump() if isinstance(arg, Part) else arg for arg in args]
        append(self._path, orjson.dumps([name, *plain]).decode())
        self._known += 1


def url_of(folder: Path) -> str:
    return (folder / URL).read_text()


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def append(path: Path, line: str) -> None:
    """Add a line to a file; the kernel keeps it when the process is killed."""
    with path.open("ab", buffering=0) as file:
        file.write(f"{line}\n".encode())
