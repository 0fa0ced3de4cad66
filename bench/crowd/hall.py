"""A platform's double with a crowd in it: `… -m bench.crowd.hall PORT_FILE PLATFORM`.

The crowd acts inside the double's process, so that thousands cost no request each. What the double
holds in the end, and its log of who did what when, is the benchmark's only oracle.
"""

from __future__ import annotations

import asyncio
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from adapters.discord.render import reaction_of as reaction_of_emoji
from adapters.slack.render import reaction_of as reaction_of_name
from bench.crowd import SLACK_MINUTE
from bench.crowd.oracle import Deed, Telling
from bench.crowd.voters import OPTIONS, Move
from tests.doubles.discord.remote import DiscordControl
from tests.doubles.discord.server import DiscordServer
from tests.doubles.discord.state import Message as DiscordMessage
from tests.doubles.facts import in_small_print, on_slack
from tests.doubles.remote import Control, Json
from tests.doubles.slack.deliveries import DidNotRespondError, Told as Event
from tests.doubles.slack.remote import SlackControl
from tests.doubles.slack.server import SlackServer
from tests.doubles.slack.state import Message as SlackMessage, Rules

LOOK_SECONDS = 0.01
UNSURE_SECONDS = 2.0  # what was told so shortly before a session was lost may not have been heard


@dataclass(slots=True)
class _Booth:
    """A message that asks people to vote; `emojis` are by option."""

    place: str
    message: str
    created: float
    emojis: dict[str, str]
    log: list[tuple[float, Move, Event | None]] = field(default_factory=list)


class Hall(ABC):
    """The double, and what the crowd does in it."""

    control: Control[Any]

    def __init__(self) -> None:
        self.ballots: dict[str, _Booth] = {}
        self._crowds: list[asyncio.Task[None]] = []
        self.gaps: list[list[float]] = []  # from when to when nothing was told

    def app(self) -> web.Application:
        """Make the double's application, with its control and the crowd's routes."""
        app = web.Application(client_max_size=64 * 2**20)
        for name in ("open", "ask", "crowd", "look", "outcome"):
            # Before the double's own, the last of which takes every path.
            app.router.add_post(f"/control/{name}", self._route(name))
        return self.control.app(app)

    async def serve(self, port_file: Path) -> None:
        """Listen, and write the port into a file, until killed."""
        watching = asyncio.create_task(self.watch())
        try:
            await self.control.serve(port_file, self.app())
        finally:
            watching.cancel()

    # --- what the benchmark asks ------------------------------------------------------------

    @abstractmethod
    async def open(self, channels: int, people: list[str]) -> list[str]:
        """Make channels and people, and return the channels' ids."""

    @abstractmethod
    async def ask(self, user: str, channel: str, topic: str) -> bool:
        """Start a debate; say whether the bot answered."""

    async def crowd(self, message: str, began: float, moves: list[list[Any]]) -> None:
        """Have people act on a ballot; moves count from a moment."""
        task = asyncio.create_task(self._act(message, began, [Move(*move) for move in moves]))
        self._crowds.append(task)

    async def look(self, reveal: str) -> Json:
        """Return which ballots people can vote on, and what was revealed."""
        self._find_ballots()
        return {
            "connected": self.connected,
            "voting": sum(not task.done() for task in self._crowds),
            "ballots": {b.message: [b.place, b.created] for b in self.ballots.values()},
            "revealed": {
                place: moment
                for place, texts in self.threads().items()
                for moment, text in texts
                if reveal in text.splitlines()
            },
        }

    async def outcome(self) -> Json:
        """Return everything that the crowd did, what is held now, and what was posted."""
        await asyncio.gather(*self._crowds)  # long ended, unless one failed
        return {
            "users": self.users(),
            "acts": {
                ballot.message: [list(self._shown(*done)) for done in ballot.log]
                for ballot in self.ballots.values()
            },
            "held": {ballot.message: self._held(ballot) for ballot in self.ballots.values()},
            "references": self._references(),
            "violations": self.violations(),
            "lost": self.lost(),
            "gaps": [*self.gaps, *([] if self.connected else [[self.last_seen(), self.now()]])],
        }

    # --- what differs by platform -----------------------------------------------------------

    @property
    @abstractmethod
    def connected(self) -> bool:
        """Whether the bot is told what happens."""

    @abstractmethod
    def now(self) -> float:
        """The platform's time."""

    @abstractmethod
    def users(self) -> dict[str, str]:
        """Return the ids of people by their names."""

    @abstractmethod
    async def watch(self) -> None:
        """Note which sessions are lost, until cancelled."""

    @abstractmethod
    def lost(self) -> int:
        """Return how many sessions were lost."""

    @abstractmethod
    def threads(self) -> dict[str, list[tuple[float, str]]]:
        """Return the texts of each thread with when they were posted."""

    @abstractmethod
    def violations(self) -> list[tuple[float, str, str]]:
        """Return (when, what for, why) of every 429 that the bot earned."""

    @abstractmethod
    async def do(self, ballot: _Booth, move: Move) -> Event | None:
        """Perform a person's act, and return the bot's event, if there is one."""

    @abstractmethod
    def holders(self, ballot: _Booth, emoji: str) -> Iterable[str]:
        """Return the names of who holds an emoji."""

    @abstractmethod
    def heard(self, at: float, event: Event | None) -> Telling:
        """Return whether the bot received an act."""

    @abstractmethod
    def last_seen(self) -> float:
        """Return until when the bot was told what happens, while it is not."""

    @abstractmethod
    def _find_ballots(self) -> None:
        """Note the messages that were seeded wholly by now."""

    # --- inside -----------------------------------------------------------------------------

    def _route(self, name: str) -> Any:
        async def handle(request: web.Request) -> web.Response:
            asked: Json = orjson.loads(await request.read())
            done = await getattr(self, name)(**asked)
            return web.Response(body=orjson.dumps(done), content_type="application/json")

        return handle

    async def _act(self, message: str, began: float, moves: list[Move]) -> None:
        ballot = self.ballots[message]
        for move in moves:
            await asyncio.sleep(max(0.0, began + move.at - self.now()))
            at = self.now()
            ballot.log.append((at, move, await self.do(ballot, move)))

    def _shown(self, at: float, move: Move, event: Event | None) -> Deed:
        told_at = None if event is None else event.acknowledged_at
        return Deed(at, move.user, move.added, move.option, self.heard(at, event), told_at)

    def _held(self, ballot: _Booth) -> dict[str, list[str]]:
        held: dict[str, list[str]] = {}
        for option, emoji in ballot.emojis.items():
            for name in self.holders(ballot, emoji):
                held.setdefault(name, []).append(option)
        return held

    @abstractmethod
    def _references(self) -> list[str]:
        """Return the references of all messages."""


