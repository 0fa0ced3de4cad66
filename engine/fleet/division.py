"""Divides a platform's shares fairly among the processes that are alive.

Pure, and the same for each process that sees the same leases: no one coordinates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple


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
