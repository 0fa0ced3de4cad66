"""The state of each debate on its announcement, edited when it changes.

Changes between two polls are shown together and edits are spaced, so that no platform has to
rate-limit them. There is no state to lose in a restart: the current one is simply shown again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar, cast

import structlog

from engine.delivery.reasons import posted_reveal, where_revealed, why
from engine.formats import length_of
from engine.store import Intent, Store
from engine.store.communities import PublicPart
from engine.store.leases import Partition, everyone
from engine.store.votes import awaits, tied
from engine.values.debate import ENDED, Debate, Status, short_code, side_of
from engine.values.errors import NotFoundError, VenueAwayError, VenueError, VenueGoneError, why_of
from engine.values.messages import Announcement, Phase, Progress, Reveal
from engine.values.ports import Clock, Part, Permalinks
from engine.values.verdicts import QUESTIONS, Question

if TYPE_CHECKING:
    from engine.values.protocols import Venue

# How many turns a debate has, as far as that is known while it is held.


async def turns_expected(store: Store, debate: Debate) -> int:
    """Return a debate's number of turns, without those that no one's question called for.

    0 where a clock decides.
    """
    total = length_of(debate.setup)
    if not (total and debate.request.questions):
        return total
    asked = (await store.journal.read(debate.id, artifacts=QUESTIONS)).artifacts
    skipped = bool(asked) and not asked[0].body["put"]
    return total - len(debate.request.sides) if skipped else total


# The link from a debate's announcement and reveal to its page on the web.


M = TypeVar("M", Announcement, Reveal)


async def with_page(
    permalinks: Permalinks, store: Store, platform: str, intent: Intent, message: M
) -> M:
    """Return a message with the address of its debate's page, if its community shows debates."""
    page = permalinks.debate(intent.debate)
    if page and PublicPart.DEBATES in (
        (await store.communities.get(platform, intent.community)).public
    ):
        return message.model_copy(update={"page": page})
    return message


# The link from a rematch's announcement to that of the debate before.


ANNOUNCEMENT = "announcement"
log = structlog.get_logger(__name__)


async def with_link(
    venue: Venue, store: Store, community: str, message: Announcement
) -> Announcement:
    """Return an announcement with the address of the debate before, if it has one."""
    before = message.before
    if before is None:
        return message
    first = await store.outbox.find(before.debate, ANNOUNCEMENT)
    if first is None or not first.refs:
        return message
    try:
        link = await venue.link(community, first.channel, first.refs[0])
    except (VenueAwayError, VenueGoneError):
        raise
    except VenueError as error:
        log.info("message has no link", debate=before.debate, why=str(error))
        return message
    linked = before.model_copy(update={"link": link})
    return message.model_copy(update={"before": linked})


LOOKED_BACK = 20  # debates
RECENTLY = timedelta(hours=1)


