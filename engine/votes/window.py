"""A platform's vote window: closes each question when it is due, and reads what was missed.

Deadlines are rows, not timers: after a restart they fire late rather than never.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import structlog

from engine.fleet.leases import Services
from engine.fleet.shares import PartitionLeases
from engine.store import OpenQuestion
from engine.store.leases import EVERYONE, Partition
from engine.tally.questions import KINDS, waiting_for
from engine.values.errors import (
    LeaseLostError,
    ModelError,
    NotFoundError,
    NotToldYetError,
    RostrumError,
    VenueAwayError,
    VenueError,
)
from engine.values.language import N_, Text
from engine.values.ports import Retries
from engine.values.verdicts import Question
from engine.votes.closer import Closer
from engine.votes.events import MISSED, Hearing
from engine.votes.recovery import ReactionReader, Removals, never
from engine.words.phrases import CLOSES_ONCE_READ, WAITS_TO_CHECK

if TYPE_CHECKING:
    from engine.values.protocols import Moderator, Venue

LOOK_SECONDS = 1.0
LONGEST_WAIT = LONGEST_PAUSE = 60.0
MOST_AT_A_LOOK = 50
AT_ONCE = 10
TAKEOVER = -1  # in place of a connection's number
IN_ORDER = tuple(KINDS)  # of what is due at the same time
Work = Callable[[OpenQuestion], Awaitable[None]]
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class VoteWindow:
    """Closes the questions of one platform when they are due, and handles their events."""

    venue: Venue
    services: Services
    shares: PartitionLeases | None = None  # None: this process serves everyone
    moderator: Moderator | None = None  # of what people wrote for a turn that ends
    hearing: Hearing = field(init=False)
    _removals: Removals = field(init=False)
    _reader: ReactionReader = field(init=False)
    _closer: Closer = field(init=False)
    _retries: Retries = field(default_factory=lambda: Retries(LONGEST_PAUSE))
    _due: dict[OpenQuestion, datetime] = field(default_factory=dict)  # as last asked
    _behind: dict[OpenQuestion, datetime] = field(
        default_factory=dict
    )  # of which something was missed

    def __post_init__(self) -> None:
        venue, (store, lease_manager, _, clock) = self.venue, self.services
        self._removals = Removals(venue, store, clock)
        taken = self.shares.since if self.shares else never
        watch, since = lease_manager.watch, clock.now()
        self._reader = ReactionReader(
            venue, store, clock, self._removals, watch, since=since, taken=taken
        )
        self.hearing = Hearing(venue, self.services, self._removals, self._reader)
        self._closer = Closer(venue, self.services, self._reader, self.moderator)

    async def run(self) -> None:
        """Recover missed events, then close each question when due, until cancelled."""
        await self.listen()
        async with asyncio.TaskGroup() as group:
            group.create_task(self._removals.run())
            group.create_task(self._read_turns())
            if self.shares is not None:
                group.create_task(self._wake_at_changes(self.shares))
            published, known = set[str](), frozenset[int]()
            while True:
                served = self._served
                taken = served.held - known
                if self.shares is not None and any(map(self.shares.taken, taken)):
                    await self._reader.hear_again(TAKEOVER)
                if missed := served.held if MISSED in published else taken:
                    await self._note_missed(served._replace(held=missed))
                known = served.held
                left = min(await self._catch_up_all(), await self._close_due())
                published = await self.services.notifier.wait(f"votes/{self.venue.platform}", left)

    @property
    def _served(self) -> Partition:
        return self.shares.served if self.shares else EVERYONE

    async def _wake_at_changes(self, shares: PartitionLeases) -> None:
        async for _ in shares.follow():
            self.services.notifier.publish(f"votes/{self.venue.platform}")

    async def listen(self) -> None:
        """Record that this process listens, before the first question or event."""
        await self._reader.listen()

    async def close(self, debate_id: str, *, early: bool = False) -> None:
        """Close a vote now, together with an open one on its mirror.

        If one is below its quorum, both are extended. Raises LeaseLostError, or VenueError if the
        reactions of either cannot be read; both then stay open.
        """
        await self._closer.close(OpenQuestion(debate_id), early=early)

    async def close_early(self, debates: Sequence[str]) -> None:
        """Close an open vote, and the one on its mirror, now or once their reactions can be read.

        The wish is stored, so it survives this process.
        """
        await self.services.store.votes.ask_to_close(debates, self.services.clock.now())
        await self._attempt(OpenQuestion(debates[0]), self._close)
        self.services.notifier.publish(f"votes/{self.venue.platform}")

    async def end(self, asked: OpenQuestion) -> None:
        """End the time for a question's answers before it is due. Raises as `close` does."""
        await self._closer.close(asked, early=True)

    async def _note_missed(self, served: Partition) -> None:
        """Schedule recovery: the votes now, the thumbs on turns when there is time."""
        platform, channel = self.venue.platform, self.venue.channel
        asked = await self.services.store.votes.due(platform, channel, served=served)
        going = await self.services.store.votes.held_in(platform, channel=channel, served=served)
        self._behind |= {one: at for one, at in asked.items() if not KINDS[one.question].brief}
        self._retries.forget_all()  # the platform is there again
        await self._catch_up_all()
        for debate_id in dict.fromkeys((*going, *(one.debate for one in asked))):
            self.services.notifier.publish(f"thumbs/{platform}", debate_id)

    async def _catch_up_all(self) -> float:
        """Recover missed events and return the seconds until the next check."""
        now = self.services.clock.now()
        await self._do_due(self._catch_up, dict.fromkeys(self._behind, now), now)
        return self._seconds_to(self._catch_up, dict.fromkeys(self._behind, now), now)

    async def _read_turns(self) -> None:
        """Read thumbs on turns, message by message, oldest debates first."""
        behind, left = set[OpenQuestion](), LONGEST_WAIT
        while True:
            published = await self.services.notifier.wait(f"thumbs/{self.venue.platform}", left)
            behind |= {OpenQuestion(debate_id, Question.TURN) for debate_id in published}
            now = self.services.clock.now()
            for turns in sorted(behind):
                if self._retries.due((self._catch_up_turns, turns), now) <= now:
                    again = await self._attempt(turns, self._catch_up_turns)
                    behind -= set() if again else {turns}
            left = self._seconds_to(self._catch_up_turns, dict.fromkeys(behind, now), now)

    async def _close_due(self) -> float:
        """Close what is due and return the seconds until the next check."""
        now = self.services.clock.now()
        # What waits for a retry is due first and must not hide the others.
        most = MOST_AT_A_LOOK + len(self._retries)
        served = (self.venue.platform, self.venue.channel, most)
        self._due = await self.services.store.votes.due(*served, now=now, served=self._served)
        await self._do_due(self._close, self._due, now)
        return self._seconds_to(self._close, self._due, now)

    async def _do_due(
        self, work: Work, dues: Mapping[OpenQuestion, datetime], now: datetime
    ) -> None:
        """Run due tasks, a few at a time, except those that failed recently."""
        due = [one for one, at in dues.items() if self._retries.due((work, one), at) <= now]
        room = asyncio.Semaphore(AT_ONCE)

        async def attempt(asked: OpenQuestion) -> None:
            async with room:
                await self._attempt(asked, work)

        async with asyncio.TaskGroup() as group:
            for asked in sorted(due, key=lambda one: IN_ORDER.index(one.question)):
                group.create_task(attempt(asked))

    def _seconds_to(
        self, work: Work, dues: Mapping[OpenQuestion, datetime], now: datetime
    ) -> float:
        """Return the seconds until the next task is due."""
        next_ones = (self._retries.due((work, one), at) for one, at in dues.items())
        left = min(((due - now).total_seconds() for due in next_ones), default=LONGEST_WAIT)
        # A task that just failed is still due: check again, but not at once.
        return min(max(left, 0.0), LONGEST_WAIT) or LOOK_SECONDS

    async def _attempt(self, asked: OpenQuestion, work: Work) -> bool:
        """Run a task and tell whether to retry it after a pause."""
        debate_id = asked.debate
        try:
            await work(asked)
        except LeaseLostError:
            log.info("vote held by another process", debate=debate_id)
        except RostrumError as error:
            after = error.retry_after if isinstance(error, VenueAwayError) else 0.0
            pause = self._put_off(asked, work, after)
            log.warning("vote reading postponed", debate=debate_id, why=str(error), again_in=pause)
            await self._say_waiting(asked, work, error)
            return True
        except Exception as error:  # a bug in one vote must not keep the others open
            self._put_off(asked, work)
            log.exception("unhandled error in a vote", debate=debate_id)
            await self._say_waiting(asked, work, error)
            return True
        self._retries.forget((work, asked))
        return False

    def _put_off(self, asked: OpenQuestion, work: Work, at_least: float = 0.0) -> float:
        return self._retries.put_off(
            (work, asked), self.services.clock.now(), LOOK_SECONDS, at_least
        )

    async def _close(self, asked: OpenQuestion) -> None:
        await self._closer.close(asked, self._due.get(asked))

    async def _catch_up(self, asked: OpenQuestion) -> None:
        """Recover missed events of an open question; one that has closed is not read."""
        await self._closer.catch_up(asked, self._behind[asked])
        del self._behind[asked]

    async def _catch_up_turns(self, turns: OpenQuestion) -> None:
        """Read the thumbs on a debate's turns, without the debate's own lease."""
        debate_id = turns.debate
        if not await self.services.store.votes.targets(debate_id, Question.TURN):
            return
        async with self.services.lease_manager.hold(
            f"thumbs/{debate_id}", stoppable=False
        ) as lease:
            debate = await self.services.store.debates.get(debate_id)
            await self._reader.recover(debate, lease, Question.TURN)

    async def _say_waiting(self, asked: OpenQuestion, work: Work, error: Exception) -> None:
        """Record what the debate is waiting for while a question cannot be closed."""
        if work != self._close or isinstance(error, NotToldYetError):  # that is over in a moment
            return
        if not KINDS[asked.question].waits:
            return
        why = N_("Waiting to close the vote: a bug in Rostrum; the details are in its log.")
        if isinstance(error, VenueAwayError):
            why = waiting_for(asked.question, self.venue.platform)
            if asked.question is Question.VOTE and await self._is_to_close(asked.debate):
                why = Text(CLOSES_ONCE_READ, platform=self.venue.platform.capitalize())
        elif isinstance(error, ModelError):  # what a person wrote for a turn is moderated
            why = WAITS_TO_CHECK
        elif asked.question is Question.SPEAK:  # no vote waits; the log says why
            return
        elif isinstance(error, RostrumError):
            from engine.delivery.reasons import REFUSED  # few closes fail

            members = error.text if isinstance(error, VenueError) else REFUSED
            why = Text("Waiting to close the vote: {why}", why=members)
        await self.services.store.queue.set_waiting(asked.debate, why, while_open=asked)

    async def _is_to_close(self, debate_id: str) -> bool:
        """Return whether somebody asked to close a vote."""
        try:
            return (await self.services.store.debates.get(debate_id)).close_asked_at is not None
        except NotFoundError:  # deleted meanwhile
            return False
