"""A stage for whole debates: one database file, one model server, one venue.

Processes begin and end on it as often as a test likes; whatever is joined is the product's own.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import adapters.discord.errors
import bot.app
import engine.delivery.outbox
import engine.delivery.seeds
import engine.series.schedule
import engine.votes.window
from adapters.models.attempts import RetryPolicy
from adapters.models.backends import Backend, SearchEndpoint
from adapters.models.router import open_models
from bot.app import MainLine
from bot.settings.settings import Settings
from engine.prompts import Prompts
from engine.run.order import Defaults, Order
from engine.run.service import Service, Started
from engine.store import DebateRecord, Store
from engine.values.debate import Debate, Model, Price, Sampling
from engine.values.errors import VenueAwayError
from engine.values.ports import Clock, VenueLimits
from tests.doubles.hall import QUICK as NO_WAITS, Hall, has_ended, joined
from tests.doubles.model_server import Body, ModelServer
from tests.doubles.venue import AttentiveVenue, MemoryVenue, StoredMessage
from tests.kit import HANG_SECONDS, NO_CAPS as NO_CAPS, conclude, record_of, some, until_asked

if TYPE_CHECKING:
    from tests.doubles.discord import DiscordServer
    from tests.doubles.slack import SlackServer
    from tests.scenario.chat_stage import Chat
    from tests.scenario.discord_stage import DiscordStage
    from tests.scenario.slack_stage import SlackStage

HERE = Path(__file__).parent
TOPIC = "Tea beats coffee"
SIDES = {"A": Model.parse("near/ana"), "B": Model.parse("near/ben")}
JURORS = tuple(Model.parse(f"near/j{number}#kin{number}") for number in range(1, 7))
PLAIN_SEED = 1  # of a debate whose panel is not audited
PRICE = Price(usd_in=1.0, usd_out=2.0)
QUICK = RetryPolicy(tries=3, first_wait=0.001, longest_wait=0.002, max_retry_after=0.2)
SWIFT = VenueLimits(typing_seconds=0.05, send_seconds=0.1)
LIMITS: Mapping[str, float] = {
    "words": 500,
    "arguments": 3,
    "synthesis_chars": 500,
    "decision_words": 200,
}
DEFAULTS = Defaults(
    topic=TOPIC,
    models=tuple(SIDES.values()),
    jurors=JURORS[:3],
    sides=SIDES,
    vote_minutes=0.001,
    quorum=0,
    extend=False,
    sampling={
        role: Sampling(temperature=0.5, max_tokens=1000) for role in Settings().sampling.roles()
    },
    limits={"classic": LIMITS},
    why=False,  # asked in tests/scenario/test_explained.py, and where settings decide
    caps=NO_CAPS,
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave to `make test-slow` what repeats a scenario: each case after a test's first.

    A test marked `postgresql` has its first case on either database.
    """
    begun = set()
    for item in items:
        marked = {mark.name for mark in item.iter_markers()}
        if isinstance(item, pytest.Function) and not marked & {"slow", "each_case"}:
            given = item.callspec.params if hasattr(item, "callspec") else {}
            first = (item.getparent(pytest.Class), item.originalname, given.get("database_kind"))
            if item.path.parent == HERE and (item.path, first) in begun:
                item.add_marker("slow")
            begun.add((item.path, first))


# --- what models say ---------------------------------------------------------------------


def asked(body: Body) -> str:
    return str(body["messages"][-1]["content"])


def prompt(body: Body) -> str:
    return "\n".join(message["content"] for message in body["messages"])


def judging(body: Body) -> bool:
    return str(body["model"]).startswith("j")


def is_closing(body: Body) -> bool:
    return "gives_up" in asked(body)


def summing_up(body: Body) -> bool:
    return "neutral summary" in prompt(body)


def shown(body: Body) -> tuple[str, ...]:
    """Return the neutral names on a ballot, in the order shown."""
    scores = body["response_format"]["json_schema"]["schema"]["properties"]["scores"]
    return tuple(scores["properties"])


