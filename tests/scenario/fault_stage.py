"""A stage for faults: every debate has a model server, and so a backend, of its own.

A debate on it takes the same 17 steps: nine calls of debaters, of which one asks to shorten, seven
of three jurors in both orders, of which one asks again, and one for the summary. A step is told by
its model, by how many answers of that model its request holds, and by a juror's order, so that each
can be disturbed by itself.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from adapters.models.attempts import RetryPolicy
from adapters.models.backends import Backend
from adapters.models.router import open_models
from engine.values.debate import Debate, Model, Turn
from engine.values.judging import Ballot, Verdict
from engine.values.ports import VenueLimits
from tests.doubles.hall import joined
from tests.doubles.model_server import Act, Body, ModelServer, answers_in
from tests.doubles.venue import MemoryVenue
from tests.kit import HANG_SECONDS
from tests.scenario.conftest import (
    DEFAULTS,
    NO_CAPS,
    PRICE,
    Running,
    judging,
    play,
    shown,
    summing_up,
)

UNREADABLE = "I like both of them."
VOTED_ON = DEFAULTS.model_copy(update={"vote_minutes": 600.0})
QUIET = VenueLimits(typing_seconds=60, send_seconds=0.1)
TIMEOUT_S = 30.0
ROSTER = tuple(f"j{number}" for number in range(1, 7))


class Step(NamedTuple):
    """A step of the debates here: its name, its model, and the answers its request holds."""

    name: str
    model: str
    said: int


TURNS = (
    Step("turn/opening/A", "ana", 0),
    Step("turn/opening/A/shorten", "ana", 1),
    Step("turn/opening/B", "ben", 0),
    Step("turn/rebuttal/A", "ana", 2),
    Step("turn/rebuttal/B", "ben", 1),
    Step("turn/assumptions/A", "ana", 3),
    Step("turn/assumptions/B", "ben", 2),
    Step("turn/closing/A", "ana", 4),
    Step("turn/closing/B", "ben", 3),
)


SUMMARY_SAID = 10  # as if in a history of its own, beside the ballots of the same juror
TURNED_SAID = 20  # where a juror is shown the contenders against their names' order


def said_by(body: Body) -> int:
    """Return which step of its model a request is: the answers in it, its order, the summary."""
    if summing_up(body):
        return SUMMARY_SAID
    turned = judging(body) and shown(body) != tuple(sorted(shown(body)))
    return answers_in(body) + TURNED_SAID * turned


class Try(NamedTuple):
    """A row of the journal."""

    step: str
    attempt: int
    state: str
    error: str
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    cost_max: float


class Held(NamedTuple):
    """A debate as it stands in the end, everything kept of it, and how it failed before."""

    debate: Debate
    failures: tuple[Debate, ...]
    turns: tuple[Turn, ...]
    verdict: Verdict | None
    ballots: tuple[Ballot, ...]
    journal: tuple[Try, ...]
    server: ModelServer

    @property
    def words(self) -> list[tuple[str, str]]:
        """The transcript: who said what."""
        return [(turn.step, turn.text) for turn in self.turns]

    @property
    def asked(self) -> Counter[tuple[str, int]]:
        """How often each step was asked for, as the server saw it."""
        return Counter((str(body["model"]), said_by(body)) for body in self.server.requests)

    @property
    def billed(self) -> float:
        """USD for every answer whose usage the server stated."""
        usages = self.server.stated
        return sum(PRICE.cost(u["prompt_tokens"], u["completion_tokens"]) for u in usages)

    def tries(self, step: str) -> list[Try]:
        """Return the tries of a step, in order."""
        return [one for one in self.journal if one.step == step]

    def readings(self, place: int, *, again: bool = False) -> list[str]:
        """Return the steps in which the juror at a place of the roster was asked (again)."""
        ref = self.debate.setup.panel.roster[place].ref
        steps = {one.step for one in self.journal if one.step.startswith(f"jury/{ref}/")}
        return sorted(step for step in steps if step.endswith("/again") is again)

    def ballot(self, step: str) -> Ballot:
        """Return the ballot of a reading, told by one of its steps."""
        read = {f"jury/{one.juror}/{''.join(one.order)}": one for one in self.ballots}
        return read[step.removesuffix("/again")]


def speak(body: Body) -> str:
    """Answer well, but A's opening is too long at first."""
    said = play(body)
    wordy = not judging(body) and body["model"] == "ana" and answers_in(body) == 0
    return f"{said} {'And so on. ' * 200}" if wordy else said


