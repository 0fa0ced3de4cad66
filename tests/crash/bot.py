"""The bot's processes on a platform, as a test starts, kills and follows them."""

import asyncio
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from socket import socketpair
from typing import ClassVar, NamedTuple, Self

from tests.crash.conftest import DRIVER, Scene
from tests.crash.fate import MET, lines
from tests.crash.lives import CONNECTED, LIVES, LOG, READY
from tests.doubles.command import ROOT, Forked, environment_of, fork, kill_group
from tests.doubles.faults import When
from tests.doubles.remote import Json, RemoteDouble
from tests.kit import PROCESS_SECONDS

SHOWN = 30  # of the newest lines in each file, where a wait was in vain


class Send(NamedTuple):
    """So many requests that change what people see; `text` is in their body."""

    method: str
    path: str
    times: int = 1
    text: str = ""


class Act(NamedTuple):
    """A person's act on a ballot: `+` an option or `-` it."""

    user: str
    sign: str
    option: str


class Voters(NamedTuple):
    """Groups of people who all do the same: each act is of the person at a place of a group.

    When the bot is told of an act of those in `told` it dies, before it stores it or after; while
    those in `untold` act there is no bot.
    """

    acts: tuple[tuple[int, str, str], ...]
    told: Mapping[str, tuple[str, ...]]
    untold: tuple[str, ...]

    @property
    def people(self) -> tuple[str, ...]:
        return (*chain.from_iterable(self.told.values()), *self.untold)

    def of(self, group: Sequence[str]) -> Iterator[Act]:
        return (Act(group[place], sign, option) for place, sign, option in self.acts)

    def casts(self, users: dict[str, str]) -> Iterator[str]:
        """Yield the point of each vote at which a process dies; `users` are ids by name."""
        for when, group in self.told.items():
            for act in self.of(group):
                yield f"votes.cast {users[act.user]}{act.sign}{act.option}, {when}"


@dataclass(frozen=True, slots=True)
class Held:
    """A debate that was held to its end: the platform's state, and all that was sent to it."""

    state: Json
    sent: list[Json]
    scene: Scene
    kills: int


class Read(NamedTuple):
    """A message as people read it: the line above it, its place in its debate, who holds what."""

    title: str
    code: str
    place: str
    text: str
    holders: Mapping[str, Sequence[str]]


