"""A stage for debates on Discord: the product as `rostrum run` joins it, against the double.

Processes begin and end on it as often as a test likes; what people see is read from the double.
"""

import asyncio
import random
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import SecretStr

from adapters.database.database import SqlDatabase
from adapters.discord.client import IdentifyLimit
from adapters.discord.connection import DiscordConnection
from adapters.discord.rest import DiscordRest
from adapters.discord.venue import DiscordVenue
from bot.app import App
from bot.database import Role
from bot.serve.platforms import Discord, Platform, trial_of
from bot.serve.run import serving
from bot.settings.settings import Settings
from engine.values.debate import Debate, Status
from engine.values.ports import VenueLimits, utc_now
from engine.values.verdicts import Question
from tests.doubles.discord import DiscordServer, Interaction
from tests.doubles.discord.state import Channel, Message
from tests.doubles.facts import on_discord
from tests.kit import HANG_SECONDS, until as until, until_asked
from tests.scenario.told_votes import told_votes

# On a busy machine too only that is in doubt which is meant to be.
SWIFT = VenueLimits(typing_seconds=0.1, send_seconds=8.0, state_seconds=0.05)
HASTY = replace(SWIFT, send_seconds=1.0)  # where sends are, as each is looked for only after it
OPTIONS = {"A": "🔵", "B": "🔴", "tie": "🤝", "weak": "🚫"}
PASS_DEADLINE = """
UPDATE questions SET closes_at = :ago
WHERE question = 'vote' AND debate IN (SELECT id FROM debates WHERE status = 'voting')
"""
MODELS = "rehearsal/maple, rehearsal/willow"
JURORS = "rehearsal/oak, rehearsal/elm, rehearsal/ash, rehearsal/fir"


M = TypeVar("M")


@dataclass
class ChatStage(Generic[M]):
    """What outlives a process: the database and the platform; `settings` change the defaults.

    A platform's has `process`, `start`, the messages that are `posted` in the newest thread, their
    `title`, and `ballot_ready`: the invitation to vote, once its reactions or buttons are there.
    """

    url: str
    settings: dict[str, Any] = field(default_factory=dict, kw_only=True)
    limits: VenueLimits = field(default=SWIFT, kw_only=True)
    gap: float = field(default=0.0, kw_only=True)
    # A gateway and a worker, instead of one process for all.
    apart: bool = field(default=False, kw_only=True)

    async def vote(self: Any, *line: str, **options: Any) -> M:
        """Start a debate, and wait until people can vote."""
        await self.start(*line, **options)
        ballot: M = await self.ballot()
        return ballot

    @asynccontextmanager
    async def at_vote(
        self: Any, *line: str, **options: Any
    ) -> AsyncIterator[tuple[App, M, Debate]]:
        """Run a process in which a new debate's vote is open, and its verdict sealed."""
        async with self.process() as app:
            ballot = await self.vote(*line, **options)
            yield app, ballot, await voting(app)

    async def ballot(self: Any) -> M:
        """Wait for the invitation to vote."""
        return await until(self.ballot_ready)

    async def said(self: Any, what: str, seconds: float = HANG_SECONDS) -> M:
        """Wait for a message of the thread with `what` above it."""

        def look() -> M | None:
            return next((m for m in self.posted() if self.title(m) == what), None)

        return await until(look, seconds)


@dataclass
class DiscordStage(ChatStage[Message]):
    """Debates on Discord."""

    discord: DiscordServer

    @asynccontextmanager
    async def process(self) -> AsyncIterator[App]:
        """Run a process until the body ends, connected and with its commands registered."""
        settings, server = settings_of(self.url, **self.settings), self.discord
        how: dict[str, Any] = {"limits": self.limits, "gap": self.gap, "apart": self.apart}
        async with process(settings, server.token, server.api_url, **how) as app:
            await until(lambda: any(server.world.commands.values()))
            yield app

    async def start(self, user: str = "ada", **options: Any) -> Interaction:
        asked = self.discord.slash(user, "debate start", {"topic": "Tea beats coffee"} | options)
        return await asked.finished()

    def posted(self) -> list[Message]:
        return self.discord.messages(self.thread.id) if self.discord.threads() else []

    def title(self, message: Message) -> str:
        return author(message)

    def ballot_ready(self) -> Message | None:
        found = [m for m in self.posted() if author(m) == "Vote"]
        if not found:
            return None
        private = any("rostrum:vote" in id for id in custom_ids(found[0]))
        return found[0] if private or len(found[0].reactions) == len(OPTIONS) else None

    async def close(self, user: str = "olga") -> Message:
        asked = await self.discord.slash(user, "debate close", channel=self.thread.id).finished()
        assert "closed" in asked.text, asked.text
        return await self.said("Reveal")

    @property
    def thread(self) -> Channel:
        return self.discord.threads()[-1]

    def references(self) -> list[str]:
        places = [self.discord.channel, *self.discord.threads()]
        return [ref for p in places for m in self.discord.messages(p.id) if (ref := reference(m))]


