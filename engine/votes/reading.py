"""Reading a question's reactions from the platform, and bringing its log in line with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog

from engine.debate import BallotKind, Debate, Question, VoteEvent
from engine.errors import MessageGoneError, VenueAwayError, VenueError, VenueGoneError
from engine.ports import Clock, Reactions, Venue
from engine.store import Intervention, Lease, Store, Target
from engine.votes.recovery import NewEvent, reconcile
from engine.votes.removal import Removals, Shown

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Reader:
    """Reads what was missed; `since` is when this process began to listen."""

    venue: Venue
    store: Store
    clock: Clock
    removals: Removals
    since: datetime

    async def recover(self, debate: Debate, lease: Lease, *questions: Question) -> None:
        """Bring the logs of these questions in line with what the platform shows."""
        if debate.gone:
            return
        interventions = await self.store.votes.interventions(debate.id)
        for target in await self.store.votes.targets(debate.id):
            private = target.ballot is BallotKind.PRIVATE
            if target.question in questions and not target.closed and not private:
                await self._recover(debate, lease, target, interventions)

    async def _recover(
        self,
        debate: Debate,
        lease: Lease,
        target: Target,
        interventions: Sequence[Intervention],
    ) -> None:
        began = self.clock.now()
        reactions = await self._read(debate, target, lease)
        users = sorted({user for held in reactions.holders.values() for user in held})
        people = await self.store.votes.people(debate.platform, users)
        cleared = _cleared(target, interventions)
        late = _deadline_passed(debate, target, self.since)

        def find(cast: tuple[VoteEvent, ...]) -> tuple[NewEvent, ...]:
            return reconcile(
                cast,
                reactions,
                read_began_at=began,
                people=people,
                ballot=target.ballot,
                cleared=cleared,
            )

        store = self.store.votes
        found = await store.recover(lease, debate.id, find, began, late, target.question)
        if found:
            log.info("votes recovered", debate=debate.id, events=found, late=late)
        if target.ballot is BallotKind.SECRET:
            self._hide(target, reactions)

    def _hide(self, target: Target, reactions: Reactions) -> None:
        for option in target.options:
            for user in sorted(reactions.holders.get(option, ())):
                self.removals.add(Shown(target.place, target.message, user, option))

    async def _read(self, debate: Debate, target: Target, lease: Lease) -> Reactions:
        """Read the reactions; where that fails for good, the votes stay as they are known."""
        try:
            return await self.venue.reactions(target.place, target.message)
        except VenueAwayError:
            raise
        except VenueGoneError as error:
            log.warning("thread is gone", debate=debate.id, why=str(error))
            await self.store.outbox.abandon(lease, debate.id, str(error))
        except MessageGoneError as error:
            log.warning("vote message is gone", debate=debate.id, why=str(error))
            deleted = Intervention(
                debate=debate.id, question=target.question, act="deleted", at=self.clock.now()
            )
            await self.store.votes.intervene(target, deleted)
        except VenueError as error:
            log.warning("reactions unreadable", debate=debate.id, why=str(error))
        return Reactions(complete=False)


def _cleared(target: Target, interventions: Sequence[Intervention]) -> dict[str, datetime]:
    """Return when each option of a question was last cleared by a moderator."""
    moments: dict[str, datetime] = {}
    for intervention in interventions:
        if (intervention.act, intervention.question) == ("cleared", target.question):
            options = (intervention.option,) if intervention.option else target.options
            moments |= dict.fromkeys(options, intervention.at)
    return moments


def _deadline_passed(debate: Debate, target: Target, since: datetime) -> bool:
    match target.question:
        case Question.STANCE_BEFORE:
            deadline = debate.stance_deadline
        case Question.AGAIN:
            deadline = target.deadline
        case _:
            deadline = debate.vote_deadline
    return deadline is not None and deadline < since
