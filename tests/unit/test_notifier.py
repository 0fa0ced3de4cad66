"""The notifier wakes every waiter, and loses no notification."""

import asyncio
from time import perf_counter

from engine.fleet.leases import Notifier


async def test_a_ring_wakes_who_listens_or_is_collected_later_and_once() -> None:
    notifier = Notifier()
    listening = asyncio.create_task(notifier.wait("votes", 5))
    await asyncio.sleep(0)
    notifier.publish("votes", "one")
    assert await listening == {"one"}
    notifier.publish("votes", "one")
    notifier.publish("votes", "two")
    notifier.publish("votes", "one")
    notifier.publish("stop")
    assert await notifier.wait("votes", 5) == {"one", "two"}
    assert await notifier.wait("stop", 5) == {""}
    assert await notifier.wait("votes", 0.001) == set()
    notifier, began = Notifier(), perf_counter()
    async with asyncio.timeout(60):
        assert await notifier.wait("votes", 0.02) == set()
    assert perf_counter() - began > 0.015


async def test_two_listeners_of_one_topic_both_wake() -> None:
    """Two sides that write at the same time both wait for room before a slow platform."""
    notifier = Notifier()
    listening = [asyncio.create_task(notifier.wait("delivered/x", 60)) for _ in "AB"]
    await asyncio.sleep(0)
    notifier.publish("delivered/x", "turn")
    collected = await asyncio.wait_for(asyncio.gather(*listening), 10)
    assert sorted(map(len, collected)) == [0, 1]


async def test_a_listener_that_gives_up_leaves_the_others_listening() -> None:
    notifier = Notifier()
    patient = asyncio.create_task(notifier.wait("votes", 5))
    gave_up = asyncio.create_task(notifier.wait("votes", 0.001))
    cancelled = asyncio.create_task(notifier.wait("votes", 5))
    await asyncio.sleep(0)
    cancelled.cancel()
    assert await gave_up == set()
    notifier.publish("votes", "late")
    assert await asyncio.wait_for(patient, 1) == {"late"}


async def test_a_ring_goes_to_other_processes_too() -> None:
    here, there = Notifier(), Notifier()
    here.outward = there.receive
    listening = asyncio.create_task(there.wait("votes", 5))
    await asyncio.sleep(0)
    here.publish("votes", "one")
    assert await listening == {"one"}
    listening = asyncio.create_task(there.wait("ended/x", 60))
    await asyncio.sleep(0)
    here.notify("ended/x")
    assert await asyncio.wait_for(listening, 10) == set()


async def test_keys_from_another_process_wait_only_where_somebody_listens() -> None:
    """A worker delivers nothing: every ring for a deliverer would stay in its memory."""
    notifier = Notifier()
    notifier.receive(("outbox/discord", "one"))
    assert await notifier.wait("outbox/discord", 0.001) == set()
    notifier.receive(("outbox/discord", "two"))
    assert await notifier.wait("outbox/discord", 0.001) == {"two"}
