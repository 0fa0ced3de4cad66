"""What a debate will take, found by holding it dry: the same script, and no model called."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine.debate import Estimate, Model, PanelMode, Sampling, Setup, Turn
from engine.example import example
from engine.floor import Floor
from engine.formats import Format
from engine.jury.plan import FIRST_WAVE, MOST_JURORS
from engine.ports import AnswerSchema, ChatMessage, Reply
from engine.prompts.library import Prompts
from engine.store import Note, Post

EXPECTED_JURORS = 4
CHARS_PER_WORD = 6  # a space included
JURY_PROMPT_TOKENS = 700  # what a juror reads beside the transcript
REHEARSAL = "rehearsal"
BRIEF = frozenset({"ask", "answer", "summary"})
UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my"})


@dataclass(frozen=True, slots=True)
class Manner:
    """How much models are expected to write.

    `turn` and `closing` are shares of the words allowed, `most` is where a turn ends in any
    case (`brief`: one that only asks, answers or sums up), `field` the words of a text in a
    structured answer, and `ballot` is tokens. A token has so many bytes; what a cap is checked
    against is stricter (see steps.py).
    """

    turn: float
    closing: float
    ballot: int
    field: int
    most: int = 100_000
    brief: int = 100_000
    token: float = 4.2
    characters: bool = False  # where a token has so many characters instead

    def speak(
        self,
        cue: Mapping[str, str],
        limits: Mapping[str, float],
        language: str,
        rate: float,
        number: int,
    ) -> str:
        """Return filler as long as a turn; `rate` is characters a word where none are spaced.

        A turn whose words are not limited as a whole has a closing's two parts. Turns of
        different numbers have no word in common.
        """
        allowed = int(cue.get("words") or 0)
        if not allowed:
            decision = int(limits.get("decision_words", 200) * self.closing)
            return f"Filler.\n\n---\n\n{self.write(decision, language, rate, number)}"
        most = self.brief if cue.get("duty") in BRIEF else self.most
        words = min(int(allowed * self.turn), most)
        return self.write(words, language, rate, number, counted="counted" in cue)

    def answer(self, schema: AnswerSchema, language: str, rate: float) -> str:
        """Return a structured answer that satisfies its schema."""
        return example(schema.json_schema, self.write(self.field, language, rate, 0))

    def write(
        self, words: int, language: str, rate: float, number: int, *, counted: bool = False
    ) -> str:
        """Return filler of so many words."""
        if language.split("-")[0].lower() in UNSPACED:
            return chr(ord("一") + number) * int(words * rate)
        letter = chr(ord("a") + number % 26)
        # One long word: as many short ones would take longer to count than all the rest, and
        # are needed only where a script goes by how many there are.
        return f"{letter * 5} " * words if counted else letter * CHARS_PER_WORD * words

    def tokens(self, text: str) -> int:
        """Return how many tokens a text probably has."""
        return math.ceil((len(text) if self.characters else len(text.encode())) / self.token)


# Told “at most”, models come close to a limit; the built-in ones have only so much to say.
WRITTEN = Manner(turn=0.75, closing=0.9, ballot=250, field=30)
REHEARSED = Manner(
    turn=0.95, most=106, brief=45, closing=0.4, ballot=110, field=17, token=4, characters=True
)


def manner_of(model: Model) -> Manner:
    """Return how much a model is expected to write."""
    return REHEARSED if model.backend == REHEARSAL else WRITTEN


@dataclass(slots=True)
class DryDesk:
    """A desk that calls nobody: it counts what would be sent, and answers with filler."""

    setup: Setup
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    spoken: int = 0
    usd: float = 0.0
    usd_max: float = 0.0

    async def room(self) -> None:
        """Never wait."""

    async def call(
        self,
        step: str,
        model: Model,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        *,
        schema: AnswerSchema | None = None,
        cue: Mapping[str, str] | None = None,
    ) -> Reply:
        """Count a call, and answer with as many words as a model is expected to write."""
        setup, manner = self.setup, manner_of(model)
        language, rate = setup.request.language, setup.chars_per_word
        if schema is None:
            text = manner.speak(cue or {}, setup.limits, language, rate, self.calls)
        else:
            text = manner.answer(schema, language, rate)
        read = sum(manner.tokens(message.content) for message in messages)
        self.count(model, read, manner.tokens(text), sampling)
        return Reply(text=text, finish="stop", model=model.ref)

    async def publish(self, turn: Turn, compose: Callable[[], Post]) -> None:
        """Post nothing; a juror reads it."""
        manner = manner_of(self.setup.request.model_of(turn.seat))
        self.spoken += manner.tokens(turn.text)

    async def keep(self, note: Note) -> None:
        """Keep nothing."""

    def count(self, model: Model, tokens_in: int, tokens_out: int, sampling: Sampling) -> None:
        """Add one expected call."""
        self.calls += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        price = self.setup.prices.get(model.ref)
        if price is not None:
            self.usd += price.cost(tokens_in, tokens_out)
            # A turn may have to be shortened, and a juror asked again: twice the most.
            self.usd_max += 2 * price.cost(2 * tokens_in, sampling.max_tokens)


async def estimate(
    setup: Setup, script: Format, prompts: Prompts, pace: Mapping[str, float]
) -> Estimate:
    """Estimate calls, tokens, minutes and money of a debate.

    `pace` is how many seconds a call to each model takes. Money is None when the price of
    any model is unknown. The maximum takes every reply at its token cap, and twice.
    """
    desk = DryDesk(setup)
    await script.run(Floor(setup, prompts, desk, script.turns(setup.request)))
    turns, reading = desk.calls, desk.spoken + JURY_PROMPT_TOKENS
    jurors = setup.panel.roster[:MOST_JURORS]
    # In both orders where the panel is strict, or this debate is one of those audited.
    readings = 2 if setup.panel.audit or setup.panel.mode is PanelMode.STRICT else 1
    for juror in jurors[:EXPECTED_JURORS] * readings:
        desk.count(juror, reading, manner_of(juror).ballot, setup.sampling["juror"])
    calls, tokens_in, tokens_out, usd = desk.calls, desk.tokens_in, desk.tokens_out, desk.usd
    for juror in jurors[EXPECTED_JURORS:] * readings:
        desk.count(juror, reading, manner_of(juror).ballot, setup.sampling["juror"])
    models = [*setup.request.speakers, *setup.request.judges, *jurors]
    known = all(setup.prices.get(model.ref) is not None for model in models)
    slowest = max(pace[model.ref] for model in models)
    waves = script.waves(setup.request) + 1 + max(0, len(jurors) - FIRST_WAVE) / 2
    return Estimate(
        calls=calls,
        calls_max=2 * (turns + readings * len(jurors)),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        minutes=round(waves * slowest / 60, 2),
        usd=usd if known else None,
        usd_max=desk.usd_max if known else None,
    )
