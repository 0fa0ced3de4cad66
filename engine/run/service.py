"""The use cases that adapters call, one per command of the chat or the command line."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog
from ulid import ULID

from engine.fleet.leases import Notifier
from engine.formats import format_of
from engine.jury.plan import attendance
from engine.prompts import Prompts
from engine.run.estimate import check_prices, longest_prompts, price
from engine.run.freeze import freeze
from engine.run.juror_fits import Learner
from engine.run.order import Defaults, Order, check_allowed
from engine.run.plan import plan
from engine.stage.steps import Pace
from engine.store import NewDebate, Post, Store
from engine.store.votes import awaits, closes_with
from engine.values.debate import (
    UNATTENDED,
    Debate,
    Moderation,
    PanelMode,
    Replacement,
    Setup,
    Status,
    Value,
    short_code,
)
from engine.values.errors import FlaggedError, UsageError
from engine.values.language import N_, Text
from engine.values.limits import Caps
from engine.values.messages import Announcement, Before, Estimate
from engine.values.ports import Clock, Inbound
from engine.votes.outcome import EventOutcome
from engine.votes.window import VoteWindow

if TYPE_CHECKING:
    from engine.run.guest import GuestLine
    from engine.values.protocols import Dispatcher, Models, Moderator

FLAGGED = N_(
    "The automatic check for harmful content flagged this, so nothing was started. Reword it, or "
    "choose another topic."
)
log = structlog.get_logger(__name__)


class Started(Value):
    """The answer to the starter; only it may name the requested models.

    `mirror` is the second debate if one was requested; `estimate` then covers both. `waits`: it
    begins once the person agrees who is to argue a side.
    """

    debate: Debate
    mirror: Debate | None = None
    estimate: Estimate
    waits: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class Service:
    """The engine's front: validates, stores, and hands over to the dispatcher."""

    store: Store
    models: Models
    dispatcher: Dispatcher
    prompts: Prompts
    notifier: Notifier
    clock: Clock
    windows: Mapping[str, VoteWindow]
    moderator: Moderator | None = None
    new_seed: Callable[[], int] = lambda: secrets.randbits(48)
    new_id: Callable[[], str] = lambda: str(ULID())
    learner: Learner = field(init=False)
    _pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        self.learner = Learner(self.store, self.clock)

    @property
    def guests(self) -> GuestLine:
        """What people who argue a side may do, and who may be one."""
        from engine.run.guest import GuestLine  # few debates have any

        services = self.store, self.notifier, self.clock, self.windows
        return GuestLine(*services, self.moderator)

    async def start(self, order: Order, offer: Defaults) -> Started:
        """Queue a debate, and its mirror if requested.

        Raises UsageError or BudgetError, and ModelError while a moderation model cannot be asked;
        then nothing is stored. Raises NotAllowedError for a community that is not served.
        """
        check_allowed(offer, order.platform, order.community)
        await self._pace.turn()  # of many starts at once, running debates have turns in between
        plans = plan(order, offer, self.prompts, self.new_seed())
        prompts, request = plans[0].prompts, plans[0].request
        guest = await self.guests.named(order) if request.guest else None
        moderation = await self._moderate(order, request.texts)
        queued: list[tuple[NewDebate, Estimate]] = []
        for planned in plans:
            number = await self.store.debates.next_number()
            await self._pace.turn()
            ordinal = number if order.series is None else order.series.ordinal
            setup = await freeze(planned, ordinal, self.models, self.learner.fit)
            setup, usual = await price(setup, planned.script, prompts, offer.caps, self.models)
            beside = {"moderation": moderation, "mirror_of": queued[0][0].id if queued else None}
            new = NewDebate(
                id=self.new_id(),
                number=number,
                created_at=self.clock.now(),
                setup=setup.model_copy(update=beside),
                guest=guest,
                answer=planned.answer,
                **order.placed,
            )
            queued.append((new, usual))
        await self.store.debates.keep_templates(prompts.digest, prompts.texts)
        posts = [(new, [_announce(new, usual)]) for new, usual in queued]
        debates = await self.store.debates.create(posts, offer.caps)
        await self._pace.turn()
        for debate, (_, usual) in zip(debates, queued, strict=True):
            await self.dispatcher.submit(debate.id)
            self.notifier.publish(f"outbox/{debate.platform}", debate.id)
            log.info("debate queued", debate=debate.id, format=request.format, calls=usual.calls)
        new, expected = queued[0]
        return Started(
            debate=debates[0],
            mirror=debates[1] if order.mirror else None,
            estimate=expected.beside(queued[1][1]) if order.mirror else expected,
            # One who names themselves has agreed.
            waits=guest is not None and guest.user != new.user,
            warnings=_warnings(new),
        )

    async def quote(
        self, order: Order, offer: Defaults, ordinal: int
    ) -> tuple[Setup, Estimate, Mapping[str, int]]:
        """Return what a debate would be and take, and the tokens of each model's longest prompt.

        Nothing is stored. Raises UsageError or BudgetError as `start` does.
        """
        planned, *_ = plan(order, offer, self.prompts, self.new_seed())
        script, prompts = planned.script, planned.prompts
        setup = await freeze(planned, ordinal, self.models, self.learner.fit)
        setup, expected = await price(setup, script, prompts, offer.caps, self.models)
        return setup, expected, await longest_prompts(setup, script, prompts)

    async def _moderate(self, order: Order, texts: Sequence[str]) -> Moderation | None:
        """Ask about what people read; the topics of a series before no one are its operator's."""
        if order.platform == UNATTENDED:
            return None
        try:
            return await self.moderate(texts)
        except FlaggedError:
            # Drawn from the list it would be refused again: managers look at it first.
            await self.store.suggestions.set_aside(order.platform, order.community, texts[0])
            raise

    async def moderate(self, texts: Sequence[str], refusal: str = FLAGGED) -> Moderation | None:
        """Return what the moderation model says of texts by people; None without one.

        Raises FlaggedError with `refusal`, and ModelError if it cannot be asked.
        """
        if self.moderator is None:
            return None
        from engine.votes.audience import moderate  # few installations ask one

        return await moderate(self.moderator, texts, refusal)

    async def resume(
        self, debate_id: str, caps: Caps, changes: Sequence[Replacement] = ()
    ) -> Debate:
        """Resume a debate that failed, reached its cap, or lost its process.

        `changes` replace unavailable models. Raises UsageError or BudgetError and then changes
        nothing.
        """
        debate = await self.store.debates.get(debate_id)
        ended = debate.status in (Status.FAILED, Status.PARTIAL)
        if changes and not ended:
            raise UsageError(
                "Debate {code} is {status}; a model can be replaced only in one that "
                "failed or reached its cap.",
                code=debate.code,
                status=Text(debate.status),
            )
        if ended:
            setup, posts = debate.setup, list[Post]()
            if changes:
                from engine.run.replacement import replace_models, replaced_post

                setup = await replace_models(setup, changes, self.models)
                posts = [replaced_post(setup)]
            check_prices(setup.prices, caps)
            now = self.clock.now()
            debate = await self.store.queue.requeue(debate.id, caps, now, setup, posts)
        if debate.status.live:
            await self.dispatcher.submit(debate.id)
        elif debate.status is not Status.VOTING and not await self.store.outbox.next(debate.id):
            raise UsageError(
                "Debate {code} is {status}; there is nothing to resume.",
                code=debate.code,
                status=Text(debate.status),
            )
        self.notifier.publish(f"outbox/{debate.platform}", debate.id)
        self.notifier.publish(f"votes/{debate.platform}")
        return debate

    async def cancel(self, debate_id: str, reason: str) -> Debate:
        """Stop a debate; a call in flight is interrupted and its cost recorded."""
        debate = await self.store.debates.get(debate_id)
        if not debate.status.live:
            raise UsageError(
                "Debate {code} is {status}; only a running debate can be stopped.",
                code=debate.code,
                status=Text(debate.status),
            )
        await self.store.queue.ask_stop(debate.id, reason)
        self.notifier.publish("stop")
        return debate

    async def hear(self, platform: str, event: Inbound) -> EventOutcome:
        """Handle a platform event; it is stored when this returns.

        The caller passes one person's events on one message in order, one at a time.
        """
        return await self.windows[platform].hearing.hear(event)

    async def close_vote(self, debate_id: str) -> Debate:
        """Close an open vote early and reveal; an open one on its mirror closes too.

        While the platform cannot be read it stays open, and closes once that is possible. Raises
        UsageError while the mirror's vote is not open yet, as the reveal would name the mirror's
        models.
        """
        debate = await self.store.debates.get(debate_id)
        if debate.status is Status.VOTING and debate.vote_opened_at is None:
            raise UsageError(
                "The vote on debate {code} opens once every turn is posted; close it then.",
                code=debate.code,
            )
        if debate.status is not Status.VOTING:
            raise UsageError(
                "Debate {code} is {status}; it has no open vote.",
                code=debate.code,
                status=Text(debate.status),
            )
        mirror = await self.store.debates.mirror_of(debate)
        if mirror is not None and awaits(debate, mirror, self.clock.now()):
            raise UsageError(
                "Revealing debate {code} now would name the models of its mirror {mirror} "
                "before people can vote there. Close this vote once the mirror's vote is "
                "open, or stop the mirror first.",
                code=debate.code,
                mirror=mirror.code,
            )
        both = mirror is not None and closes_with(debate, mirror)
        closing = [debate.id, mirror.id] if mirror is not None and both else [debate.id]
        await self.windows[debate.platform].close_early(closing)
        return await self.store.debates.get(debate.id)


