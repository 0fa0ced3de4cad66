"""From a frozen setup to a priced one: what a debate is to take, and what it reserves.

A script's demand is that of a dry run of the same script. It depends on the topic only by its
length, and on models only by how much they write, so one dry run serves all topics and models.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.formats import Format
from engine.jury.plan import attendance
from engine.prompts import Prompts
from engine.stage import MOST_PUT, Stage
from engine.stage.shapes import example
from engine.store import Note, Post
from engine.values.debate import (
    RETRIEVAL,
    Model,
    PanelSetup,
    Price,
    Request,
    Setup,
    Source,
    TrialProtocol,
    Turn,
)
from engine.values.errors import BudgetError
from engine.values.language import Text
from engine.values.limits import Caps
from engine.values.messages import Estimate
from engine.values.ports import AnswerSchema, Call, ChatMessage, Reply
from engine.values.text import CHARS_PER_WORD, READING, UNSPACED, words_to_read

if TYPE_CHECKING:
    from engine.values.protocols import Models

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
JURY_PROMPT_TOKENS = 700  # what a juror reads beside the transcript
LOOKED_UP_TOKENS = 60  # that a juror reads of what each turn quoted
LONGEST_WRITTEN = 10.0  # minutes that a person may need for a turn
SHARE_OF_TIME = 0.5  # of the time for a turn that a person takes for it


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

    def calls_of(self, setup: Setup) -> list[tuple[Model, int, int, int, int]]:
        """Return every model's number of calls, and the tokens that it reads, writes, and may."""
        calls = []
        for name, model in cast_of(setup).items():
            if not model.person:
                share = self.shares.get(name, ParticipantDemand())
                read = share.tokens_in(setup.request, manner_of(model))
                calls.append((model, share.calls, read, share.tokens_out, share.most_out))
        return calls

    def reading(self, setup: Setup, script: Format) -> tuple[int, int]:
        """Return the tokens of the sources that an expert reads, and of a juror's whole prompt."""
        request = setup.request
        shown = ParticipantDemand(sources=1).tokens_in(request, WRITTEN)
        looked_up = script.turns(request) if request.sources or setup.retrieval else 0
        read = self.judged + JURY_PROMPT_TOKENS + LOOKED_UP_TOKENS * looked_up
        return shown, read + shown * (request.protocol is TrialProtocol.EXPERT)

    def waiting(self, request: Request) -> float:
        """Return for how many minutes a debate waits for people."""
        a_turn = min(request.turn_minutes, LONGEST_WRITTEN) * SHARE_OF_TIME
        return request.questions + self.heard * a_turn


@dataclass(slots=True)
class _DryRun:
    """A host for dry runs: it counts the prompts and answers with filler, calling no model."""

    setup: Setup
    script: Format
    shares: dict[str, ParticipantDemand] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    calls: int = 0
    heard: int = 0  # turns of a person

    @property
    def demand(self) -> ScriptDemand:
        """The demand, once the script has ended."""
        request, rate, judged = self.setup.request, self.setup.chars_per_word, 0
        for turn in self.script.judged(self.turns):  # as its speaker writes
            manner = manner_of(request.model_of(turn.seat))
            judged += manner.tokens(manner.size(turn.text))
        words = sum(words_to_read(turn.text, request.language, rate) for turn in self.turns)
        return ScriptDemand(self.shares, judged, words, self.heard)

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
        self.turns.append(turn)

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


async def demand_of(setup: Setup, script: Format, prompts: Prompts) -> ScriptDemand:
    """Return a script's demand, from the cache or by a dry run."""
    request, cast = setup.request, cast_of(setup)
    roles = tuple((name, model.backend, model.label) for name, model in cast.items())
    has = map(bool, (request.conditions, request.stance_a, request.questions, request.sources))
    key = script, prompts.digest, roles, tuple(has), setup.model_dump_json(exclude=FREE)
    known = _demands.get(key)
    if known is None:
        dry = _without_topic(setup, cast)
        host = _DryRun(dry, script)
        stage = Stage(dry, prompts, host, script.turns(dry.request))
        await script.hold(stage)
        if len(_demands) >= MOST_DEMANDS:
            _demands.clear()
        known = _demands[key] = host.demand
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


# What a debate takes, and what it costs.


SUMMARY_TOKENS = 140  # of 500 characters
WHY_TOKENS = 160  # of a sentence, the best points and where jurors differed
WHY_PROMPT_TOKENS = 350  # what that juror reads beside the reasons
CHOICE_TOKENS = 300  # that a model reads, and at most writes, to choose its side


