"""Ports in memory that remember: a host that answers by a script, an audience, a log of tries."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from adapters.models.attempts import RetryPolicy
from adapters.models.backends import Backend
from adapters.models.router import ModelRouter, open_models
from engine.prompts import Prompts, load_prompts
from engine.stage import Stage
from engine.store import Note, Post
from engine.values.debate import Model, PanelSetup, Price, Request, Sampling, Setup, Turn, TurnOrder
from engine.values.errors import RostrumError
from engine.values.ports import Attempt, Call, ChatMessage, Draft, Reply

Answer = Callable[[str], str | RostrumError]
SIDES = {"A": Model.parse("near/ana"), "B": Model.parse("near/ben")}
LIMITS = {"words": 500.0, "arguments": 3.0, "synthesis_chars": 500.0, "decision_words": 200.0}


@dataclass(frozen=True, slots=True)
class Asked:
    """One call as it reached the host."""

    step: str
    model: Model
    messages: tuple[ChatMessage, ...]
    sampling: Sampling

    @property
    def last(self) -> str:
        return self.messages[-1].content


def tell(step: str) -> str:
    """Say which step speaks; a closing has its two parts, and its decision."""
    words = f"Words of {step}."
    return conclude(words, f"Decision of {step}.") if "/closing/" in step else words


def conclude(synthesis: str, why: str, decision: str = "maintains") -> str:
    return json.dumps({"synthesis": synthesis, "why": why, "decision": decision})


class ScriptedHost:
    """Answers each step with `answer`, after as many seconds as `slow` says."""

    def __init__(self, answer: Answer = tell, slow: Mapping[str, float] | None = None) -> None:
        self.answer = answer
        self.slow = slow or {}
        self.asked: list[Asked] = []
        self.finished: list[str] = []
        self.stored: dict[str, Reply] = {}
        self.turns: list[Turn] = []
        self.posts: list[Post] = []
        self.notes: list[Note] = []
        self.talking = self.most_talking = 0
        self.audience: tuple[str, ...] = ()

    async def room(self) -> None:
        """Never wait."""

    async def hear_questions(self) -> Sequence[str]:
        return self.audience

    async def call(self, call: Call) -> Reply:
        """Return a stored reply, or the script's, which is then stored."""
        step = call.step
        if step in self.stored:
            return self.stored[step]
        self.asked.append(Asked(step, call.model, call.messages, call.sampling))
        self.talking += 1
        self.most_talking = max(self.most_talking, self.talking)
        await asyncio.sleep(self.slow.get(step, 0.0))
        self.talking -= 1
        answer = self.answer(step)
        if isinstance(answer, RostrumError):
            raise answer
        self.finished.append(step)
        self.stored[step] = Reply(text=answer, finish="stop", model=call.model.name)
        return self.stored[step]

    async def publish(self, turn: Turn, compose: Callable[[], Post]) -> None:
        self.turns.append(turn)
        self.posts.append(compose())

    async def hear_person(self, step: str, words: int) -> tuple[str, str]:
        return "", ""

    async def keep(self, note: Note) -> None:
        self.notes.append(note)

    def prompt(self, step: str) -> Asked:
        return next(call for call in self.asked if call.step == step)

    @property
    def steps(self) -> list[str]:
        return [call.step for call in self.asked]


def setup_of(
    *,
    topic: str = "Tea beats coffee",
    conditions: str = "",
    language: str = "en",
    rounds: int = 1,
    simultaneous: bool = False,
    limits: Mapping[str, float] = LIMITS,
) -> Setup:
    """Return the setup of a classic debate."""
    order = TurnOrder.SIMULTANEOUS if simultaneous else TurnOrder.SEQUENTIAL
    request = Request(
        topic=topic,
        conditions=conditions,
        language=language,
        rounds=rounds,
        turn_order=order,
        sides=SIDES,
    )
    roles = {"debater": 0.7, "closing": 0.5, "juror": 0.2}
    return Setup(
        request=request,
        format_version=1,
        templates="",
        panel=PanelSetup(roster=(Model.parse("near/j1"), Model.parse("near/j2"))),
        names={"A": "Avocet", "B": "Wagtail"},
        sampling={role: Sampling(temperature=t, max_tokens=1000) for role, t in roles.items()},
        limits=dict(limits),
        prices=dict.fromkeys(("near/ana", "near/ben", "near/j1", "near/j2")),
        seed=1,
        ordinal=1,
    )


def stage_on(host: ScriptedHost, setup: Setup, prompts: Prompts | None = None) -> Stage:
    return Stage(setup, prompts or load_prompts(), host, 8)


class Onlooker:
    """An audience that remembers what it saw."""

    def __init__(self) -> None:
        self.seen: list[Draft] = []

    def follow(self, draft: Draft) -> None:
        self.seen.append(draft)

    def by_turn(self) -> dict[tuple[str, str], list[Draft]]:
        """Return what was seen of each turn, by seat and round."""
        turns: dict[tuple[str, str], list[Draft]] = {}
        for draft in self.seen:
            turns.setdefault((draft.seat, draft.round), []).append(draft)
        return turns


class RecordedAttempts:
    """Keeps what reaches it, in order; `began` raises `forbid`, and takes `slow` seconds."""

    def __init__(self, forbid: Exception | None = None, slow: float = 0.0) -> None:
        self.events: list[str] = []
        self.attempts: list[Attempt] = []
        self.replies: list[Reply] = []
        self._forbid = forbid
        self._slow = slow
        self.announced = asyncio.Event()

    async def began(self, number: int) -> None:
        """Note a try, or forbid it."""
        self.announced.set()
        await asyncio.sleep(self._slow)
        if self._forbid is not None:
            raise self._forbid
        self.events.append(f"began {number}")

    def ended(self, attempt: Attempt, reply: Reply | None = None) -> None:
        """Note its end."""
        self.events.append(f"ended {attempt.number}")
        self.attempts.append(attempt)
        if reply is not None:
            self.replies.append(reply)

    @property
    def errors(self) -> list[str]:
        return [attempt.error for attempt in self.attempts]

    @property
    def costs(self) -> list[float | None]:
        """What each ended try cost, in USD."""
        return [attempt.cost for attempt in self.attempts]

    def balanced(self) -> bool:
        """Whether every try began once, ended once, and one after the other."""
        numbers = range(1, len(self.attempts) + 1)
        return self.events == [f"{verb} {n}" for n in numbers for verb in ("began", "ended")]


QUICK = RetryPolicy(tries=3, first_wait=0.001)


@asynccontextmanager
async def opened_models(
    base_url: str,
    patience: RetryPolicy = QUICK,
    prices: Mapping[str, Price] | None = None,
    **given: Any,
) -> AsyncIterator[ModelRouter]:
    """Open the models of a backend `online`, with settings as given."""
    backend = Backend.of("online", base_url=base_url, **given)
    models = open_models({"online": backend}, prices, patience)
    try:
        yield models
    finally:
        await models.aclose()
