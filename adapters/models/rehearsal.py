"""The backend `rehearsal`: built in, offline, deterministic, and no language model at all.

It plays every part of a debate from prepared texts, so that demos, tests and benchmarks need no
key and no network. A model's name may change its behaviour: see `RehearsalOptions`.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any

import orjson

from adapters.models.attempts import CallAnswer, CallFault, Outcome, RetryPolicy, persist
from adapters.models.scenes import RehearsalOptions, Scene, chance, quote_turns, strength
from adapters.models.speeches import ArgumentPoint, SceneSpeaker, cite, compose
from engine.jury.rubric import RUBRICS
from engine.stage.steps import Pace
from engine.values.debate import Model, Origin, Price, Usage
from engine.values.ports import AnswerSchema, Call, FaultKind, Reply
from engine.values.text import count_words
from engine.values.verdicts import TIE

if TYPE_CHECKING:
    from engine.values.protocols import AttemptLog

# Structured answers of a rehearsal model: a value that satisfies a JSON schema.


Schema = dict[str, Any]

_FEW = ("questions", "arguments")  # of which a reader wants no more than asked for
_DECIDING = ("standing", "outcome", "winner")  # a text beside it has variants by its value
_RARE = (
    "violations",
    "fallacies",
    "suspect",
    "exposed",
    "premises",
    "new_arguments",
    "withdrawn",
)
_SELDOM = 0.75  # share of answers without any
_REASONED = 20  # minimum characters of a reasoning
_ID = re.compile(r"[AB]-\d+")
_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？]")
_TITLES = ("title", "name", "label", "heading", "headline")


class _Fabricator:
    """Makes values for schemas of engine/stage/shapes.py; `points` are the material of its texts.

    `side` is A or B. `phrases` returns texts for a property's name, in the order in which they are
    used.
    """

    def __init__(
        self,
        chance: random.Random,
        points: Sequence[ArgumentPoint],
        side: str,
        phrases: Callable[[str], Sequence[str]],
    ) -> None:
        self._phrases = phrases
        self._texts: dict[str, Iterator[str]] = {}
        self._chance = chance
        self._points = points
        self._side = side
        self._told = 0
        self._pointed = 0
        self._stated = ""  # the rest of the point behind the last claim

    def value(self, node: Schema, name: str = "") -> Any:
        """Return a value for a schema node; `name` is the property it is for."""
        if node.get("enum"):
            said = [word for word in self._phrases(name) if word in node["enum"]]
            return self._chance.choice(said or node["enum"])
        match node["type"]:
            case "object":
                return self._object(node, name)
            case "array":
                fewest = node["minItems"]
                most = node.get("maxItems", max(fewest, 1) + 1)
                if name in _RARE and not fewest and self._chance.random() < _SELDOM:
                    return []
                more = 0 if name in _FEW else 2
                wanted = self._chance.randint(fewest, max(fewest, min(most, fewest + more)))
                return [self.value(node["items"], name) for _ in range(min(most, wanted))]
            case "integer":
                return self._chance.randint(node["minimum"], node["maximum"])
            case "number":
                low, high = (round(100 * node[end]) for end in ("minimum", "maximum"))
                return round(self._chance.randint(low, high) * 0.01, 10)
            case "boolean":
                return self._chance.random() < 0.5
            case _:
                return self._text(name)

    def _object(self, node: Schema, parent: str) -> dict[str, Any]:
        made = {
            # Below an id as key, the parent's name says what the text is about.
            name: self.value(item, parent if _ID.fullmatch(name) else name)
            for name, item in node["properties"].items()
        }
        if made.get("type") == "concede" and "reasoning" in made:
            made["reasoning"] = self._text("conceded")
        for deciding in _DECIDING:
            for name in ("reason", "narrative"):
                about = f"{name}_{str(made.get(deciding)).lower()}"
                if deciding in made and name in made and self._phrases(about):
                    made[name] = self._text(about)
        return made

    def _text(self, name: str) -> str:
        self._told += 1
        if name not in self._texts:
            self._texts[name] = cycle(self._phrases(name))
        if (text := next(self._texts[name], None)) is not None:
            return text
        if name == "reasoning" and self._stated:
            reasoning, self._stated = self._stated, ""
            return reasoning
        point = self._points[self._pointed % len(self._points)]
        self._pointed += 1
        if name == "claim":
            end = _SENTENCE.search(point.text)
            claim, rest = (
                (point.text[: end.end()].strip(), point.text[end.end() :].strip())
                if end
                else (point.text, "")
            )
            self._stated = rest if len(rest) >= _REASONED else point.text
            return f"{point.title}: {claim}"
        if name == "id" or name.endswith("_id"):
            return f"{self._side}-{self._told}"
        return point.title if name.lower() in _TITLES else point.text


# Ballots of rehearsal models: from the contenders' names and the topic, or by a set bias.


LEVELS = 5
_DECIDED = 0.5


@dataclass(frozen=True, slots=True)
class _BallotForm:
    """The part of a ballot's schema that a juror fills in; `names` in the order shown.

    `criteria` are the lowest and the highest score of each.
    """

    names: tuple[str, ...]
    criteria: Mapping[str, tuple[int, int]]
    verdicts: tuple[str, ...]


def find_form(schema: Mapping[str, Any], call: Call) -> _BallotForm | None:
    """Recognise a ballot: scores keyed by contender and then criterion, and a verdict."""
    properties = schema["properties"]
    if "scores" not in properties or "verdict" not in properties:
        return None
    sheets = properties["scores"]["properties"]
    scores = next(iter(sheets.values()))["properties"]
    return _BallotForm(
        names=shown_order(tuple(sheets), call),
        criteria={name: (score["minimum"], score["maximum"]) for name, score in scores.items()},
        verdicts=tuple(properties["verdict"]["enum"]),
    )


def shown_order(names: tuple[str, ...], call: Call) -> tuple[str, ...]:
    """Return the contenders as the juror reads them.

    From the hint's `shown` (names joined by commas), else the order of first mention in the user
    messages, else the schema's.
    """
    shown = tuple(name.strip() for name in call.hint.get("shown", "").split(","))
    if set(shown) == set(names):
        return shown
    text = "\n".join(m.content for m in call.messages if m.role == "user")
    found = {name: text.find(name) for name in names}
    return tuple(sorted(names, key=lambda n: found[n] if found[n] >= 0 else len(text)))


def fill_in(
    form: _BallotForm, topic: str, options: RehearsalOptions, known: str | None = None
) -> dict[str, Any]:
    """Return consistent scores, verdict and confidence; `known` is whose answer is held right."""
    preferred = known or _preferred(form, topic, options)
    if preferred is None:
        scores = {name: _own_sheet(form, topic, name, options.name) for name in form.names}
    else:
        scores = {n: _flat_sheet(form, n == preferred, options.margin) for n in form.names}
    totals = {name: _total(form, sheet) for name, sheet in scores.items()}
    first, second = sorted(totals.values(), reverse=True)[:2]
    verdict = preferred or max(totals, key=lambda name: totals[name])
    if preferred is None and first - second < _DECIDED:
        verdict = next((word for word in form.verdicts if word.casefold() == TIE), TIE)
    gap = max(totals.values()) - min(totals.values())
    confidence = round(min(0.95, 0.5 + 0.1 * gap), 2)
    return {"scores": scores, "verdict": verdict, "confidence": confidence}


def _preferred(form: _BallotForm, topic: str, options: RehearsalOptions) -> str | None:
    if options.prefer == "first":
        return form.names[0]
    if options.prefer == "second":
        return form.names[1]
    if options.prefer == "stronger":
        return max(form.names, key=lambda name: (strength(topic, name), name))
    return None


def _own_sheet(form: _BallotForm, topic: str, name: str, juror: str) -> dict[str, int]:
    """Score a contender regardless of its identity and position.

    Strength has a few levels, so that contenders are equal on some topics; jurors map levels to
    scores differently, and so agree on ties.
    """
    level = int(strength(topic, name) * LEVELS)
    sheet = {}
    for criterion, (low, high) in form.criteria.items():
        lean = strength(juror, topic, criterion, level) - 0.5
        share = 0.3 + 0.5 * level / (LEVELS - 1) + 0.25 * lean
        sheet[criterion] = low + round((high - low) * share)
    return sheet


def _flat_sheet(form: _BallotForm, preferred: bool, margin: int) -> dict[str, int]:
    sheet = {}
    for criterion, (low, high) in form.criteria.items():
        base = (low + high + margin) // 2
        sheet[criterion] = min(high, base) if preferred else max(low, base - margin)
    return sheet


def _total(form: _BallotForm, sheet: Mapping[str, int]) -> float:
    for rubric in RUBRICS.values():
        if {c.name for c in rubric.criteria} == set(sheet):
            return rubric.score(sheet)
    ends = form.criteria.items()
    points = [1 + 9 * (sheet[name] - low) / max(1, high - low) for name, (low, high) in ends]
    return sum(points) / len(points)


# The fields of a structured turn with a limit.
OVER, OVER_TIMES = ("position", "synthesis", "why"), 12
_CONCEDED = re.compile(r'"([AB]-\d+)":\s*\{\s*"type":\s*"concede"')
SLICE_S = 0.05
GARBAGE = "~~ %% 0x1F no answer {[ ~~"


class RehearsalModels:
    """The Models port without models; every name is a model, and options follow a `?`."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._pace = Pace()

    async def complete(self, call: Call, log: AttemptLog) -> Reply:
        """Play a part. Raises ModelError if set to fail, UsageError for an unknown option."""
        part = _RehearsedCall(call, RehearsalOptions.of(call.model.name), self._pace)
        return await persist(call, log, self._policy, part)

    async def price(self, model: Model) -> Price | None:
        """Return a price of 0."""
        return Price(usd_in=0, usd_out=0, origin=Origin.LOCAL)

    def pace(self, model: Model) -> float:
        """Return the latency in the model's name."""
        return RehearsalOptions.of(model.name).latency

    async def aclose(self) -> None:
        """Do nothing."""