@dataclass(slots=True)
class _Bill:
    """The expected total of calls, time and, where prices are known, cost in USD."""

    prices: Mapping[str, Price | None]
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    usd: float = 0.0
    usd_max: float = 0.0

    def add(self, model: Model, calls: int, tokens_in: int, tokens_out: int, most: int) -> None:
        """Add a model's expected calls, with its expected and maximum reply in tokens."""
        self.calls += calls
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        price = self.prices.get(model.ref)
        if price is not None:
            self.usd += price.cost(tokens_in, tokens_out, tokens_in // max(1, calls))
            # A turn may have to be shortened and a juror retried: twice the maximum.
            self.usd_max += 2 * price.cost(2 * tokens_in, most)

    def ask(self, juror: Model, setup: Setup, tokens_in: int, tokens_out: int) -> None:
        """Add one call of a juror, whose reply has the cap of its role or its own."""
        most = juror.sampling(setup.sampling["juror"]).max_tokens
        self.add(juror, 1, tokens_in, tokens_out, most)


async def estimate(
    setup: Setup, script: Format, prompts: Prompts, pace: Mapping[str, float]
) -> Estimate:
    """Estimate calls, tokens, minutes and money of a debate.

    `pace` is the seconds per call of each model. Unless every price is known, cost is None.
    """
    request, panel, bill = setup.request, setup.panel, _Bill(setup.prices)
    outline = await demand_of(setup, script, prompts)
    speaking = outline.calls_of(setup)
    for call in speaking:
        bill.add(*call)
    shown, reading = outline.reading(setup, script)
    waited = outline.waiting(request)
    seats = attendance(panel)
    jurors = panel.readers[: seats.most]
    usual, most = seats.calls
    asked, more = (*jurors, *jurors)[:usual], (*jurors, *jurors)[usual:most]
    if request.protocol is TrialProtocol.OPEN:
        first = request.sides["A"]
        longest = first.sampling(setup.sampling["debater"]).max_tokens
        bill.add(first, 1, CHOICE_TOKENS + shown, CHOICE_TOKENS, longest)
    if script.summarised and not request.protocol:
        bill.ask(panel.roster[-1], setup, reading, SUMMARY_TOKENS)
    # From reasons, not from the debate.
    writer = setup.cheapest([one for one in jurors if one in panel.roster]) if request.why else None
    if writer is not None:
        read = WHY_PROMPT_TOKENS + len(asked) * manner_of(writer).ballot
        bill.ask(writer, setup, read, WHY_TOKENS)
    for juror in asked:
        bill.ask(juror, setup, reading, manner_of(juror).ballot)
    calls, tokens_in, tokens_out, usd = bill.calls, bill.tokens_in, bill.tokens_out, bill.usd
    for juror in more:
        bill.ask(juror, setup, reading, manner_of(juror).ballot)
    refs = [model.ref for model in (*(one for one, *_ in speaking), *jurors, panel.roster[-1])]
    known = all(setup.prices.get(ref) is not None for ref in refs)
    slowest = max(pace[ref] for ref in refs)
    searches = 2 * setup.retrieval.calls if setup.retrieval else 0
    waves = searches + script.waves(request) + 1 + seats.waves
    paced = slowest + 60 * outline.words / request.pace if request.pace else 0.0
    return Estimate(
        calls=calls,
        calls_max=2 * (calls + len(more)),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        minutes=round(max(waves * slowest, paced) / 60 + waited, 2),
        usd=usd if known else None,
        usd_max=bill.usd_max if known else None,
        reading=round(outline.words / READING, 2),
    )


def check_prices(prices: Mapping[str, Price | None], caps: Caps) -> None:
    """Refuse a dollar cap that cannot be enforced. Raises BudgetError naming what to set."""
    unknown = sorted(ref for ref, price in prices.items() if price is None)
    if unknown and (caps.debate_usd is not None or caps.by_day):
        raise BudgetError(
            "The price of {unknown:and} is unknown, so the cap cannot be enforced. {advice}",
            unknown=tuple(unknown),
            advice=Text("Choose other models, or ask the operator to set their price."),
            hint=f"Set ROSTRUM_PRICES, for example '{{\"{unknown[0]}\": [0.3, 1.2]}}' in USD per "
            "million tokens in and out, or ROSTRUM_BUDGET__DEBATE_USD=off and "
            "ROSTRUM_BUDGET__COMMUNITY_DAILY_USD=off and "
            "ROSTRUM_BUDGET__INSTALLATION_DAILY_USD=off.",
        )


async def price(
    setup: Setup, script: Format, prompts: Prompts, caps: Caps, models: Models
) -> tuple[Setup, Estimate]:
    """Return a setup with its prices and its reservation, and what the debate is to take.

    Its maximum cost is reserved, or its cap. Each backend is asked for one list of prices at a
    time. Raises BudgetError if it is too expensive.
    """
    prices: dict[str, Price | None] = {model.ref: None for model in setup.models}

    async def ask(backend: str) -> None:
        for model in setup.models:
            if model.backend == backend:
                prices[model.ref] = await models.price(model)

    first, *others = map(ask, {model.backend for model in setup.models})
    await (asyncio.gather(first, *others) if others else first)  # most have one: no task is made
    check_prices(prices, caps)
    setup = setup.model_copy(update={"prices": prices})
    pace = {model.ref: models.pace(model) for model in setup.models}
    expected = await estimate(setup, script, prompts, pace)
    cap, usd, most = setup.cap_usd, expected.usd or 0.0, expected.usd_max or 0.0
    if cap is not None and usd > cap:
        raise BudgetError(
            "This debate is expected to cost {usd:usd} USD; the cap per debate is {cap:usd}; "
            "choose cheaper models, fewer rounds or fewer jurors.",
            usd=usd,
            cap=cap,
            hint="The cap is ROSTRUM_BUDGET__DEBATE_USD, or --usd in a terminal.",
        )
    reserved = most if cap is None else min(most, cap)
    if cap is None and caps.by_day:
        cap = reserved  # what was not reserved from the day may not be spent
    return setup.model_copy(update={"reserved_usd": reserved, "cap_usd": cap}), expected


async def longest_prompts(setup: Setup, script: Format, prompts: Prompts) -> dict[str, int]:
    """Return the expected tokens of the longest prompt that each model gets, by its name."""
    cast, found = cast_of(setup), dict[str, int]()
    outline = await demand_of(setup, script, prompts)
    for name, model in cast.items():
        share, manner = outline.shares.get(name), manner_of(model)
        if share is not None and not model.person:
            told = sum(manner.size(one.text) for one in setup.request.sources)
            longest = manner.tokens(share.longest + told)
            found[model.ref] = max(found.get(model.ref, 0), longest)
    for juror in setup.panel.readers:
        found[juror.ref] = max(found.get(juror.ref, 0), outline.judged + JURY_PROMPT_TOKENS)
    return found
