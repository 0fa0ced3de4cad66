"""A person as a side of a debate: asked whether they agree, then for one turn after another.

What they answer comes in at whichever process has the platform's connection, and is read here from
the store. A turn is a row once it is final, so it is neither lost nor asked for twice. Where many
processes share a queue, a debate that waits for a person takes no place among those that a worker
runs: it is left, and taken up again from its journal when the question has closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic

from engine.fleet.leases import Bell, Keeper
from engine.floor.floor import Spoken
from engine.store import Lease, Post, Store
from engine.store.guests import Withheld
from engine.tally.questions import waiting_for
from engine.values.debate import Debate
from engine.values.errors import DeclinedError, DesertedError, PausedError
from engine.values.judging import Question
from engine.values.language import N_
from engine.values.messages import GuestInvite, Notice, SpeakInvite
from engine.words.phrases import WAITS_TO_CHECK
from engine.words.translation import say

KEY = "guest"
CONSENT_MINUTES = 30.0
LOOK_SECONDS = 1.0
LEAVE_SECONDS = 5.0  # longer than a request to stop takes to be seen
SILENT = N_("The person who was asked to argue a side did not answer in time. Nothing was spent.")
MISSED: Mapping[Withheld, str] = {
    "": N_("The time is up, and nothing was written. The debate goes on without this turn."),
    "blocked": N_(
        "The time is up, and what was written has a word that is not allowed here. The "
        "debate goes on without this turn."
    ),
    "flagged": N_(
        "The time is up, and the automatic check for harmful content flagged what was "
        "written. The debate goes on without this turn."
    ),
}


@dataclass(frozen=True, slots=True)
class GuestTime:
    """What is asked of the person who argues a side of a debate, while its lease is held."""

    debate: Debate
    lease: Lease
    store: Store
    keeper: Keeper
    bell: Bell
    leaves: bool = False  # the debate once the person has been asked: others need its place

    async def agree(self, turns: int) -> None:
        """Wait until the person agrees to argue a side of so many turns. Raises DeclinedError."""
        request = self.debate.request
        accepted = await self._answer()
        if accepted:
            return
        invite = GuestInvite(
            code=self.debate.code,
            side=request.guest,
            minutes=CONSENT_MINUTES,
            most=turns,
            turn_minutes=request.turn_minutes,
        )
        await self._post(Post(key=KEY, message=invite))
        since = monotonic()
        while accepted is None and not await self._is_closed():
            await self._look(since)
            accepted = await self._answer()
        accepted = await self._answer()
        told = Notice(
            text=say(
                N_("The invitation is accepted. The debate begins.")
                if accepted
                else N_("The invitation is not accepted, so the debate does not begin.")
            )
        )
        await self._post(Post(key=f"{KEY}/answered", message=told, target=KEY))
        if not accepted:
            raise DeclinedError(
                SILENT
                if accepted is None
                else N_("The person who was asked to argue a side declined. Nothing was spent.")
            )

    async def hear(self, step: str, words: int) -> Spoken:
        """Ask for a turn and return what was written; empty if nothing was in time.

        Begun again after a kill it goes on: the invitation is posted once, and its end is a row.
        Raises DesertedError for a person who was forgotten.
        """
        guests, debate_id = self.store.guests, self.debate.id
        key = f"{KEY}/{step}"
        turn = await guests.turn(debate_id, step)
        if not turn.over:
            await guests.begin(self.lease, debate_id, step, words)
            await self._post(Post(key=key, message=self._invite(step, words)))
        since = monotonic()
        while not turn.over:
            await self._check_there()
            await self._look(since)
            turn = await guests.turn(debate_id, step)
        waited = (waiting_for(Question.SPEAK, self.debate.platform), WAITS_TO_CHECK)
        await self.store.debates.stop_waiting(debate_id, waited)
        told = Notice(
            text=say(
                N_("Rostrum has the turn. It is posted below.")
                if turn.text
                else MISSED[turn.withheld]
            )
        )
        await self._post(Post(key=f"{key}/closed", message=told, target=key))
        return Spoken(turn.text or "", turn.withheld)

    def _invite(self, step: str, words: int) -> SpeakInvite:
        request = self.debate.request
        return SpeakInvite(
            code=self.debate.code,
            side=request.guest,
            step=step,
            round=step.split("/")[1],
            minutes=request.turn_minutes,
            words=words,
        )

    async def _answer(self) -> bool | None:
        guest = await self.store.guests.guest(self.debate.id)
        return None if guest is None else guest.accepted

    async def _is_closed(self) -> bool:
        asked = await self.store.guests.consent_closed(self.debate.id)
        await self._check_there()
        return asked

    async def _check_there(self) -> None:
        guest = await self.store.guests.guest(self.debate.id)
        if guest is None or guest.user is None:
            raise DesertedError(
                N_(
                    "The person who argued a side asked to be forgotten, so the "
                    "debate cannot go on."
                )
            )

    async def _look(self, since: float) -> None:
        """Wait for the person; leave the debate to be taken up again once they answered.

        Raises PausedError for that.
        """
        self.keeper.check()
        leaves = self.leaves and monotonic() - since >= LEAVE_SECONDS
        # The same rows keep other processes from taking it up before.
        if leaves and await self.store.guests.awaited(self.debate.id):
            raise PausedError("It goes on once the person answered, or the time is up.")
        await self.bell.collect(f"closed/{self.debate.id}", LOOK_SECONDS)

    async def _post(self, post: Post) -> None:
        await self.store.outbox.publish(self.lease, self.debate.id, [post])
        self.bell.ring(f"outbox/{self.debate.platform}", self.debate.id)
