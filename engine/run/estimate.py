"""From a plan to a priced debate: its frozen setup, what it is to take, and what it reserves.

After this step nothing that could change (settings, templates, prices, history) is read again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from engine.blinding.identity import draw_names
from engine.formats import Format
from engine.jury.explain import cheapest_of
from engine.jury.plan import WORTHWHILE, attendance
from engine.jury.roster import PanelFit, seat_panel
from engine.jury.rubric import TRUTH, Rubric, find_rubric
from engine.prompts.library import Prompts
from engine.run.dry_run import (
    WRITTEN,
    ParticipantDemand,
    ScriptDemand,
    cast_of,
    demand_of,
    manner_of,
)
from engine.run.order import Defaults
from engine.run.plan import Plan
from engine.values.debate import Model, PanelMode, PanelSetup, Price, Setup, TrialProtocol
from engine.values.errors import BudgetError
from engine.values.language import Text
from engine.values.limits import Caps
from engine.values.messages import Estimate
from engine.values.text import READING

if TYPE_CHECKING:
    from engine.values.protocols import Models

SUMMARY_TOKENS = 140  # of 500 characters
WHY_TOKENS = 160  # of a sentence, the best points and where jurors differed
WHY_PROMPT_TOKENS = 350  # what that juror reads beside the reasons
CHOICE_TOKENS = 300  # that a model reads, and at most writes, to choose its side
JURY_PROMPT_TOKENS = 700  # what a juror reads beside the transcript
LOOKED_UP_TOKENS = 60  # that a juror reads of what each turn quoted
READ_TOKENS = 4000  # of a debate, as a juror reads it
POINTS_A_CALL = 100 * WORTHWHILE  # of accuracy, which a call has to gain whatever it costs
LONGEST_WRITTEN = 10.0  # minutes that a person may need for a turn
SHARE_OF_TIME = 0.5  # of the time for a turn that a person takes for it


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
    every, bill = cast_of(setup), _Bill(setup.prices)
    outline = await demand_of(setup, every, script, prompts)
    cast = {name: model for name, model in every.items() if not model.person}
    for name, model in cast.items():
        share = outline.shares.get(name, ParticipantDemand())
        read = share.tokens_in(setup.request, manner_of(model))
        bill.add(model, share.calls, read, share.tokens_out, share.most_out)
    shown = ParticipantDemand(sources=1).tokens_in(setup.request, WRITTEN)
    reading = _reading(setup, script, outline.judged, shown)
    seats = attendance(setup.panel)
    jurors = setup.panel.readers[: seats.most]
    asked, more = _asks(setup.panel, jurors, seats.calls)
    if setup.request.protocol is TrialProtocol.OPEN:
        first = setup.request.sides["A"]
        most = first.sampling(setup.sampling["debater"]).max_tokens
        bill.add(first, 1, CHOICE_TOKENS + shown, CHOICE_TOKENS, most)
    if script.summarised and not setup.request.protocol:
        bill.ask(setup.panel.roster[-1], setup, reading, SUMMARY_TOKENS)
    if setup.request.why:
        # From reasons, not from the debate.
        writer = cheapest_of([one for one in jurors if one in setup.panel.roster], setup.prices)
        if writer is not None:
            read = WHY_PROMPT_TOKENS + len(asked) * manner_of(writer).ballot
            bill.ask(writer, setup, read, WHY_TOKENS)
    for juror in asked:
        bill.ask(juror, setup, reading, manner_of(juror).ballot)
    calls, tokens_in, tokens_out, usd = bill.calls, bill.tokens_in, bill.tokens_out, bill.usd
    for juror in more:
        bill.ask(juror, setup, reading, manner_of(juror).ballot)
    refs = [model.ref for model in (*cast.values(), *jurors, setup.panel.roster[-1])]
    known = all(setup.prices.get(ref) is not None for ref in refs)
    slowest = max(pace[ref] for ref in refs)
    waves = script.waves(setup.request) + 1 + (seats.calls[1] - seats.calls[0]) / 2
    return Estimate(
        calls=calls,
        calls_max=2 * (calls + len(more)),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        minutes=_minutes(setup, outline, waves, slowest),
        usd=usd if known else None,
        usd_max=bill.usd_max if known else None,
        reading=round(outline.words / READING, 2),
    )


def _reading(setup: Setup, script: Format, judged: int, shown: int) -> int:
    """Return the tokens of a juror's prompt: `judged` of turns, `shown` of what an expert reads."""
    request = setup.request
    looked_up = script.turns(request) if request.sources or setup.retrieval else 0
    reading = judged + JURY_PROMPT_TOKENS + LOOKED_UP_TOKENS * looked_up
    if request.protocol is TrialProtocol.EXPERT:
        reading += shown
    return reading


def _asks(
    panel: PanelSetup, jurors: Sequence[Model], calls: tuple[int, int, int]
) -> tuple[Sequence[Model], Sequence[Model]]:
    """Return who reads as is expected, once a reading, and who beyond that at most."""
    _, expected, most = calls
    if panel.audit:  # with a model of jurors only one reads the other order too
        expected += 1 if panel.fit else expected
        most += 1 if panel.fit else most
    asks = (*jurors, *jurors)[:most]
    return asks[:expected], asks[expected:]


