"""What a script demands of its models, by a dry run of the same script: calls and amounts of text.

A script's demand depends on the topic only by its length, and on models only by how much they
write, so one dry run serves all topics and models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from engine.formats import Format
from engine.prompts.library import Prompts
from engine.stage.shapes import example
from engine.stage.stage import MOST_PUT, Stage
from engine.store import Note, Post
from engine.values.debate import RETRIEVAL, Model, PanelSetup, Request, Setup, Source, Turn
from engine.values.ports import AnswerSchema, Call, ChatMessage, Reply
from engine.values.text import CHARS_PER_WORD, UNSPACED, words_to_read

BRIEF = frozenset({"ask", "answer", "summary"})
CASES = ("opening", "draft", "assumptions")  # rounds in which a side sets out its points
ANY = 100_000  # words: no cap of one's own
WORDINESS = {"de": 0.92, "tr": 0.77}  # as the built-in speeches have it
# Placeholders in a dry run; no rendered template contains these marks otherwise.
TOPIC, CONDITIONS, SOURCES = "{{ topic }}", "{{ conditions }}", "{{ sources }}"
SOURCE_MARKUP = 80  # characters around a source: its tags, its name and its title
QUESTION = "Q" * 120  # characters of one that the audience may ask
STANCE = "a few words of stance"
MOST_DEMANDS = 200  # kept at once; each takes some kilobytes


@dataclass(frozen=True, slots=True)
class _Manner:
    """How much models are expected to write.

    `turn` and `closing` are shares of the word limit; `most` caps a turn (`case`: one that sets out
    a case; `brief`: one that only asks, answers or sums up; `decision`: a closing's two texts);
    `field` is the length of a text in a structured answer. These are in English words, `ballot` in
    tokens. `longer` multiplies them in some languages; `spare` items are in a list beyond the
    fewest. The bytes per token are an average; caps are checked with a stricter figure (see
    steps.py).
    """

    turn: float
    closing: float
    ballot: int
    field: int
    longer: Mapping[str, float]
    most: int = ANY
    case: int = ANY
    brief: int = ANY
    decision: int = ANY
    spare: int = 1
    token: float = 4.2
    characters: bool = False  # `token` counts characters instead of bytes

    def speak(
        self,
        hint: Mapping[str, str],
        limits: Mapping[str, float],
        language: str,
        rate: float,
        number: int,
    ) -> str:
        """Return filler as long as a turn; `rate` is characters per word in unspaced scripts.

        A turn without an overall word limit has a closing's two parts. Turns with different
        numbers share no word.
        """
        allowed = int(hint.get("words") or 0)
        wordiness = self._wordiness(language)
        if not allowed:
            share = limits.get("decision_words", 200) * self.closing
            decision = int(min(share, self.decision * wordiness))
            return f"Filler.\n\n---\n\n{self.write(decision, language, rate, number)}"
        sets_out = hint.get("round", "").startswith(CASES)
        most = self.brief if hint.get("duty") in BRIEF else self.case if sets_out else self.most
        words = int(min(allowed * self.turn, most * wordiness))
        return self.write(words, language, rate, number, counted="counted" in hint)

    def answer(
        self,
        schema: AnswerSchema,
        hint: Mapping[str, str],
        limits: Mapping[str, float],
        language: str,
        rate: float,
    ) -> str:
        """Return a structured answer that satisfies its schema; a closing's has two long texts."""
        wordiness = self._wordiness(language)
        parts: dict[str, float] = {}
        known = self.decision < ANY or "synthesis_chars" in limits
        if hint.get("round") == "closing" and known:
            spaced = CHARS_PER_WORD / wordiness_of(language)
            characters = rate if _is_unspaced(language) else spaced
            parts["synthesis"] = limits.get("synthesis_chars", 500) / characters
            parts["why"] = limits.get("decision_words", 200)
        most = self.decision * wordiness / 2
        long = {
            name: self.write(int(min(allowed * self.closing, most)), language, rate, 0)
            for name, allowed in parts.items()
        }
        text = self.write(int(self.field * wordiness), language, rate, 0)
        return example(schema.json_schema, text, long, self.spare)

    def _wordiness(self, language: str) -> float:
        return wordiness_of(language) * self.longer.get(_primary(language), 1.0)

    def write(
        self, words: int, language: str, rate: float, number: int, *, counted: bool = False
    ) -> str:
        """Return filler of the given number of words."""
        if _is_unspaced(language):
            filler, size = chr(ord("一") + number), int(words * rate)
            # A clock does not count punctuation, which takes a sixth of such a text.
            return (f"{filler * 5}，" * size)[:size] if counted else filler * size
        letter, length = chr(ord("a") + number % 26), CHARS_PER_WORD / wordiness_of(language)
        # One long word: many short ones would take longer to count than everything else, and
        # only scripts that count words need them.
        return (
            f"{letter * (round(length) - 1)} " * words if counted else letter * int(length * words)
        )

    def size(self, text: str) -> int:
        """Return a text's length in the unit that tokens are estimated from."""
        return len(text) if self.characters else len(text.encode())

    def tokens(self, size: int) -> int:
        """Return the expected number of tokens in a text of that size."""
        return math.ceil(size / self.token)


# Models write close to a stated limit; the rehearsal models have a fixed amount of text.
WRITTEN = _Manner(turn=0.75, closing=0.9, ballot=250, field=30, longer={})
REHEARSED = _Manner(
    turn=0.95,
    most=88,
    case=118,
    brief=43,
    closing=0.9,
    decision=80,
    ballot=110,
    field=14,
    longer={"es": 0.92, "tr": 0.95, "zh": 1.36},
    spare=0,
    token=4,
    characters=True,
)


def _primary(language: str) -> str:
    return language.split("-")[0].lower()


def _is_unspaced(language: str) -> bool:
    return _primary(language) in UNSPACED


def wordiness_of(language: str) -> float:
    """Return how many words a language needs per English word; its words are longer."""
    return WORDINESS.get(_primary(language), 1.0)


def manner_of(model: Model) -> _Manner:
    """Return how much a model is expected to write."""
    return REHEARSED if model.rehearses else WRITTEN


@dataclass(slots=True)
class ParticipantDemand:
    """One participant's demand in a dry run: number of calls and amount of text.

    `read` is the size of its prompts, `longest` that of the longest; the marks for topic,
    conditions and sources in them are counted.
    """

    calls: int = 0
    read: int = 0
    longest: int = 0
    topics: int = 0
    conditions: int = 0
    sources: int = 0
    tokens_out: int = 0
    most_out: int = 0

    def ask(self, messages: Sequence[ChatMessage], manner: _Manner) -> None:
        """Count a call and its prompt."""
        prompt = "".join(message.content for message in messages)
        size = manner.size(prompt)
        self.calls += 1
        self.read += size
        self.longest = max(self.longest, size)
        self.topics += prompt.count(TOPIC)
        self.conditions += prompt.count(CONDITIONS)
        self.sources += prompt.count(SOURCES)

    def tokens_in(self, request: Request, manner: _Manner) -> int:
        """Return the total prompt size for a topic, conditions and sources."""
        topic = manner.size(request.topic) - len(TOPIC)
        conditions = manner.size(request.conditions) - len(CONDITIONS)
        told = self.topics * topic + self.conditions * conditions
        if self.sources:
            sources = sum(manner.size(one.text) + SOURCE_MARKUP for one in request.sources)
            told += self.sources * (sources - len(SOURCES))
        return manner.tokens(self.read + told)


class ScriptDemand(NamedTuple):
    """A script's demand on each participant, the tokens of what the panel reads, and all words.

    `heard` is how many turns a person gives.
    """

    shares: Mapping[str, ParticipantDemand]
    judged: int
    words: float
    heard: int = 0


@dataclass(slots=True)
class _DryRun:
    """A host for dry runs: it counts the prompts and answers with filler, calling no model."""

    setup: Setup
    shares: dict[str, ParticipantDemand] = field(default_factory=dict)
    calls: int = 0
    heard: int = 0  # turns of a person

    async def room(self) -> None:
        """Never wait."""

    async def call(self, call: Call) -> Reply:
        """Count a call and answer with filler of the expected length."""
        call = call.configured()
        setup, manner = self.setup, manner_of(call.model)
        language, rate = setup.request.language, setup.chars_per_word
        if setup.retrieval and call.model == setup.retrieval.model:
            from engine.stage.research import dry_results  # few installations have an endpoint

            text = dry_results(call.step, setup.retrieval)
        elif call.schema is None:
            text = manner.speak(call.hint, setup.limits, language, rate, self.calls)
        else:
            text = manner.answer(call.schema, call.hint, setup.limits, language, rate)
        self.calls += 1
        share = self.shares.setdefault(call.model.name, ParticipantDemand())
        share.ask(call.messages, manner)
        share.tokens_out += manner.tokens(manner.size(text))
        share.most_out += call.sampling.max_tokens
        return Reply(text=text, finish="stop", model=call.model.ref)

    async def publish(self, turn: Turn, compose: Callable[[], Post]) -> None:
        """Post nothing."""

    async def keep(self, note: Note) -> None:
        """Keep nothing."""

    async def hear_person(self, step: str, words: int) -> tuple[str, str]:
        """Answer with filler of the length of a model's turn; it costs nothing."""
        self.heard += 1
        request = self.setup.request
        hint = {"words": str(words or ""), "kind": "turn", "seat": request.guest}
        per_word = self.setup.chars_per_word
        said = WRITTEN.speak(hint, self.setup.limits, request.language, per_word, self.calls)
        return said, ""

    async def hear_questions(self) -> Sequence[str]:
        """Return as many questions as are put to the sides."""
        return (QUESTION,) * MOST_PUT


NEUTRAL: Mapping[str, Any] = {
    "prices": {},
    "seed": 0,
    "ordinal": 0,
    "cap_usd": None,
    "reserved_usd": 0.0,
    "mirror_of": None,
    "moderation": None,
    "rematch_of": None,
    "swapped": False,
    "panel": PanelSetup(roster=()),
}
# What a script's demand does not depend on, or only by whether it is there.
FREE: Mapping[str, Any] = {
    "request": {
        *("topic", "conditions", "stance_a", "stance_b", "sides", "seats", "judges", "drawn"),
        *("questions", "pace", "sources"),
    },
    "retrieval": {"model"},
    **dict.fromkeys((*NEUTRAL, "names"), True),
}
_demands: dict[tuple[object, ...], ScriptDemand] = {}


async def demand_of(
    setup: Setup, cast: Mapping[str, Model], script: Format, prompts: Prompts
) -> ScriptDemand:
    """Return a script's demand, from the cache or by a dry run."""
    request = setup.request
    roles = tuple((name, model.backend, model.label) for name, model in cast.items())
    has = map(bool, (request.conditions, request.stance_a, request.questions, request.sources))
    key = script, prompts.digest, roles, tuple(has), setup.model_dump_json(exclude=FREE)
    known = _demands.get(key)
    if known is None:
        dry = _without_topic(setup, cast)
        host = _DryRun(dry)
        stage = Stage(dry, prompts, host, script.turns(dry.request))
        await script.hold(stage)
        judged = 0
        for turn in script.judged(stage.turns):  # as its speaker writes
            manner = manner_of(dry.request.model_of(turn.seat))
            judged += manner.tokens(manner.size(turn.text))
        if len(_demands) >= MOST_DEMANDS:
            _demands.clear()
        known = _demands[key] = ScriptDemand(
            host.shares,
            judged,
            sum(
                words_to_read(turn.text, dry.request.language, dry.chars_per_word)
                for turn in stage.turns
            ),
            host.heard,
        )
    return known


def cast_of(setup: Setup) -> dict[str, Model]:
    """Return the models by role in the debate: a contender, a seat, a judge, or a search."""
    request = setup.request
    judges = enumerate(request.judges)
    return {
        **({RETRIEVAL: setup.retrieval.model} if setup.retrieval else {}),
        **{f"contender{side}": model for side, model in request.sides.items()},
        **{f"seat{seat}": model for seat, model in request.seats.items()},
        **{f"judge{number}": model for number, model in judges},
    }


def _without_topic(setup: Setup, speakers: Mapping[str, Model]) -> Setup:
    """Return the setup reduced to what determines the demand."""
    request = setup.request
    cast = {
        name: model.model_copy(update={"name": name, "family": name})
        for name, model in speakers.items()
    }
    asked = {
        "topic": TOPIC,
        "conditions": CONDITIONS if request.conditions else "",
        "stance_a": STANCE if request.stances else "",
        "stance_b": STANCE if request.stances else "",
        "sides": {side: cast[f"contender{side}"] for side in request.sides},
        "seats": {seat: cast[f"seat{seat}"] for seat in request.seats},
        "judges": tuple(cast[f"judge{number}"] for number in range(len(request.judges))),
        "drawn": (),
        "questions": 1.0 if request.questions else 0.0,
        "pace": 0,
        "sources": (Source(title="", text=SOURCES),) if request.sources else (),
    }
    alike = {
        **NEUTRAL,
        "request": request.model_copy(update=asked),
        "names": {side: f"Name{side}" for side in setup.names},
    }
    if setup.retrieval:
        alike["retrieval"] = setup.retrieval.model_copy(update={"model": cast[RETRIEVAL]})
    return setup.model_copy(update=alike)
