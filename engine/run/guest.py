"""People who argue a side: named in an order, asked whether they agree, heard turn by turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from engine.fleet.leases import LeaseManager, Notifier
from engine.run.order import Order, Rematch
from engine.store import Lease, Post, Store
from engine.store.budgets import NewGuest
from engine.store.guests import Guest, OpenTurn
from engine.tally.questions import waiting_for
from engine.values.debate import Debate
from engine.values.errors import PausedError, StoppedError, UsageError
from engine.values.language import N_
from engine.values.messages import GuestInvite, Notice, SpeakInvite
from engine.values.ports import Clock
from engine.values.text import count_words
from engine.values.topics import check_words
from engine.values.verdicts import Question, Withheld
from engine.votes.audience import moderate, said_below, spoken_text
from engine.votes.window import VoteWindow
from engine.words.phrases import WAITS_TO_CHECK
from engine.words.translation import say

if TYPE_CHECKING:
    from engine.values.protocols import Moderator

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
    lease_manager: LeaseManager
    notifier: Notifier
    leaves: bool = False  # the debate once the person has been asked: others need its place

    async def agree(self, turns: int) -> None:
        """Wait until the person agrees to argue a side of so many turns. Raises StoppedError."""
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
            raise StoppedError(
                SILENT
                if accepted is None
                else N_("The person who was asked to argue a side declined. Nothing was spent."),
                ends="declined",
            )

    async def hear(self, step: str, words: int) -> tuple[str, str]:
        """Ask for a turn and return what was written; empty if nothing was in time.

        Begun again after a kill it goes on: the invitation is posted once, and its end is a row.
        Raises StoppedError for a person who was forgotten.
        """
        guests, debate_id = self.store.guests, self.debate.id
        key = f"{KEY}/{step}"
        text, over, withheld = await guests.turn(debate_id, step)
        if not over:
            await guests.begin(self.lease, debate_id, step, words)
            request = self.debate.request
            await self._post(
                Post(
                    key=key,
                    message=(
                        SpeakInvite(
                            code=self.debate.code,
                            side=request.guest,
                            step=step,
                            round=step.split("/")[1],
                            minutes=request.turn_minutes,
                            words=words,
                        )
                    ),
                )
            )
        since = monotonic()
        while not over:
            await self._check_there()
            await self._look(since)
            text, over, withheld = await guests.turn(debate_id, step)
        waited = (waiting_for(Question.SPEAK, self.debate.platform), WAITS_TO_CHECK)
        await self.store.queue.stop_waiting(debate_id, waited)
        told = Notice(
            text=say(N_("Rostrum has the turn. It is posted below.") if text else MISSED[withheld])
        )
        await self._post(Post(key=f"{key}/closed", message=told, target=key))
        return text, withheld

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
            raise StoppedError(
                N_(
                    "The person who argued a side asked to be forgotten, so the "
                    "debate cannot go on."
                ),
                ends="deserted",
            )

    async def _look(self, since: float) -> None:
        """Wait for the person; leave the debate to be taken up again once they answered.

        Raises PausedError for that.
        """
        self.lease_manager.check()
        leaves = self.leaves and monotonic() - since >= LEAVE_SECONDS
        # The same rows keep other processes from taking it up before.
        if leaves and await self.store.guests.awaited(self.debate.id):
            raise PausedError("It goes on once the person answered, or the time is up.")
        await self.notifier.wait(f"closed/{self.debate.id}", LOOK_SECONDS)

    async def _post(self, post: Post) -> None:
        await self.store.outbox.publish(self.lease, self.debate.id, [post])
        self.notifier.publish(f"outbox/{self.debate.platform}", self.debate.id)


# People who argue a side: named in an order, asked whether they agree, and heard turn by turn.
#
# What they send comes in here, at the process that has the platform's connection.


OPEN_TRIES, OPEN_LOOK_SECONDS = 8, 0.25  # for a question whose message is being posted
NOT_YOU = N_("Only the person who argues this side can do that.")
CONSENT_OVER = N_("The time to answer is over, so nothing was changed.")
NO_TURN = N_("It is not your turn now. Rostrum mentions you when it is.")
TOO_LONG = N_(
    "Your turn has {n} words; at most {most} are allowed. Shorten it and send it again. This is "
    "what you wrote:\n\n{text}"
)


@dataclass(frozen=True, slots=True)
class GuestLine:
    """What people who argue a side may do, and who may be one."""

    store: Store
    notifier: Notifier
    clock: Clock
    windows: Mapping[str, VoteWindow]
    moderator: Moderator | None = None

    async def named(self, order: Order) -> NewGuest:
        """Return who argues a side in place of a model.

        Raises UsageError for one who cannot, and VenueAwayError while the platform cannot say.
        """
        user = order.guest.user if order.guest else await self._before(order.rematch)
        member = await self.windows[order.platform].venue.member(order.place, user)
        if member is None:
            raise UsageError(
                "There is no such person here. Mention someone who can see this channel."
            )
        if member.bot:
            raise UsageError(
                "A bot cannot argue a side as a person. Mention someone else, or choose a model."
            )
        return NewGuest(user=user, names=member.names)

    async def _before(self, rematch: Rematch | None) -> str:
        """Return who argued a side of the debate that a rematch repeats. Raises UsageError."""
        before = rematch and await self.store.guests.guest(rematch.of.id)
        if not before or before.user is None:
            raise UsageError(
                "The person who argued a side asked to be forgotten, so there is no rematch with "
                "them. Start the motion again, with someone else."
            )
        return before.user

    async def answer(self, debate: Debate, user: str, *, accept: bool) -> None:
        """Take a person's answer to whether they argue a side. Raises UsageError."""
        for _ in range(OPEN_TRIES):  # its buttons are visible just before it is open
            now = self.clock.now()
            outcome = await self.store.guests.answer(debate.id, user, accept=accept, now=now)
            if outcome != "unopened":
                break
            await self.clock.sleep(OPEN_LOOK_SECONDS)
        refusals = {"others": NOT_YOU, "closed": CONSENT_OVER, "unopened": CONSENT_OVER}
        if outcome in refusals:
            raise UsageError(refusals[outcome])
        self.notifier.publish(f"closed/{debate.id}")

    async def give_turn(self, debate: Debate, user: str, text: str) -> int:
        """Take a person's turn as they sent it, and return its words. Raises UsageError."""
        guest, turn = await self._open_turn(debate, user)
        said = spoken_text((text,), guest.names)
        if not said:
            raise UsageError("Your turn is empty. Write what your side argues.")
        words = count_words(said, debate.setup.chars_per_word)
        if turn.words and words > turn.words:
            raise UsageError(TOO_LONG, n=words, most=turn.words, text=said)
        return await self._take(debate, turn, said)

    async def finish_turn(self, debate: Debate, user: str) -> int:
        """End a person's turn with what they wrote in the thread, and return its words.

        Raises UsageError for anyone else, and while there is nothing to read.
        """
        guest, turn = await self._open_turn(debate, user)
        venue = self.windows[debate.platform].venue
        said = await said_below(venue, self.store, debate, guest, turn.step)
        if not said:
            raise UsageError(
                "There is nothing of yours to read in this thread since your turn began; pictures "
                "do not count. On Discord, only messages that mention Rostrum can be read. Write "
                "your turn with the other button, or write in the thread and press Done again."
            )
        return await self._take(debate, turn, said)

    async def check_turn(self, debate: Debate, user: str) -> None:
        """Check before a form opens that a turn is a person's to write. Raises UsageError."""
        guest = await self.store.guests.guest(debate.id)
        if guest is None or guest.user != user:
            raise UsageError(NOT_YOU)
        if await self.store.guests.open_turn(debate.id) is None:
            raise UsageError(NO_TURN)

    async def _open_turn(self, debate: Debate, user: str) -> tuple[Guest, OpenTurn]:
        """Return a person and the turn that is theirs now. Raises UsageError for anyone else."""
        guest = await self.store.guests.guest(debate.id)
        if guest is None or guest.user != user:
            raise UsageError(NOT_YOU)
        for _ in range(OPEN_TRIES):
            turn = await self.store.guests.open_turn(debate.id)
            if turn is not None and turn.opened:
                return guest, turn
            if turn is None:
                break
            await self.clock.sleep(OPEN_LOOK_SECONDS)
        raise UsageError(NO_TURN)

    async def _take(self, debate: Debate, turn: OpenTurn, said: str) -> int:
        """Keep a turn, unless it has a blocked word or is flagged.

        Raises UsageError, and ModelError while a moderation model cannot be asked.
        """
        settings = await self.store.communities.get(debate.platform, debate.community)
        check_words(settings.blocked_words, said)
        if self.moderator is not None:
            await moderate(
                self.moderator,
                [said],
                N_(
                    "The automatic check for harmful content flagged this, so it was not taken. "
                    "Reword your turn and send it again."
                ),
            )
        if not await self.store.guests.speak(debate.id, turn.step, said, self.clock.now()):
            raise UsageError("The time for this turn is over, so nothing was changed.")
        self.notifier.publish(f"closed/{debate.id}")
        return count_words(said, debate.setup.chars_per_word)
