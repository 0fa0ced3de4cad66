"""The use cases that adapters call, one per command of the chat or the command line."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import NamedTuple

import structlog
from ulid import ULID

from engine.debate import (
    UNATTENDED,
    Debate,
    Model,
    Moderation,
    PanelMode,
    Price,
    Replacement,
    Request,
    Setup,
    Status,
    Value,
    short_code,
)
from engine.errors import BudgetError, FlaggedError, LeaseLostError, UsageError
from engine.floor.wake import Bell
from engine.formats import Format, find_format
from engine.jury.plan import attendance
from engine.language import Text
from engine.line.estimate import estimate
from engine.line.intake import (
    Defaults,
    Order,
    Rematch,
    check_prices,
    check_words,
    complete,
    freeze,
    jurors_of,
    templates_of,
    texts_of,
)
from engine.line.learning import Learner
from engine.line.mirror import add_up, check_mirrored, exchange
from engine.line.rematch import repeat
from engine.line.replacing import replace_models, replaced_post
from engine.line.worth import weigh_costs
from engine.messages import Announcement, Before, Estimate
from engine.ports import Clock, Dispatcher, Inbound, Models, Moderator
from engine.prompts.library import Prompts
from engine.sources import named
from engine.store import Caps, NewDebate, Post, Store
from engine.store.guests import Guest, NewGuest, OpenTurn
from engine.store.pairs import awaits
from engine.text import count_words
from engine.votes.hearing import Heard
from engine.votes.spoken import said_below, spoken_text
from engine.votes.window import VoteWindow

OPEN_TRIES, LOOK_SECONDS = 8, 0.25  # for a question whose message is being posted
FLAGGED = (
    "The automatic check for harmful content flagged this, so nothing was started. Reword it, or "
    "choose another topic."
)
BEING_COUNTED = "The vote on debate {code} is being counted right now; try again in a moment."
log = structlog.get_logger(__name__)


NO_MEMBER = "There is no such person here. Mention someone who can see this channel."
BOT_GUEST = "A bot cannot argue a side as a person. Mention someone else, or choose a model."
GUEST_GONE = (
    "The person who argued a side asked to be forgotten, so there is no rematch with them. Start "
    "the motion again, with someone else."
)
NOT_YOU = "Only the person who argues this side can do that."
CONSENT_OVER = "The time to answer is over, so nothing was changed."
TURN_OVER = "The time for this turn is over, so nothing was changed."
NO_TURN = "It is not your turn now. Rostrum mentions you when it is."
NOTHING_WRITTEN = (
    "There is nothing of yours to read in this thread since your turn began; pictures do not "
    "count. On Discord, only messages that mention Rostrum can be read. Write your turn with the "
    "other button, or write in the thread and press Done again."
)
EMPTY_TURN = "Your turn is empty. Write what your side argues."
FLAGGED_TURN = (
    "The automatic check for harmful content flagged this, so it was not taken. Reword your turn "
    "and send it again."
)
TOO_LONG = (
    "Your turn has {n} words; at most {most} are allowed. Shorten it and send it again. This is "
    "what you wrote:\n\n{text}"
)


class Started(Value):
    """The answer to the starter; only it may name the requested models.

    `mirror` is the second debate if one was requested; `estimate` then covers both.
    """

    debate: Debate
    mirror: Debate | None = None
    estimate: Estimate
    warnings: tuple[str, ...] = ()


class Quote(NamedTuple):
    """What a debate would be, and what it would take."""

    setup: Setup
    expected: Estimate


class Plan(NamedTuple):
    """A debate about to be stored, and its estimate."""

    new: NewDebate
    expected: Estimate
    prompts: Prompts


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
    moderator: Moderator | None = None
    new_seed: Callable[[], int] = lambda: secrets.randbits(48)
    new_id: Callable[[], str] = lambda: str(ULID())
    learner: Learner = field(init=False)

    def __post_init__(self) -> None:
        self.learner = Learner(self.store, self.clock)

    async def start(self, order: Order, defaults: Defaults) -> Started:
        """Queue a debate, and its mirror if requested.

        Raises UsageError or BudgetError, and ModelError while a moderation model cannot be asked;
        then nothing is stored.
        """
        seed = self.new_seed() if order.seed is None else order.seed
        request, script = _requested(order, defaults, seed)
        guest = await self._guest(order, request)
        if order.mirror:
            check_mirrored(script.name, script.roles(request.options), request)
        moderation = await self._moderate(order, texts_of(request))
        plans = [await self._plan(request, script, order, defaults, seed, moderation, guest=guest)]
        if order.mirror:
            plans.append(
                await self._plan(
                    exchange(request),
                    script,
                    order,
                    defaults,
                    seed,
                    moderation,
                    mirror_of=plans[0].new.id,
                )
            )
        for plan in plans:
            await self.store.debates.keep_templates(plan.prompts.digest, plan.prompts.texts)
        before = None if order.rematch is None else _before(order.rematch)
        posts = [(plan.new, [_announce(plan.new, plan.expected, before)]) for plan in plans]
        debates = await self.store.debates.create(posts, defaults.caps)
        for debate, plan in zip(debates, plans, strict=True):
            await self._submit(debate, plan.expected)
        return _started(debates, plans)

    async def _plan(
        self,
        request: Request,
        script: Format,
        order: Order,
        defaults: Defaults,
        seed: int,
        moderation: Moderation | None,
        *,
        mirror_of: str | None = None,
        guest: NewGuest | None = None,
    ) -> Plan:
        """Freeze, price and estimate a debate. Raises BudgetError if it is too expensive."""
        prompts = templates_of(self.prompts, request, defaults)
        number = await self.store.debates.next_number()
        ordinal = number if order.series is None else order.series.ordinal
        costs = await self._costs(order, defaults)
        asked = (request, script, order, defaults, prompts)
        frozen = partial(freeze, *asked, seed=seed, number=ordinal, costs=costs)
        setup, expected = await self._estimate(frozen, script, prompts, defaults.caps)
        setup = setup.model_copy(update={"mirror_of": mirror_of, "moderation": moderation})
        new = NewDebate(
            id=self.new_id(),
            number=number,
            platform=order.platform,
            community=order.community,
            place=order.place,
            user=order.user,
            setup=setup,
            created_at=self.clock.now(),
            series=order.series and order.series.name,
            series_key=order.series and order.series.key,
            guest=guest,
        )
        return Plan(new, expected, prompts)

    async def _guest(self, order: Order, request: Request) -> NewGuest | None:
        """Return who argues a side in place of a model; None for no one.

        Raises UsageError for one who cannot, and VenueAwayError while the platform cannot say.
        """
        if not request.guest:
            return None
        user = order.guest.user if order.guest else await self._guest_before(order.rematch)
        member = await self.windows[order.platform].venue.member(order.place, user)
        if member is None:
            raise UsageError(NO_MEMBER)
        if member.bot:
            raise UsageError(BOT_GUEST)
        return NewGuest(user=user, names=member.names)

    async def _guest_before(self, rematch: Rematch | None) -> str:
        """Return who argued a side of the debate that a rematch repeats. Raises UsageError."""
        before = rematch and await self.store.guests.guest(rematch.of.id)
        if not before or before.user is None:
            raise UsageError(GUEST_GONE)
        return before.user

    async def finish_turn(self, debate: Debate, user: str) -> int:
        """End a person's turn with what they wrote in the thread, and return its words.

        Raises UsageError for anyone else, and while there is nothing to read.
        """
        guest, turn = await self._open_turn(debate, user)
        venue = self.windows[debate.platform].venue
        said = await said_below(venue, self.store, debate, guest, turn.step)
        if not said:
            raise UsageError(NOTHING_WRITTEN)
        return await self._take_turn(debate, turn, said)

    async def give_turn(self, debate: Debate, user: str, text: str) -> int:
        """Take a person's turn as they sent it, and return its words. Raises UsageError."""
        guest, turn = await self._open_turn(debate, user)
        said = spoken_text((text,), guest.names)
        if not said:
            raise UsageError(EMPTY_TURN)
        words = count_words(said, debate.setup.chars_per_word)
        if turn.words and words > turn.words:
            raise UsageError(TOO_LONG, n=words, most=turn.words, text=said)
        return await self._take_turn(debate, turn, said)

    async def _open_turn(self, debate: Debate, user: str) -> tuple[Guest, OpenTurn]:
        """Return a person and the turn that is theirs now. Raises UsageError for anyone else."""
        guest = await self.store.guests.guest(debate.id)
        if guest is None or guest.user != user:
            raise UsageError(NOT_YOU)
        for _ in range(OPEN_TRIES):
            turn = await self.store.guests.open_turn(debate.id)
            if turn is not None and turn.opened:
                return guest, turn
            if turn is None:
                break
            await self.clock.sleep(LOOK_SECONDS)
        raise UsageError(NO_TURN)

    async def _take_turn(self, debate: Debate, turn: OpenTurn, said: str) -> int:
        """Keep a turn, unless it has a blocked word or is flagged. Raises UsageError."""
        settings = await self.store.communities.get(debate.platform, debate.community)
        check_words(settings.blocked_words, said)
        await self.moderate([said], FLAGGED_TURN)
        if not await self.store.guests.speak(debate.id, turn.step, said, self.clock.now()):
            raise UsageError(TURN_OVER)
        self.bell.ring(f"closed/{debate.id}")
        return count_words(said, debate.setup.chars_per_word)

    async def answer_guest(self, debate: Debate, user: str, *, accept: bool) -> None:
        """Take a person's answer to whether they argue a side. Raises UsageError."""
        for _ in range(OPEN_TRIES):  # its buttons are visible just before it is open
            now = self.clock.now()
            outcome = await self.store.guests.answer(debate.id, user, accept=accept, now=now)
            if outcome != "unopened":
                break
            await self.clock.sleep(LOOK_SECONDS)
        refusals = {"others": NOT_YOU, "closed": CONSENT_OVER, "unopened": CONSENT_OVER}
        if outcome in refusals:
            raise UsageError(refusals[outcome])
        self.bell.ring(f"closed/{debate.id}")

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
        said = await self.moderator.check([text for text in texts if text])
        if said.flagged:
            # Without the text, which is not logged.
            log.info("topic flagged", model=said.model, categories=said.categories)
            raise FlaggedError(refusal)
        return said

    async def quote(self, order: Order, defaults: Defaults, ordinal: int) -> Quote:
        """Return what a debate would be and take, storing nothing.

        Raises UsageError or BudgetError as `start` does.
        """
        seed = self.new_seed() if order.seed is None else order.seed
        request, script = _requested(order, defaults, seed)
        prompts = self.prompts.only(script.name, "jury")
        costs = await self._costs(order, defaults)
        asked = (request, script, order, defaults, prompts)
        frozen = partial(freeze, *asked, seed=seed, number=ordinal, costs=costs)
        return await self._estimate(frozen, script, prompts, defaults.caps)

    async def _costs(self, order: Order, defaults: Defaults) -> dict[str, float] | None:
        """Return what it takes to ask each juror; None where their prices do not matter."""
        if not defaults.value_per_usd:
            return None
        jurors = jurors_of(order, defaults)
        prices = {juror.ref: await self.models.price(juror) for juror in jurors}
        return weigh_costs(jurors, prices, defaults.value_per_usd)

    async def _estimate(
        self, frozen: Callable[..., Setup], script: Format, prompts: Prompts, caps: Caps
    ) -> Quote:
        """Complete a setup with history, prices and reservation, and estimate it."""
        setup = frozen(fit=await self.learner.fit(rehearsal=False))
        if setup.rehearsal:  # no history decides who sits
            setup = frozen(fit=await self.learner.fit(rehearsal=True))
        models = setup.models
        setup = setup.model_copy(update={"prices": await self._price(models, caps)})
        pace = {model.ref: self.models.pace(model) for model in models}
        expected = await estimate(setup, script, prompts, pace)
        return Quote(reserve(setup, expected, caps), expected)

    async def _submit(self, debate: Debate, expected: Estimate) -> None:
        await self.dispatcher.submit(debate.id)
        self.bell.ring(f"outbox/{debate.platform}", debate.id)
        log.info(
            "debate queued", debate=debate.id, format=debate.request.format, calls=expected.calls
        )

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
            setup = await replace_models(debate.setup, changes, self.models)
            check_prices(setup.prices, caps)
            posts = [replaced_post(setup)] if changes else []
            now = self.clock.now()
            debate = await self.store.debates.requeue(debate.id, caps, now, setup, posts)
        if debate.status.live:
            await self.dispatcher.submit(debate.id)
        elif debate.status is not Status.VOTING and not await self.store.outbox.next(debate.id):
            raise UsageError(
                "Debate {code} is {status}; there is nothing to resume.",
                code=debate.code,
                status=Text(debate.status),
            )
        self.bell.ring(f"outbox/{debate.platform}", debate.id)
        self.bell.ring(f"votes/{debate.platform}")
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
        await self.store.debates.ask_stop(debate.id, reason)
        self.bell.ring("stop")
        return debate

    async def hear(self, platform: str, event: Inbound) -> Heard:
        """Handle a platform event; it is stored when this returns.

        The caller passes one person's events on one message in order, one at a time.
        """
        return await self.windows[platform].hearing.hear(event)

    async def close_vote(self, debate_id: str) -> Debate:
        """Close an open vote early and reveal; an open one on its mirror closes too.

        Raises UsageError while the mirror's vote is not open yet, as the reveal would name the
        mirror's models, and while another process works on the vote.
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
        try:
            await self.windows[debate.platform].close(debate.id, early=True)
        except LeaseLostError as error:
            raise UsageError(BEING_COUNTED, code=debate.code) from error
        return await self.store.debates.get(debate.id)

    async def _price(self, models: Sequence[Model], caps: Caps) -> dict[str, Price | None]:
        """Return the models' prices, with one request per backend."""
        known: dict[str, Price | None] = {model.ref: None for model in models}

        async def ask(backend: str) -> None:
            for model in models:
                if model.backend == backend:
                    known[model.ref] = await self.models.price(model)

        await asyncio.gather(*map(ask, {model.backend for model in models}))
        check_prices(known, caps)
        return known


