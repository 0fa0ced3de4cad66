"""What a debate will take, found by holding it dry: the same script, and no model called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.debate import Estimate, Model, Sampling, Setup, Turn
from engine.floor import Floor
from engine.formats import Format
from engine.jury.plan import FIRST_WAVE, MOST_JURORS
from engine.ports import AnswerSchema, ChatMessage, Reply
from engine.prompts.library import Prompts
from engine.store import Post

BYTES_PER_TOKEN = 4.2  # of plain prose; what a cap is checked against is stricter (see steps.py)
SHARE_OF_LIMIT = 0.5  # of a turn's words that models use when told “at most”
CLOSING_WORDS = 180
BALLOT_TOKENS = 200
EXPECTED_JURORS = 4
JURY_PROMPT_TOKENS = 900  # what a juror reads beside the transcript


@dataclass(slots=True)
class DryDesk:
    """A desk that calls nobody: it counts what would be sent, and answers with filler."""

    setup: Setup
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
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
        limit = self.setup.limits.get("words", 0.0)
        closing = step.startswith("turn/closing/")
        words = CLOSING_WORDS if closing else int(limit * SHARE_OF_LIMIT)
        text = ("Filler. " * words).strip()
        if closing:
            text = f"Filler.\n\n---\n\n{text}"
        size = sum(len(message.content.encode()) for message in messages)
        self.count(model, int(size / BYTES_PER_TOKEN), len(text) // 5, sampling)
        return Reply(text=text, finish="stop", model=model.ref)

    async def publish(self, turn: Turn, post: Post) -> None:
        """Post nothing."""

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
    turns, reading = desk.calls, desk.tokens_out + JURY_PROMPT_TOKENS
    jurors = setup.panel.roster[:MOST_JURORS]
    for juror in jurors[:EXPECTED_JURORS]:
        desk.count(juror, reading, BALLOT_TOKENS, setup.sampling["juror"])
    calls, tokens_in, tokens_out, usd = desk.calls, desk.tokens_in, desk.tokens_out, desk.usd
    for juror in jurors[EXPECTED_JURORS:]:
        desk.count(juror, reading, BALLOT_TOKENS, setup.sampling["juror"])
    models = [*setup.request.sides.values(), *jurors]
    known = all(setup.prices.get(model.ref) is not None for model in models)
    slowest = max(pace[model.ref] for model in models)
    waves = script.waves(setup.request) + 1 + max(0, len(jurors) - FIRST_WAVE) / 2
    return Estimate(
        calls=calls,
        calls_max=2 * (turns + len(jurors)),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        minutes=round(waves * slowest / 60, 2),
        usd=usd if known else None,
        usd_max=desk.usd_max if known else None,
    )
