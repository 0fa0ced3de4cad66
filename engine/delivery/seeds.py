"""The bot's seed reactions on an open question, for people to click; nothing waits for them.

People can add the reactions themselves, so a vote opens without them. Temporary failures are
retried. Options without a seed are recorded, because a missing seed otherwise means that a
moderator cleared it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from engine.debate import BallotKind
from engine.errors import (
    MessageGoneError,
    NotFoundError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
)
from engine.judging import Question
from engine.ports import Clock, Venue
from engine.store import Act, Intervention, Store, Target
from engine.store.served import Served, everyone
from engine.store.votes import unseeded_of

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 10.0  # seconds: a vote may be open for minutes only
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Seeds:
    """Seeds the questions of one platform."""

    venue: Venue
    store: Store
    clock: Clock
    served: Callable[[], Served] = everyone
    _left: dict[Target, tuple[str, ...]] = field(default_factory=dict)

    async def plant(
        self, debate_id: str, question: Question, message: str, options: Sequence[str]
    ) -> None:
        """Add as many as possible now. Raises VenueGoneError or MessageGoneError."""
        for target in await self.store.votes.targets(debate_id, question):
            asked = target.message == message and not target.ended
            if asked and target.ballot is not BallotKind.PRIVATE:
                failed = await self._add(target, options)
                await self._note(target, "unseeded", list(failed))
                self._keep(target, failed)

    def adds_to(self, target: Target) -> bool:
        """Return whether reactions are still being added to a message."""
        return any(one.message == target.message for one in self._left)

    async def run(self) -> None:
        """Retry temporary failures with growing pauses, until cancelled."""
        pause, known = FIRST_PAUSE, frozenset[int]()
        while True:
            served = self.served()
            if taken := served.held - known:
                await self._find_left(served._replace(held=taken))
            known = served.held
            await self.clock.sleep(pause)
            for target, options in list(self._left.items()):
                await self._again(target, options)
            pause = min(2 * pause, LONGEST_PAUSE) if self._left else FIRST_PAUSE

    async def _find_left(self, served: Served) -> None:
        """Load the seeds that an earlier process could not add."""
        votes = self.store.votes
        due = await votes.due(self.venue.platform, self.venue.channel, served=served)
        for debate_id in dict.fromkeys(asked.debate for asked in due):
            interventions = await votes.interventions(debate_id)
            for target in await votes.targets(debate_id):
                lacking = unseeded_of(target, interventions)
                if lacking and not target.ended:
                    ordered = tuple(each for each in target.options if each in lacking)
                    self._left.setdefault(target, ordered)

    async def _again(self, target: Target, options: Sequence[str]) -> None:
        try:
            debate = await self.store.debates.get(target.debate)
        except NotFoundError:  # deleted
            self._left.pop(target)
            return
        if not self.served().has(debate.community):  # another process adds them
            self._left.pop(target)
            return
        if debate.gone or await self._has_ended(target):
            self._left.pop(target)
            return
        try:
            failed = await self._add(target, options)
        except VenueError as error:  # the thread or the message is gone, and so is the question
            log.info("reactions given up", debate=target.debate, why=str(error))
            failed = dict.fromkeys(options, False)
        await self._note(target, "seeded", [each for each in options if each not in failed])
        self._keep(target, failed)

    async def _has_ended(self, target: Target) -> bool:
        now = await self.store.votes.target(target.platform, target.place, target.message)
        return now is None or now.ended

    async def _add(self, target: Target, options: Sequence[str]) -> dict[str, bool]:
        """Add reactions; return those that failed, and whether a retry makes sense."""
        try:
            await self.venue.seed(target.place, target.message, options)
        except (VenueGoneError, MessageGoneError):
            raise
        except VenueError as error:
            if len(options) > 1:  # one that is refused keeps no other from being there
                each = [await self._add(target, (option,)) for option in options]
                return {option: again for failed in each for option, again in failed.items()}
            [option] = options
            of, why = target.debate, str(error)
            log.warning("reaction not added", debate=of, option=option, why=why)
            return {option: isinstance(error, VenueAwayError)}
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
