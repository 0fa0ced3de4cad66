"""The use cases that adapters call; each is one command of the chat or of the command line."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from ulid import ULID

from engine.bell import Bell
from engine.debate import Debate, Estimate, Model, Setup, Status, Value, short_code
from engine.errors import BudgetError, UsageError
from engine.estimate import estimate
from engine.formats import find_format
from engine.intake import Defaults, Order, check_prices, complete, freeze
from engine.jury.history import Fit, fit
from engine.messages import Announcement
from engine.ports import Clock, Dispatcher, Inbound, Models
from engine.prompts.library import Prompts
from engine.store import Caps, NewDebate, Post, Store
from engine.votes.hearing import Heard
from engine.votes.window import VoteWindow

HISTORY_DEBATES = 2000
HISTORY_SECONDS = 60.0
log = structlog.get_logger(__name__)


class Started(Value):
    """What the starter is told; it alone may name the models that were asked for."""

    debate: Debate
    estimate: Estimate
    warnings: tuple[str, ...] = ()


class Fitted(NamedTuple):
    """Juror history, and until when it is recent enough."""

    fit: Fit
    until: datetime


@dataclass(slots=True)
class Service:
    """The engine's front: validates, stores, and hands over to the dispatcher."""

    store: Store
    models: Models
    dispatcher: Dispatcher
    prompts: Prompts
    bell: Bell
    clock: Clock
    windows: Mapping[str, VoteWindow]
    new_seed: Callable[[], int] = lambda: secrets.randbits(48)
    _fitted: Fitted | None = None
    _fitting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def start(self, order: Order, defaults: Defaults) -> Started:
        """Queue a debate. Raises UsageError or BudgetError, and then nothing is stored."""
        seed = self.new_seed() if order.seed is None else order.seed
        request, script = complete(order, defaults, seed)
        prompts = self.prompts.only(script.name, "jury")
        number = await self.store.debates.next_number()
        fit = await self._history()
        setup = freeze(request, script, order, defaults, prompts, seed=seed, number=number, fit=fit)
        setup = await self._price(setup, defaults.caps)
        pace = {model.ref: self.models.pace(model) for model in _models_of(setup)}
        expected = await estimate(setup, script, prompts, pace)
        setup = _reserve(setup, expected, defaults.caps)
        debate = await self._create(order, setup, expected, prompts, defaults.caps)
        await self.dispatcher.submit(debate.id)
        self.bell.ring(f"outbox/{debate.platform}", debate.id)
        log.info("debate queued", debate=debate.id, format=script.name, calls=expected.calls)
        return Started(debate=debate, estimate=expected, warnings=_warnings(setup))

    async def resume(self, debate_id: str, caps: Caps) -> Debate:
        """Go on with a debate that failed, stopped at its cap, or lost its process."""
        debate = await self.store.debates.get(debate_id)
        if debate.status in (Status.FAILED, Status.PARTIAL):
            check_prices(debate.setup.prices, caps)
            debate = await self.store.debates.requeue(debate.id, caps, self.clock.now())
        if debate.status.live:
            await self.dispatcher.submit(debate.id)
        elif debate.status is not Status.VOTING and await self._all_delivered(debate):
            raise UsageError(
                f"Debate {debate.code} is {debate.status}; there is nothing to resume."
            )
        self.bell.ring(f"outbox/{debate.platform}", debate.id)
        self.bell.ring(f"votes/{debate.platform}")
        return debate

    async def _all_delivered(self, debate: Debate) -> bool:
        return await self.store.outbox.next(debate.id) is None

    async def recover(self) -> list[str]:
        """Submit every debate that a process before this one left unfinished."""
        unfinished = await self.store.debates.unfinished()
        for debate_id in unfinished:
            await self.dispatcher.submit(debate_id)
        return unfinished

    async def cancel(self, debate_id: str, reason: str) -> Debate:
        """Ask a debate to stop; a call that is out is interrupted, and what it cost kept."""
        debate = await self.store.debates.get(debate_id)
        if not debate.status.live:
            raise UsageError(f"Debate {debate.code} is {debate.status}; only a running one stops.")
        await self.store.debates.ask_stop(debate.id, reason)
        self.bell.ring("stop")
        return debate

    async def hear(self, platform: str, event: Inbound) -> Heard:
        """Take in what a platform tells of; it is stored when this returns.

        What one person does to one message is handed over in its order, one after the other.
        """
        return await self.windows[platform].hearing.hear(event)

    async def close_vote(self, debate_id: str) -> Debate:
        """Close an open vote before its time, and reveal."""
        debate = await self.store.debates.get(debate_id)
        if debate.status is not Status.VOTING or debate.vote_opened_at is None:
            raise UsageError(f"Debate {debate.code} is {debate.status}; it has no open vote.")
        await self.windows[debate.platform].close(debate.id, early=True)
        return await self.store.debates.get(debate.id)

    async def _create(
        self, order: Order, setup: Setup, expected: Estimate, prompts: Prompts, caps: Caps
    ) -> Debate:
        await self.store.debates.keep_templates(prompts.digest, prompts.texts)
        new = NewDebate(
            id=str(ULID()),
            number=setup.ordinal,
            platform=order.platform,
            community=order.community,
            place=order.place,
            user=order.user,
            setup=setup,
            created_at=self.clock.now(),
        )
        return await self.store.debates.create(new, caps, [_announce(new, expected)])

    async def _price(self, setup: Setup, caps: Caps) -> Setup:
        models = _models_of(setup)
        prices = await asyncio.gather(*(self.models.price(model) for model in models))
        known = {model.ref: price for model, price in zip(models, prices, strict=True)}
        check_prices(known, caps)
        return setup.model_copy(update={"prices": known})

    async def _history(self) -> Fit:
        """Return what past ballots say of the jurors, fitted at most once a minute."""
        async with self._fitting:
            now = self.clock.now()
            if self._fitted is None or now > self._fitted.until:
                past = await self.store.journal.past(HISTORY_DEBATES)
                until = now + timedelta(seconds=HISTORY_SECONDS)
                self._fitted = Fitted(await asyncio.to_thread(fit, past), until)
            return self._fitted.fit


