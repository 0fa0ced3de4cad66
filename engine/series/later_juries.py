"""Has another jury read every debate of a series that was held, several at once."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from engine.fleet.leases import LeaseManager
from engine.run.estimate import check_prices
from engine.run.later_judges import read_again
from engine.series.runner import Ending, SeriesProgress
from engine.series.spec import Series
from engine.stage.steps import BYTES_PER_TOKEN
from engine.store import Judging, Store
from engine.store.usage import CallUsage, UsageFilter
from engine.values.debate import Debate, Model, PanelMode, Price, Status
from engine.values.errors import BudgetError, LeaseLostError, ModelError, NotFoundError
from engine.values.limits import Caps

if TYPE_CHECKING:
    from engine.values.protocols import Models

PROMPT_TOKENS = 3000  # what a juror reads beside the turns, at most
READINGS = 2  # by a juror, at most; each may be asked for once more
LOOK_SECONDS = 0.5
log = structlog.get_logger(__name__)


@dataclass
class SeriesJury:
    """One later jury of a series. `usd` is what it may cost in all, None for no cap.

    Debates of which a juror cannot be reached now are counted as failed: the next run asks again.
    """

    series: Series
    jurors: tuple[Model, ...]
    mode: PanelMode
    store: Store
    models: Models
    lease_manager: LeaseManager
    usd: float | None = None
    watch: Callable[[SeriesProgress], None] = lambda _: None
    judged: dict[str, Judging] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    _deleted: set[str] = field(default_factory=set)
    _reserved: float = 0.0
    _running: int = 0
    _full: bool = False
    _turns: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def run(self) -> SeriesProgress:
        """Have it read what it has not read, and return how that ended. Raises BudgetError."""
        held = await self.store.series.debates(self.series.name)
        closed = [debate for debate in held if debate.status is Status.CLOSED]
        prices = {juror.ref: await self.models.price(juror) for juror in self.jurors}
        check_prices(prices, Caps(debate_usd=self.usd))
        spent = (await self._usage()).sum("usd")
        ceiling = math.inf if self.usd is None else spent + self.usd
        room = asyncio.Semaphore(self.series.limits.debates_at_once)
        shown = asyncio.create_task(self._show(len(closed)))
        try:
            async with asyncio.TaskGroup() as group:
                for debate in closed:
                    group.create_task(self._read(debate.id, prices, ceiling, room))
        finally:
            shown.cancel()
        standing = self._standing(len(closed))
        self.watch(standing)
        return standing.model_copy(update={"ending": Ending.CAP if self._full else Ending.COMPLETE})

    async def _read(
        self,
        debate_id: str,
        prices: dict[str, Price | None],
        ceiling: float,
        room: asyncio.Semaphore,
    ) -> None:
        async with room:
            known = (await self.store.journal.read(debate_id, "judgings")).judgings
            before = [one for one in known if one.found and one.is_by(self.jurors, self.mode)]
            if before:
                self.judged[debate_id] = before[0]
                return
            try:
                debate = await self.store.debates.get(debate_id)
                most = await self._most(debate, prices)
                if await self._begin(most, ceiling):
                    try:
                        caps = Caps(debate_usd=None if self.usd is None else most)
                        services = (self.store, self.models, self.lease_manager)
                        try:
                            judged = await read_again(
                                debate, self.jurors, self.mode, caps, *services
                            )
                            self.judged[debate.id] = judged
                        except (ModelError, LeaseLostError, BudgetError) as error:
                            log.warning("debate not read", debate=debate.id, why=str(error))
                            self.problems[debate.id] = str(error)
                    finally:
                        async with self._turns:
                            self._running -= 1
                            self._reserved -= most
                            self._turns.notify_all()
            except NotFoundError:  # deleted meanwhile, so there is nothing to read
                self._deleted.add(debate_id)

    async def _begin(self, most: float, ceiling: float) -> bool:
        """Reserve what a debate may cost; False once the cap has no room for that.

        While others are under way it waits: they mostly cost far less than was reserved for them.
        """
        async with self._turns:
            while not self._full and ceiling != math.inf:
                spent = (await self._usage()).sum("usd")
                if spent + self._reserved + most <= ceiling + 1e-9:
                    break
                if self._running:
                    await self._turns.wait()
                else:
                    self._full = True
            if not self._full:
                self._reserved += most
                self._running += 1
            return not self._full

    async def _usage(self) -> CallUsage:
        return await self.store.usage.read(UsageFilter(series=self.series.name))

    async def _most(self, debate: Debate, prices: dict[str, Price | None]) -> float:
        """Return what the jury may cost on a debate at most; asked for again, each reads more."""
        turns = (await self.store.journal.read(debate.id, "turns")).turns
        size = sum(len(turn.text.encode()) for turn in turns)
        read = PROMPT_TOKENS + math.ceil(2 * size / BYTES_PER_TOKEN)
        usual = debate.setup.sampling["juror"]
        return sum(
            2 * READINGS * price.cost(read, juror.sampling(usual).max_tokens, written=read)
            for juror in self.jurors
            if (price := prices[juror.ref]) is not None
        )

    async def _show(self, total: int) -> None:
        while True:
            self.watch(self._standing(total))
            await asyncio.sleep(LOOK_SECONDS)

    def _standing(self, total: int) -> SeriesProgress:
        return SeriesProgress(
            total=total - len(self._deleted),
            held=len(self.judged),
            failed=len(self.problems),
            running=self._running,
        )


def cap_left(series: Series, spent: float, asked: float | None) -> float | None:
    """Return what another jury may cost: what is left of the series' cap, and what was asked."""
    left = None if series.limits.usd is None else max(0.0, series.limits.usd - spent)
    known = [usd for usd in (left, asked) if usd is not None]
    return min(known, default=None)
