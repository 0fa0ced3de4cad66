"""Debates that run by their state alone: the process that held them is gone."""

from __future__ import annotations

from collections.abc import Iterable

from engine.store import Store
from engine.values.debate import Debate, Status

INTERRUPTED = "interrupted"


async def interrupted(store: Store, debates: Iterable[Debate]) -> frozenset[str]:
    """Return the ids of those that no process holds, as from nine seconds after a kill on.

    One that waits for a person needs none. For readers beside the processes: the only process on a
    file knows no other holder.
    """
    running = [one.id for one in debates if one.status is Status.RUNNING]
    held = await store.leases.held("debate/", "") if running else {}
    free = [one for one in running if f"debate/{one}" not in held]
    return frozenset([one for one in free if not await store.guests.awaited(one)])


def way_on(debate: Debate) -> str:
    """Return the command that goes on with a debate that was interrupted."""
    if debate.series is not None and not debate.attended:
        return f"rostrum series run, with the file of {debate.series}"
    if debate.platform == "terminal":
        return f"rostrum debate --resume {debate.code}"
    return "rostrum run"
