"""How the benchmark speaks with a hall, and the troubles that it makes there."""

from __future__ import annotations

from abc import ABC, abstractmethod
from random import Random
from typing import Any, NamedTuple

from bench.crowd.voters import Move
from tests.doubles import discord, slack
from tests.doubles.faults import Fault, delay, drop, garbage, limited, status
from tests.doubles.remote import Json, RemoteDouble

PAGE = "<html>Sign in to the network</html>"  # what a proxy answers, with status 200
WRITES = (drop("before"), drop("after"), status(500), status(502), status(503), limited(1.0))
READS = (*WRITES, limited(1.0, via=False), delay(2.5), garbage(PAGE), garbage())


class _WeakPoint(NamedTuple):
    """Requests that something may go wrong with, and what."""

    method: str
    path: str
    faults: tuple[Fault, ...]


class Visitor(RemoteDouble, ABC):
    """A client of a hall."""

    package = "bench.crowd.hall"
    platform: str

    async def open(self, channels: int, people: list[str]) -> list[str]:
        """Make channels and people, and return the channels' ids."""
        made: list[str] = await self._ask("open", channels=channels, people=people)
        return made

    async def start(self, user: str, channel: str, topic: str) -> bool:
        """Start a debate; say whether the bot answered."""
        return bool(await self._ask("ask", user=user, channel=channel, topic=topic))

    async def crowd(self, message: str, began: float, moves: list[Move]) -> None:
        """Have people act on a ballot."""
        await self._ask("crowd", message=message, began=began, moves=[list(move) for move in moves])

    async def look(self, reveal: str) -> Json:
        """Return which ballots people can vote on, and what was revealed."""
        seen: Json = await self._ask("look", reveal=reveal)
        return seen

    async def outcome(self) -> Json:
        """Return everything that the crowd did, and what the platform has now."""
        seen: Json = await self._ask("outcome")
        return seen

    @abstractmethod
    async def lose_session(self, random: Random) -> str:
        """Take the bot's session away in some way, and say which."""

    @abstractmethod
    async def trip(self, random: Random) -> str:
        """Let one of the next requests go wrong, and say how."""

    async def _ask(self, what: str, **asked: Any) -> Any:
        return await self._post(what, asked)


class _DiscordVisitor(Visitor, discord.Remote):
    """What goes wrong on Discord."""

    platform = "discord"
    weak_points = (
        _WeakPoint("GET", "/channels/*/messages/*/reactions/*", READS),
        _WeakPoint("GET", "/channels/*/messages/*", READS),
        _WeakPoint("POST", "/channels/*/messages", WRITES),
        _WeakPoint("PATCH", "/channels/*/messages/*", WRITES),
        _WeakPoint("PUT", "/channels/*/messages/*/reactions/*/@me", WRITES),
        _WeakPoint(
            "GET", "/channels/*/messages/*/reactions/*", (*READS, limited(1.0, everywhere=True))
        ),
    )

    async def lose_session(self, random: Random) -> str:
        way = random.choice(("drop", "reconnect", "forget", "invalidate"))
        match way:
            case "forget":
                await self.gateway("disconnect", 4000, forget=True)
            case "invalidate":
                await self.gateway("invalidate", resumable=False)
            case _:
                await self.gateway(way)
        return way

    async def trip(self, random: Random) -> str:
        point = random.choice(self.weak_points)
        fault = random.choice(point.faults)
        await self.fail(fault, point.method, point.path, times=random.randint(1, 3))
        return _named(fault)


class _SlackVisitor(Visitor, slack.Remote):
    """What goes wrong on Slack."""

    platform = "slack"
    weak_points = (
        _WeakPoint("", "reactions.get", READS),
        _WeakPoint("", "reactions.get", READS),
        _WeakPoint("", "chat.postMessage", WRITES),
        _WeakPoint("", "chat.update", WRITES),
        _WeakPoint("", "reactions.add", WRITES),
        _WeakPoint("", "users.info", READS),
    )

    async def lose_session(self, random: Random) -> str:
        way = random.choice(("drop", "refresh"))
        await self.socket(way)
        return way

    async def trip(self, random: Random) -> str:
        point = random.choice(self.weak_points)
        fault = random.choice(point.faults)
        await self.fail(fault, point.path, times=random.randint(1, 3))
        return _named(fault)


VISITORS: dict[str, type[Visitor]] = {"discord": _DiscordVisitor, "slack": _SlackVisitor}


def _named(fault: Fault) -> str:
    if fault.kind != "status":
        return fault.kind if fault.kind != "drop" else f"cut {fault.when}"
    limit = " everywhere" if fault.everywhere else "" if fault.via else " by a proxy"
    return f"{fault.status}{limit}"
