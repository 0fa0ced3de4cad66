"""From a plan to a frozen setup: names, panel, limits.

After this step nothing that could change (settings, templates, history) is read again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING

from engine.jury.plan import WORTHWHILE
from engine.jury.roster import PanelFit, seat_panel
from engine.jury.rubric import TRUTH, find_rubric
from engine.run.estimate import WRITTEN
from engine.run.plan import Plan
from engine.values.debate import Model, PanelMode, Price, Setup, TrialProtocol

if TYPE_CHECKING:
    from engine.values.protocols import Models

READ_TOKENS = 4000  # of a debate, as a juror reads it
POINTS_A_CALL = 100 * WORTHWHILE  # of accuracy, which a call has to gain whatever it costs


async def freeze(
    plan: Plan, ordinal: int, models: Models, history: Callable[..., Awaitable[PanelFit]]
) -> Setup:
    """Freeze everything that a debate depends on, except prices and reservation.

    `history(rehearsal=…)` gives what past ballots say of jurors; rehearsals have one of their own.
    What jurors cost is asked where that decides who is asked.
    """
    prices = None
    if plan.offer.value_per_usd:
        prices = {juror.ref: await models.price(juror) for juror in plan.roster}
    for rehearsal in (False, True):
        setup = setup_of(plan, ordinal, await history(rehearsal=rehearsal), prices)
        if not setup.rehearsal:
            break
    return setup


def setup_of(
    plan: Plan, ordinal: int, fit: PanelFit, prices: Mapping[str, Price | None] | None = None
) -> Setup:
    """Return the setup of a plan, with what past ballots say of jurors.

    `prices` are those of jurors, where what they cost decides who is asked.
    """
    order, offer, request, script = plan.order, plan.offer, plan.request, plan.script
    alone = request.trial is TrialProtocol.CONSULTANCY
    limits = script.limits_of(request.length, offer.limits.get(script.name, {}))
    # Words have five or six letters in most languages, so no turn within its limits is cut.
    longest = int(30 * max(limits.values(), default=0))
    names = plan.names
    costs = weigh_costs(plan.roster, prices, offer.value_per_usd) if prices else None
    return Setup(
        request=request,
        format_version=script.version,
        templates=plan.prompts.digest,
        panel=seat_panel(
            plan.roster,
            request.speakers,
            ordinal=ordinal,
            seed=plan.seed,
            learnt=fit,
            prices=costs,
            mode=order.panel or offer.panel or PanelMode.ADAPTIVE,
            rubric=TRUTH if request.trial else offer.rubric or find_rubric(script.rubric),
            blind=request.blind,
        ),
        names=names,
        sampling=dict(offer.sampling),
        limits=limits,
        seed=plan.seed,
        ordinal=ordinal,
        cap_usd=offer.caps.debate_usd,
        chars_per_word=offer.chars_per_word,
        reply_chars=None if offer.reply_chars is None else max(offer.reply_chars, longest),
        called=script.call(request, plan.prompts, names),
        retrieval=offer.retrieval if script.turns(request) else None,
        # In a rematch people know which models it has; beside a person, who is a model.
        menu=offer.menu if request.guess and not order.rematch and not request.guest else (),
        rematch_of=order.rematch and order.rematch.of.id,
        swapped=order.rematch is not None and order.rematch.swapped,
        advocate=Random(f"advocate/{plan.seed}").choice("AB") if alone else "",
        account_days=offer.account_days,
        member_days=offer.member_days,
    )


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
        usd = price.cost(READ_TOKENS, WRITTEN.ballot) if price else 0.0
        costs[juror.ref] = 1 + value_per_usd * usd / POINTS_A_CALL
    return costs
