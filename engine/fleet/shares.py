"""The shares of a platform that this process holds, each by a lease.

A share's lease is the right to post to its communities. Every process that serves a divided
platform also has a lease that says that it is alive; from both, each sees what is fair
(engine/fleet/limits.py), claims what is free, and gives up what is too much. A process that
dies loses its leases when they run out.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from engine.fleet.leases import LeaseManager
from engine.store import Lease, Store
from engine.store.leases import Partition, partition_key_of
from engine.values.errors import LeaseLostError, VenueAwayError, VenueError
from engine.values.ports import Backoff, Clock

LOOK_SECONDS = 1.0
LONGEST_PAUSE = 30.0
REST_SECONDS = 3600.0  # where no other process can come
WHOLE = 0  # the only share of what is not divided
TURN_SECONDS = 0.25
SENT = 10  # by the holder of a share, for one that a process sends anyway
log = structlog.get_logger(__name__)

Divide = Callable[[], Awaitable[int | None]]
Quit = Callable[[int, bool], Awaitable[None]]


@dataclass(slots=True)
class _ShareState:
    """A share on its way in or out; `lease` is set while this process may post to it."""

    leave: asyncio.Event = field(default_factory=asyncio.Event)
    lease: Lease | None = None
    since: datetime | None = None


async def _stop_nothing(share: int, lost: bool) -> None:
    """Leave a share that nothing is done for."""


@dataclass(slots=True)
class PartitionLeases:
    """The shares of one platform, or of anything else that processes divide by leases."""

    name: str
    store: Store
    lease_manager: LeaseManager
    clock: Clock
    most: int | None = None
    count: int = 0
    _holds: dict[int, _ShareState] = field(default_factory=dict)
    _others: set[int] = field(default_factory=set)  # seen in another process's hands
    _divided: bool = True
    members: int = 1  # processes that divide them
    _left: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _quit: Quit = _stop_nothing

    # --- what is held ----------------------------------------------------------------------

    @property
    def held(self) -> frozenset[int]:
        """The shares that this process may post to now."""
        return frozenset(share for share, hold in self._holds.items() if hold.lease)

    @property
    def served(self) -> Partition:
        """What this process serves, for queries."""
        return Partition(max(1, self.count), self.held)

    @property
    def alone(self) -> bool:
        """Whether no other process was seen at the last look."""
        return self.members == 1

    @property
    def part(self) -> float:
        """The part of what all processes may send together that is this one's.

        It goes by the shares held; one that stands by may send a little, too.
        """
        if self.alone:
            return 1.0
        return (SENT * len(self.held) + 1) / (SENT * self.count + self.members)

    def lease(self, share: int) -> Lease | None:
        """Return the lease of a share, None while another process may hold it."""
        hold = self._holds.get(share)
        return hold.lease if hold else None

    def lease_for(self, community: str) -> Lease | None:
        """Return the lease to post to a community, None if it is not served here now."""
        return self.lease(partition_key_of(community) % max(1, self.count))

    def since(self, community: str) -> datetime | None:
        """Return when a community was taken over from another process, None if it was not."""
        return self.taken(partition_key_of(community) % max(1, self.count))

    def taken(self, share: int) -> datetime | None:
        """Return when a share was taken over from another process, None if it was not."""
        hold = self._holds.get(share)
        return hold.since if hold else None

    async def serving(self) -> None:
        """Wait until this process holds a share."""
        async for held in self.follow():
            if held:
                return

    async def lost(self) -> None:
        """Wait until this process holds none."""
        async for held in self.follow():
            if not held:
                return

    async def follow(self) -> AsyncIterator[frozenset[int]]:
        """Yield what is held, now and after each change."""
        while True:
            changed = self._changed
            yield self.held
            await changed.wait()

    async def changed(self, seconds: float) -> None:
        """Wait for a change, at most so long."""
        waiting = asyncio.ensure_future(self._changed.wait())
        sleeping = asyncio.ensure_future(self.clock.sleep(seconds))
        try:
            await asyncio.wait([waiting, sleeping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            sleeping.cancel()

    # --- holding ---------------------------------------------------------------------------

    async def run(self, divide: Divide | None, quit: Quit = _stop_nothing) -> None:
        """Hold a fair number of shares until cancelled, or until told to leave.

        `divide` returns into how many shares the platform is divided, None: it is not; `quit`
        ends what is done for a share before its lease is given back: at once if it was lost.
        """
        self._quit = quit
        wanted = await self._ask(divide) if divide else None
        task = asyncio.current_task()
        # In Python 3.11 a task group whose child failed swallows its own cancellation.
        while not self._left and (task is None or not task.cancelling()):
            if wanted is None:
                # Hold what is not divided, or stand by while another process does.
                self.count, self._divided = 1, False
                await self._keep(WHOLE)
                if not self._left:
                    await self.clock.sleep(LOOK_SECONDS)
            else:
                await self._take_part(wanted)

    async def leave(self) -> bool:
        """Give every share up for good, as this process ends; False if there is no one to take it.

        Then nothing changes.
        """
        live = await self.store.leases.held(self._prefix, self.lease_manager.holder)
        others = set(_members(live, self._prefix)) - {self.lease_manager.holder}
        if not others:
            return False
        self.members, self._left = 1 + len(others), True
        for hold in self._holds.values():
            hold.leave.set()
        self._notify()
        while self._holds:
            await self.changed(LOOK_SECONDS)
        return True

    @asynccontextmanager
    async def telling(self, kind: str) -> AsyncIterator[None]:
        """Let `others` of other processes show this one while the body runs.

        Raises LeaseLostError if this process was suspended for long.
        """
        async with self.lease_manager.hold(
            f"{self._prefix}{kind}{self.lease_manager.holder}", stoppable=False
        ):
            yield

    async def turn(self, name: str, seconds: float) -> None:
        """Wait until no process has had a turn of this name for so many seconds."""
        leases, holder = self.store.leases, f"{self.lease_manager.holder}/turn"
        if leases.alone:  # this process spaces its own
            return
        while await leases.claim(f"{self._prefix}{name}", holder, seconds) is None:
            await self.clock.sleep(TURN_SECONDS)

    def beside(self, name: str, most: int) -> PartitionLeases | None:
        """Return what divides something else among the same processes, at most so many each.

        None where there is only one process: all is its own.
        """
        if self.store.leases.alone:
            return None
        return PartitionLeases(name, self.store, self.lease_manager, self.clock, most)

    def name_of(self, share: int) -> str:
        """Return the name of a share's lease."""
        return f"{self._prefix}{share}" if self._divided else self._prefix[:-1]

    async def others(self, kind: str) -> dict[str, str]:
        """Return who else holds each live lease of this name's that begins with `kind`."""
        found = await self.store.leases.held(f"{self._prefix}{kind}", self.lease_manager.holder)
        return {name: by for name, by in found.items() if by != self.lease_manager.holder}

    @property
    def _prefix(self) -> str:
        return f"connection/{self.name}/"

    async def _ask(self, divide: Divide) -> int | None:
        backoff = Backoff(LOOK_SECONDS, LONGEST_PAUSE)
        while True:
            try:
                return await divide()
            except VenueError as error:  # what ends it for good is said by its connection
                log.info("shares unknown", platform=self.name, why=str(error))
                after = error.retry_after if isinstance(error, VenueAwayError) else 0.0
            await self.clock.sleep(backoff.next(after))

    async def _take_part(self, wanted: int) -> None:
        """Be one of those that divide the shares, as long as all agree on their number."""
        live = await self.store.leases.held(self._prefix, self.lease_manager.holder)
        self.count = count = self._agreed(live, wanted)
        if count != wanted:
            log.warning("other processes count shares otherwise", wanted=wanted, agreed=count)
        me = f"{self._prefix}of/{count}/{self.lease_manager.holder}"
        try:
            async with self.lease_manager.hold(me, stoppable=False), asyncio.TaskGroup() as group:
                while not self._left and await self._balance(group, count):
                    settled = self.store.leases.alone and len(self.held) == count
                    await self.changed(REST_SECONDS if settled else LOOK_SECONDS)
                for hold in self._holds.values():
                    hold.leave.set()
        except* LeaseLostError as lost:
            log.warning("membership lost", platform=self.name, why=str(lost.exceptions[0]))

    def _agreed(self, live: Mapping[str, str], wanted: int) -> int:
        """Return the number of shares that the process that began first goes by."""
        members = _members(live, self._prefix)
        return members[min(members)] if members else wanted

    async def _balance(self, group: asyncio.TaskGroup, count: int) -> bool:
        """Claim and give up what is fair now; False if the number of shares is another by now."""
        from engine.fleet.limits import moves  # a process alone has all

        me = self.lease_manager.holder
        live = await self.store.leases.held(self._prefix, me)
        members = set(_members(live, self._prefix)) | {me}
        if self._agreed(live, count) != count:
            return False
        holders = {
            share: live[name] for share in range(count) if (name := self.name_of(share)) in live
        }
        if self.members != len(members):
            self.members = len(members)
            self._notify()
        self._others |= {share for share, holder in holders.items() if holder != me}
        holders |= dict.fromkeys(self._holds, me)
        planned = moves(count, members, holders, me, self.most)
        for share in planned.claim:
            self._holds[share] = _ShareState()
            group.create_task(self._keep(share))
        for share in planned.release:
            if (hold := self._holds.get(share)) is not None:
                hold.leave.set()
        return True

    async def _keep(self, share: int) -> None:
        """Hold one share until it is lost or given up."""
        hold, lost = self._holds.setdefault(share, _ShareState()), True
        try:
            async with self.lease_manager.hold(self.name_of(share), stoppable=False) as hold.lease:
                try:
                    if share in self._others:
                        hold.since = self.clock.now()
                        log.info("share taken over", platform=self.name, share=share, of=self.count)
                    self._others.discard(share)
                    self._notify()
                    await hold.leave.wait()
                    lost = False
                finally:
                    hold.lease = None
                    self._notify()
                    await self._quit(share, lost)
        except LeaseLostError as error:
            self._others.add(share)
            log.info("delivery waiting", platform=self.name, share=share, why=str(error))
        finally:
            del self._holds[share]
            self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _members(live: Mapping[str, str], prefix: str) -> dict[str, int]:
    """Return the processes that divide the shares, each with the number it goes by."""
    start = f"{prefix}of/"
    named = {name.removeprefix(start): by for name, by in live.items() if name.startswith(start)}
    return {by: int(name.partition("/")[0]) for name, by in named.items()}
