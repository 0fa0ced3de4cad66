"""The bell: whoever waits is woken, and no ring is lost."""

from __future__ import annotations

import asyncio
from time import perf_counter

from engine.fleet.leases import Notification, Notifier


async def test_a_ring_wakes_the_listener_with_its_key() -> None:
    bell = Notifier()
    listening = asyncio.create_task(bell.collect("votes", 5))
    await asyncio.sleep(0)
    bell.ring("votes", "one")
    assert await listening == {"one"}


async def test_rings_while_nobody_listens_are_collected_later_and_once() -> None:
    bell = Notifier()
    bell.ring("votes", "one")
    bell.ring("votes", "two")
    bell.ring("votes", "one")
    bell.ring("stop")
    assert await bell.collect("votes", 5) == {"one", "two"}
    assert await bell.collect("stop", 5) == {""}
    assert await bell.collect("votes", 0.001) == set()


async def test_nothing_rung_is_nothing_after_the_time() -> None:
    bell, began = Notifier(), perf_counter()
    async with asyncio.timeout(60):
        assert await bell.collect("votes", 0.02) == set()
    assert perf_counter() - began > 0.015


async def test_two_listeners_of_one_topic_both_wake() -> None:
    """Two sides that write at the same time both wait for room before a slow platform."""
    bell = Notifier()
    listening = [asyncio.create_task(bell.collect("delivered/x", 60)) for _ in "AB"]
    await asyncio.sleep(0)
    bell.ring("delivered/x", "turn")
    collected = await asyncio.wait_for(asyncio.gather(*listening), 10)
    assert sorted(map(len, collected)) == [0, 1]


async def test_a_listener_that_gives_up_leaves_the_others_listening() -> None:
    bell = Notifier()
    patient = asyncio.create_task(bell.collect("votes", 5))
    gave_up = asyncio.create_task(bell.collect("votes", 0.001))
    cancelled = asyncio.create_task(bell.collect("votes", 5))
    await asyncio.sleep(0)
    cancelled.cancel()
    assert await gave_up == set()
    bell.ring("votes", "late")
    assert await asyncio.wait_for(patient, 1) == {"late"}


async def test_a_ring_goes_to_other_processes_too() -> None:
    here, there = Notifier(), Notifier()
    here.outward = there.hear
    listening = asyncio.create_task(there.collect("votes", 5))
    await asyncio.sleep(0)
    here.ring("votes", "one")
    assert await listening == {"one"}
    listening = asyncio.create_task(there.collect("ended/x", 60))
    await asyncio.sleep(0)
    here.wake("ended/x")
    assert await asyncio.wait_for(listening, 10) == set()


async def test_keys_from_another_process_wait_only_where_somebody_listens() -> None:
    """A worker delivers nothing: every ring for a deliverer would stay in its memory."""
    bell = Notifier()
    bell.hear(Notification("outbox/discord", "one"))
    assert await bell.collect("outbox/discord", 0.001) == set()
    bell.hear(Notification("outbox/discord", "two"))
    assert await bell.collect("outbox/discord", 0.001) == {"two"}
