"""A host whose models are the rehearsal ones: whole debates of any format, without a database."""

import asyncio
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

import orjson
import pytest
from pydantic import BaseModel

from adapters.models.attempts import RetryPolicy
from adapters.models.rehearsal import RehearsalModels
from engine.formats import FORMATS, format_of
from engine.jury.explain import ExplanationRequest, explain
from engine.jury.history import fit
from engine.jury.panel import hold_panel, open_transcript, summarise
from engine.prompts import (
    Prompts,
    QuotedSpeech,
    SpeechRecord,
    _Quoted,
    load_prompts,
    quote,
    unquote,
)
from engine.run.freeze import setup_of
from engine.run.order import Defaults, Order
from engine.run.plan import plan
from engine.run.trial import choose_side
from engine.stage import Stage
from engine.store import Note, Post
from engine.values.debate import (
    Debate,
    Model,
    Retrieval,
    Sampling,
    Setup,
    Source,
    Status,
    TrialProtocol,
    Turn,
)
from engine.values.errors import ModelError, RostrumError
from engine.values.language import speaking
from engine.values.ports import AnswerSchema, Call, ChatMessage, Reply
from engine.values.verdicts import UNANSWERED, Artifact, Score
from tests.kit import RecordedAttempts, new_debate, stored

M = TypeVar("M")

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
    return load_prompts()


class DiedError(RostrumError):
    """The process is gone."""


def setup_for(format: str, *, limits: Mapping[str, float] | None = None, **asked: Any) -> Setup:
    """Return the setup of a debate between rehearsal models, as intake makes it."""
    order = Order(platform="memory", community="club", place="lobby", format=format, **asked)
    defaults = DEFAULTS.model_copy(update={"limits": {format: limits or {}}})
    return setup_of(plan(order, defaults, todays_prompts(), seed=1)[0], ordinal=1, fit=fit([]))


@dataclass(slots=True)
class RehearsedHost:
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
        return self.audience

    async def hear_person(self, step: str, words: int) -> tuple[str, str]:
        return "", ""

    async def call(self, call: Call) -> Reply:
        """Return a stored reply, or one that is then stored."""
        step = call.step
        if step in self.stored:
            return self.stored[step]
        self.calls += 1
        if self.dies_at is not None and self.calls >= self.dies_at:
            raise DiedError("gone")
        self.asked[step] = call.messages
        self.warmth[step], self.models[step] = call.sampling.temperature, call.model
        self.talking += 1
        self.most_talking = max(self.most_talking, self.talking)
        await asyncio.sleep(self.latency(step))
        self.talking -= 1
        said = self.twist(step)
        if isinstance(said, ModelError):
            raise said
        if said is None:
            reply = await _reply_to(replace(call, session=self.session))
        else:
            reply = Reply(text=said, finish="stop", model=call.model.name)
        self.stored[step] = reply
        return reply

    async def publish(self, turn: Turn, compose: Callable[[], Post]) -> None:
        self.turns.append(turn)
        self.posts.append(compose())

    async def keep(self, note: Note) -> None:
        """Keep a note, and what it shows."""
        self.notes.append(note)
        self.posts += note.posts
        self.held += note.held

    @property
    def artifacts(self) -> dict[str, Artifact]:
        return {artifact.name: artifact for note in self.notes for artifact in note.artifacts}

    @property
    def scores(self) -> list[Score]:
        return [score for note in self.notes for score in note.scores]

    def said_to(self, step: str) -> str:
        return "\n".join(message.content for message in self.asked[step])

    def waiting(self, kind: type[M]) -> M:
        """Return the one message of a kind that waits for the vote."""
        (found,) = [post.message for post in self.held if isinstance(post.message, kind)]
        return found

    @property
    def shown(self) -> str:
        return "\n".join(post.model_dump_json() for post in self.posts)


async def _reply_to(call: Call) -> Reply:
    """Return what the rehearsal model says, written once: debates that fail later begin alike."""
    hint = frozenset(call.hint.items())
    key = (call.session, call.step, call.model, call.messages, call.sampling, id(call.schema), hint)
    if key not in _REPLIES:
        models = RehearsalModels(RetryPolicy(tries=1))
        # The schema is kept, as its id is part of the key.
        _REPLIES[key] = await models.complete(call, RecordedAttempts()), call.schema
    return _REPLIES[key][0]


_REPLIES: dict[Hashable, tuple[Reply, AnswerSchema | None]] = {}


async def hold(setup: Setup, host: RehearsedHost | None = None) -> RehearsedHost:
    """Hold a debate before a host, from the top, as a process does that begins or resumes it."""
    host = host or RehearsedHost()
    unanswered = {
        name.removeprefix(f"{UNANSWERED}/"): str(artifact.body["problem"])
        for name, artifact in host.artifacts.items()
        if artifact.kind == UNANSWERED
    }
    for kept in (host.turns, host.posts, host.held, host.notes):
        kept.clear()
    script = format_of(setup)
    total = script.length(setup.request)
    with speaking(setup.request.language):
        await script.run(Stage(setup, todays_prompts(), host, total, unanswered))
    return host


async def survives_every_death(setup: Setup) -> int:
    """Kill a debate at each of its calls in turn, resume it, and see that nothing differs.

    Returns how many calls the whole took; none is made twice.
    """
    clean = await hold(setup)
    chained = RehearsedHost()
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


# --- debates in which every text holds a word, and what they fill into every template ---