class _DiscordHall(Hall):
    """Discord, at its real rates."""

    def __init__(self) -> None:
        super().__init__()
        self.discord = DiscordServer()
        self.control = DiscordControl(self.discord)

    async def open(self, channels: int, people: list[str]) -> list[str]:
        for name in people:
            self.discord.add_user(name)
        return [self.discord.add_channel(f"debates-{n}").id for n in range(channels)]

    async def ask(self, user: str, channel: str, topic: str) -> bool:
        asked = self.discord.slash(user, "debate start", {"topic": topic}, channel=channel)
        try:
            return bool((await asked.finished(20.0)).text)
        except AssertionError:
            return False

    @property
    def connected(self) -> bool:
        return bool(self.discord.gateway.connected)

    def now(self) -> float:
        return self.discord.clock.now()

    def users(self) -> dict[str, str]:
        return {name: user.id for name, user in self.discord.users.items()}

    async def watch(self) -> None:
        """Note from when to when no session could tell anything; what is resumed is told later."""
        sessions, last = self.discord.gateway.sessions, ""
        seen = self.now()
        while True:
            newest = [key for key, session in sessions.items() if session.socket is not None]
            if newest and newest[-1] != last:
                self.gaps.append([seen if last else 0.0, self.now()])
                last = newest[-1]
            if newest:
                seen = self.now()
            await asyncio.sleep(LOOK_SECONDS)

    def lost(self) -> int:
        return len(self.gaps) - 1

    def _references(self) -> list[str]:
        texts = [text for said in self.threads().values() for _, text in said]
        return [found for text in texts if (found := in_small_print(text))]

    def threads(self) -> dict[str, list[tuple[float, str]]]:
        world = self.discord.world
        return {
            place.id: [(message.created, message.text) for message in world.in_order(place.id)]
            for place in world.channels.values()
        }

    def violations(self) -> list[tuple[float, str, str]]:
        return [(each.at, each.bucket, each.why) for each in self.discord.violations]

    async def do(self, ballot: _Booth, move: Move) -> Event | None:
        act = self.discord.react if move.added else self.discord.unreact
        act(move.user, ballot.message, ballot.emojis[move.option])
        return None

    def holders(self, ballot: _Booth, emoji: str) -> Iterable[str]:
        return self.discord.holders(ballot.message, emoji)

    def heard(self, at: float, event: Event | None) -> Telling:
        ends = [*self.gaps, *([] if self.connected else [[self.last_seen(), self.now()]])]
        for lost, back in ends:
            if lost <= at <= back:
                return Telling.NEVER
            if lost - UNSURE_SECONDS <= at <= lost:
                return Telling.UNSURE
        return Telling.LIVE

    def last_seen(self) -> float:
        left = [session.left for session in self.discord.gateway.sessions.values() if session.left]
        return max(left, default=self.now())

    def _find_ballots(self) -> None:
        me = self.discord.bot.id
        for place in [c for c in self.discord.world.channels.values() if c.is_thread]:
            for message in self.discord.world.in_order(place.id):
                emojis = [r.emoji for r in message.reactions.values() if me in r.holders]
                if message.id not in self.ballots and len(emojis) == len(OPTIONS):
                    self._note(place.id, message, emojis)

    def _note(self, place: str, message: DiscordMessage, emojis: list[str]) -> None:
        of = {reaction_of_emoji(emoji): emoji for emoji in emojis}  # seeded in any order
        by_option = {option: of[option] for option in OPTIONS}
        self.ballots[message.id] = _Booth(place, message.id, message.created, by_option)