def ballot(scores: Mapping[str, int], verdict: str, **changes: Any) -> str:
    """Write a ballot: one score for all criteria of each name."""
    criteria = ("logic", "evidence", "responsiveness", "honesty")
    sheets = {name: dict.fromkeys(criteria, score) for name, score in scores.items()}
    answer = {"reasons": "Both were heard.", "scores": sheets, "verdict": verdict}
    return orjson.dumps(answer | {"confidence": 0.7} | changes).decode()


SUMMARY = " ".join(["One side spoke of costs and the other of gains; neither settled it."] * 7)
"""A summary of a length that is taken: 475 characters."""


def fair_ballot(body: Body) -> str:
    """Prefer the same contender in either order; asked for a summary, give one."""
    if summing_up(body):
        return SUMMARY
    winner, other = sorted(shown(body))
    return ballot({winner: 8, other: 5}, winner)


EXPLAINED = {
    "decisive": "It met the main objection.",
    "best": {"A": "It named a cause.", "B": "It asked for a price."},
    "differed": "Some wanted sources.",
}


def explaining(body: Body) -> bool:
    return "The jury's result is: " in prompt(body)


def explanation(body: Body) -> str:
    """Say why the panel decided as it did."""
    winner = prompt(body).split("The jury's result is: ")[1].split(".")[0]
    return orjson.dumps({"winner": winner, **EXPLAINED}).decode()


def play(body: Body) -> str:
    """Answer as a debater or a juror would; the same request gets the same words."""
    if explaining(body):
        return explanation(body)
    if judging(body):
        return fair_ballot(body)
    mark = hashlib.sha256(prompt(body).encode()).hexdigest()[:8]
    said = f"Speech {mark} by {body['model']}, number {len(body['messages']) // 2}."
    return conclude(f"In short, {said}", f"I decide: {said}") if is_closing(body) else said


class Shifted:
    """A clock that a test puts forward; it runs on meanwhile."""

    def __init__(self, start: datetime | None = None) -> None:
        self._offset = (start or datetime.now(UTC)) - datetime.now(UTC)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._offset

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def skip(self, **span: float) -> None:
        self._offset += timedelta(**span)


# --- where it is held --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Running:
    """One process while it runs: the product's main line, joined."""

    service: Service
    store: Store
    line: MainLine
    venue: MemoryVenue

    async def start(self, defaults: Defaults = DEFAULTS, **asked_for: Any) -> Started:
        where = {"platform": "memory", "community": "club", "place": "lobby"}
        order = Order(**where | {"seed": PLAIN_SEED} | asked_for)
        return await self.service.start(order, defaults)

    async def until(self, debate_id: str, done: Callable[[Debate], object]) -> Debate:
        return await until_asked(lambda: self.store.debates.get(debate_id), done)

    async def ended(self, debate_id: str) -> Debate:
        debate = await self.until(debate_id, has_ended)
        async with asyncio.timeout(HANG_SECONDS):
            await self.line.deliveries["memory"].settled(debate_id)
        return debate

    async def judged(self, debate_id: str) -> Debate:
        """Wait until a debate's panel is done, or it has ended otherwise."""
        return await self.until(debate_id, lambda debate: not debate.status.live)

    async def hold(self, defaults: Defaults = DEFAULTS, **asked_for: Any) -> Debate:
        started = await self.start(defaults, **asked_for)
        return await self.ended(started.debate.id)

    async def record(self, debate_id: str) -> DebateRecord:
        return await record_of(self.store, debate_id)


