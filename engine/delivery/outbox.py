"""Delivery from the outbox: renders, sends in order, and settles posts in doubt.

One process posts to each share of a platform, by a lease (engine/fleet/shares.py). A part is
recorded as being sent before the request. If the response is lost, the thread is searched for the
part's reference: found, it counts as sent; not found and past its deadline, it is sent again; and
if reading is refused, it is left alone, since a gap is better than a duplicate. A refused message
is retried as plain text, then replaced by a notice (engine/delivery/fallbacks.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

import structlog

from engine.delivery.fallbacks import LastWord, in_plain_words, is_plain, notice_of, stem_of
from engine.delivery.seeds import SeedReactions
from engine.fleet.leases import Services
from engine.fleet.shares import PartitionLeases
from engine.store import DeliveryState, Intent, Lease
from engine.store.leases import Partition
from engine.values.errors import (
    LeaseLostError,
    MessageGoneError,
    NotFoundError,
    StoreError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
    VenueLockedError,
)
from engine.values.language import Text
from engine.values.messages import (
    Alert,
    Announcement,
    Invitation,
    LeagueTable,
    PersonInvite,
    QuestionsInvite,
    Reveal,
    Skipped,
    StanceInvite,
    TurnPost,
    VoteInvite,
)
from engine.values.ports import Backoff, Part, Permalinks
from engine.values.text import headline
from engine.values.verdicts import Question
from engine.words.phrases import LOCKED, WAITS_TO_POST

if TYPE_CHECKING:
    from engine.delivery.board import Board
    from engine.delivery.deleter import Deleter
    from engine.delivery.reasons import Alerts
    from engine.values.protocols import Typing, Venue

LOOK_SECONDS = 1.0
LONGEST_PAUSE = 30.0
MOST_REMEMBERED = 10_000
STOP_SECONDS = 1.0  # for what is being sent when a share is given up; then it is in doubt
WAITING = WAITS_TO_POST.format(why="")
UNSEEN = ""  # in place of the reference of a part that may have been posted
TITLE_LENGTH = 100
ESSENTIAL = Announcement | VoteInvite  # without them no debate is held
FOLLOWED = Announcement | Invitation  # something has to be done once they are posted
M = TypeVar("M", Announcement, Reveal)
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Delivery:
    """Delivers a platform's messages, those of the shares that this process holds."""

    venue: Venue
    services: Services
    permalinks: Permalinks = field(default_factory=Permalinks)
    shares: PartitionLeases = field(init=False)
    _busy: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _leases: dict[str, Lease] = field(default_factory=dict)  # by which debates are delivered now
    _elsewhere: dict[str, str] = field(default_factory=dict)  # communities of others' debates
    _missed: set[str] = field(default_factory=set)  # published while busy
    _waited: set[str] = field(default_factory=set)  # said to wait for the platform
    _last_word: LastWord = field(init=False)
    _managers: Alerts | None = None  # what tells them
    _board: Board | None = None
    _seeds: SeedReactions = field(init=False)
    _deleter: Deleter | None = None

    def __post_init__(self) -> None:
        venue, (store, lease_manager, notifier, clock) = self.venue, self.services
        self._last_word = LastWord(venue, store, notifier, clock)
        self.shares = PartitionLeases(venue.platform, store, lease_manager, clock)
        self._seeds = SeedReactions(venue, store, notifier, clock, self._served)
        if venue.limits.state_seconds is not None:
            from engine.delivery.board import Board  # not all platforms show states

            self._board = Board(venue, store, clock, self._served, self.permalinks)
        if venue.erase is not None:
            from engine.delivery.deleter import Deleter  # not all platforms delete messages

            self._deleter = Deleter(venue, venue.erase, store, notifier, clock, self.shares)

    async def run(self) -> None:
        """Deliver until cancelled; waits while other processes hold every share."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.shares.run(self.venue.shares, self._stop))
            await self.shares.serving()
            if self.venue.typing is not None:
                group.create_task(self._show_typing(self.venue.typing))
            group.create_task(self._last_word.try_again(self.shares))
            group.create_task(self._seeds.run())
            if self._deleter is not None:
                group.create_task(self._deleter.run())
            if self._board is not None:
                group.create_task(self._board.run(self.venue.limits.state_seconds or LOOK_SECONDS))
            look_at, known = self.services.clock.now(), frozenset[int]()
            while True:
                await self.shares.serving()
                published = await self._look_for_waiting(self.shares.held - known)
                self._waited.update(published)  # a process before this one may have said so
                known = self.shares.held
                pause = 0.0 if published else LOOK_SECONDS
                published |= await self.services.notifier.wait(
                    f"outbox/{self.venue.platform}", pause
                )
                now = self.services.clock.now()
                if self.venue.channel is not None or now >= look_at:
                    # Only the outbox knows other processes' messages and their channels.
                    published = published if self.venue.channel is None else set()
                    published |= await self._look_for_waiting(self.shares.held)
                    look_at = now + timedelta(seconds=LOOK_SECONDS)
                for debate_id in published:
                    self._start(debate_id, group)

    @property
    def _alerts(self) -> Alerts:
        """What tells managers."""
        if self._managers is None:
            from engine.delivery.reasons import Alerts  # few debates have any

            self._managers = Alerts(self.venue, self.services.store)
        return self._managers

    def _served(self) -> Partition:
        return self.shares.served

    async def settled(self, debate_id: str) -> None:
        """Wait until every message of a debate is delivered or given up."""
        while await self.services.store.outbox.next(debate_id) is not None:
            await self.services.clock.sleep(0.02)

    async def _stop(self, share: int, lost: bool) -> None:
        """End what is delivered to a share: at once if it was lost, else after the next part."""
        tasks = {
            self._busy[debate_id]
            for debate_id, lease in self._leases.items()
            if lease.name == self.shares.name_of(share)
        }
        if tasks and not lost:
            _, tasks = await asyncio.wait(tasks, timeout=STOP_SECONDS)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _look_for_waiting(self, shares: frozenset[int]) -> set[str]:
        served = self.shares.served._replace(held=shares)
        outbox, (platform, channel) = (
            self.services.store.outbox,
            (self.venue.platform, self.venue.channel),
        )
        if not shares:
            return set()
        now = self.services.clock.now()
        return set(await outbox.waiting(platform, channel, served=served, now=now))

    def _start(self, debate_id: str, group: asyncio.TaskGroup) -> None:
        """Deliver a debate in a separate task, unless one is running, here or elsewhere."""
        community = self._elsewhere.get(debate_id)
        if community is not None and self.shares.lease_for(community) is None:
            return
        if debate_id in self._busy:
            self._missed.add(debate_id)
            return
        task = group.create_task(self._deliver(debate_id), name=f"deliver {debate_id}")
        self._busy[debate_id] = task
        task.add_done_callback(lambda _: self._finish(debate_id))

    def _finish(self, debate_id: str) -> None:
        del self._busy[debate_id]
        self._leases.pop(debate_id, None)
        if debate_id in self._missed:
            # It may have been queued just after this task's last check.
            self._missed.discard(debate_id)
            self.services.notifier.publish(f"outbox/{self.venue.platform}", debate_id)

    async def _deliver(self, debate_id: str) -> None:
        """Deliver a debate; stops quietly if its share is lost or the debate purged meanwhile."""
        try:
            await self._deliver_in_order(debate_id)
        except LeaseLostError as lost:
            log.info("delivery waiting", platform=self.venue.platform, why=str(lost))
        except (NotFoundError, StoreError):
            if await self._exists(debate_id):
                raise
            log.info("debate deleted during delivery", debate=debate_id)

    async def _exists(self, debate_id: str) -> bool:
        try:
            await self.services.store.debates.get(debate_id)
        except NotFoundError:
            return False
        return True

    async def _deliver_in_order(self, debate_id: str) -> None:
        following = await self.services.store.outbox.next(debate_id)
        lease = following and self._take_up(following)
        if lease is None:
            return
        backoff = Backoff(LOOK_SECONDS, LONGEST_PAUSE)
        while (intent := following) is not None:
            # While people still read the turn before it is early; then a later look finds it.
            early = intent.due is not None and intent.due > self.services.clock.now()
            if early or self.shares.lease_for(intent.community) != lease:
                return
            try:
                self._missed.discard(debate_id)
                following = await self._send(lease, intent)
                backoff.reset()
                await self._caught_up(debate_id)
            except VenueAwayError as error:
                await self._wait(intent, error, backoff.next())
                following = await self.services.store.outbox.next(debate_id)
            except VenueGoneError as error:
                debate = await self.services.store.debates.get(intent.debate)
                if not (isinstance(error, VenueLockedError) and debate.revealed_at is None):
                    following = await self._gone(lease, intent, error)
                    continue
                await self._wait(intent, error, backoff.next())
                following = await self.services.store.outbox.next(debate_id)
            except VenueError as error:
                following = await self._refused(lease, intent, error)
            except (LeaseLostError, NotFoundError, StoreError):
                raise
            except Exception:  # a bug in one message must not block the others
                log.exception("unhandled error in a message", debate=debate_id, post=intent.key)
                following = await self._failed(lease, intent)
            self.services.notifier.notify(f"delivered/{debate_id}")

    def _take_up(self, intent: Intent) -> Lease | None:
        """Return the lease to deliver a debate by; None if that is for another process."""
        lease = self.shares.lease_for(intent.community)
        if lease is not None:
            self._leases[intent.debate] = lease
            # As one before this said, or its thread's lock; cleared once posted.
            if intent.reason.startswith(WAITING) or intent.reason == LOCKED:
                self._waited.add(intent.debate)
        else:  # it is published with each message of it, and so is this process
            if len(self._elsewhere) >= MOST_REMEMBERED:
                self._elsewhere.clear()
            self._elsewhere[intent.debate] = intent.community
        return lease

    async def _gone(self, lease: Lease, intent: Intent, error: VenueError) -> Intent | None:
        """Give up the messages for its thread; rerouted ones are given up separately."""
        if intent.message.elsewhere or intent.target is not None:
            return await self._refused(lease, intent, error)
        await self._last_word.go_elsewhere(lease, intent)
        await self._abandon(lease, intent.debate, error)
        return await self.services.store.outbox.next(intent.debate)

    async def _abandon(self, lease: Lease, debate_id: str, error: VenueError) -> None:
        log.warning("thread is gone", debate=debate_id, why=str(error))
        await self.services.store.deliveries.abandon(lease, debate_id, error.text)
        self._waited.discard(debate_id)
        self.services.notifier.publish("stop")
        self.services.notifier.notify(f"ended/{debate_id}")
        self.services.notifier.publish(f"votes/{self.venue.platform}")

    async def _failed(self, lease: Lease, intent: Intent) -> Intent | None:
        """Look for a message that may have been posted, and send it once more before giving up."""
        known = await self.services.store.outbox.find(intent.debate, intent.key) or intent
        sending = DeliveryState.SENDING
        if known.state is sending and (intent.state is not sending or intent.refs != known.refs):
            return known
        return await self._refused(
            lease,
            intent,
            VenueError("A bug in Rostrum affected this message; the details are in its log."),
        )

    async def _refused(self, lease: Lease, intent: Intent, error: VenueError) -> Intent | None:
        """Retry a message as plain text, then continue without it if the debate can."""
        # A server that was left is no fault of anyone who reads the log.
        tell = log.warning if isinstance(error, VenueGoneError) else log.error
        tell("message refused", debate=intent.debate, post=intent.key, why=str(error))
        if intent.target is not None:  # what it shows stays as it is
            return await self._settle(lease, intent, DeliveryState.REFUSED, str(error))
        if isinstance(intent.message, ESSENTIAL):
            await self._abandon(lease, intent.debate, error)
            return None
        if isinstance(intent.message, StanceInvite) and not intent.message.after:
            # No one can answer, so do not wait.
            await self._close(lease, intent, Question.STANCE_BEFORE)
        if isinstance(intent.message, QuestionsInvite):
            await self._close(lease, intent, Question.SUPPORT)
        if isinstance(intent.message, PersonInvite):
            question, _, step = intent.message.asks()
            await self._close(lease, intent, question, step)
        # Some of its parts may have been frozen and posted since it was read.
        tried, intent = (
            intent,
            await self.services.store.outbox.find(intent.debate, intent.key) or intent,
        )
        # A message without a place is refused before its plain parts are frozen.
        refused_plain = tried.refs == intent.refs and is_plain(tried)
        if not (isinstance(intent.message, FOLLOWED) or refused_plain):
            plain = in_plain_words(self.venue, intent)
            if plain is not None:
                return plain
        if isinstance(intent.message, Reveal):
            await self._last_word.go_elsewhere(lease, intent)
        if isinstance(intent.message, Alert | Skipped):
            await self._alerts.go_elsewhere(lease, intent, intent.message)
        return await self._settle(lease, intent, DeliveryState.REFUSED, str(error))

    async def _close(
        self, lease: Lease, intent: Intent, question: Question, step: str = ""
    ) -> None:
        now = self.services.clock.now()
        await self.services.store.votes.close(
            lease, intent.debate, now, question=question, step=step
        )
        self.services.notifier.publish(f"closed/{intent.debate}")

    async def _wait(self, intent: Intent, error: VenueError, pause: float) -> None:
        log.warning("platform unavailable", debate=intent.debate, post=intent.key, why=str(error))
        self._waited.add(intent.debate)
        waits = Text(WAITS_TO_POST, why=error.text)
        await self.services.store.queue.set_waiting(intent.debate, waits)
        after = error.retry_after if isinstance(error, VenueAwayError) else pause
        await self.services.clock.sleep(max(after, pause))

    async def _caught_up(self, debate_id: str) -> None:
        if debate_id in self._waited:
            self._waited.discard(debate_id)
            await self.services.store.queue.set_waiting(debate_id, "")

    async def _send(self, lease: Lease, intent: Intent) -> Intent | None:
        """Send the remaining parts of a message and return the debate's next one."""
        if intent.target is not None:
            target = await self.services.store.outbox.find(intent.debate, intent.target)
            if target is not None and target.refs:
                await self._show_again(intent, target.refs[0])
            return await self._settle(lease, intent, DeliveryState.SENT)
        if await self._last_word.is_given(intent):
            return await self._settle(
                lease, intent, DeliveryState.REFUSED, "The thread has taken the reveal meanwhile."
            )
        if isinstance(intent.message, Alert | Skipped):
            intent = await self._alerts.address(lease, intent, intent.message)
        intent = await self._last_word.address(intent)
        frozen = intent.parts
        parts = frozen or await self._render(intent)
        while len(intent.refs) < len(parts):
            intent = await self._send_part(lease, intent, parts)
        await self._follow_up(lease, intent)
        if isinstance(intent.message, TurnPost):
            why = self.venue.unnamed(_place(intent)) if self.venue.unnamed else None
            if why is not None:
                await self._alerts.tell_unnamed(lease, intent, why)
        if frozen and isinstance(intent.message, VoteInvite):  # it may have said another time
            with suppress(MessageGoneError):
                await self._show_again(intent, intent.refs[0])
        if UNSEEN in intent.refs:
            return await self._settle(
                lease,
                intent,
                DeliveryState.DOUBTFUL,
                "It may have been posted; the platform does not allow checking.",
            )
        return await self._settle(lease, intent, DeliveryState.SENT)

    async def _render(self, intent: Intent) -> tuple[Part, ...]:
        if isinstance(intent.message, VoteInvite):
            # An invitation with what is known when it is shown: its link, and its end.
            link, until = await self._link_to(intent, intent.message.begins), intent.message.until
            if until is None and not intent.message.mirrored:  # a mirrored one may close later
                debate = await self.services.store.debates.get(intent.debate)
                lasts = timedelta(minutes=intent.message.minutes)
                until = debate.vote_deadline or self.services.clock.now() + lasts
            return self.venue.render(
                intent.message.model_copy(update={"link": link, "until": until}), stem_of(intent)
            )
        if isinstance(intent.message, Announcement):
            linked = intent.message
            if linked.before is not None:
                from engine.delivery.board import with_link  # few debates are one

                linked = await with_link(self.venue, self.services.store, intent.community, linked)
            return self.venue.render(await self._with_page(intent, linked), stem_of(intent))
        if isinstance(intent.message, Reveal):
            revealed = await self._with_page(intent, intent.message)
            return self.venue.render(revealed, stem_of(intent))
        return self.venue.render(intent.message, stem_of(intent))

    async def _with_page(self, intent: Intent, message: M) -> M:
        if not self.permalinks.debate(intent.debate):
            return message
        from engine.delivery.board import with_page  # not all installations have pages

        return await with_page(
            self.permalinks, self.services.store, self.venue.platform, intent, message
        )

    async def _link_to(self, intent: Intent, key: str) -> str:
        """Return the address of an earlier message; empty where it has none."""
        first = await self.services.store.outbox.find(intent.debate, key)
        if first is None or not first.refs or first.refs[0] == UNSEEN:
            return ""
        try:
            return await self.venue.link(intent.community, _place(intent), first.refs[0])
        except (VenueAwayError, VenueGoneError):
            raise
        except VenueError as error:
            log.info("message has no link", debate=intent.debate, why=str(error))
            return ""

    async def _show_again(self, intent: Intent, ref: str) -> None:
        await self.venue.edit(_place(intent), ref, (await self._render(intent))[0])

    async def _send_part(self, lease: Lease, intent: Intent, parts: Sequence[Part]) -> Intent:
        part = parts[len(intent.refs)]
        ref = await self._find_doubtful(intent, part)
        if ref is None:
            # A message waiting for its slot was not sent: no deadline, never in doubt.
            waited_for = isinstance(intent.message, Announcement)
            async with self.venue.turn(_place(intent), first=waited_for, part=part):
                deadline = self.services.clock.now() + timedelta(
                    seconds=self.venue.limits.send_seconds
                )
                intent = await self.services.store.outbox.sending(lease, intent, parts, deadline)
                left = (deadline - self.services.clock.now()).total_seconds()
                if left <= 0:
                    # This process was suspended: check again that the lease is still ours.
                    return await self.services.store.outbox.unsent(lease, intent)
                ref = await self._post(lease, intent, part, left)
        if len(intent.refs) + 1 == len(parts) and not isinstance(intent.message, FOLLOWED):
            # The message is settled next, and its last reference stored with that.
            return intent.model_copy(update={"refs": (*intent.refs, ref)})
        return await self.services.store.outbox.posted(lease, intent, ref)

    async def _find_doubtful(self, intent: Intent, part: Part) -> str | None:
        """Look for a part that may have been sent before; None: it was certainly not sent.

        If reading is refused the part stays in doubt, unless the debate needs the message.
        """
        if intent.state is not DeliveryState.SENDING or intent.deadline is None:
            return None
        try:
            return await self._look(intent, part, intent.deadline)
        except (VenueAwayError, VenueGoneError):
            raise
        except VenueError as error:
            if isinstance(intent.message, FOLLOWED):
                raise
            log.warning("message in doubt", debate=intent.debate, post=intent.key, why=str(error))
            return UNSEEN

    async def _look(self, intent: Intent, part: Part, deadline: datetime) -> str | None:
        after = next((ref for ref in reversed(intent.refs) if ref != UNSEEN), None)
        found = await self.venue.find(_place(intent), part.reference, after)
        left = (deadline - self.services.clock.now()).total_seconds()
        if found is None and left > 0:
            # The request may still be in flight: wait for its deadline first.
            await self.services.clock.sleep(left)
            found = await self.venue.find(_place(intent), part.reference, after)
        return found

    async def _post(self, lease: Lease, intent: Intent, part: Part, seconds: float) -> str:
        try:
            async with asyncio.timeout(seconds):
                # An invitation to a person mentions them, which no stored message does.
                if isinstance(intent.message, PersonInvite):
                    guest = await self.services.store.guests.guest(intent.debate)
                    notify = (guest and guest.user) or ""
                    return await self.venue.post(_place(intent), part, notify=notify)
                return await self.venue.post(_place(intent), part)
        except VenueAwayError as error:
            if not error.maybe_stored:
                await self.services.store.outbox.unsent(lease, intent)
            raise
        except TimeoutError as error:
            raise VenueAwayError(
                f"{self.venue.platform} did not answer within "
                f"{self.venue.limits.send_seconds:g} s; the message is looked for before it is "
                "sent again.",
                maybe_stored=True,
            ) from error

    async def _follow_up(self, lease: Lease, intent: Intent) -> None:
        """Run a message's follow-up actions after posting; each is idempotent."""
        message, ref = intent.message, intent.refs[0]
        if isinstance(message, Announcement):
            title = headline(message.topic, TITLE_LENGTH)
            thread = await self.venue.open_thread(intent.channel, ref, title)
            await self.services.store.outbox.set_thread(
                lease, intent.debate, thread, self.services.clock.now()
            )
        elif isinstance(message, Invitation):
            question, lasts, step = message.asks()
            # People may react before the first seed is visible.
            votes, debate_id = self.services.store.votes, intent.debate
            await votes.accept(lease, debate_id, ref, question, step)
            await self._seeds.plant(debate_id, question, ref, message.options)
            now = self.services.clock.now()
            closes_at = None if lasts is None else now + lasts
            await votes.open(lease, debate_id, ref, now, closes_at, question, step)
            self.services.notifier.publish(f"votes/{self.venue.platform}")

    async def _settle(
        self, lease: Lease, intent: Intent, state: DeliveryState, error: str = ""
    ) -> Intent | None:
        instead = notice_of(intent, state, self.venue.platform)
        read_at = None
        if isinstance(intent.message, TurnPost) and intent.message.reading:
            shown = state is not DeliveryState.REFUSED
            seconds = intent.message.reading if shown else 0
            read_at = self.services.clock.now() + timedelta(seconds=seconds)
        following = await self.services.store.outbox.settle(
            lease, intent, state, error, instead, read_at
        )
        log.info("message settled", debate=intent.debate, post=intent.key, state=state)
        if isinstance(intent.message, Reveal):
            if self._board is not None:
                self._board.look_again(intent.debate)
            self.services.notifier.publish(f"seeds/{self.venue.platform}")
        return following

    async def _show_typing(self, show: Typing) -> None:
        """Show in each thread which seats are thinking, until cancelled."""
        shown: set[str] = set()
        while True:
            seats: dict[str, list[str]] = {}
            for _, thread, step in await self.services.store.journal.thinking(
                self.venue.platform, self.venue.channel, served=self.shares.served
            ):
                kind, *rest = step.split("/")  # `turn/rebuttal/A` is seat A, `jury/…` the jury
                seat = rest[1] if kind == "turn" and len(rest) > 1 else kind
                seats.setdefault(thread, []).append(seat)
            over: dict[str, list[str]] = {thread: [] for thread in shown - set(seats)}
            for thread, thinking in (over | seats).items():
                try:
                    await show(thread, thinking)
                except VenueError as error:
                    log.debug("typing not shown", thread=thread, why=str(error))
            shown = set(seats)
            await self.services.clock.sleep(self.venue.limits.typing_seconds)


def _place(intent: Intent) -> str:
    """Return a message's destination: the thread, or the channel while there is none."""
    if isinstance(intent.message, Announcement | LeagueTable) or intent.thread is None:
        return intent.channel
    return intent.thread
