"""`rostrum check` on whether a debate could start: jurors, prices and caps.

It costs nothing: backends are asked for price lists at most, and the script gets a dry run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from adapters import Finding
from adapters.models.faults import LEAST_ROOM, ROOM
from adapters.models.router import ModelRouter
from bot.app import defaults_of, open_configured_models
from bot.settings.settings import Settings
from engine.jury.roster import PanelFit, seat_panel
from engine.prompts import load_prompts
from engine.run.estimate import check_prices, longest_prompts, price
from engine.run.freeze import freeze
from engine.run.order import Defaults, Order
from engine.run.plan import plan
from engine.values.configuration import parse_model
from engine.values.debate import Model, PanelMode, Price, Sampling
from engine.values.errors import RostrumError
from engine.values.messages import Estimate
from engine.values.verdicts import AGREEING

if TYPE_CHECKING:
    from engine.values.protocols import Models

MOST_PAIRS = 500
ORDER = Order(
    platform="check", community="check", place="", topic="Cities should close their centres to cars"
)


class _CostForecast(NamedTuple):
    """A debate's estimate, how much of the budget it reserves, and each model's longest prompt."""

    expected: Estimate
    reserved_usd: float
    longest: Mapping[str, int]


async def check_debate(settings: Settings) -> AsyncIterator[Finding]:
    """Check whether a debate of the default format could start."""
    defaults = defaults_of(settings)
    if not defaults.debaters or not defaults.jurors:
        return  # the check of models has said so
    models = open_configured_models(settings)
    try:
        for finding in _check_jury(defaults):
            yield finding
        named = [*defaults.debaters, *defaults.jurors]
        if defaults.retrieval is not None:
            named.append(defaults.retrieval.model)
            yield Finding(
                "retrieval",
                None,
                f"searches of each side before a debate: {defaults.retrieval.calls}. The "
                "endpoint was not asked, as a search may cost money",
            )
        beside = (*defaults.own_judges, *defaults.seats.values(), *settings.variants.values())
        await _prices(models, beside)  # which refuses settings that a model does not take
        prices = await _prices(models, named)
        check_prices(prices, defaults.caps)
        async for finding in _check_caps(settings, defaults, models, prices):
            yield finding
    except RostrumError as error:
        yield Finding("debate", False, f"cannot start: {error.for_operator}")
    finally:
        await models.aclose()
    slack = settings.slack
    if settings.discord.token is None and slack.bot_token is None and slack.client_id is None:
        return
    # With caps of 0 no one in a chat can start a debate.
    for name in ("user_daily_debates", "max_live_per_community"):
        if getattr(settings.budget, name) == 0:
            text = f"ROSTRUM_BUDGET__{name.upper()} is 0, so no one can start a debate; raise it"
            yield Finding("debate", False, text)


async def _prices(models: Models, named: Iterable[Model]) -> dict[str, Price | None]:
    return {model.ref: await models.price(model) for model in named}


def _check_jury(defaults: Defaults) -> Iterator[Finding]:
    """Find the debaters that leave the fewest jurors after recusal."""
    roles, fixed, offered = _seats(defaults)
    drawn = min(roles - len(fixed), len(offered))
    casts = list(
        islice(((*fixed, *cast) for cast in combinations(offered, max(drawn, 0))), MOST_PAIRS)
    )
    worst, left = _fewest_seated(defaults.jurors, casts)
    if left < 2:
        pair = " and ".join(model.ref for model in worst)
        text = (
            f"when {pair} debate, only {left} juror of another family is left, and a "
            "verdict needs two; add jurors of other families to ROSTRUM_JURORS"
        )
        yield Finding("panel", False, text)
        return
    yield Finding("panel", True, f"at least {left} jurors for any pair of debaters")
    yield from check_readings(defaults.jurors, casts, defaults.panel, "ROSTRUM_JURORS")


def check_readings(
    jurors: Sequence[Model], casts: Sequence[Sequence[Model]], mode: PanelMode | None, setting: str
) -> Iterator[Finding]:
    """Note jurors who are too few for a verdict before they are proven to see."""
    cast, left = _fewest_seated(jurors, casts)
    if mode is PanelMode.ONE or not 2 <= left < AGREEING / 2:
        return
    if not all(juror.rehearses for juror in jurors):
        text = (
            f"no verdict at first when {' and '.join(model.ref for model in cast)} debate: until "
            f"jurors have shown that they see, {AGREEING} readings have to agree, and {left} "
            f"jurors give {2 * left}; name a third juror of another family in {setting}"
        )
        yield Finding("panel", None, text)


def _fewest_seated(
    jurors: Sequence[Model], casts: Sequence[Sequence[Model]]
) -> tuple[Sequence[Model], int]:
    """Return the debaters that leave the fewest jurors after recusal, and how many."""
    left = [len(seat_panel(jurors, cast, ordinal=1, seed=0).roster) for cast in casts]
    return min(zip(casts, left, strict=True), key=itemgetter(1))


def _seats(defaults: Defaults) -> tuple[int, list[Model], list[Model]]:
    """Return the default format's number of sides, the fixed models, and those to draw from."""
    request = plan(ORDER, defaults, load_prompts(), 0)[0].request
    fixed = [defaults.sides[side] for side in request.sides if side in defaults.sides]
    taken = {model.ref for model in fixed}
    free = [model for model in defaults.models if model.ref not in taken]
    return len(request.sides), fixed, free or list(defaults.models)