class _SlackHall(Hall):
    """Slack, with its tiers and one message a second to each channel."""

    def __init__(self) -> None:
        super().__init__()
        retries = (0.0, SLACK_MINUTE, 5 * SLACK_MINUTE)
        self.slack = SlackServer(rules=Rules(tier_seconds=SLACK_MINUTE, retries=retries))
        self.control = SlackControl(self.slack)
        self._seen, self._known = 0.0, -1

    async def open(self, channels: int, people: list[str]) -> list[str]:
        for name in people:
            self.slack.add_user(name)
        return [self.slack.add_channel(f"debates-{n}").id for n in range(channels)]

    async def ask(self, user: str, channel: str, topic: str) -> bool:
        try:
            asked = await self.slack.slash(user, f'/debate start "{topic}"', channel)
            return bool(await asked.said(seconds=20.0))
        except (AssertionError, DidNotRespondError):
            return False

    @property
    def connected(self) -> bool:
        return self.slack.socket.connected

    def now(self) -> float:
        return self.slack.clock.now()

    def users(self) -> dict[str, str]:
        return {name: user.id for name, user in self.slack.users.items()}

    async def watch(self) -> None:
        """Note from when to when there was no connection; each event says if it was taken."""
        while True:
            if self.connected:
                if self._seen < self.now() - 2 * LOOK_SECONDS or self.lost() > self._known:
                    self.gaps.append([self._seen, self.now()])
                self._seen, self._known = self.now(), self.lost()
            await asyncio.sleep(LOOK_SECONDS)

    def last_seen(self) -> float:
        return self._seen

    def lost(self) -> int:
        return self.slack.socket.connects - 1

    def _references(self) -> list[str]:
        everything = self.slack.world.everything()
        return [found for message in everything if (found := on_slack(message.metadata))]

    def threads(self) -> dict[str, list[tuple[float, str]]]:
        found: dict[str, list[tuple[float, str]]] = {}
        for message in self.slack.world.everything():
            place = message.thread_ts or message.ts
            found.setdefault(place, []).append((float(message.ts), message.text))
        return found

    def violations(self) -> list[tuple[float, str, str]]:
        return [(each.at, each.method, each.of) for each in self.slack.violations]

    async def do(self, ballot: _Booth, move: Move) -> Event | None:
        act = self.slack.react if move.added else self.slack.unreact
        await act(move.user, ballot.message, ballot.emojis[move.option])
        return self.slack.deliveries.told[-1]

    def holders(self, ballot: _Booth, emoji: str) -> Iterable[str]:
        return self.slack.holders(ballot.message, emoji)

    def heard(self, at: float, event: Event | None) -> Telling:
        if event is None or not event.acknowledged:
            return Telling.NEVER
        return Telling.LIVE if event.tries == 1 else Telling.LATE

    def _find_ballots(self) -> None:
        for message in self.slack.world.everything():
            mine = [name for name, users in message.reactions.items() if message.user in users]
            if message.ts not in self.ballots and len(mine) == len(OPTIONS):
                self._note(message, mine)

    def _note(self, message: SlackMessage, emojis: list[str]) -> None:
        of = {reaction_of_name(name): name for name in emojis}
        by_option = {option: of[option] for option in OPTIONS}
        place = message.thread_ts or message.ts
        self.ballots[message.ts] = _Booth(place, message.ts, float(message.ts), by_option)


HALLS: dict[str, type[Hall]] = {"discord": _DiscordHall, "slack": _SlackHall}


def main() -> None:
    """Serve the hall of a platform: `PORT_FILE PLATFORM`."""
    asyncio.run(HALLS[sys.argv[2]]().serve(Path(sys.argv[1])))