def _minutes(setup: Setup, outline: ScriptDemand, waves: float, slowest: float) -> float:
    """Return how long a debate takes, in waves of calls and with the people that it waits for."""
    request = setup.request
    searches = 2 * setup.retrieval.calls if setup.retrieval else 0
    a_turn = min(request.turn_minutes, LONGEST_WRITTEN) * SHARE_OF_TIME
    waited = request.questions + outline.heard * a_turn
    paced = slowest + 60 * outline.words / request.pace if request.pace else 0.0
    return round(max((searches + waves) * slowest, paced) / 60 + waited, 2)


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
    planned: Plan, ordinal: int, models: Models, history: Callable[..., Awaitable[PanelFit]]
) -> tuple[Setup, Estimate]:
    """Return a plan's setup with its prices and its reservation, and what the debate is to take.

    `history(rehearsal=…)` gives what past ballots say of jurors. Each backend is asked for one list
    of prices at a time. Raises BudgetError if it is too expensive.
    """
    offer, known = planned.offer, None
    if offer.value_per_usd:
        known = {juror.ref: await models.price(juror) for juror in planned.roster}
    for rehearsal in (False, True):  # each has a history of its own
        setup = freeze(planned, ordinal, await history(rehearsal=rehearsal), known)
        if not setup.rehearsal:
            break
    cast = setup.models
    prices: dict[str, Price | None] = {model.ref: None for model in cast}

    async def ask(backend: str) -> None:
        for model in cast:
            if model.backend == backend:
                prices[model.ref] = await models.price(model)

    first, *others = map(ask, {model.backend for model in cast})
    await (asyncio.gather(first, *others) if others else first)  # most have one: no task is made
    check_prices(prices, offer.caps)
    setup = setup.model_copy(update={"prices": prices})
    pace = {model.ref: models.pace(model) for model in cast}
    expected = await estimate(setup, planned.script, planned.prompts, pace)
    return reserve(setup, expected, offer.caps), expected


def reserve(setup: Setup, expected: Estimate, caps: Caps) -> Setup:
    """Reserve a debate's maximum cost, or its cap. Raises BudgetError if it is too expensive."""
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
    return setup.model_copy(update={"reserved_usd": reserved, "cap_usd": cap})


def freeze(
    plan: Plan, number: int, fit: PanelFit, prices: Mapping[str, Price | None] | None = None
) -> Setup:
    """Freeze everything that a debate depends on, except prices and reservation.

    `prices` are those of jurors, where what they cost decides who is asked.
    """
    order, offer, request, script = plan.order, plan.offer, plan.request, plan.script
    named = [model.name for model in request.sides.values() if not model.person]
    limits = script.limits_of(request.length, offer.limits.get(script.name, {}))
    spoken_of = [request.topic, request.conditions, *request.stances.values(), *named]
    rubric = TRUTH if request.trial else offer.rubric or find_rubric(script.rubric)
    names = draw_names(tuple(request.sides), plan.seed, spoken_of)
    return Setup(
        request=request,
        format_version=script.version,
        templates=plan.prompts.digest,
        panel=_seat(plan, number, fit, prices, rubric),
        names=names,
        sampling=dict(offer.sampling),
        limits=limits,
        seed=plan.seed,
        ordinal=number,
        cap_usd=offer.caps.debate_usd,
        chars_per_word=offer.chars_per_word,
        reply_chars=_reply_chars(offer, limits),
        called=script.call(request, plan.prompts, names),
        retrieval=offer.retrieval if script.turns(request) else None,
        # Who guesses at a rematch knows which models it has.
        # Who is a model is no secret where a person is a side.
        menu=offer.menu if request.guess and not order.rematch and not request.guest else (),
        rematch_of=order.rematch and order.rematch.of.id,
        mirror_of=plan.mirror_of,
        moderation=plan.moderation,
        swapped=order.rematch is not None and order.rematch.swapped,
        advocate=Random(f"advocate/{plan.seed}").choice("AB")
        if request.trial is TrialProtocol.CONSULTANCY
        else "",
        account_days=offer.account_days,
        member_days=offer.member_days,
    )


def _seat(
    plan: Plan,
    number: int,
    fit: PanelFit,
    prices: Mapping[str, Price | None] | None,
    rubric: Rubric,
) -> PanelSetup:
    """Return the panel, of the mode that the order names, else the usual one."""
    order, offer, request = plan.order, plan.offer, plan.request
    return seat_panel(
        plan.roster,
        request.speakers,
        ordinal=number,
        seed=plan.seed,
        learnt=fit,
        prices=weigh_costs(plan.roster, prices, offer.value_per_usd) if prices else None,
        mode=order.panel or offer.panel or PanelMode.ADAPTIVE,
        rubric=rubric,
        blind=request.blind,
    )


def _reply_chars(offer: Defaults, limits: Mapping[str, float]) -> int | None:
    """Return how many characters of a reply are read: at least thirty per word of the limit.

    Words have five or six letters in most languages, so no turn within its limits is cut.
    """
    if offer.reply_chars is None:
        return None
    largest = max(limits.values(), default=0)
    return max(offer.reply_chars, int(30 * largest))


def weigh_costs(
    jurors: Sequence[Model], prices: Mapping[str, Price | None], value_per_usd: float
) -> dict[str, float]:
    """Return what asking each juror takes by its reference: 1 for a free one, more by its price.

    `value_per_usd` is how many points of accuracy a USD is worth. A juror of unknown price counts
    as a free one.
    """
    costs: dict[str, float] = {}
    for juror in jurors:
        price = prices.get(juror.ref)
        usd = price.cost(READ_TOKENS, manner_of(juror).ballot) if price else 0.0
        costs[juror.ref] = 1 + value_per_usd * usd / POINTS_A_CALL
    return costs
