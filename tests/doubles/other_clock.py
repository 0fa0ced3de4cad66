"""A process whose machine's clock is wrong: `… tests.doubles.other_clock MINUTES ADDRESS HOLDER`.

It claims the lease `debate/x` for two seconds, again and again until it has it, and says so; then
what time it is there.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime, timedelta

import engine.ports

LEASE, SECONDS = "debate/x", 2.0


def put_wrong(minutes: float) -> None:
    """Let this process's machine be ahead by so many minutes; before anything else is imported."""
    off = timedelta(minutes=minutes)
    engine.ports.machine_now = lambda: datetime.now(UTC) + off


async def claim(url: str, holder: str) -> None:
    """Wait for the lease, and print when it came and what time it is."""
    from adapters.storage.database import Database
    from adapters.storage.store import SqlStore

    store = SqlStore(Database(url))
    lease = None
    while lease is None:
        await asyncio.sleep(0.05)
        lease = await store.leases.claim(LEASE, holder, SECONDS)
    print(datetime.now(UTC).timestamp(), engine.ports.utc_now().timestamp(), flush=True)
    await store.close()


if __name__ == "__main__":
    put_wrong(float(sys.argv[1]))
    asyncio.run(claim(*sys.argv[2:]))
