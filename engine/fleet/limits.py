"""What processes divide among themselves: a platform's shares, and the limits of backends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import NamedTuple, Protocol

import structlog

from engine.fleet.leases import LEASE_SECONDS, RENEW_SECONDS, LeaseManager, Notifier
from engine.store import Lease, Store
from engine.values.errors import StoreError

# Divides a platform's shares fairly among the processes that are alive.
#
# Pure, and the same for each process that sees the same leases: no one coordinates.


class _Moves(NamedTuple):
    """The shares that a process should claim now, and those it should give up."""

    claim: tuple[int, ...] = ()
    release: tuple[int, ...] = ()


def moves(
    count: int,
    members: Collection[str],
    holders: Mapping[int, str],
    me: str,
    most: int | None = None,
) -> _Moves:
    """Return what process `me` should do; `members` are those alive, `me` among them.

    `holders` says who holds each share that is held. Who holds most keeps the odd ones, so as few
    shares as possible change hands. No process takes more than `most`.
    """
    has = Counter(holder for holder in holders.values() if holder in members)
    ranked = sorted(members, key=lambda member: (-has[member], member))
    fair, odd = divmod(count, len(ranked))
    quotas = {member: fair + (rank < odd) for rank, member in enumerate(ranked)}
    if most is not None:
        quotas = {member: min(quota, most) for member, quota in quotas.items()}
    mine = sorted(share for share, holder in holders.items() if holder == me)
    if len(mine) > quotas[me]:
        return _Moves(release=tuple(mine[quotas[me] :]))
    free = [share for share in range(count) if share not in holders]
    # Those ranked before take theirs from the front, so that two rarely claim the same.
    before = ranked[: ranked.index(me)]
    skipped = sum(max(0, quotas[member] - has[member]) for member in before)
    return _Moves(claim=tuple(free[skipped : skipped + quotas[me] - len(mine)]))


PREFIX = "worker/"
TOPIC = "fleet"
DRAIN_SECONDS = 0.25  # between looks while more calls are in flight than the new part allows
log = structlog.get_logger(__name__)


class _Divided(Protocol):
    """What is divided: the gate of a backend."""

    name: str

    def fits(self, size: int) -> bool:
        """Whether what is in flight is within a part of so many."""

    def changed(self) -> None:
        """Look again at what may begin."""


class Fleet:
    """This process's part of every limit: one of `size`, nothing while `size` is 0."""

    def __init__(self, size: int = 1) -> None:
        self.size = size
        self._divided: list[_Divided] = []

    def add(self, divided: _Divided) -> None:
        """Notify a gate of changes from now on."""
        self._divided.append(divided)

    def whole(self, limit: int) -> int:
        """Return the part of a limit that counts things: at least one, once calls may begin."""
        return max(1, limit // self.size) if self.size else 0

    def part(self, limit: float) -> float:
        """Return the part of a limit that is a rate."""
        return limit / self.size if self.size else 0.0

    def fits(self, size: int) -> bool:
        """Whether all that is in flight is within a part of so many."""
        return all(divided.fits(size) for divided in self._divided)

    def resize(self, size: int) -> None:
        """Keep to one part of so many from now on."""
        if size != self.size:
            self.size = size
            for divided in self._divided:
                divided.changed()


class FleetMember:
    """Keeps a fleet's size right by what all processes show."""

    def __init__(
        self, fleet: Fleet, store: Store, lease_manager: LeaseManager, notifier: Notifier
    ) -> None:
        self._fleet = fleet
        self._store = store
        self._lease_manager = lease_manager
        self._notifier = notifier
        self._shown: Lease | None = None
        fleet.resize(0)

    async def run(self) -> None:
        """Take part until cancelled, then leave."""
        try:
            while True:
                settled = await self.look()
                await self._notifier.wait(TOPIC, RENEW_SECONDS if settled else DRAIN_SECONDS)
        finally:
            with suppress(StoreError):  # then others count it until it runs out
                await self._leave()

    async def look(self) -> bool:
        """Look who is there, and move towards the right part; True once there.

        What begins keeps to a smaller part at once; others hear of it when nothing in flight
        exceeds it any more. A larger part is shown before it is taken, and then looked at again.
        """
        others = await self._others()
        if (size := len(others) + 1) != self._size:
            if size > self._fleet.size > 0:
                self._fleet.resize(size)
            if not self._fleet.fits(size):
                return False
            before, leases = self._shown, self._store.leases
            name = f"{PREFIX}{self._lease_manager.holder}/{size}"
            self._shown = await leases.claim(name, self._lease_manager.holder, LEASE_SECONDS)
            if before is not None and before.name != name:
                await leases.release(before)
            self._notifier.publish(TOPIC)
            others = await self._others()  # some may have come before they could see that
        size = len(others) + 1
        larger = not self._fleet.size or size < self._fleet.size
        if size != self._size or (larger and min(others.values(), default=size) < size):
            return False  # somebody came, or still keeps to a larger part
        if size != self._fleet.size:
            log.info("limits divided", processes=size)
            self._fleet.resize(size)
        return True

    @property
    def _size(self) -> int:
        """The part that this process shows; 0 before it has joined."""
        return int(self._shown.name.rpartition("/")[2]) if self._shown else 0

    async def _others(self) -> Mapping[str, int]:
        """Return which part each other process shows, the larger one while it changes."""
        mine = self._lease_manager.holder
        held = await self._store.leases.held(PREFIX, mine)
        if self._shown is not None and self._shown.name not in held:
            # It stood still, or was cut off, for so long that no other counted it: it joins again.
            # Without the release a renewal since would keep it from claiming that lease again.
            self._fleet.resize(0)
            await self._store.leases.release(self._shown)
            self._shown = None
        parts: dict[str, int] = {}
        for name, holder in held.items():
            if holder != mine:
                size = int(name.rpartition("/")[2])
                parts[holder] = min(parts.get(holder, size), size)
        return parts

    async def _leave(self) -> None:
        if self._shown is not None:
            await self._store.leases.release(self._shown)
            self._notifier.publish(TOPIC)