class _RehearsedCall:
    """One call's tries."""

    free = True

    def __init__(self, call: Call, options: RehearsalOptions, pace: Pace) -> None:
        self._call = call
        self._options = options
        self._pace = pace
        self._tries = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[float]:
        """Wait for a turn of the event loop."""
        await self._pace.turn()
        yield 0.0

    async def send(self) -> Outcome:
        """Answer, or fail if set to, after the latency in the options."""
        self._tries += 1
        began = time.perf_counter()
        # Calls sent together start their clocks together, and build their answers now, one per
        # loop turn, instead of when many end at once.
        await asyncio.sleep(0)
        outcome = self._outcome()
        until = began + self._options.latency
        if self._call.on_text is not None and isinstance(outcome, CallAnswer):
            # Streamed in slices of equal length.
            started, text = time.perf_counter(), outcome.text
            slices = max(1, int((until - started) / SLICE_S))
            for number in range(slices):
                self._call.on_text(text[: len(text) * number // slices], self._call.model.name)
                due = started + (number + 1) * SLICE_S
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
            self._call.on_text(text, self._call.model.name)
        await asyncio.sleep(max(0.0, until - time.perf_counter()))
        return outcome

    def _outcome(self) -> Outcome:
        status, tries = self._options.fail or (0, 0)
        if tries is None or self._tries <= tries:
            from adapters.models.faults import status_fault  # few names ask for one

            return status_fault(status, b"", {})
        if self._options.empty:
            said, model = "answered without any text", self._call.model.name
            return CallFault(said, model=model, kind=FaultKind.EMPTY)
        return self._answer(self._text())

    def _text(self) -> str:
        if self._options.garbage:
            return GARBAGE
        scene = Scene.of(self._call)
        if self._call.schema is None:
            text = compose(scene, self._options)
            cited = cite(self._call.messages[0].content, scene)
            longer = f"{text}\n\n{cited}" if cited else text
            fits = scene.words is None or count_words(longer) <= scene.words
            text = longer if fits else text
            if self._options.right is None:
                return text
            from adapters.models.sums import with_choice  # few can do any

            return with_choice(text, self._call, self._options)
        return structured_answer(self._call, self._call.schema, scene, self._options)

    def _answer(self, text: str) -> CallAnswer:
        written = self._options.tokens_out
        usage = Usage(
            tokens_in=sum(token_count(m.content) for m in self._call.messages),
            tokens_out=token_count(text) if written is None else written,
        )
        return CallAnswer(text, "stop", self._call.model.name, usage, 0.0)


def structured_answer(
    call: Call, schema: AnswerSchema, scene: Scene, options: RehearsalOptions
) -> str:
    """Return JSON that satisfies a schema; a ballot's verdict agrees with its scores."""
    speaker = SceneSpeaker.of(scene, options.name, call.step)
    if scene.kind == "why":
        return orjson.dumps(speaker.reasons(), option=orjson.OPT_INDENT_2).decode()
    said = [ArgumentPoint(p.title, speaker.fill(p.text)) for p in speaker.fresh(speaker.order)]
    seeded = chance(options.name, scene.topic, call.step)
    fabricator = _Fabricator(seeded, said, scene.side, speaker.phrases)
    answer = fabricator.value(schema.json_schema)
    if options.over == "always" or (options.over == "once" and not call.step.endswith("/again")):
        answer |= {name: " ".join([answer[name]] * OVER_TIMES) for name in OVER if name in answer}
    quote_turns(answer, call, seeded)
    if "concessions" in answer:
        answer["concessions"] = _CONCEDED.findall(scene.mine)
    form = find_form(schema.json_schema, call)
    known = None
    if options.right is not None:
        from adapters.models.sums import held_right  # few can do any

        known = held_right(scene.topic, scene.heard, options, options.right)
    if form is not None:
        answer |= fill_in(form, scene.topic, options, known)
    elif known in ("A", "B"):
        answer |= {"side": known} if "side" in answer else {}
    return orjson.dumps(answer, option=orjson.OPT_INDENT_2).decode()


def token_count(text: str) -> int:
    """Return a deterministic number of tokens: a quarter of the characters, at least one."""
    return max(1, len(text) // 4)