@asynccontextmanager
async def process(
    settings: Settings,
    token: str,
    api_url: str,
    *,
    limits: VenueLimits = SWIFT,
    gap: float = 0.0,
    apart: bool = False,
) -> AsyncIterator[App]:
    """Serve Discord as `rostrum run` does, with short waits; connected when the body begins."""
    secret = SecretStr(token)
    rest = DiscordRest(secret, api_url)
    venue = DiscordVenue(rest, limits=limits, gap=gap)
    identify_limit = IdentifyLimit(gap=0.0)
    trial = trial_of(settings.discord)
    connection = DiscordConnection(
        secret, (), rest, identify_limit=identify_limit, first_pause=0.05, trial=trial
    )
    async with served(settings, Discord(rest, venue, connection), apart=apart) as app:
        await until(lambda: connection.connected)
        yield app


@asynccontextmanager
async def served(settings: Settings, platform: Platform, *, apart: bool) -> AsyncIterator[App]:
    """Serve a platform in a process of its own, or in a gateway beside a worker."""
    if not apart:
        async with serving(settings, platform) as app:
            yield app
        return
    async with (
        serving(settings, role=Role.WORKER),
        serving(settings, platform, role=Role.GATEWAY) as app,
    ):
        yield app


def settings_of(url: str, **changes: Any) -> Settings:
    """Return the settings of a process: rehearsal models, no caps, and a vote that waits."""
    caps = {"user_daily_debates": None, "max_live_per_community": None}
    fixed: dict[str, Any] = {
        "database_url": url,
        "models": MODELS,
        "jurors": JURORS,
        "default_vote_minutes": 30,
        "default_quorum": 0,
        "default_extend": False,
        "budget": caps,
    }
    return Settings(**(fixed | changes))


def free_port() -> int:
    """Return a port on loopback that nothing listens on.

    It is below those that connections are given, so that none takes it before it is listened on.
    """
    for port in random.sample(range(20_000, 30_000), 100):
        with socket.socket() as taken, suppress(OSError):
            taken.bind(("127.0.0.1", port))
            return port
    raise OSError("none of a hundred ports is free")


async def voting(app: App) -> Debate:
    return await state(app, lambda d: d.status is Status.VOTING and d.vote_opened_at is not None)


async def ended(app: App) -> Debate:
    """Wait until the newest debate has ended, however, and everything of it is delivered."""
    debate = await state(app, lambda d: not d.status.live and d.status is not Status.VOTING)
    async with asyncio.timeout(HANG_SECONDS):
        await app.deliveries[debate.platform].settled(debate.id)
    return debate


async def state(
    app: App, done: Callable[[Debate], object], seconds: float = HANG_SECONDS
) -> Debate:
    newest = partial(app.store.listings.recent, limit=1)
    [debate] = await until_asked(newest, lambda found: found and done(found[0]), seconds)
    return debate


async def known(app: App, number: int, question: Question = Question.VOTE) -> None:
    """Wait until the newest debate's log has so many entries, whether they were told or read."""
    (debate,) = await app.store.listings.recent(limit=1)
    logged = partial(app.store.votes.events, debate.id, question)
    await until_asked(logged, lambda found: len(found) >= number)


async def pass_deadline(url: str) -> None:
    """Let an hour pass for the votes that are open."""
    database = SqlDatabase(url)
    ago = utc_now() - timedelta(hours=1)
    await database.run(PASS_DEADLINE, ago=ago)
    await database.close()


def counted(reveal: Message) -> dict[str, int]:
    return counted_in(reveal.text)


def counted_in(text: str) -> dict[str, int]:
    return told_votes(text)


def author(message: Message) -> str:
    return str(message.embeds[0].get("author", {}).get("name", "")) if message.embeds else ""


def reference(message: Message) -> str:
    return on_discord({"embeds": message.embeds, "content": message.content})


def custom_ids(message: Message) -> list[str]:
    return [b["custom_id"] for row in message.components for b in row["components"]]