@dataclass(slots=True)
class House:
    """The backend of one debate, and the debate that is held on it."""

    name: str
    server: ModelServer = field(default_factory=lambda: ModelServer(speak, said=said_by))
    jurors: int = len(ROSTER)
    debate_id: str = ""
    roster: tuple[Model, ...] = ()
    failures: list[Debate] = field(default_factory=list)

    def model(self, name: str) -> Model:
        """Return a model of this backend; every juror is of a family of its own."""
        return Model.parse(f"{self.name}/{name}#{name}")

    async def start(self, line: Running) -> None:
        """Start the debate."""
        sides = {"A": self.model("ana"), "B": self.model("ben")}
        jurors = tuple(self.model(name) for name in ROSTER[: self.jurors])
        debate = (await line.start(VOTED_ON, models=sides, jurors=jurors)).debate
        self.debate_id, self.roster = debate.id, debate.setup.panel.roster

    async def proceed(self, line: Running) -> None:
        """Start the debate, or go on with it after it failed."""
        if self.debate_id:
            await line.service.resume(self.debate_id, NO_CAPS)
        else:
            await self.start(line)

    async def rest(self, line: Running) -> Debate:
        """Wait until the debate is judged, or failed."""
        async with asyncio.timeout(HANG_SECONDS):
            while (  # noqa: ASYNC110
                debate := await line.store.debates.get(self.debate_id)
            ).status.live:
                await asyncio.sleep(0.05)
        return debate

    def disturb(self, step: Step, *acts: Act) -> None:
        """Answer the next requests for a step so."""
        self.server.script(*acts, model=step.model, said=step.said)

    def juror(self, place: int, again: bool = False) -> tuple[Step, Step]:
        """Return the steps of the juror at a place of the roster, in both orders, unnamed."""
        name = self.roster[place].name
        return Step("", name, int(again)), Step("", name, int(again) + TURNED_SAID)

    @property
    def summary(self) -> Step:
        """The step of the juror who writes the summary."""
        return Step("summary", self.roster[-1].name, SUMMARY_SAID)


@dataclass(slots=True)
class FaultStage:
    """What outlives a process: the database file, the venue and the houses."""

    path: Path
    houses: Sequence[House]
    patience: RetryPolicy
    venue: MemoryVenue = field(default_factory=lambda: MemoryVenue(limits=QUIET))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Run every house's server until the body ends."""
        async with AsyncExitStack() as stack:
            for house in self.houses:
                await stack.enter_async_context(house.server)
            yield

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Running]:
        """Run a process until the body ends; it stops in order."""
        backends = {
            house.name: Backend.of(house.name, base_url=house.server.base_url, timeout_s=TIMEOUT_S)
            for house in self.houses
        }
        prices = dict.fromkeys(("ana", "ben", *ROSTER), PRICE)
        models = open_models(backends, prices, self.patience)
        url = f"sqlite+aiosqlite:///{self.path}"
        async with joined(url, self.venue, models=models) as (line, store):
            yield Running(line.service, store, line, self.venue)

    async def outcomes(self, line: Running) -> dict[str, Held]:
        """Return what every debate came to, by its house."""
        held = {}
        for house in self.houses:
            debate = await line.store.debates.get(house.debate_id)
            verdict, ballots = await line.store.journal.judged(debate.id)
            turns, journal = await asyncio.to_thread(self._read, debate.id)
            held[house.name] = Held(
                debate, tuple(house.failures), turns, verdict, ballots, journal, house.server
            )
        return held

    def _read(self, debate_id: str) -> tuple[tuple[Turn, ...], tuple[Try, ...]]:
        """Read turns and tries past our own code."""
        file = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        try:
            spoken = file.execute(
                "SELECT body FROM turns WHERE debate = ? ORDER BY number", [debate_id]
            ).fetchall()
            tried = file.execute(
                "SELECT step, attempt, state, error, tokens_in, tokens_out, cost, cost_max"
                " FROM calls WHERE debate = ? ORDER BY step, attempt",
                [debate_id],
            ).fetchall()
        finally:
            file.close()
        turns = tuple(Turn.model_validate_json(body) for (body,) in spoken)
        return turns, tuple(Try(*row) for row in tried)
