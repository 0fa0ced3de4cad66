"""The bot's seed reactions on an open question, for people to click; nothing waits for them.

People can add the reactions themselves, so a vote opens without them. Temporary failures are
retried soon; refusals whenever permissions may have changed, and with a slow look at each open
question, which also finds out that its message was deleted. Options without a seed are recorded,
because a missing seed otherwise means that a moderator cleared it.

Once a question has closed they go: what people count is what counted. The close marks the messages,
in the transaction that stores the votes, so the last reading never misses a seed. A mark goes once
a message has none left: a process that dies in between, or finds the platform away, leaves the rest
to the next try. That waits for the reveal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog

from engine.fleet.leases import Notifier
from engine.store import Act, Intervention, OpenQuestion, Store, Target
from engine.store.leases import Partition, everyone
from engine.store.vote_log import unseeded_of
from engine.values.debate import BallotKind
from engine.values.errors import (
    MessageGoneError,
    NotFoundError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
)
from engine.values.language import Text
from engine.values.ports import Backoff, Clock
from engine.values.verdicts import Question
from engine.words.phrases import WAITS_TO_REACT

if TYPE_CHECKING:
    from engine.values.protocols import Venue

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 10.0  # seconds: a vote may be open for minutes only
LOOK_SECONDS = 45.0  # between two looks at all open questions; a deletion is noticed in a minute
REMOVAL_LOOK_SECONDS = 10.0  # for a close that notified no one here
LONGEST_REMOVAL_PAUSE = 60.0
AT_ONCE = 5  # messages: people wait for what else is sent
MISSING = WAITS_TO_REACT.format(why="")
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class SeedReactions:
    """Seeds the open questions of one platform, and clears the closed ones."""

    venue: Venue
    store: Store
    notifier: Notifier
    clock: Clock
    served: Callable[[], Partition] = everyone
    _left: dict[Target, tuple[str, ...]] = field(default_factory=dict)
    _refused: set[tuple[str, str]] = field(default_factory=set)  # messages that take none for now

    async def plant(
        self, debate_id: str, question: Question, message: str, options: Sequence[str]
    ) -> None:
        """Add as many as possible now. Raises VenueGoneError."""
        for target in await self.store.votes.targets(debate_id, question):
            asked = target.message == message and not target.ended
            if not (asked and options) or target.ballot is BallotKind.PRIVATE:
                continue
            try:
                failed = await self._add(target, options)
            except MessageGoneError as error:  # the next look notes that
                log.warning("message is gone", debate=debate_id, why=str(error))
                continue
            await self._note(target, "unseeded", list(failed))
            self._keep(target, failed)

    async def run(self) -> None:
        """Retry failures, look at open questions now and then, and clear closed ones; endless."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._retry())
            group.create_task(self._keep_looking())
            group.create_task(self._keep_removing())

    async def _retry(self) -> None:
        """Retry temporary failures with growing pauses."""
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while True:
            await self.clock.sleep(backoff.next())
            for target, options in list(self._left.items()):
                await self._again(target, options)
            if not self._left:
                backoff.reset()

    async def _keep_looking(self) -> None:
        """Look at open questions, and sooner at those that a changed permission may concern."""
        known, next_look = frozenset[int](), self.clock.now()
        while True:
            served = self.served()
            taken, known = served.held - known, served.held
            granted = await self.notifier.wait(f"granted/{self.venue.platform}", FIRST_PAUSE)
            if taken or self.clock.now() >= next_look:
                await self._look()
                next_look = self.clock.now() + timedelta(seconds=LOOK_SECONDS)
            elif granted and self._refused:
                await self._look(frozenset(self._refused))

    async def _look(self, only: Container[tuple[str, str]] | None = None) -> None:
        """Add what is missing on open questions, and find out which messages were deleted."""
        votes, served = self.store.votes, self.served()
        due = await votes.due(self.venue.platform, self.venue.channel, served=served)
        for debate_id in dict.fromkeys(asked.debate for asked in due):
            interventions = await votes.interventions(debate_id)
            for target in await votes.targets(debate_id):
                where = (target.place, target.message)
                if target.closed or (only is not None and where not in only):
                    continue
                missing = unseeded_of(target, interventions)
                lacking = [one for one in target.options if one in missing]
                # Refused requests are counted, so one of them has to do.
                if await self._again(target, lacking[:1]) and lacking[1:]:
                    await self._again(target, lacking[1:])
                await self.clock.sleep(self.venue.limits.read_seconds)

    async def _again(self, target: Target, options: Sequence[str]) -> bool:
        """Add reactions, unless that is no longer due; return whether they are all there."""
        try:
            debate = await self.store.debates.get(target.debate)
        except NotFoundError:  # deleted
            self._left.pop(target, None)
            return False
        elsewhere = not self.served().has(debate.community)  # where another process adds them
        now = await self.store.votes.target(target.platform, target.place, target.message)
        if elsewhere or debate.gone or now is None or now.ended:
            self._left.pop(target, None)
            self._refused.discard((target.place, target.message))
            return False
        try:
            failed = await self._add(target, options)
        except MessageGoneError as error:
            log.warning("message is gone", debate=target.debate, why=str(error))
            deleted = Intervention.on(target, "deleted", self.clock.now())
            await self.store.votes.intervene(target, deleted)
            self.notifier.publish(f"votes/{self.venue.platform}")
            return False
        except VenueError as error:  # the thread takes none, at least for now
            log.info("reactions given up", debate=target.debate, why=str(error))
            self._left.pop(target, None)
            return False
        await self._note(target, "seeded", [each for each in options if each not in failed])
        self._keep(target, failed)
        if not failed:
            self._refused.discard((target.place, target.message))
            # What an earlier process found refused is kept nowhere but in the reason.
            others = any(place == target.place for place, _ in self._refused)
            if debate.reason.startswith(MISSING) and not others:
                await self.store.queue.stop_waiting(debate.id, [debate.reason])
        return not failed

    async def _add(self, target: Target, options: Sequence[str]) -> dict[str, bool]:
        """Add reactions; return those that failed, and whether a retry makes sense.

        Without any it looks for the message. Raises VenueError if that is refused.
        """
        try:
            await self.venue.seed(target.place, target.message, options)
        except (VenueGoneError, MessageGoneError):
            raise
        except VenueError as error:
            if len(options) > 1:  # one that is refused keeps no other from being there
                each = [await self._add(target, (option,)) for option in options]
                return {option: again for failed in each for option, again in failed.items()}
            of, why, away = target.debate, str(error), isinstance(error, VenueAwayError)
            log.warning("reaction not added", debate=of, option="".join(options), why=why)
            if not away:
                self._refused.add((target.place, target.message))
                waits = Text(WAITS_TO_REACT, why=error.text)
                asked = OpenQuestion(of, target.question, target.step)
                await self.store.queue.set_waiting(of, waits, while_open=asked)
            if not options:  # nothing was found out
                raise
            return dict.fromkeys(options, away)
        return {}

    def _keep(self, target: Target, failed: dict[str, bool]) -> None:
        self._left.pop(target, None)
        again = tuple(option for option, worth in failed.items() if worth)
        if again:
            self._left[target] = again

    async def _note(self, target: Target, act: Act, options: Sequence[str]) -> None:
        for option in options:
            noted = Intervention.on(target, act, self.clock.now(), option)
            await self.store.votes.intervene(target, noted)

    async def _keep_removing(self) -> None:
        """Remove seeds of closed questions, with growing pauses while the platform is away."""
        backoff = Backoff(FIRST_PAUSE, LONGEST_REMOVAL_PAUSE)
        while True:
            try:
                await self._remove_all()
            except VenueAwayError as error:
                await self.clock.sleep(backoff.next(error.retry_after))
            else:
                backoff.reset()
                await self.notifier.wait(f"seeds/{self.venue.platform}", REMOVAL_LOOK_SECONDS)

    async def _remove_all(self) -> None:
        """Remove what is left. Raises VenueAwayError if some of it has to be tried again."""
        platform, channel = self.venue.platform, self.venue.channel
        left = await self.store.votes.seeds_left(platform, channel, served=self.served())
        room = asyncio.Semaphore(AT_ONCE)

        async def one(target: Target) -> VenueAwayError | None:
            async with room:
                return await self._remove(target)

        tried = await asyncio.gather(*map(one, left))
        if away := next(filter(None, tried), None):
            raise away

    async def _remove(self, target: Target) -> VenueAwayError | None:
        """Remove a message's seeds; return why it has to be tried again."""
        if any(one.message == target.message for one in self._left):
            return VenueAwayError("Reactions are still being added.")
        try:
            await self.venue.remove_own_reactions(target.place, target.message, target.options)
        except VenueAwayError as error:
            return error
        except VenueError as error:  # the message is gone, and its reactions with it, or refused
            log.info("own reactions not removed", debate=target.debate, why=str(error))
        await self.store.votes.seeds_gone(target)
        return None
