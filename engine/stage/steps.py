"""Model calls as journaled steps: a step whose result is stored is never called for again."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from string import ascii_letters
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from engine.fleet.leases import LeaseManager
from engine.stage.structured import TOO_LONG
from engine.store import AttemptStart, Journaled, Lease, Store
from engine.values.debate import Debate, Origin
from engine.values.errors import BudgetError, ModelError
from engine.values.language import N_
from engine.values.ports import Attempt, Call, Reply

if TYPE_CHECKING:
    from engine.values.protocols import Models

# Fair turns on the event loop.


class Pace:
    """Releases one waiter per turn of the event loop, in order of arrival.

    A thousand tasks that become ready together would otherwise stop the loop for seconds
    (measured: 7.4 s, and 0.1 s with this).
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._scheduled = False

    async def turn(self) -> None:
        """Wait for this caller's turn, which is now if no one had this turn of the loop."""
        loop = asyncio.get_running_loop()
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._release)
            return
        ticket = loop.create_future()
        self._waiting.append(ticket)
        await ticket

    def _release(self) -> None:
        self._scheduled = False
        while self._waiting and not self._scheduled:
            ticket = self._waiting.popleft()
            if not ticket.done():
                ticket.set_result(None)
                # It runs in the loop's next turn, which is then taken.
                self._scheduled = True
                asyncio.get_running_loop().call_soon(self._release)


# Work beside a script's main line, such as scoring a speech while the next one is written.


T = TypeVar("T")


class ConcurrentWork:
    """Runs tasks beside the body of its `async with`, and ends none of them early.

    Leaving waits for all of them, so that paid calls are journaled. The body's own exception is
    raised first, then the first failure of a task; cancelling the body cancels the tasks.
    """

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[Any]] = []

    def start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Start a piece of work; the script may await its task."""
        task = asyncio.create_task(work)
        self._tasks.append(task)
        return task

    async def __aenter__(self) -> ConcurrentWork:
        """Start without work."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for all work; raise its first failure, unless the body failed."""
        if isinstance(error, asyncio.CancelledError):
            for task in self._tasks:
                task.cancel()
        for result in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(result, BaseException) and error is None:
                raise result


LINGER_SECONDS = 0.02
SENT_SECONDS = 0.01  # a journaled try has been sent by then
BYTES_PER_TOKEN = 2.5  # of letters and spaces; anything else may take a token a byte
_LETTERS = (ascii_letters + " ").encode()


class Caller(Protocol):
    """Asks models for scripts and panels, one step at a time."""

    async def call(self, call: Call) -> Reply:
        """Return a step's reply."""