def _requested(order: Order, defaults: Defaults, seed: int) -> tuple[Request, Format]:
    """Return what is to be held: a new debate, or one once more."""
    if order.rematch is not None:
        return repeat(order, order.rematch, defaults, seed)
    return complete(order, defaults, seed)


def _started(debates: Sequence[Debate], plans: Sequence[Plan]) -> Started:
    return Started(
        debate=debates[0],
        mirror=debates[1] if len(debates) > 1 else None,
        estimate=reduce(add_up, (plan.expected for plan in plans)),
        warnings=_warnings(plans[0].new),
    )


def reserve(setup: Setup, expected: Estimate, caps: Caps) -> Setup:
    """Reserve a debate's maximum cost, or its cap. Raises BudgetError if it is too expensive."""
    cap, usd, most = setup.cap_usd, expected.usd or 0.0, expected.usd_max or 0.0
    if cap is not None and usd > cap:
        raise BudgetError(
            "This debate is expected to cost {usd:usd} USD; the cap per debate is {cap:usd}; "
            "choose cheaper models, fewer rounds or fewer jurors.",
            usd=usd,
            cap=cap,
            hint="The cap is ROSTRUM_BUDGET__DEBATE_USD.",
        )
    reserved = most if cap is None else min(most, cap)
    if cap is None and caps.community_daily_usd is not None:
        cap = reserved  # what was not reserved from the community's day may not be spent
    return setup.model_copy(update={"reserved_usd": reserved, "cap_usd": cap})


