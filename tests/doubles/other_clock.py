"""A process whose machine's clock is wrong: `… tests.doubles.other_clock MINUTES ADDRESS HOLDER`.

It claims the lease `debate/x` for two seconds, again and again until it has it, and says so; then
what time it is, what time it goes by, and what its clock shows.
"""

import asyncio
import ctypes
import gc
import sys
import time
from datetime import UTC, datetime, timedelta, tzinfo

LEASE, SECONDS = "debate/x", 2.0


def put_wrong(minutes: float) -> None:
    """Let this process's machine be ahead by so many minutes, whoever asks it for the time."""
    off, true_now, true_time = timedelta(minutes=minutes), datetime.now, time.time

    def now(_: type[datetime], tz: tzinfo | None = None) -> datetime:
        return true_now(tz) + off

    # A subclass would not do: what the driver returns would be none of its instances.
    [methods] = [found for found in gc.get_referents(datetime.__dict__) if type(found) is dict]
    methods["now"] = classmethod(now)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime))
    time.time = lambda: true_time() + off.total_seconds()


async def claim(url: str, holder: str) -> None:
    """Wait for the lease, and print when it came and what time it is."""
    from adapters.database.database import SqlDatabase
    from engine.store import Store
    from engine.values.ports import utc_now

    store = Store(SqlDatabase(url))
    lease = None
    while lease is None:
        await asyncio.sleep(0.05)
        lease = await store.leases.claim(LEASE, holder, SECONDS)
    true = time.clock_gettime(time.CLOCK_REALTIME)
    print(true, utc_now().timestamp(), datetime.now(UTC).timestamp(), flush=True)
    await store.close()


if __name__ == "__main__":
    put_wrong(float(sys.argv[1]))
    asyncio.run(claim(*sys.argv[2:]))
