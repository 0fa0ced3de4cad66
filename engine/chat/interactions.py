"""What a person of a chat does: a command, a press, a form; and what they see of it.

A platform acknowledges what came, says who it is from, and shows the answer to them alone. What
happens in between is the same everywhere, and is here; so is the app's home.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Generic, TypeVar

import structlog

from engine.chat.answers import Answer, voted
from engine.chat.answers.debates import DebateLine, StartedAnswer, StatusAnswer
from engine.chat.answers.voters import RemarkAnswer
from engine.chat.commands import Commands
from engine.chat.context import Context, Requester, find_held, manages
from engine.chat.invocation import Invocation
from engine.chat.lifecycle import line_of, status as status_of
from engine.delivery.reasons import refusal_of
from engine.values.debate import Status, Value
from engine.values.errors import RostrumError
from engine.values.language import N_
from engine.values.messages import Where
from engine.values.ports import ButtonPressed, Listener
from engine.votes.outcome import EventOutcome
from engine.words.translation import say

COMMAND_BUG = N_(
    "That is a bug in Rostrum; the details are in its log. Please let the people who run it know."
)

LOOK_SECONDS = 0.25
LATER_SECONDS = 5.0
VOTE_SECONDS = 15.0
PRESS_TRIES = 8
log = structlog.get_logger(__name__)
EARLY = (Status.FAILED, Status.PARTIAL, Status.CANCELLED)
ELSEWHERE: tuple[Where, ...] = ("channel", "starter", "nowhere")
OVER = (*EARLY, Status.CLOSED)

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class InteractionHandler(ABC, Generic[R]):
    """Runs commands, stores votes, and follows debates; `R` is a platform's way to reply.

    A platform's own handler says who asks, and shows answers.
    """

    commands: Commands
    listener: Listener
    _following: set[asyncio.Task[None]] = field(default_factory=set, kw_only=True)

    # --- what a platform says ------------------------------------------------------------

    @abstractmethod
    async def requester(self, reply: R, command: Invocation | None = None) -> Requester:
        """Return who asks, maybe for a command. Raises RostrumError for one it cannot have."""

    @abstractmethod
    async def show(self, reply: R, answer: Answer) -> None:
        """Show an answer to the person who asked."""

    @abstractmethod
    async def explain(self, reply: R, why: Callable[[], str]) -> None:
        """Show why there is no answer; `why` says it in the language spoken."""

    @abstractmethod
    async def show_progress(self, reply: R, status: StatusAnswer) -> None:
        """Show that a debate has a thread, or how it ended."""

    @abstractmethod
    def seconds_left(self, reply: R) -> float:
        """Return for how long a reply can show more."""

    # --- what happens --------------------------------------------------------------------

    async def run(self, reply: R, command: Invocation) -> Answer:
        """Run a command. Raises RostrumError, whose message is for the person."""
        self.commands.check_database()
        return await self.commands.run(await self.requester(reply, command), command)

    async def answer(self, reply: R, work: Callable[[], Awaitable[Answer]]) -> None:
        """Show what a command answers, and then follow a debate that it began."""

        async def run() -> None:
            answer = await work()
            await self.show(reply, answer)
            if isinstance(answer, StartedAnswer):
                task = asyncio.ensure_future(self._follow(reply, answer.debate.id))
                self._following.add(task)
                task.add_done_callback(self._following.discard)

        await self.explained(reply, run)

    async def vote(self, reply: R, pressed: ButtonPressed) -> None:
        """Cast a vote by button; show the result, and what else its person may say."""

        async def run() -> None:
            self.commands.check_database()
            for _ in range(PRESS_TRIES):  # a button is visible just before its vote is stored
                outcome = await self.listener(pressed)
                if not (isinstance(outcome, EventOutcome) and outcome.outcome == "unknown"):
                    break
                await asyncio.sleep(LOOK_SECONDS)
            heard = outcome if isinstance(outcome, EventOutcome) else None
            more = await self.remark(reply, heard.voted) if heard and heard.voted else None
            said = voted(heard)
            await self.show(reply, more.model_copy(update={"first": said}) if more else said)

        await self.explained(reply, run)

    async def remark(self, reply: R, debate: str) -> RemarkAnswer | None:
        """Return what a voter may say beside their vote; None for nothing."""
        try:
            answer = await self.run(reply, Invocation("remark", {"debate": debate}))
        except RostrumError as error:  # the vote itself is stored
            log.info("nothing offered beside a vote", why=str(error))
            return None
        return answer if isinstance(answer, RemarkAnswer) and answer.open else None

    async def explained(self, reply: R, work: Callable[[], Awaitable[None]]) -> None:
        """Run something, or show why it failed."""
        try:
            await work()
        except RostrumError as error:
            await self.explain(reply, partial(refusal_of, error))
        except Exception:  # the person gets an answer, and the log has the details
            log.exception("unhandled error in a command")
            await self.explain(reply, partial(say, COMMAND_BUG))

    async def stop(self) -> None:
        """Follow no debate any more; shutdown does not wait for any."""
        for task in tuple(self._following):
            task.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)

    async def _follow(self, reply: R, debate_id: str) -> None:
        try:
            person = await self.requester(reply)
            seconds = self.seconds_left(reply)
            async for status in follow(self.commands, person, debate_id, seconds):
                await self.show_progress(reply, status)
        except RostrumError as error:
            log.warning("private answer lost", why=str(error))
        except Exception:  # private updates are an extra; the error is logged
            log.exception("unhandled error in a private answer")


async def follow(
    context: Context, person: Requester, debate_id: str, seconds: float
) -> AsyncIterator[StatusAnswer]:
    """Yield a debate's status once it has a thread, and again if it ends abnormally.

    Abnormal is an early end, or a reveal outside its thread.
    """
    notifier, clock = context.service.notifier, context.service.clock
    until, followed = clock.now() + timedelta(seconds=seconds), False
    while clock.now() < until:
        status = await status_of(context, person, debate_id)
        debate = status.debate
        if debate.status in EARLY or status.revealed in ELSEWHERE:
            yield status
            return
        if debate.thread is not None and not followed:
            followed = True
            yield status
        if status.revealed == "thread":
            return
        topic, pause = ("ended", LATER_SECONDS) if followed else ("delivered", LOOK_SECONDS)
        pause = VOTE_SECONDS if debate.status is Status.VOTING else pause
        await notifier.wait(f"{topic}/{debate.id}", pause)


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
    traces = await context.store.privacy.traces(person.platform, person.user)
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