def _models_of(setup: Setup) -> list[Model]:
    models = [*setup.request.speakers, *setup.request.judges, *setup.panel.roster]
    return list({model.ref: model for model in models}.values())


def _reserve(setup: Setup, expected: Estimate, caps: Caps) -> Setup:
    """Reserve the most a debate may cost, or its cap. Raises BudgetError when too dear."""
    cap, usd, most = setup.cap_usd, expected.usd or 0.0, expected.usd_max or 0.0
    if cap is not None and usd > cap:
        raise BudgetError(
            f"This debate is expected to cost {usd:.2f} USD, and the cap for one is {cap:.2f} "
            "(ROSTRUM_BUDGET__DEBATE_USD); choose cheaper models, fewer rounds or fewer jurors."
        )
    reserved = most if cap is None else min(most, cap)
    if cap is None and caps.community_daily_usd is not None:
        cap = reserved  # what was not reserved from the community's day may not be spent
    return setup.model_copy(update={"reserved_usd": reserved, "cap_usd": cap})


def _announce(new: NewDebate, expected: Estimate) -> Post:
    request = new.setup.request
    script = find_format(request.format)
    message = Announcement(
        code=short_code(new.id),
        topic=request.topic,
        conditions=request.conditions,
        format=request.format,
        language=request.language,
        rounds=script.rounds(request),
        contenders=tuple(request.sides),
        jurors=len(new.setup.panel.roster),
        blind=new.setup.panel.blind,
        vote_minutes=request.vote_minutes,
        estimate=expected,
    )
    return Post(key="announcement", message=message)


def _warnings(setup: Setup) -> tuple[str, ...]:
    """Say what weakens a debate without forbidding it."""
    sides = [model.ref for model in setup.request.sides.values()]
    found = []
    if len(set(sides)) < len(sides):
        found.append("The same model argues more than one side.")
    if setup.panel.recusal_failed:
        found.append("Every juror is of a debater's family; none could be recused.")
    if len(setup.panel.roster) < 2:
        found.append("A verdict needs two valid ballots, and only one juror sits.")
    return tuple(found)