# `filled_in` holds them once; `planted` then puts any text in the word's place.

WORD = "zqplantedqz"
QUESTIONS = (f"Why {WORD}, and for whom?", f"Is {WORD} dear?")
STANCES = {"stance_a": f"Tea is {WORD}", "stance_b": f"No {WORD}"}
FOUND = orjson.dumps([{"title": f"On {WORD}", "text": f"It is {WORD}.", "url": "https://a.b"}])


@dataclass(slots=True)
class PlantedHost(RehearsedHost):
    """A host whose models write the word into every text, after a first answer without use."""

    async def call(self, call: Call) -> Reply:
        """Return an answer that is sent back, then one that can be used."""
        if call.step.startswith("retrieve/"):
            return Reply(text=FOUND.decode(), finish="stop", model=call.model.name)
        reply = await super(PlantedHost, self).call(call)
        first = not call.step.endswith(("/again", "/shorten"))
        if call.schema is None:
            text = f"{WORD} {reply.text}" + " and so on" * (300 if first else 1)
        elif first and call.step != "why":
            text = WORD
        else:
            text = orjson.dumps(_written(orjson.loads(reply.text))).decode()
        return reply.model_copy(update={"text": text})


def _written(value: Any) -> Any:
    """Put the word before every text of an answer; one without a space is a fixed word."""
    if isinstance(value, str):
        return f"{WORD} {value}" if " " in value else value
    if isinstance(value, dict):
        return {name: _written(item) for name, item in value.items()}
    return [_written(item) for item in value] if isinstance(value, list) else value


def planted_setup(name: str, stances: Mapping[str, str]) -> Setup:
    """Return the setup of a debate whose every given text holds the word."""
    limits = {"audited": {"words": 150}}.get(name, {})
    options: dict[str, object] = {
        "personas": [f"Nurse: {WORD} on wards", f"one who had {WORD} every day"]
    }
    own = {"options": options} if name == "roundtable" else {}
    setup = setup_for(name, limits=limits, **own)
    request = setup.request.model_copy(
        update={
            "topic": f"Tea beats {WORD}",
            "conditions": f"Only {WORD}",
            **({} if FORMATS[name].question else stances),
            "sources": (Source(title=f"A {WORD}", text=f"Tea is {WORD}."),),
            "questions": 1.0 if FORMATS[name].takes_questions else 0,
            "judges": MODELS[2:3],
            "why": True,
        }
    )
    plan = Retrieval(model=MODELS[3], calls=2, results=1)
    return setup.model_copy(update={"request": request, "retrieval": plan})


@contextmanager
def _listening() -> Iterator[list[tuple[str, dict[str, Any]]]]:
    heard: list[tuple[str, dict[str, Any]]] = []
    render = Prompts.render

    def listen(self: Prompts, name: str, **variables: Any) -> str:
        heard.append((name, variables))
        return render(self, name, **variables)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Prompts, "render", listen)
        yield heard


async def filled_in() -> dict[str, list[dict[str, Any]]]:
    """Hold a debate of every format, with stances and without, and say what filled its templates.

    The values are by template, the longest prompts last.
    """
    with _listening() as heard:
        for name in FORMATS:
            for stances in ({}, STANCES):
                await _hold(planted_setup(name, stances))
        for protocol in TrialProtocol:
            setup = planted_setup("classic", STANCES)
            request = setup.request.model_copy(update={"protocol": protocol})
            panel = setup.panel.model_copy(update={"rubric": "truth"})
            advocate = "A" if protocol is TrialProtocol.CONSULTANCY else ""
            await _hold(
                setup.model_copy(update={"request": request, "panel": panel, "advocate": advocate})
            )
    found: dict[str, list[dict[str, Any]]] = {}
    for name, variables in heard:
        found.setdefault(name, []).append(variables)
    return found


async def _hold(setup: Setup) -> None:
    host, prompts = PlantedHost(audience=QUESTIONS), todays_prompts()
    script = format_of(setup)
    if setup.request.protocol is TrialProtocol.OPEN:
        setup = await choose_side(Stage(setup, prompts, host, 0, {}), setup)
    stage = Stage(setup, prompts, host, script.length(setup.request), {})
    with speaking(setup.request.language):
        await script.hold(stage)
    held: Debate = stored(new_debate(setup=setup), status=Status.VOTING)
    writer = open_transcript(held)
    judged = script.judged(tuple(stage.turns))
    verdict, ballots = await hold_panel(held, judged, prompts, host, writer)
    await summarise(held, judged, prompts, host, writer)
    await explain(ExplanationRequest(held, verdict, tuple(ballots.values())), prompts, host)


def planted(value: Any, text: str) -> Any:
    """Return a template's value with a text in the word's place, wherever it stands."""
    match value:
        case SpeechRecord():
            said = (QuotedSpeech(one.head, one.text.replace(WORD, text)) for one in value.speeches)
            return SpeechRecord(said, value.end)
        case _Quoted():
            return quote(unquote(value).replace(WORD, text))
        case str():
            return value.replace(WORD, text)
        case BaseModel():
            fields = {
                name: planted(getattr(value, name), text) for name in type(value).model_fields
            }
            return value.model_copy(update=fields)
        case dict():
            return {name: planted(item, text) for name, item in value.items()}
        case list():
            return [planted(item, text) for item in value]
        case tuple():
            items = [planted(item, text) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value
