"""A hall for whole debates offline: rehearsal models, a venue in memory, one database file."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from adapters.database.database import SqlDatabase
from adapters.database.migrate import migrate
from adapters.metrics import Counts
from adapters.models.router import open_models
from bot.app import MainLine
from engine.delivery.outbox import Delivery
from engine.prompts import Prompts, load_prompts
from engine.run.order import Defaults, Order
from engine.run.service import Service
from engine.store import DebateRecord, Store
from engine.values.debate import Debate, Model, Sampling, Status
from engine.values.ports import Audience, Clock, Inbound, Listener, VenueLimits
from engine.values.protocols import Models, Moderator, Venue
from engine.values.verdicts import Vote
from tests.doubles.venue import MemoryVenue, StoredMessage
from tests.kit import HANG_SECONDS, NO_CAPS as NO_CAPS, record_of, until_asked, votes_in

# --- the product's main line, joined as one process joins it, on a database and on platforms ---


class Joined(NamedTuple):
    """A line that runs, and its store."""

    line: MainLine
    store: Store


@asynccontextmanager
async def joined(
    url: str,
    *venues: Venue,
    models: Models | None = None,
    prompts: Prompts | None = None,
    audience: Audience | None = None,
    clock: Clock | None = None,
    counts: Counts | None = None,
    moderator: Moderator | None = None,
) -> AsyncIterator[Joined]:
    store, models = Store(SqlDatabase(url)), models or open_models({})
    line = MainLine(
        store,
        models,
        prompts or load_prompts(),
        venues,
        audience=audience,
        clock=clock,
        counts=counts or Counts(),
        moderator=moderator,
    )
    try:
        async with line.running():
            yield Joined(line, store)
    finally:
        await models.aclose()
        await store.close()


LOBBY = "lobby"
QUICK = VenueLimits(typing_seconds=0.02, send_seconds=0.2)
DEFAULTS = Defaults(
    topic="Tea is better than coffee",
    models=(Model.parse("rehearsal/maple"), Model.parse("rehearsal/willow")),
    jurors=tuple(Model.parse(f"rehearsal/{name}") for name in ("oak", "elm", "ash", "fir")),
    sides={"A": Model.parse("rehearsal/maple"), "B": Model.parse("rehearsal/willow")},
    vote_minutes=30,
    quorum=0,
    extend=False,
    why=False,  # asked where a test is about it, and in the recorded debates
    sampling={
        role: Sampling(temperature=0.5, max_tokens=1000) for role in ("debater", "closing", "juror")
    },
    limits={
        "classic": {
            "words": 500,
            "arguments": 3,
            "synthesis_chars": 500,
            "decision_words": 200,
        }
    },
    caps=NO_CAPS,
)


@dataclass(frozen=True, slots=True)
class Session:
    """One process while it runs in a hall."""

    service: Service
    store: Store
    venue: MemoryVenue
    delivery: Delivery
    reconcile: Callable[[], Awaitable[None]]

    async def start(self, defaults: Defaults = DEFAULTS, user: str | None = None) -> str:
        order = Order(platform="memory", community="club", place=LOBBY, user=user, seed=7)
        return (await self.service.start(order, defaults)).debate.id

    async def until(self, debate_id: str, done: Callable[[Debate], object]) -> Debate:
        return await until_asked(lambda: self.store.debates.get(debate_id), done)

    async def voting(self, debate_id: str) -> Debate:
        return await self.until(
            debate_id, lambda debate: debate.status is Status.VOTING and debate.vote_opened_at
        )

    async def vote(self, debate_id: str, **votes: str) -> Debate:
        """Let people react, once they can."""
        debate = await self.voting(debate_id)
        for user, option in votes.items():
            await self.venue.react(user, debate.thread or "", debate.vote_message or "", option)
        return debate

    async def close(self, debate_id: str) -> DebateRecord:
        """Close the vote; return all that is kept once everything is delivered."""
        await self.service.close_vote(debate_id)
        await self.ended(debate_id)
        return await record_of(self.store, debate_id)

    async def votes(self, debate_id: str, *users: str) -> dict[str, Vote]:
        """Return the votes that these users had when they were stored at the close."""
        record = await record_of(self.store, debate_id)
        stored = {vote.person: vote for vote in votes_in(record)}
        people = await self.store.votes.people(self.venue.platform, users)
        return {user: stored[people[user]] for user in users if people[user] in stored}

    async def ended(self, debate_id: str) -> Debate:
        debate = await self.until(debate_id, has_ended)
        async with asyncio.timeout(HANG_SECONDS):
            await self.delivery.settled(debate_id)
        return debate


@dataclass(slots=True)
class Hall:
    """What outlives a process: the database file and the platform."""

    url: str
    venue: MemoryVenue = field(default_factory=lambda: MemoryVenue(limits=QUICK))
    clock: Clock | None = None

    @asynccontextmanager
    async def open(
        self,
        models: Models | None = None,
        audience: Audience | None = None,
        moderator: Moderator | None = None,
    ) -> AsyncIterator[Session]:
        services = {"models": models, "audience": audience, "moderator": moderator}
        process = joined(self.url, self.venue, clock=self.clock, **services)  # type: ignore[arg-type]
        async with process as (line, store):
            self.venue.listener = hearing(line.service, self.venue)
            delivery = line.deliveries["memory"]
            yield Session(line.service, store, self.venue, delivery, line.reconcile)

    def thread(self) -> list[StoredMessage]:
        assert len(self.venue.threads) == 1
        return next(iter(self.venue.threads.values())).messages


def hearing(service: Service, venue: Venue) -> Listener:
    """Return what takes what a platform tells of to the service."""

    async def hear(event: Inbound) -> None:
        await service.hear(venue.platform, event)

    return hear


def with_sides(a: str, b: str) -> Defaults:
    """Return the defaults with other rehearsal models on the sides, e.g. `maple?latency=0.1`."""
    sides = {"A": Model.parse(f"rehearsal/{a}"), "B": Model.parse(f"rehearsal/{b}")}
    return DEFAULTS.model_copy(update={"sides": sides})


def has_ended(debate: Debate) -> bool:
    return not debate.status.live and debate.status is not Status.VOTING


async def made_in(folder: Path) -> str:
    """Make a database with every table in a folder, and return its address."""
    database = SqlDatabase(url := f"sqlite+aiosqlite:///{folder / 'rostrum.db'}")
    await migrate(database)
    await database.close()
    return url
