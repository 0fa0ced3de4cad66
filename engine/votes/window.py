"""The vote window of a platform: recovers reactions, extends once, closes when due, reveals.

Deadlines are rows, not timers: after a restart they fire late rather than never.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from engine.bell import Bell
from engine.debate import (
    Ballot,
    BallotKind,
    Debate,
    Scores,
    Status,
    Tally,
    Verdict,
    Vote,
    VoteEvent,
)
from engine.errors import LeaseLostError, RostrumError, VenueAwayError, VenueError, VenueGoneError
from engine.keeper import Keeper
from engine.messages import JurorLine, Notice, Reveal, VoteClosed
from engine.ports import Clock, Reactions, Venue
from engine.store import Closing, Lease, Post, Store
from engine.votes.options import vote_options
from engine.votes.recovery import NewEvent, reconcile
from engine.votes.tally import count, standing_votes

LOOK_SECONDS = 1.0
AT_ONCE = 50
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class VoteWindow:
    """Closes the votes of one platform when they are due."""

    venue: Venue
    store: Store
    keeper: Keeper
    bell: Bell
    clock: Clock
    _since: datetime = field(init=False)

    def __post_init__(self) -> None:
        self._since = self.clock.now()

    async def run(self) -> None:
        """Recover what was missed, then close each vote when it is due; until cancelled."""
        served = (self.venue.platform, self.venue.channel)
        for debate_id in await self.store.votes.deadlines(*served):
            await self._attempt(debate_id, closing=False)
        while True:
            deadlines = await self.store.votes.deadlines(*served, AT_ONCE)
            now = self.clock.now()
            for debate_id, deadline in deadlines.items():
                if deadline <= now:
                    await self._attempt(debate_id, closing=True)
            left = min(((due - now).total_seconds() for due in deadlines.values()), default=60.0)
            # A vote that could not be closed just now is due still: look again, but not at once.
            await self.bell.collect(
                f"votes/{self.venue.platform}", min(max(left, 0.0), 60.0) or LOOK_SECONDS
            )

    async def close(self, debate_id: str, *, early: bool = False) -> None:
        """Close a vote now. Raises LeaseLostError, or VenueError when reactions cannot be read."""
        async with self.keeper.hold(f"debate/{debate_id}") as lease:
            debate = await self.store.debates.get(debate_id)
            if debate.status is Status.VOTING:
                await self._recover(debate, lease)
                debate = await self.store.debates.get(debate_id)
                if debate.reason and not debate.gone:
                    await self.store.debates.set_waiting(debate_id, "")
                await self._conclude(debate, lease, early)
        self.bell.ring(f"outbox/{self.venue.platform}", debate_id)

    async def _attempt(self, debate_id: str, *, closing: bool) -> None:
        try:
            if closing:
                await self.close(debate_id)
            else:
                async with self.keeper.hold(f"debate/{debate_id}") as lease:
                    await self._recover(await self.store.debates.get(debate_id), lease)
        except LeaseLostError:
            log.info("vote left to another process", debate=debate_id)
        except RostrumError as error:
            log.warning("vote could not be read", debate=debate_id, why=str(error))
            if closing:
                await self._say_waiting(debate_id, str(error))
        except Exception:  # one vote's defect must not keep every other open
            log.exception("vote failed by a defect", debate=debate_id)
            await self._say_waiting(debate_id, "Rostrum itself failed; the log says where.")

    async def _say_waiting(self, debate_id: str, why: str) -> None:
        await self.store.debates.set_waiting(debate_id, f"Waiting to close the vote: {why}")

    async def _recover(self, debate: Debate, lease: Lease) -> None:
        """Bring the log in line with the reactions that the platform shows."""
        if debate.gone or not debate.vote_message or debate.request.ballot is BallotKind.PRIVATE:
            return
        began = self.clock.now()
        reactions = await self._read(debate, debate.vote_message, lease)
        users = sorted({user for held in reactions.holders.values() for user in held})
        people = await self.store.votes.people(debate.platform, users)
        late = debate.vote_deadline is not None and debate.vote_deadline < self._since

        def find(cast: tuple[VoteEvent, ...]) -> tuple[NewEvent, ...]:
            ballot = debate.request.ballot
            return reconcile(cast, reactions, read_began_at=began, people=people, ballot=ballot)

        found = await self.store.votes.recover(lease, debate.id, find, began, late)
        if found:
            log.info("votes recovered", debate=debate.id, events=found, late=late)

    async def _read(self, debate: Debate, message: str, lease: Lease) -> Reactions:
        """Read the reactions; where that fails for good, the votes stay as they are known."""
        try:
            return await self.venue.reactions(debate.thread or debate.place, message)
        except VenueAwayError:
            raise
        except VenueGoneError as error:
            log.warning("thread is gone", debate=debate.id, why=str(error))
            await self.store.outbox.abandon(lease, debate.id, str(error))
        except VenueError as error:
            log.warning("reactions unreadable", debate=debate.id, why=str(error))
        return Reactions(complete=False)

    async def _conclude(self, debate: Debate, lease: Lease, early: bool) -> None:
        events = await self.store.votes.events(debate.id)
        if not early and self._may_extend(debate, events):
            deadline = self.clock.now() + timedelta(minutes=debate.request.vote_minutes)
            await self.store.votes.extend(lease, debate.id, deadline, _extension(debate))
            return
        verdict, ballots = await self.store.journal.judged(debate.id)
        calls, usd = await self.store.journal.spending(debate.id)
        if verdict is None:
            verdict = Verdict(winner=None, problem="the panel gave no verdict", valid=0, invalid=0)

        def conclude(cast: tuple[VoteEvent, ...]) -> Closing:
            tally = tally_of(debate, cast)
            closed = _closed(debate, tally, early)
            reveal = _reveal(debate, tally, verdict, ballots, calls, usd)
            posts = () if debate.gone else (closed, reveal)
            return Closing(votes=standing(debate, cast), posts=posts)

        await self.store.votes.close(lease, debate.id, self.clock.now(), early, conclude)
        log.info("vote closed", debate=debate.id, early=early)

    def _may_extend(self, debate: Debate, events: tuple[VoteEvent, ...]) -> bool:
        if debate.gone or debate.vote_extended or not debate.request.extend:
            return False
        return not tally_of(debate, events).quorum_met


def standing(debate: Debate, events: tuple[VoteEvent, ...]) -> tuple[Vote, ...]:
    """Return the votes that stand in a debate's log; what is not on the ballot is no choice."""
    options = vote_options(tuple(debate.request.sides))
    return standing_votes(
        [event for event in events if event.option in options],
        starter=debate.starter,
        judge_visible=debate.request.scores is Scores.LIVE,
        tally_visible=debate.request.ballot is BallotKind.OPEN,
    )