async def _check_caps(
    settings: Settings, defaults: Defaults, models: ModelRouter, prices: dict[str, Price | None]
) -> AsyncIterator[Finding]:
    """Compare the cheapest possible debate with the caps, then the most expensive."""
    sides, _, offered = _seats(defaults)

    def cost(model: Model) -> float:
        price = prices[model.ref]
        return 0.0 if price is None else price.cost(10, 1)

    ranked = sorted(offered, key=cost)
    cheapest = await _forecast(settings, defaults, models, ranked[:sides])
    expected, caps = cheapest.expected, defaults.caps
    day = caps.community_daily_usd
    if day is not None and cheapest.reserved_usd > day:
        text = (
            f"one may cost up to {cheapest.reserved_usd:.4f} USD, more than a community's day of "
            f"{day:.4f} USD; raise ROSTRUM_BUDGET__COMMUNITY_DAILY_USD, or lower "
            "ROSTRUM_BUDGET__DEBATE_USD"
        )
        yield Finding("debate", False, text)
        return
    usd = "unknown" if expected.usd is None else f"about {expected.usd:.4f} USD"
    text = f"{defaults.format} could start: about {expected.calls} calls, cost {usd}"
    yield Finding("debate", True, text)
    longest = cheapest.longest
    found = check_contexts(models, longest, defaults.sampling, settings.variants)
    async for finding in found:
        yield finding
    try:
        await _forecast(settings, defaults, models, ranked[-sides:])
    except RostrumError as error:
        text = f"with the most expensive models none starts: {error.for_operator}"
        yield Finding("debate", None, text)


async def _forecast(
    settings: Settings, defaults: Defaults, models: Models, offered: Sequence[Model]
) -> _CostForecast:
    """Estimate a debate between some of the models. Raises UsageError or BudgetError."""
    defaults = defaults.model_copy(update={"models": tuple(offered)})
    (planned,) = plan(ORDER, defaults, load_prompts(settings.templates_dir), 0)
    setup = await freeze(planned, 1, models, _no_history)
    script, prompts = planned.script, planned.prompts
    setup, expected = await price(setup, script, prompts, defaults.caps, models)
    longest = await longest_prompts(setup, script, prompts)
    return _CostForecast(expected, setup.reserved_usd, longest)


async def _no_history(*, rehearsal: bool) -> PanelFit:
    return PanelFit()


async def check_contexts(
    models: ModelRouter,
    longest: Mapping[str, int],
    caps: Mapping[str, Sampling],
    variants: Mapping[str, Model],
) -> AsyncIterator[Finding]:
    """Compare what models read at most with what their servers say that they hold."""
    for ref, needed in longest.items():
        model = parse_model(ref, variants)
        size = await models.context(model)
        cap = max(model.sampling(one).max_tokens for one in caps.values())
        if size is None or size >= needed + cap:
            continue
        text = f"{ref} holds {size:,} tokens, and a prompt of a debate has about {needed:,}"
        if size < needed + LEAST_ROOM:
            yield Finding("context", False, f"{text}; {ROOM}")
        else:
            text = f"{text}: of the token cap of {cap:,} that leaves {size - needed:,}"
            yield Finding("context", None, text)
