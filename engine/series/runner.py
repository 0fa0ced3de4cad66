"""Holds a series: many debates at once, until all are held, its cap is reached, or it is stopped.

Every debate has a key, so a series that was killed goes on with what is missing.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain, islice

import structlog

from engine.delivery.reasons import awaited
from engine.fleet.leases import Services
from engine.formats import find_format
from engine.run.estimate import check_prices
from engine.run.order import Defaults, Order
from engine.run.service import Service
from engine.series.contents import Planned, count_arms, expand
from engine.series.matches import Chooser, choose
from engine.series.spec import Series, roles_of
from engine.store import Store
from engine.store.series import SeriesDebate
from engine.values.debate import UNATTENDED, SeriesKey, Status, Value
from engine.values.errors import BudgetError, LeaseLostError, SeriesCapError, UsageError
from engine.values.limits import Caps
from engine.values.ports import Location, Retries
from engine.values.text import dollars

LOOK_SECONDS = 0.25
BEGUN_TOGETHER = 20
TRIED_AGAIN = (Status.FAILED, Status.PARTIAL)
FIRST_PAUSE, LONGEST_PAUSE = 15.0, 300.0  # seconds before a model that is away is tried again
LIFTED = dict.fromkeys(("community_daily_usd", "user_daily_debates", "max_live_per_community"))
"""How many seconds a debate waits before it is tried again, and until when."""
log = structlog.get_logger(__name__)


class Ending(StrEnum):
    """Why a series begins no more debates."""

    COMPLETE = "complete"
    CAP = "cap"
    STOPPED = "stopped"


class SeriesProgress(Value):
    """How far a series is; `waiting` counts debates by the model that each waits for.

    `failed` ended without a verdict; running the series again tries them again. `refused` ended
    because a model declined the topic, which is final. `refusals` counts by model the debates in
    which it declined, whether they went on or not.
    """

    total: int
    held: int = 0
    failed: int = 0
    refused: int = 0
    refusals: Mapping[str, int] = {}
    running: int = 0
    waiting: Mapping[str, int] = {}
    ending: Ending | None = None


class ArmProgress(Value):
    """How many of the debates that fell to an arm were held, and what kept others from it."""

    arm: str
    total: int
    held: int
    failed: int
    refused: int


@dataclass
class SeriesRunner:
    """Holds one series; `watch` hears how far it is, several times a second."""

    series: Series
    service: Service
    services: Services
    installed: Defaults
    watch: Callable[[SeriesProgress], None] = lambda _: None
    first_pause: float = FIRST_PAUSE
    _taken: set[str] = field(default_factory=set)
    _live: dict[str, SeriesDebate] = field(default_factory=dict)
    _ended: Counter[Status] = field(default_factory=Counter)
    _refused: int = 0
    _refusals: Counter[str] = field(default_factory=Counter)
    _again: list[SeriesDebate] = field(default_factory=list)
    _put_off: list[Planned] = field(default_factory=list)
    _retries: Retries = field(default_factory=lambda: Retries(LONGEST_PAUSE))  # by debate
    _results: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.defaults = defaults_of(self.series, self.installed)

    async def run(self) -> SeriesProgress:
        """Hold the series and return how it ended.

        That of a process that was killed is free within seconds. Raises LeaseLostError if a living
        one holds it, UsageError for a debate that is impossible, and BudgetError for one that no
        cap allows.
        """
        try:
            name = f"series/{self.series.name}"
            async with self.services.lease_manager.hold(name, stoppable=False, patient=True):
                return await self._hold()
        except LeaseLostError:
            raise LeaseLostError(
                f"The series {self.series.name} is being held by another process; stop that one "
                f"first, for example by rostrum series stop {self.series.name}."
            ) from None

    async def _hold(self) -> SeriesProgress:
        chooser = choose(self.series)
        await self._find_begun()
        while True:
            await self._refresh()
            stored = await self.services.store.series.find(self.series.name)
            ending = Ending.STOPPED if stored is None or stored.stop else None
            if ending is None:
                now = self.services.clock.now()
                for debate in self._waiting():  # tried again after pauses that grow
                    if self._retries.due(debate.id, now) > now:
                        continue
                    if debate.id in self._retries:
                        await self.service.dispatcher.submit(debate.id)
                    self._retries.put_off(debate.id, now, self.first_pause)
                ending = await self._fill(chooser)
            standing = self._standing(chooser.total())
            self.watch(standing)
            idle = not standing.running and (not standing.waiting or ending is Ending.STOPPED)
            if ending is not None and idle:
                return standing.model_copy(update={"ending": ending})
            await self.services.notifier.wait("series", LOOK_SECONDS)

    async def _find_begun(self) -> None:
        """Go on with what a killed process left, and try again what had failed."""
        for debate in await self.services.store.series.debates(self.series.name):
            self._taken.add(debate.key)
            if debate.status.live:
                self._live[debate.id] = debate
                await self.service.dispatcher.submit(debate.id)
            else:
                self._count(debate)
                if debate.status in TRIED_AGAIN and not debate.refused:
                    self._again.append(debate)
        refusals = self.services.store.series.refusals
        unended = [*self._live, *(debate.id for debate in self._again)]
        self._refusals.update(await refusals(self.series.name))
        self._refusals.subtract(await refusals(self.series.name, unended))
        await self._read_results(None)

    def _count(self, ended: SeriesDebate) -> None:
        if ended.refused:
            self._refused += 1
        else:
            self._ended[ended.status] += 1

    async def _refresh(self) -> None:
        """Read again the debates that were live."""
        if not self._live:
            return
        found = await self.services.store.series.debates(self.series.name, list(self._live))
        self._live = {debate.id: debate for debate in found if debate.status.live}
        ended = [debate for debate in found if not debate.status.live]
        for debate in ended:
            self._count(debate)
        if ended:
            ids = [debate.id for debate in ended]
            self._refusals.update(await self.services.store.series.refusals(self.series.name, ids))
            await self._read_results(ids)

    async def _read_results(self, among: Sequence[str] | None) -> None:
        self._results.update(await self.services.store.series.results(self.series.name, among))

    async def _fill(self, chooser: Chooser) -> Ending | None:
        """Begin debates while there is room; return why no more can begin."""
        try:
            while self._again and self._room() > 0:
                debate = self._again[-1]
                await self.service.resume(debate.id, self.defaults.caps)
                self._ended[debate.status] -= 1
                self._results.pop(debate.key, None)
                self._live[debate.id] = debate._replace(status=Status.QUEUED, reason="")
                self._again.pop()
            while (room := self._room()) > 0:
                found = (self._next(chooser) for _ in range(min(room, BEGUN_TOGETHER)))
                planned = [one for one in found if one is not None]
                if not planned:
                    return None if self._put_off or self._again else Ending.COMPLETE
                await self._begin(planned)
        except SeriesCapError as error:
            log.info("series at its cap", series=self.series.name, why=str(error))
            return Ending.CAP
        return None

    def _next(self, chooser: Chooser) -> Planned | None:
        """Return a debate that may begin; those that need a model that is away are put off."""
        away = {awaited(debate.reason) for debate in self._waiting()}

        def can_begin(planned: Planned) -> bool:
            return away.isdisjoint(model.ref for model in planned.models.values())

        for place, planned in enumerate(self._put_off):
            if can_begin(planned):
                return self._put_off.pop(place)
        for planned in chooser.next(self._taken, self._results):
            self._taken.add(planned.key)
            if can_begin(planned):
                return planned
            self._put_off.append(planned)
        return None

    async def _begin(self, planned: Sequence[Planned]) -> None:
        """Begin debates side by side, as each waits for the disk. Raises the first failure."""
        orders = [order_of(self.series, one) for one in planned]
        begun = await asyncio.gather(
            *(self.service.start(order, self.defaults) for order in orders),
            return_exceptions=True,
        )
        for one, started in zip(planned, begun, strict=True):
            if isinstance(started, BudgetError):
                self._put_off.append(one)
            elif not isinstance(started, BaseException):
                debate = started.debate
                known = (one.key, debate.id, debate.status, "", debate.created_at)
                self._live[debate.id] = SeriesDebate(*known)
        failed = [result for result in begun if isinstance(result, BaseException)]
        if failed:
            raise min(failed, key=lambda error: isinstance(error, SeriesCapError))

    def _room(self) -> int:
        return self.series.limits.debates_at_once - len(self._live) + len(self._waiting())

    def _waiting(self) -> list[SeriesDebate]:
        """Return the debates whose model is away."""
        return [
            debate
            for debate in self._live.values()
            if debate.status is Status.QUEUED and awaited(debate.reason)
        ]

    def _standing(self, total: int) -> SeriesProgress:
        waiting = Counter(awaited(debate.reason) for debate in self._waiting())
        return SeriesProgress(
            total=total,
            held=self._ended[Status.CLOSED],
            failed=sum(self._ended[one] for one in (*TRIED_AGAIN, Status.CANCELLED)),
            refused=self._refused,
            refusals=dict(sorted((+self._refusals).items())),
            running=len(self._live) - waiting.total(),
            waiting=dict(waiting),
        )


NOWHERE = Location("", "")


def order_of(series: Series, planned: Planned, where: Location = NOWHERE) -> Order:
    """Return the order for one debate of a series: in a channel, or before no one."""
    options, topic = planned.options, planned.topic
    roles = roles_of(options)
    seats = {seat: model for seat, model in series.seats.items() if seat in roles.seats}
    asked = options.given() | {
        "topic": topic.text,
        "conditions": options.conditions or topic.conditions or None,
        "stance_a": None if topic.answer else topic.stance_a or None,
        "stance_b": None if topic.answer else topic.stance_b or None,
        "language": planned.language,
        "panel": series.jury.mode,
    }
    return Order(
        **asked,
        platform=UNATTENDED if series.people is None else series.people.place.platform,
        community=where.community or series.name,
        place=where.place,
        models=planned.models | seats,
        jurors=series.jury.models,
        judges=series.judges if roles.judges else (),
        seed=planned.seed,
        listed=topic if topic.answer or topic.source else None,
        series=SeriesKey(
            name=series.name, key=planned.key, ordinal=planned.ordinal, arm=planned.arm
        ),
    )


def defaults_of(series: Series, defaults: Defaults) -> Defaults:
    """Return an installation's defaults for a series: only the caps of debate and series apply.

    No debate may cost more than its series, so that every price must be known under a cap.
    """
    caps = (defaults.caps.debate_usd, series.limits.usd)
    debate_usd = min((cap for cap in caps if cap is not None), default=None)
    return defaults.model_copy(update={"caps": Caps(**LIFTED, debate_usd=debate_usd)})


async def standing_of(store: Store, series: Series) -> SeriesProgress:
    """Return how far a series is, as anyone can read it."""
    debates = await store.series.debates(series.name)
    return count_standing(series, debates, await store.series.refusals(series.name))


def count_standing(
    series: Series, debates: Iterable[SeriesDebate], refusals: Mapping[str, int]
) -> SeriesProgress:
    """Return how far a series with these debates and refusals by model is."""
    states: Counter[Status] = Counter()
    refused = 0
    waiting: Counter[str] = Counter()
    for debate in debates:
        model = awaited(debate.reason) if debate.status is Status.QUEUED else ""
        if model:
            waiting[model] += 1
        elif debate.refused:
            refused += 1
        else:
            states[debate.status] += 1
    return SeriesProgress(
        total=choose(series).total(),
        held=states[Status.CLOSED],
        failed=sum(states[one] for one in (*TRIED_AGAIN, Status.CANCELLED)),
        refused=refused,
        refusals=refusals,
        running=sum(states[one] for one in (Status.QUEUED, Status.RUNNING, Status.VOTING)),
        waiting=dict(waiting),
    )


def count_arm_standings(series: Series, debates: Iterable[SeriesDebate]) -> tuple[ArmProgress, ...]:
    """Return how far each arm is, as debates may be lost to one more than to another."""
    states = Counter((debate.arm, debate.refused, debate.status) for debate in debates)
    failed = (*TRIED_AGAIN, Status.CANCELLED)
    return tuple(
        ArmProgress(
            arm=arm,
            total=total,
            held=states[arm, False, Status.CLOSED],
            failed=sum(states[arm, False, one] for one in failed),
            refused=states[arm, True, Status.FAILED],
        )
        for arm, total in count_arms(series).items()
    )


# What a series will hold and take, worked out without paying anything.


SAMPLED = 2000  # debates that are estimated one by one
CAPPED = Caps()  # of which prices must be known


class SeriesPlan(Value):
    """A series before it is held: how many debates, and what they take together.

    `debates` are at most those of the series; the rest is the expected sum over them, `calls_max`
    and `usd_max` their maxima. USD are None if a price is unknown. `hours` is with as many debates
    at once as the file allows. `dearest_usd` is what a debate may cost at most, and `sampled` how
    many were estimated, the others being like them. `longest_prompts` are in tokens, by model.
    `ends_early`: what is said may end debates
    before their last round, so that the sums are a maximum but for retries. `arms` counts the
    debates that fall to each.
    """

    debates: int
    calls: int
    calls_max: int
    tokens_in: int
    tokens_out: int
    usd: float | None
    usd_max: float | None
    dearest_usd: float | None
    hours: float
    sampled: int
    longest_prompts: dict[str, int]
    ends_early: bool
    arms: dict[str, int]


def one_of_each(series: Series) -> Series:
    """Return a series with one debate of each kind and arm, on the longest topic of each language.

    What is impossible or too dear for a kind is so on every topic, and to plan a long series
    takes seconds.
    """
    by_length = sorted(series.topics, key=lambda topic: len(topic.text))
    longest = {topic.language: topic for topic in by_length}
    repeats = max(1, len(series.arms))  # in which each debate falls to each arm once
    return series.model_copy(update={"topics": tuple(longest.values()), "repeats": repeats})


async def plan_series(series: Series, service: Service, installed: Defaults) -> SeriesPlan:
    """Estimate a series by dry runs of its debates.

    Raises UsageError for a cap below the cost of one debate and for a debate that is impossible,
    and BudgetError for a cap without known prices.
    """
    free = series.model_copy(update={"limits": series.limits.model_copy(update={"usd": None})})
    defaults, step = defaults_of(free, installed), -(-series.size // SAMPLED)
    quotes = [
        await service.quote(order_of(series, planned), defaults, planned.ordinal)
        for planned in islice(expand(series), 0, None, step)
    ]
    debates = choose(series).total()
    share = debates / len(quotes)
    found = [expected for _, expected, _ in quotes]
    costs = [one.usd for one in found if one.usd is not None]
    most = [setup.reserved_usd for setup, _, _ in quotes]
    known = len(costs) == len(found)
    cap = series.limits.usd
    if cap is not None and not known:
        check_prices(
            dict(chain.from_iterable(setup.prices.items() for setup, _, _ in quotes)), CAPPED
        )
    if cap is not None and cap < min(costs):
        raise UsageError(
            f"limits.usd is {dollars(cap)} USD, and a single debate is expected to cost "
            f"{dollars(min(costs))}. Raise it, or choose cheaper models."
        )
    return SeriesPlan(
        debates=debates,
        calls=round(share * sum(one.calls for one in found)),
        calls_max=round(share * sum(one.calls_max for one in found)),
        tokens_in=round(share * sum(one.tokens_in for one in found)),
        tokens_out=round(share * sum(one.tokens_out for one in found)),
        usd=share * sum(costs) if known else None,
        usd_max=share * sum(most) if known else None,
        dearest_usd=max(most) if known else None,
        hours=share * sum(one.minutes for one in found) / 60 / series.limits.debates_at_once,
        sampled=len(quotes),
        longest_prompts={
            ref: max(longest.get(ref, 0) for _, _, longest in quotes)
            for ref in dict.fromkeys(chain.from_iterable(longest for _, _, longest in quotes))
        },
        ends_early=any(find_format(name).ends_early for name in series.format_names),
        arms=count_arms(series),
    )
