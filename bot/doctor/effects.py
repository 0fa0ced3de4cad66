"""`rostrum check --probe`: whether a model's settings change anything, by calls with and without.

A server may take a setting and ignore it. Then an experiment that varies it compares a model with
itself, and nothing in its answers says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import combinations
from statistics import fmean

from adapters import Finding
from bot.app import defaults_of, open_configured_models
from bot.settings.settings import Settings
from engine.run.order import Defaults
from engine.values.debate import Model, Price, Sampling
from engine.values.errors import BudgetError, RostrumError
from engine.values.overlap import similarity
from engine.values.ports import Attempt, Call, ChatMessage, Reply
from engine.values.protocols import Models
from engine.values.text import dollars

CALLS = 5  # with a setting, and as many without it
# Of a permutation test: below it, two groups of five differ. Three are made of each setting, so
# that one which does nothing is taken for one which does in at most a twentieth of all probes.
LEVEL = 0.05 / 3
# It takes some thought, and leaves something to choose.
QUESTION = (
    "How many of the whole numbers from 1 to 60 have an odd number of divisors, and which animal "
    "would be a good mascot for them? Answer in three sentences."
)
TOKENS = 100  # of the question, and what a server puts around it


class _Money:
    """Holds the probe to its cap, as what each call may cost at most is held until it has ended."""

    def __init__(self, cap: float | None) -> None:
        self.spent, self.calls, self.unknown = 0.0, 0, 0
        self._cap, self._held = cap, 0.0

    def log(self, price: Price | None, sampling: Sampling) -> _BilledAttempts:
        """Return what watches the tries of a call. Raises BudgetError if its price is unknown."""
        if self._cap is None:
            return _BilledAttempts(self, 0.0)
        if price is None:
            raise BudgetError(
                "its price is unknown, so --usd cannot cap it; set ROSTRUM_PRICES, or leave --usd "
                "out"
            )
        return _BilledAttempts(self, price.cost(TOKENS, sampling.max_tokens))

    def hold(self, usd: float) -> None:
        """Set aside what a try may cost. Raises BudgetError if less than that is left."""
        if self._cap is not None and self.spent + self._held + usd > self._cap:
            raise BudgetError(
                f"another call may cost {dollars(usd)} USD, and --usd leaves "
                f"{dollars(max(0.0, self._cap - self.spent - self._held))}; raise it"
            )
        self._held += usd

    def pay(self, held: float, cost: float | None) -> None:
        """Count what a try cost; what it cost at most where that is unknown."""
        self._held -= held
        self.calls += 1
        self.unknown += cost is None
        self.spent += held if cost is None else cost


class _BilledAttempts:
    """The tries of a call, as what they cost."""

    def __init__(self, money: _Money, most: float) -> None:
        self._money, self._most = money, most
        self._ended = set[int]()

    async def began(self, number: int) -> None:
        """Set money aside. Raises BudgetError, which forbids the try."""
        self._money.hold(self._most)

    def ended(self, attempt: Attempt, reply: Reply | None = None) -> None:
        """Count what it cost, once."""
        if attempt.number not in self._ended:
            self._ended.add(attempt.number)
            self._money.pay(self._most, attempt.cost)


async def check_effects(settings: Settings, usd: float | None) -> AsyncIterator[Finding]:
    """Call each model that has settings, and say of each setting what it changes.

    `usd` caps all calls together. What was paid is said in the end, whatever happened.
    """
    defaults, money = defaults_of(settings), _Money(usd)
    named = (*defaults.debaters, *defaults.jurors, *defaults.own_judges, *defaults.seats.values())
    found = {one.ref: one for one in (*named, *settings.variants.values()) if one.configuration}
    if not found:
        text = "no model has settings; write one as backend/model@effort=high, or as a variant"
        yield Finding("probe", None, text)
        return
    models = open_configured_models(settings)
    try:
        for model in found.values():
            async for finding in _check_model(models, model, defaults, money):
                yield finding
    finally:
        await models.aclose()
    unknown = f", {money.unknown:,} of unknown cost" if money.unknown else ""
    yield Finding("probe", True, f"{money.calls:,} calls, {dollars(money.spent)} USD{unknown}")


async def _check_model(
    models: Models, model: Model, defaults: Defaults, money: _Money
) -> AsyncIterator[Finding]:
    """Yield what each setting of a model changes; one finding if a call fails."""
    subject, own = f"probe {model.ref}", model.configuration
    if own is None or model.rehearses:
        yield Finding(subject, None, "a rehearsal model has no use for settings")
        return
    try:
        given = await _ask(models, model, defaults, money)
        for name in own.settings:
            less = own.model_copy(update={name: None})
            plain = model.model_copy(
                update={"configuration": less if less.settings else None, "variant": ""}
            )
            without = await _ask(models, plain, defaults, money)
            yield Finding(subject, *_tell(name, given, without))
    except RostrumError as error:
        yield Finding(subject, False, error.for_operator)


async def _ask(models: Models, model: Model, defaults: Defaults, money: _Money) -> list[Reply]:
    """Ask a model the same question several times. Raises ModelError or BudgetError.

    All calls end first, as they are paid for.
    """
    messages = (ChatMessage(role="user", content=QUESTION),)
    sampling, cost = defaults.sampling["debater"], await models.price(model)
    call = Call("probe", model, messages, sampling, price=cost).configured()
    logs = [money.log(cost, call.sampling) for _ in range(CALLS)]
    asked = (models.complete(call, log) for log in logs)
    ended = await asyncio.gather(*asked, return_exceptions=True)
    for one in ended:
        if isinstance(one, BaseException):
            raise one
    return [one for one in ended if isinstance(one, Reply)]


def _tell(name: str, given: Sequence[Reply], without: Sequence[Reply]) -> tuple[bool | None, str]:
    """Return a finding's result and text: what a setting changes, or that nothing shows it."""
    replies = (*given, *without)
    thought = [float(one.usage.tokens_reasoning or one.thought) for one in replies]
    written = [float(one.usage.tokens_out or len(one.text)) for one in replies]
    said = [one.text for one in replies]

    def apart(group: Sequence[int], others: Sequence[int]) -> float:
        pairs = (*combinations(group, 2), *combinations(others, 2))
        within = fmean(similarity(said[a], said[b]) for a, b in pairs)
        return within - fmean(similarity(said[a], said[b]) for a in group for b in others)

    tests = {
        f"its reasoning ({_means(thought)} tokens)": _by_mean(thought),
        f"how much it writes ({_means(written)} tokens)": _by_mean(written),
        "what it answers": apart,
    }
    changed = [what for what, figure in tests.items() if _chance(figure, len(replies)) <= LEVEL]
    if changed:
        return True, f"{name} changes {' and '.join(changed)}"
    return None, (
        f"{name} changed nothing in {len(replies)} calls, half of them without it: "
        f"{_means(thought)} tokens of reasoning, {_means(written)} written, and no other answers. "
        "The server may ignore it; then what is rated is the same model without it"
    )


def _means(figures: Sequence[float]) -> str:
    return f"{fmean(figures[:CALLS]):,.0f} and {fmean(figures[CALLS:]):,.0f}"


def _by_mean(figures: Sequence[float]) -> Callable[[Sequence[int], Sequence[int]], float]:
    """Return how far the means of two groups are apart."""
    return lambda group, others: abs(
        fmean(figures[one] for one in group) - fmean(figures[one] for one in others)
    )


def _chance(figure: Callable[[Sequence[int], Sequence[int]], float], size: int) -> float:
    """Return how often chance alone divides replies into groups as different as the true ones.

    An exact permutation test (R. A. Fisher, The Design of Experiments, 1935, section 21).
    """
    everyone = range(size)
    splits = [
        figure(group, [one for one in everyone if one not in group])
        for group in combinations(everyone, CALLS)
    ]
    return fmean(one >= splits[0] - 1e-9 for one in splits)
