"""What a person sees of their debates beside an answer: progress of one, and the app's home."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import structlog

from engine.chat.answers.debates import DebateLine, StatusAnswer
from engine.chat.context import Context, Requester, find_held, manages
from engine.chat.invocation import DebateArgument
from engine.chat.lifecycle import line_of, status as status_of
from engine.values.debate import Status, Value
from engine.values.errors import RostrumError
from engine.values.messages import Where

LOOK_SECONDS = 0.25
LATER_SECONDS = 5.0
VOTE_SECONDS = 15.0
log = structlog.get_logger(__name__)
EARLY = (Status.FAILED, Status.PARTIAL, Status.CANCELLED)
ELSEWHERE: tuple[Where, ...] = ("channel", "starter", "nowhere")
OVER = (*EARLY, Status.CLOSED)


async def follow(
    context: Context, person: Requester, debate_id: str, seconds: float
) -> AsyncIterator[StatusAnswer]:
    """Yield a debate's status once it has a thread, and again if it ends abnormally.

    Abnormal is an early end, or a reveal outside its thread.
    """
    notifier, clock = context.service.notifier, context.service.clock
    until, followed = clock.now() + timedelta(seconds=seconds), False
    while clock.now() < until:
        status = await status_of(context, person, DebateArgument(debate=debate_id))
        debate = status.debate
        if debate.status in EARLY or status.revealed in ELSEWHERE:
            yield status
            return
        if debate.thread is not None and not followed:
            followed = True
            yield status
        if status.revealed == "thread":
            return
        topic = "ended" if followed else "delivered"
        await notifier.wait(f"{topic}/{debate.id}", _pause(debate.status, followed=followed))


def _pause(status: Status, *, followed: bool) -> float:
    if status is Status.VOTING:
        return VOTE_SECONDS
    return LATER_SECONDS if followed else LOOK_SECONDS


@dataclass(frozen=True, slots=True)
class Followers:
    """The tasks that follow debates; shutdown does not wait for them."""

    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Follow a debate in the background."""
        task = asyncio.ensure_future(_quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        """Cancel every task."""
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _quietly(work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except RostrumError as error:
        log.warning("private answer lost", why=str(error))
    except Exception:  # private updates are an extra; the error is logged
        log.exception("unhandled error in a private answer")


# What a person sees when they open the app itself: live debates, and what concerns them.


LISTED = 20
LIVE = (Status.QUEUED, Status.RUNNING, Status.VOTING)


class HomePage(Value):
    """Live debates, newest first, and the person's own standing.

    With each debate the minutes left of its vote, None where that is not open.

    `more`: others are live too. `out`: exports leave the person out. `manager`: they may change
    the community's settings.
    """

    live: tuple[tuple[DebateLine, float | None], ...]
    more: bool = False
    out: bool = False
    forgotten: bool = False
    manager: bool = False


async def home_page(context: Context, person: Requester) -> HomePage:
    """Return what a person sees there; no model is named, and nothing sealed."""
    held = await find_held(context.store, person, LIVE, LISTED + 1)
    traces = await context.store.people.traces(person.platform, person.user)
    now, live = context.service.clock.now(), []
    for debate in held[:LISTED]:
        left = debate.vote_deadline and (debate.vote_deadline - now).total_seconds() / 60
        minutes = max(0.0, left) if left is not None and debate.status is Status.VOTING else None
        line = await line_of(context.store, debate)
        live.append((line, minutes))
    return HomePage(
        live=tuple(live),
        more=len(held) > LISTED,
        out=traces.opted_out,
        forgotten=traces.forgotten,
        manager=await manages(context.store, person),
    )
