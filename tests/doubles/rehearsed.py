"""A desk whose models are the rehearsal ones: whole debates of any format, without a database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from adapters.models.attempts import RetryPolicy
from adapters.models.rehearsal import RehearsalModels
from engine.debate import Model, Sampling, Setup, Turn
from engine.errors import ModelError, RostrumError
from engine.findings import UNANSWERED, Artifact, Score
from engine.floor.floor import Floor, Spoken
from engine.formats import format_of
from engine.jury.history import fit
from engine.language import speaking
from engine.line.intake import Defaults, Order, complete, freeze
from engine.ports import AnswerSchema, Call, CallRole, ChatMessage, Reply
from engine.prompts.library import Prompts, load_prompts
from engine.store import Note, Post
from tests.doubles.attempt_log import RecordedAttempts

WARM = {"debater": 0.7, "closing": 0.5, "cross": 0.5, "juror": 0.2, "judge": 0.2, "captain": 0.2}
MODELS = tuple(Model.parse(f"rehearsal/{name}") for name in ("maple", "cedar", "oak", "larch"))
JURORS = tuple(Model.parse(f"rehearsal/{name}") for name in ("birch", "elm", "rowan"))
DEFAULTS = Defaults(
    topic="Tea beats coffee",
    models=MODELS,
    jurors=JURORS,
    sampling={role: Sampling(temperature=t, max_tokens=6000) for role, t in WARM.items()},
    limits={},
)


@cache
def todays_prompts() -> Prompts:
    """Return the prompts as they are, read once."""
    return load_prompts()


class DiedError(RostrumError):
    """The process is gone."""


def setup_for(format: str, *, limits: Mapping[str, float] | None = None, **asked: Any) -> Setup:
    """Return the setup of a debate between rehearsal models, as intake makes it."""
    order = Order(platform="memory", community="club", place="lobby", format=format, **asked)
    defaults = DEFAULTS.model_copy(update={"limits": {format: limits or {}}})
    request, script = complete(order, defaults, seed=1)
    prompts = todays_prompts()
    return freeze(request, script, order, defaults, prompts, seed=1, number=1, fit=fit([]))


@dataclass(slots=True)
class RehearsedDesk:
    """Journals what rehearsal models say; `twist` may put other words into a step's mouth.

    `dies_at` is the number of the call (from 1) at which the process is gone.
    """

    session: str = "S"
    twist: Callable[[str], str | ModelError | None] = lambda step: None
    dies_at: int | None = None
    stored: dict[str, Reply] = field(default_factory=dict)
    asked: dict[str, tuple[ChatMessage, ...]] = field(default_factory=dict)
    warmth: dict[str, float] = field(default_factory=dict)
    models: dict[str, Model] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    posts: list[Post] = field(default_factory=list)
    held: list[Post] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    audience: tuple[str, ...] = ()
    calls: int = 0
    talking: int = 0
    most_talking: int = 0
    latency: Callable[[str], float] = lambda step: 0.0

    async def room(self) -> None:
        """Never wait."""

    async def hear_questions(self) -> Sequence[str]:
        """Return what the audience asks here."""
        return self.audience

    async def hear_person(self, step: str, words: int) -> Spoken:
        """Return nothing: no person is here."""
        return Spoken()

    async def call(
        self,
        step: str,
        model: Model,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        *,
        schema: AnswerSchema | None = None,
        cue: Mapping[str, str] | None = None,
        role: CallRole = "debater",
    ) -> Reply:
        """Return a stored reply, or one that is then stored."""
        if step in self.stored:
            return self.stored[step]
        self.calls += 1
        if self.dies_at is not None and self.calls >= self.dies_at:
            raise DiedError("gone")
        self.asked[step] = tuple(messages)
        self.warmth[step], self.models[step] = sampling.temperature, model
        self.talking += 1
        self.most_talking = max(self.most_talking, self.talking)
        await asyncio.sleep(self.latency(step))
        self.talking -= 1
        said = self.twist(step)
        if isinstance(said, ModelError):
            raise said
        if said is None:
            call = Call(self.session, step, model, tuple(messages), sampling, schema, cue or {})
            reply = await _reply_to(call)
        else:
            reply = Reply(text=said, finish="stop", model=model.name)
        self.stored[step] = reply
        return reply

    async def publish(self, turn: Turn, compose: Callable[[], Post]) -> None:
        """Keep a turn and its post."""
        self.turns.append(turn)
        self.posts.append(compose())

    async def keep(self, note: Note) -> None:
        """Keep a note, and what it shows."""
        self.notes.append(note)
        self.posts += note.posts
        self.held += note.held

    @property
    def artifacts(self) -> dict[str, Artifact]:
        """Every artifact by name."""
        return {artifact.name: artifact for note in self.notes for artifact in note.artifacts}

    @property
    def scores(self) -> list[Score]:
        """Every score."""
        return [score for note in self.notes for score in note.scores]

    def said_to(self, step: str) -> str:
        """Return all that a step's prompt holds."""
        return "\n".join(message.content for message in self.asked[step])

    @property
    def shown(self) -> str:
        """Return all that the thread shows before the reveal."""
        return "\n".join(post.model_dump_json() for post in self.posts)


async def _reply_to(call: Call) -> Reply:
    """Return what the rehearsal model says, written once: debates that fail later begin alike."""
    cue = frozenset(call.cue.items())
    key = (call.session, call.step, call.model, call.messages, call.sampling, id(call.schema), cue)
    if key not in _REPLIES:
        models = RehearsalModels(RetryPolicy(tries=1))
        # The schema is kept, as its id is part of the key.
        _REPLIES[key] = await models.complete(call, RecordedAttempts()), call.schema
    return _REPLIES[key][0]


_REPLIES: dict[Hashable, tuple[Reply, AnswerSchema | None]] = {}


async def hold(
    setup: Setup, desk: RehearsedDesk | None = None, prompts: Prompts | None = None
) -> RehearsedDesk:
    """Hold a debate before a desk, from the top, as a process does that begins or resumes it.

    `prompts` are those that it began with, where they are not today's.
    """
    desk = desk or RehearsedDesk()
    unanswered = {
        name.removeprefix(f"{UNANSWERED}/"): str(artifact.body["problem"])
        for name, artifact in desk.artifacts.items()
        if artifact.kind == UNANSWERED
    }
    for kept in (desk.turns, desk.posts, desk.held, desk.notes):
        kept.clear()
    script = format_of(setup.request.format, setup.format_version)
    total = script.length(setup.request)
    with speaking(setup.request.language):
        await script.run(Floor(setup, prompts or todays_prompts(), desk, total, unanswered))
    return desk


async def survives_every_death(setup: Setup) -> int:
    """Kill a debate at each of its calls in turn, resume it, and see that nothing differs.

    Returns how many calls the whole took; none is made twice.
    """
    clean = await hold(setup)
    chained = RehearsedDesk()
    for _ in range(clean.calls + 1):
        chained.calls, chained.dies_at = 0, 2
        try:
            await hold(setup, chained)
        except DiedError:
            continue
        break
    texts = {step: reply.text for step, reply in chained.stored.items()}
    assert texts == {step: reply.text for step, reply in clean.stored.items()}
    assert chained.turns == clean.turns
    # What is found beside the speeches may come between others of them.
    assert _sorted(chained.posts) == _sorted(clean.posts)
    assert chained.held == clean.held
    assert _sorted(chained.notes) == _sorted(clean.notes)
    return clean.calls


def _sorted(values: Sequence[Post] | Sequence[Note]) -> list[str]:
    return sorted(value.model_dump_json() for value in values)
