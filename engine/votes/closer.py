"""Closes a question when it is due: holds it, reads its reactions to the end, concludes.

A debate's vote and its mirror's close together, as the reveal of one names the models of both.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import structlog

from engine.fleet.leases import Services
from engine.jury.explain import STEP
from engine.store import Closing, Lease, OpenQuestion
from engine.store.votes import Conclude, closes_with
from engine.tally.fold import is_undecided
from engine.tally.questions import KINDS, waiting_for
from engine.values.debate import BallotKind, Debate, Status
from engine.values.errors import NotToldYetError
from engine.values.language import speaking
from engine.values.verdicts import Log, Question, VoteEvent, Withheld
from engine.votes.close import closing_of, extension_of
from engine.votes.outcome import NONE, tally_of
from engine.votes.recovery import ReactionReader, Recovered

if TYPE_CHECKING:
    from engine.values.protocols import Moderator, Venue

    pass

WITHHELD = "What was written when the time was up was flagged."  # for no one to read
MOST_READINGS = 3  # of one question at its close, until one finds what is known
log = structlog.get_logger(__name__)


class _Held(NamedTuple):
    """A question whose lease is held here, and which logs have unreadable reactions."""

    asked: OpenQuestion
    closes_at: datetime | None
    debate: Debate
    lease: Lease
    unread: frozenset[Log] = NONE


@dataclass(frozen=True, slots=True)
class Closer:
    """Closes the questions of one platform."""

    venue: Venue
    services: Services
    reader: ReactionReader
    moderator: Moderator | None = None

    async def close(
        self, asked: OpenQuestion, closes_at: datetime | None = None, *, early: bool = False
    ) -> None:
        """Close a question, with an open vote the one on its mirror too.

        If a vote is below its quorum, both are extended, unless somebody asked to close it. Raises
        LeaseLostError, or VenueError if reactions cannot be read; the questions then stay open.
        """
        if asked.question is Question.VOTE:
            early |= (
                await self.services.store.debates.get(asked.debate)
            ).close_asked_at is not None
        async with self._hold_all(asked, closes_at, early) as open_ones:
            ready = [await self._make_ready(held, early) for held in open_ones]
            extended = [] if early else [held for held in ready if await self._extend(held)]
            for held in () if extended else ready:
                await self._conclude(held, early)
        for held in open_ones:
            self.services.notifier.publish(f"outbox/{self.venue.platform}", held.debate.id)
            self.services.notifier.publish(f"closed/{held.debate.id}")
            self.services.notifier.publish(f"seeds/{self.venue.platform}")

    async def catch_up(self, asked: OpenQuestion, closes_at: datetime | None) -> None:
        """Recover the missed answers to a question that stays open."""
        async with self._hold(asked, closes_at) as held:
            await self._read(held)

    @asynccontextmanager
    async def _hold_all(
        self, asked: OpenQuestion, closes_at: datetime | None, early: bool
    ) -> AsyncIterator[Sequence[_Held]]:
        """Take the leases of all that close together, and leave out what is no longer due.

        A deadline that moved during the wait for a lease is no longer due.
        """
        due = {asked: closes_at}
        if asked.question is Question.VOTE:
            debate = await self.services.store.debates.get(asked.debate)
            mirror = await self.services.store.debates.mirror_of(debate)
            pair = [debate, mirror] if mirror and closes_with(debate, mirror) else [debate]
            due = {OpenQuestion(one.id): one.vote_deadline for one in pair}
        async with AsyncExitStack() as stack:
            # Same order everywhere, to avoid deadlocks.
            held = [
                await stack.enter_async_context(self._hold(each, due[each], patient=early))
                for each in sorted(due)
            ]
            yield [
                one
                for one in held
                if one.debate.status in KINDS[asked.question].during
                and (early or one.closes_at == due[one.asked])
            ]

    @asynccontextmanager
    async def _hold(
        self, asked: OpenQuestion, closes_at: datetime | None, *, patient: bool = False
    ) -> AsyncIterator[_Held]:
        # A juror who still writes for the reveal holds the debate, and is not waited for.
        self.services.notifier.notify(f"closing/{asked.debate}")
        name = f"{KINDS[asked.question].lease}/{asked.debate}"
        async with self.services.lease_manager.hold(name, patient=patient) as lease:
            debate = await self.services.store.debates.get(asked.debate)
            vote = asked.question is Question.VOTE  # which may have been extended meanwhile
            yield _Held(asked, debate.vote_deadline if vote else closes_at, debate, lease)

    async def _make_ready(self, held: _Held, early: bool) -> _Held:
        """Recover missed events and clear the waiting state."""
        asked, unread = held.asked, await self._read_to_the_end(held, early)
        debate = await self.services.store.debates.get(asked.debate)
        if asked.question is Question.VOTE:  # its reveal shows the first stances too
            before = await self.services.store.votes.targets(debate.id, Question.STANCE_BEFORE)
            unread |= {Log(target.question) for target in before if target.unread}
        if asked.question is Question.VOTE:  # all that a debate still waits for
            if debate.reason and not debate.gone:
                await self.services.store.queue.set_waiting(debate.id, "")
        elif asked.question is not Question.SPEAK:  # which waits until the runner has its turn
            waited = waiting_for(asked.question, self.venue.platform)
            await self.services.store.queue.stop_waiting(debate.id, [waited])
        return held._replace(debate=debate, unread=unread)

    async def _read_to_the_end(self, held: _Held, early: bool) -> frozenset[Log]:
        """Read until a reading finds nothing new; return the permanently unreadable logs.

        A reading takes several requests, so a person who changes options in between appears twice
        or not at all. A received event settles that; otherwise the next reading does.

        Raises NotToldYetError shortly after it is due, while the platform may still report which
        choice is the last.
        """
        for _ in range(MOST_READINGS):
            read = await self._read(held)
            if not read.found:
                break
        if not early and held.closes_at is not None:
            await self._hear_out(held.debate, held.closes_at, held.asked)
        return read.unread

    async def _read(self, held: _Held) -> Recovered:
        questions, step = _together(held.asked), held.asked.step
        return await self.reader.recover(
            held.debate, held.lease, *questions, closes_at=held.closes_at, step=step
        )

    async def _hear_out(self, debate: Debate, due: datetime, asked: OpenQuestion) -> None:
        patience, now = (
            timedelta(seconds=self.venue.limits.redelivery_seconds),
            self.services.clock.now(),
        )
        in_time = now < max(due, self.reader.heard_from) + 2 * patience
        if not in_time or debate.request.ballot is not BallotKind.OPEN:
            return
        for question in _together(asked):
            events = await self.services.store.votes.events(debate.id, question)
            for step in {event.step for event in events if asked.step in ("", event.step)}:
                own = [event for event in events if event.step == step]
                if is_undecided(own, now - patience):
                    raise NotToldYetError("The platform may still report which choice came last.")

    async def _extend(self, held: _Held) -> bool:
        """Extend a vote below its quorum, once; return whether it was extended."""
        debate = held.debate
        if held.asked.question is not Question.VOTE or not debate.request.extend:
            return False
        if debate.gone or debate.vote_extended or debate.gaps:
            return False  # with gaps no vote is gold, however many come
        if all(
            one.closed for one in await self.services.store.votes.targets(debate.id, Question.VOTE)
        ):
            return False  # no one can vote below a deleted message
        events = await self.services.store.votes.events(debate.id)
        if tally_of(debate, events, held.unread).quorum_met:
            return False
        closes_at = self.services.clock.now() + timedelta(minutes=debate.request.vote_minutes)
        invited = await self.services.store.outbox.find(debate.id, "vote")
        with speaking(debate.request.language):
            posts = extension_of(debate, invited.message if invited else None, closes_at)
        await self.services.store.votes.extend(held.lease, debate.id, closes_at, *posts)
        return True

    async def _conclude(self, held: _Held, early: bool) -> None:
        asked, unread = held.asked, held.unread
        conclude = await self._conclusion(held, early)
        now = self.services.clock.now()
        await self.services.store.votes.close(
            held.lease, asked.debate, now, early, conclude, asked.question, asked.step
        )
        if asked.question is Question.VOTE:
            self.services.lease_manager.watch.ended(Status.CLOSED)
            named = sorted("/".join(filter(None, one)) for one in unread)
            log.info("vote closed", debate=asked.debate, early=early, unread=named)

    async def _conclusion(self, held: _Held, early: bool) -> Conclude:
        """Return the question's closing from its log: the reveal, if it is the vote."""
        debate, unread = held.debate, held.unread
        if held.asked.question is Question.SPEAK:
            said, withheld = await self._said(debate, held.asked.step)
            return lambda _: Closing(unread=unread, said=said, withheld=withheld)
        if held.asked.question is not Question.VOTE:
            return lambda _: Closing(unread=unread)
        store = self.services.store
        kept = await store.journal.read(
            debate.id, "turns", "verdict", "ballots", "verdicts", artifacts=STEP
        )
        spent = await store.journal.spending(debate.id)
        interventions = await store.votes.interventions(debate.id)

        def conclude(cast: tuple[VoteEvent, ...]) -> Closing:
            with speaking(debate.request.language):
                return closing_of(debate, cast, kept, spent, interventions, unread, early)

        return conclude

    async def _said(self, debate: Debate, step: str) -> tuple[str, Withheld]:
        """Return what a person wrote in the thread for a turn whose time is over.

        Raises VenueAwayError or ModelError while it cannot be read or checked.
        """
        from engine.votes.audience import moderate, said_below, take_over  # few debates have any

        async def check(text: str) -> None:
            if self.moderator is not None:
                await moderate(self.moderator, [text], WITHHELD)

        guest = await self.services.store.guests.guest(debate.id)
        if guest is None:
            return "", ""
        text = await said_below(self.venue, self.services.store, debate, guest, step)
        return await take_over(self.services.store, debate, text, check)


def _together(asked: OpenQuestion) -> tuple[Question, ...]:
    return (asked.question, *KINDS[asked.question].along)