def tally_of(debate: Debate, events: tuple[VoteEvent, ...]) -> Tally:
    """Count a debate's log as it stands."""
    return count(standing(debate, events), tuple(debate.request.sides), debate.request.quorum)


def agreement(tally: Tally, verdict: Verdict) -> bool | None:
    """Say whether people and panel agree; None unless both decided, and the panel blind."""
    if tally.winner is None or verdict.winner is None or not verdict.blind:
        return None
    return tally.winner == verdict.winner


def _extension(debate: Debate) -> Post:
    text = (
        f"Fewer than {debate.request.quorum} votes count so far, so the vote stays open for "
        f"another {debate.request.vote_minutes:g} minutes."
    )
    return Post(key="vote/extended", message=Notice(text=text))


def _closed(debate: Debate, tally: Tally, early: bool) -> Post:
    options = vote_options(tuple(debate.request.sides))
    message = VoteClosed(options=options, votes=sum(tally.counts.values()), early=early)
    return Post(key="vote/closed", message=message, target="vote")


def _reveal(
    debate: Debate,
    tally: Tally,
    verdict: Verdict,
    ballots: tuple[Ballot, ...],
    calls: int,
    usd: float | None,
) -> Post:
    message = Reveal(
        topic=debate.request.topic,
        models={side: model.ref for side, model in debate.request.sides.items()},
        drawn=debate.request.drawn,
        tally=tally,
        verdict=verdict,
        jurors=tuple(_juror_line(ballot) for ballot in ballots if not ballot.audit),
        agree=agreement(tally, verdict),
        usd=usd,
        calls=calls,
    )
    return Post(key="reveal", message=message)


def _juror_line(ballot: Ballot) -> JurorLine:
    return JurorLine(
        juror=ballot.juror,
        verdict=ballot.verdict,
        order=ballot.order,
        problem=ballot.problem,
        contradictory=ballot.contradictory,
    )