class Steps:
    """The steps of one debate while its lease is held.

    `when_sent` is called once, shortly after the first try was sent.
    """

    def __init__(
        self,
        debate: Debate,
        lease: Lease,
        journaled: Journaled,
        store: Store,
        models: Models,
        lease_manager: LeaseManager,
        pace: Pace,
    ) -> None:
        self._debate = debate
        self._lease = lease
        self._results = journaled.steps
        self._attempts = journaled.attempts
        self._store = store
        self._models = models
        self._lease_manager = lease_manager
        self._pace = pace
        # Writes that wait for the next call, each with what is called once it is on disk.
        self._waiting: list[
            tuple[Callable[[], Awaitable[object]], Callable[[], object] | None]
        ] = []
        self._started: list[asyncio.Future[object]] = []
        self._linger: asyncio.TimerHandle | None = None
        self.spent = journaled.spent
        self.when_sent: Callable[[], object] | None = None

    async def call(self, call: Call) -> Reply:
        """Return a step's reply: the stored one, or a model's, which is then stored.

        A reply over the debate's cap is cut and marked. Raises ModelError, BudgetError,
        StoppedError, PausedError or LeaseLostError.
        """
        known = self._results.get(call.step)
        if known is not None:
            return self._cut(known.reply)
        price = self._debate.setup.prices.get(call.model.ref)
        call = replace(call.configured(), session=self._debate.id, price=price)
        try:
            reply = await self._models.complete(call, _CallAttempts(self, call))
        except ModelError as error:
            import structlog  # settings import this module, and start without it

            log = structlog.get_logger(__name__)
            why = error.problem
            log.warning(N_("no answer"), debate=self._debate.id, step=call.step, why=why)
            raise
        # Debates whose calls end together are handled one by one.
        await self._pace.turn()
        return self._cut(reply)

    def _cut(self, reply: Reply) -> Reply:
        """Cut a reply to the debate's cap; the journal keeps it as it came."""
        most = self._debate.setup.reply_chars
        if most is None or len(reply.text) <= most:
            return reply
        cut = {"text": reply.text[:most], "finish": TOO_LONG, "cut_from": len(reply.text)}
        return reply.model_copy(update=cut)

    async def began(self, call: Call, start: AttemptStart) -> None:
        """Journal a try before it is sent, if the budget covers it. Raises BudgetError."""
        self._lease_manager.check()
        cap = self._debate.setup.cap_usd
        if cap is not None and self.spent + start.cost_max > cap + 1e-9:
            raise BudgetError(
                f"The debate has used {self.spent:.4f} USD, and its next call may cost "
                f"{start.cost_max:.4f}: more than its cap of {cap:g} USD allows.",
                hint="The cap is ROSTRUM_BUDGET__DEBATE_USD, or --usd in a terminal.",
            )
        # Counted before the first await: calls side by side must not pass the cap together.
        self.spent += start.cost_max
        self.later(partial(self._store.journal.began, self._lease, start, call))
        await self.flush()
        self._lease_manager.check_lease(self._lease)
        if self.when_sent is not None:
            asyncio.get_running_loop().call_later(SENT_SECONDS, self.when_sent)
            self.when_sent = None

    def ended(self, start: AttemptStart, attempt: Attempt, reply: Reply | None) -> None:
        """Journal how a try ended, and settle what it cost."""
        if attempt.cost is not None:
            self.spent += attempt.cost - start.cost_max
        self.later(partial(self._store.journal.ended, self._lease, start, attempt, reply))

    def later(
        self, write: Callable[[], Awaitable[object]], stored: Callable[[], object] | None = None
    ) -> None:
        """Queue a write that must be on disk before the next call is sent; `stored` hears of it.

        Writes are stored in the order of queueing, and in one commit: a call waits for one flush
        of the disk instead of three. If no call follows soon, they are stored anyway.
        """
        self._waiting.append((write, stored))
        if self._linger is None:
            loop = asyncio.get_running_loop()
            self._linger = loop.call_later(LINGER_SECONDS, self._start_writes)

    async def flush(self) -> None:
        """Wait until every queued write is on disk; raises the first error among them."""
        self._start_writes()
        started, self._started = self._started, []
        errors = []
        for write in started:  # in turn: they end together, and wake this task once
            try:
                await write
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)
        if errors:
            raise errors[0]

    def _start_writes(self) -> None:
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        waiting, self._waiting = self._waiting, []
        for write, stored in waiting:
            started = asyncio.ensure_future(write())
            if stored is not None:
                started.add_done_callback(partial(_report, stored))
            self._started.append(started)

    def start(self, call: Call, number: int, tokens_out: int) -> AttemptStart:
        """Describe a try: its number in the journal, and its maximum cost for that many tokens."""
        price, cost_max = call.price, 0.0
        if price and not price.free:
            read = tokens_in(call)
            dear = call.price is not None and call.price.usd_written is not None
            cost_max = price.cost(
                read,
                tokens_out,
                written=read if dear and any(message.kept for message in call.messages) else 0,
            )
        return AttemptStart(
            debate=self._debate.id,
            step=call.step,
            number=self._attempts.get(call.step, 0) + number,
            cost_max=cost_max,
            role=call.role,
            cost=0.0 if price and price.free else None,
            origin=price.origin if price else Origin.UNKNOWN,
        )


def _report(stored: Callable[[], object], write: asyncio.Future[object]) -> None:
    if not write.cancelled() and write.exception() is None:
        stored()


class _CallAttempts:
    """The attempt log of one call."""

    def __init__(self, steps: Steps, call: Call) -> None:
        self._steps = steps
        self._call = call
        self._tokens_out = call.sampling.max_tokens
        self._start: AttemptStart | None = None

    async def began(self, number: int) -> None:
        """Note that try `number` (from 1) is about to be sent; raises to forbid it."""
        start = self._steps.start(self._call, number, self._tokens_out)
        await self._steps.began(self._call, start)
        self._start = start

    def ended(self, attempt: Attempt, reply: Reply | None = None) -> None:
        """Note how it ended; `reply` is given with the try that succeeded."""
        if attempt.doubles_cap:
            self._tokens_out *= 2
        if self._start is not None:
            self._steps.ended(self._start, attempt, reply)


def tokens_in(call: Call) -> int:
    """Return an upper estimate of a prompt's tokens."""
    text = "".join(message.content for message in call.messages).encode()
    other = len(text.translate(None, _LETTERS))
    letters = len(text) - other
    schema = call.schema.size if call.schema else 0
    return math.ceil(letters / BYTES_PER_TOKEN) + other + schema + 8 * len(call.messages)