def _before(rematch: Rematch) -> Before:
    return Before(debate=rematch.of.id, code=rematch.of.code, swapped=rematch.swapped)


def _announce(new: NewDebate, expected: Estimate, before: Before | None = None) -> Post:
    request = new.setup.request
    script, seats = find_format(request.format), attendance(new.setup.panel)
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
        sources=named(request.sources),
        searches=new.setup.retrieval.calls if new.setup.retrieval else 0,
        about=script.about,
        before=before,
        guest=request.guest,
    )
    return Post(key="announcement", message=message)


def _warnings(new: NewDebate) -> tuple[str, ...]:
    """Return what to know of a debate that is allowed but weak, or waits for a person."""
    setup = new.setup
    sides = [model.ref for model in setup.request.sides.values()]
    found = []
    if new.guest is not None and new.guest.user != new.user:
        found.append(Text("It begins once the person agrees. They are asked in its thread."))
    if len(set(sides)) < len(sides):
        found.append(Text("The same model argues more than one side."))
    if setup.panel.recusal_failed:
        found.append(Text("Every juror belongs to a debater's family; none could be recused."))
    if len(setup.panel.roster) < 2 and setup.panel.mode is PanelMode.ADAPTIVE:
        found.append(Text("A verdict needs two jurors' answers, but the jury has one juror."))
    return tuple(found)