class Bot(ABC):
    """One process after the other, each killed from here or by its fate."""

    name: ClassVar[str]  # the platform's
    remote: ClassVar[type[RemoteDouble]]
    own_name: ClassVar[str]  # the bot's, among those who hold a reaction
    signs: ClassVar[Mapping[str, str]]  # the reaction of each option
    sends: ClassVar[Sequence[Send]]  # all that a debate sends, but for edits
    rules: ClassVar[Mapping[str, float]] = {}  # the platform's rules that are other than usual
    allowed: ClassVar[Sequence[str]] = ()  # what the bot is allowed beside the usual
    # Whether it is killed at every one of many like sends, or only at the first of them.
    everywhere: ClassVar[bool] = True
    voters: ClassVar[Voters]
    deaths: ClassVar[int]  # how often it is killed in all
    votes: ClassVar[int]  # how many people's votes are left in the end
    other_points: ClassVar[tuple[str, ...]] = ()  # where it dies by its fate, beside the votes

    def __init__(self, scene: Scene, platform: RemoteDouble, lives: Forked) -> None:
        self.scene = scene
        self.platform = platform
        self._lives = lives
        self._killed = 0

    @classmethod
    async def hold(
        cls, scene: Scene, lead: Callable[[Self], Awaitable[None]], *, doomed: bool
    ) -> Held:
        """Hold a debate on a platform of its own; `doomed` it dies at every vote."""
        async with cls.remote.spawned(scene.folder) as platform:
            await platform.set_rules(**cls.rules)
            for permission in cls.allowed:
                await platform.act("allow", permission)
            for name in set(cls.voters.people) - set((await platform.state())["users"]):
                await platform.act("add_user", name)
            users = (await platform.state())["users"]
            # A file that names no point of this debate keeps its process from noting every one.
            scene.doom(sorted(cls.points(users)) if doomed else ["none"])
            async with cls.serving(scene, platform) as bot:
                await lead(bot)
                state = await platform.until(cls.is_over)
                return Held(state, await platform.sent(), scene, bot.kills)

    @classmethod
    async def hold_both(cls, new_scene: Callable[[], Scene]) -> tuple[Held, Held]:
        """Hold a debate that nothing happens to, and beside it one that is killed everywhere."""
        return await asyncio.gather(
            cls.hold(new_scene(), cls.live_quietly, doomed=False),
            cls.hold(new_scene(), cls.be_killed, doomed=True),
        )

    @classmethod
    def points(cls, users: dict[str, str]) -> set[str]:
        """Return the points of its fate; `users` are ids by name."""
        return {*cls.other_points, *cls.voters.casts(users)}

    @classmethod
    @asynccontextmanager
    async def serving(cls, scene: Scene, platform: RemoteDouble) -> AsyncIterator[Self]:
        words = (cls.name, str(scene.folder), platform.api_url)
        ours, theirs = socketpair()  # whose end ends them, should this process be killed
        with ours, theirs:
            streams = (theirs.fileno(), 1, 2)
            lives = await fork(DRIVER, ROOT, words, environment_of({}), streams, ready=READY)
            bot = cls(scene, platform, lives)
            try:
                await bot.back()
                yield bot
            except TimeoutError as late:
                late.add_note("\n".join(bot._told()))
                raise
            finally:
                kill_group(lives)
                await lives.wait()

    @property
    def kills(self) -> int:
        return self._killed + len(self.scene.met)

    async def back(self) -> None:
        """Wait until the process after the last kill is connected."""
        await self._until(lambda: self._newest() and self._newest() == self._lines(CONNECTED)[-1:])

    @asynccontextmanager
    async def dead(self) -> AsyncIterator[None]:
        """Kill it, and let none follow before the body ends."""
        await self._until(self._newest)
        self._lives.send_signal(signal.SIGSTOP)
        try:
            os.kill(int(self._newest()[0]), signal.SIGKILL)
            self._killed += 1
            yield
        finally:
            self._lives.send_signal(signal.SIGCONT)

    async def die(self, points: int) -> None:
        """Wait until it has died at that many points in all, and is back."""
        await self._until(lambda: len(self.scene.met) >= points)
        await self.back()

    async def kill_at(self, sends: Sequence[Send], begin: Callable[[], Awaitable[object]]) -> None:
        """Kill it at each of these sends, before it is stored and after; `begin` leads to them."""
        whens: tuple[When, When] = ("before", "after")
        points = [
            (send, when)
            for send in sends
            for _ in range(send.times if self.everywhere else 1)
            for when in whens
        ]
        await self.hang(*points[0])
        await begin()
        for following in [*points[1:], None]:
            await self.platform.until(lambda state: state["hanging"])
            async with self.dead():
                await self.platform.release()
                await self.platform.until(lambda state: not state["hanging"])
                if following is not None:
                    await self.hang(*following)

    async def die_at_votes(self) -> None:
        """Have people vote: it dies at every vote that it receives, and misses others."""
        for group in self.voters.told.values():
            for act in self.voters.of(group):
                met = len(self.scene.met)
                await self.vote(act)
                await self.die(met + 1)
        async with self.dead():
            for act in self.voters.of(self.voters.untold):
                await self.vote(act)
        await self.back()

    async def live_quietly(self) -> None:
        """Lead a debate to its end, with the votes of some, killed never."""
        await self.start()
        await self.platform.until(self.is_open)
        for act in self.voters.of(self.voters.told["before"]):
            await self.vote(act)
        await self.close()

    @abstractmethod
    async def be_killed(self) -> None:
        """Lead a debate to its end through every kill."""

    @abstractmethod
    async def hang(self, send: Send, when: When) -> None:
        """Let the platform fall silent at the next request of a kind, carried out or not."""

    @abstractmethod
    async def start(self) -> None:
        """Ask for a debate."""

    @abstractmethod
    async def vote(self, act: Act) -> None:
        """Perform a person's act on the ballot."""

    @abstractmethod
    async def close(self) -> None:
        """Close the vote as a manager."""

    @staticmethod
    @abstractmethod
    def is_open(state: Json) -> bool:
        """Whether people can vote."""

    @staticmethod
    @abstractmethod
    def is_over(state: Json) -> bool:
        """Whether all that people will see of the debate is there."""

    @staticmethod
    @abstractmethod
    def read(state: Json) -> list[Read]:
        """Return every message, those of the channel first."""

    @staticmethod
    @abstractmethod
    def threads(state: Json) -> set[str]:
        """Return the threads that messages stand in."""

    @staticmethod
    @abstractmethod
    def count(held: Held, send: Send) -> int:
        """Count the requests of a kind."""

    def _lines(self, name: str) -> list[str]:
        return lines(self.scene.folder / name)

    def _told(self) -> Iterator[str]:
        """Yield which processes there were, and what they logged last."""
        for name in (LIVES, CONNECTED, MET, LOG):
            yield f"{name}: " + "\n  ".join(self._lines(name)[-SHOWN:])

    def _newest(self) -> list[str]:
        """Return the id of the process after the last kill, nothing while there is none."""
        born = self._lines(LIVES)
        return born[-1:] if len(born) > self.kills else []

    async def _until(self, reached: Callable[[], object]) -> None:
        async with asyncio.timeout(PROCESS_SECONDS):
            while not reached():
                assert self._lives.returncode is None, "a process ended without being killed"
                await asyncio.sleep(0.02)