@dataclass(slots=True)
class Stage:
    """What outlives a process."""

    url: str
    server: ModelServer
    venue: MemoryVenue = field(default_factory=lambda: MemoryVenue(limits=SWIFT))
    local: bool = False
    timeout_s: float = 10.0
    priced: tuple[Model, ...] = (*SIDES.values(), *JURORS)
    search: SearchEndpoint | None = None

    @asynccontextmanager
    async def process(
        self,
        *,
        prompts: Prompts | None = None,
        price: Price | None = PRICE,
        patience: RetryPolicy = QUICK,
        clock: Clock | None = None,
    ) -> AsyncIterator[Running]:
        backend = Backend.of(
            "near", base_url=self.server.base_url, local=self.local, timeout_s=self.timeout_s
        )
        prices = {model.ref: price for model in self.priced if price is not None}
        models = open_models({"near": backend}, prices, patience, self.search)
        services: Any = {"models": models, "prompts": prompts, "clock": clock}
        async with joined(self.url, self.venue, **services) as (line, store):
            yield Running(line.service, store, line, self.venue)

    @property
    def turns_asked(self) -> list[Body]:
        return [body for body in self.server.requests if not judging(body)]

    @property
    def jurors_asked(self) -> list[Body]:
        asked = [body for body in self.server.requests if judging(body)]
        return [body for body in asked if not summing_up(body)]


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    async with ModelServer(play) as server:
        yield server


@pytest.fixture
def stage(database_url: str, models: ModelServer) -> Stage:
    return Stage(database_url, models)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Shifted:
    """A clock that a test puts forward, for every process on the stage."""
    shifted = Shifted()
    monkeypatch.setattr(bot.app, "SystemClock", lambda: shifted)
    monkeypatch.setattr(engine.series.schedule, "LOOK_SECONDS", 0.05)
    return shifted


@pytest.fixture
async def line(stage: Stage) -> AsyncIterator[Running]:
    async with stage.process() as running:
        yield running


@pytest.fixture
def office(held: Path, tmp_path: Path) -> Path:
    """A copy of the folder in which a module's debates were held."""
    return Path(shutil.copytree(held, tmp_path / "office"))


@pytest.fixture
async def discord() -> AsyncIterator[DiscordServer]:
    """Discord, where nobody has to wait."""
    from tests.doubles.discord import DiscordServer, Rates

    async with DiscordServer(rates=Rates.generous()) as server:
        yield server


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    """Slack, where nobody has to wait."""
    from tests.doubles.slack import Rules, SlackServer

    async with SlackServer(rules=Rules.generous()) as server:
        yield server


@pytest.fixture
def venue() -> MemoryVenue:
    """A platform that remembers what its messages meant."""
    return AttentiveVenue(limits=NO_WAITS)


@pytest.fixture
def hall(database_url: str, venue: MemoryVenue) -> Hall:
    return Hall(database_url, venue)


@pytest.fixture
def swift(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is waiting be looked for at once, and what failed for now be tried again at once."""
    monkeypatch.setattr(engine.delivery.outbox, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(engine.votes.window, "LOOK_SECONDS", 0.02)
    monkeypatch.setattr(engine.delivery.seeds, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(adapters.discord.errors, "RETRY_SECONDS", 0.02)
    defaults = some(VenueAwayError.__init__.__kwdefaults__)
    monkeypatch.setitem(defaults, "retry_after", 0.02)


@pytest.fixture
def on_discord(database_url: str, discord: DiscordServer) -> DiscordStage:
    from tests.scenario.discord_stage import DiscordStage

    return DiscordStage(database_url, discord)


@pytest.fixture
def on_slack(database_url: str, slack: SlackServer) -> SlackStage:
    from tests.scenario.slack_stage import SlackStage

    return SlackStage(database_url, slack)


@pytest.fixture(params=["on_discord", "on_slack"])
def chat(request: pytest.FixtureRequest) -> Chat:
    """A stage on either platform; contracts prove both, and here Slack is for the slow tests."""
    from tests.scenario.chat_stage import OnDiscord, OnSlack

    stage = request.getfixturevalue(request.param)
    return OnDiscord(stage) if request.param == "on_discord" else OnSlack(stage)


def in_thread(stage: Stage) -> list[StoredMessage]:
    (thread,) = stage.venue.threads.values()
    return thread.messages