@dataclass(slots=True)
class Board:
    """Shows the state of a platform's debates; an ended one is updated one last time."""

    venue: Venue
    store: Store
    clock: Clock
    served: Callable[[], Partition] = everyone
    permalinks: Permalinks = field(default_factory=Permalinks)
    _shown: dict[str, Progress] = field(default_factory=dict)
    _failed: dict[str, Progress] = field(default_factory=dict)
    _asked_for: set[str] = field(default_factory=set)
    _steps: dict[str, list[str]] = field(default_factory=dict)  # in flight, by debate

    def look_again(self, debate_id: str) -> None:
        """Include a debate that may have ended long ago in the next poll."""
        self._asked_for.add(debate_id)

    async def run(self, seconds: float) -> None:
        """Poll and edit until cancelled."""
        watched: set[str] = set()
        done: set[str] = set()
        while True:
            # An earlier process may have ended it, or the debate may start and end between two
            # polls.
            since = self.clock.now() - RECENTLY
            newest = await self.store.listings.recent(ENDED, LOOKED_BACK)
            ended = {d.id for d in newest if (d.revealed_at or d.created_at) > since}
            watched |= ended - done
            served = self.served()
            watched |= set(await self.store.queue.unfinished(self.venue.platform, served=served))
            asked = await self.store.votes.due(self.venue.platform, served=served)
            watched |= {one.debate for one in asked if one.question is Question.VOTE}
            watched |= self._asked_for
            self._asked_for.clear()
            self._steps = {}
            platform, channel = self.venue.platform, self.venue.channel
            thinking = await self.store.journal.thinking(platform, channel, served=self.served())
            for debate_id, _, step in thinking:
                self._steps.setdefault(debate_id, []).append(step)
            going_on = {key for key in sorted(watched) if await self._update(key)}
            done = ended & (done | watched) - going_on
            watched = going_on
            self._shown = {key: self._shown[key] for key in watched & self._shown.keys()}
            self._failed = {key: self._failed[key] for key in watched & self._failed.keys()}
            await self.clock.sleep(seconds)

    async def _update(self, debate_id: str) -> bool:
        """Show a debate's state if it changed; tell whether to poll it again."""
        try:
            debate = await self.store.debates.get(debate_id)
        except NotFoundError:
            return False
        if debate.platform != self.venue.platform or not self.served().has(debate.community):
            return False
        progress = await self._progress(debate)
        going = debate.status.live or debate.status is Status.VOTING
        goes_on = going or progress.revealed == "waiting" or progress.veiled
        if self._shown.get(debate.id) == progress:
            return goes_on
        announced = await self.store.outbox.find(debate.id, ANNOUNCEMENT)
        if announced is None or not announced.refs:
            return debate.status.live
        try:
            await self._show(announced, progress)
        except VenueAwayError:
            return True
        except VenueError as error:
            log.info("status update failed", debate=debate.id, why=str(error))
        except Exception as error:  # noqa: BLE001 - one state must not end the process
            if self._failed.get(debate.id) != progress:  # it is tried again, and said once
                self._failed[debate.id] = progress
                log.error("unhandled error in a status update", debate=debate.id, why=why_of(error))
            await self.clock.sleep(self.venue.limits.edit_seconds)
            return True
        self._shown[debate.id] = progress
        await self.clock.sleep(self.venue.limits.edit_seconds)
        return goes_on

    async def _show(self, announced: Intent, progress: Progress) -> None:
        """Edit the last piece of an announcement, the one with the state."""
        stem = f"{short_code(announced.debate)}·{announced.number}"
        if isinstance(announced.message, Announcement):
            services = (self.venue, self.store, announced.community)
            linked = await with_link(*services, announced.message)
            web = (self.permalinks, self.store, self.venue.platform, announced)
            linked = await with_page(*web, linked)
            announced = announced.model_copy(update={"message": linked})
        parts = self._render(announced, progress, stem)
        if progress.result is not None and len(parts) != len(announced.refs):
            # The result is shorter than what was announced, or longer.
            parts = self._render(announced, progress.model_copy(update={"result": None}), stem)
        # Another release may have split it differently; then it stays unchanged.
        if len(parts) == len(announced.refs):
            await self.venue.edit(announced.channel, announced.refs[-1], parts[-1])

    def _render(self, announced: Intent, progress: Progress, stem: str) -> tuple[Part, ...]:
        message = announced.message.model_copy(update={"progress": progress})
        return self.venue.render(message, stem)

    async def _progress(self, debate: Debate) -> Progress:
        unread = 0  # turns that wait until those before them have been read
        on_its_way = debate.status is Status.RUNNING or debate.vote_deadline is None
        if debate.request.pace and on_its_way and debate.status not in ENDED:
            unread = await self.store.outbox.undelivered_turns(debate.id)
        turns = await self.store.journal.turns_held(debate.id) - unread
        total = await turns_expected(self.store, debate)
        mirror, now = await self.store.debates.mirror_of(debate), self.clock.now()
        if mirror is not None and mirror.status in ENDED and mirror.id not in self._shown:
            self._asked_for.add(mirror.id)  # whose models stay unnamed until this one's are named
        waits = mirror is not None and awaits(debate, mirror, now)
        revealed = await where_revealed(self.store.outbox, debate)
        told = revealed is not None and revealed != "waiting"
        steps = self._steps.get(debate.id, [])  # of what is being written
        if debate.request.guest and debate.status is Status.RUNNING:
            turn = await self.store.guests.open_turn(debate.id)
            steps = steps if turn is None else [*steps, turn.step]
        writing, its_round = ((), "") if unread else self._writing(debate, turns, steps)
        return Progress(
            phase=await self._phase(debate, turns, total, unread),
            turns=turns,
            total=total,
            round=its_round or await self._round(debate.id, turns),
            writing=writing,
            thread=debate.thread,
            until=None if waits else debate.vote_deadline,
            mirror=mirror.code if mirror is not None and tied(debate, mirror, now) else "",
            reason=why(debate),
            revealed=revealed,
            result=await posted_reveal(self.store.outbox, debate) if told else None,
            veiled=told and mirror is not None and mirror.status not in ENDED,
        )

    async def _phase(self, debate: Debate, turns: int, total: int, unread: int) -> Phase:
        """Return the phase to show for a debate."""
        if unread:
            return "running"
        if debate.thread and not turns and await awaits_consent(self.store, debate):
            return "asked"
        return _phase(debate, judging=0 < total <= turns)

    def _writing(
        self, debate: Debate, turns: int, steps: Sequence[str]
    ) -> tuple[tuple[str, ...], str]:
        """Return who writes the next turn, and its round; between two calls those shown stay."""
        split = [step.split("/") for step in steps]
        spoken = [parts for parts in split if parts[0] == "turn" and len(parts) > 2]
        if not spoken:
            shown = self._shown.get(debate.id)
            same = shown is not None and (shown.turns, shown.phase) == (turns, "running")
            goes_on = shown is not None and same and debate.status is Status.RUNNING
            return (shown.writing, shown.round) if shown and goes_on else ((), "")
        seats = sorted({parts[2] for parts in spoken if parts[1] == spoken[0][1]})
        return tuple(debate.setup.called.get(side_of(s), s) for s in seats), spoken[0][1]

    async def _round(self, debate_id: str, turns: int) -> str:
        shown = self._shown.get(debate_id)
        if shown is not None and shown.turns == turns and not shown.writing:
            return shown.round  # otherwise it is that of the turn that was being written
        newest = await self.store.journal.newest_turn(debate_id)
        return newest.round if newest else ""


async def awaits_consent(store: Store, debate: Debate) -> bool:
    """Return whether a debate waits for the person who was asked to argue a side of it."""
    if not debate.request.guest or debate.status is not Status.RUNNING:
        return False
    guest = await store.guests.guest(debate.id)
    return guest is not None and guest.accepted is None


def _phase(debate: Debate, *, judging: bool) -> Phase:
    """Return the phase to show for a debate in which no one is asked or reads."""
    if debate.gone and debate.status is not Status.CLOSED:
        return "gone"
    if debate.status is Status.RUNNING and debate.thread is None:
        return "queued"
    opening = debate.status is Status.VOTING and debate.vote_deadline is None
    if opening or (debate.status is Status.RUNNING and judging):
        return "judging"
    return cast(Phase, debate.status.value)