def _announce(new: NewDebate, expected: Estimate) -> Post:
    request, again, before = new.setup.request, new.setup.rematch_of, None
    if again is not None:
        before = Before(debate=again, code=short_code(again), swapped=new.setup.swapped)
    script, seats = format_of(new.setup), attendance(new.setup.panel)
    message = Announcement(
        code=short_code(new.id),
        topic=request.topic,
        conditions=request.conditions,
        format=request.format,
        language=request.language,
        rounds=script.rounds(request),
        contenders=tuple(request.sides),
        jurors=seats.seated,
        readers=(seats.fewest, seats.most),
        readings=seats.readings,
        single=new.setup.panel.mode is PanelMode.ONE,
        blind=new.setup.panel.blind,
        vote_minutes=request.vote_minutes,
        estimate=expected,
        rehearsal=new.setup.rehearsal,
        stances=request.stances,
        length=request.length,
        names=new.setup.called,
        sources=tuple(source.title for source in request.sources),
        searches=new.setup.retrieval.calls if new.setup.retrieval else 0,
        about=script.about,
        before=before,
        guest=request.guest,
    )
    return Post(key="announcement", message=message)


def _warnings(new: NewDebate) -> tuple[str, ...]:
    """Return what to know of a debate that is allowed but weak."""
    setup = new.setup
    sides = [model.ref for model in setup.request.sides.values()]
    found = []
    if len(set(sides)) < len(sides):
        found.append(Text("The same model argues more than one side."))
    if setup.panel.recusal_failed:
        found.append(Text("Every juror belongs to a debater's family; none could be recused."))
    if len(setup.panel.roster) < 2 and setup.panel.mode is PanelMode.ADAPTIVE:
        found.append(Text("A verdict needs two jurors' answers, but the jury has one juror."))
    return tuple(found)
