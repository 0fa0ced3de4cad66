"""The one way out to Discord: how many leave in a second, and in which order."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from unittest.mock import Mock

import aiohttp
import pytest
from discord.http import Route
from yarl import URL

from adapters.discord.rest import MOST, WayOut
from tests.doubles.discord.rest import ASKING
from tests.kit import skipped_time


def asked(path: str) -> aiohttp.TraceRequestStartParams:
    return Mock(aiohttp.TraceRequestStartParams, url=URL(Route.BASE + path))


async def leave(way_out: WayOut, path: str = "/channels/1/messages") -> float:
    """Leave as aiohttp lets a request do, and return when."""
    [door] = way_out.trace().on_request_start
    await door(Mock(), SimpleNamespace(), asked(path))
    return time.monotonic()


def in_one_second(moments: list[float]) -> int:
    return max(sum(a <= b < a + 1 for b in moments) for a in moments)


async def test_a_crowd_never_leaves_faster_than_discord_takes_it() -> None:
    way_out = WayOut()

    async def ask() -> float:
        await way_out.admit()
        return await leave(way_out)

    with skipped_time():
        moments = await asyncio.gather(*(ask() for _ in range(2 * MOST)))
    assert in_one_second(moments) <= MOST < ASKING.requests
    assert max(moments) - min(moments) < 3


async def test_what_was_held_up_after_its_turn_leaves_in_no_bunch() -> None:
    way_out = WayOut()
    with skipped_time():
        moments = await asyncio.gather(*(leave(way_out) for _ in range(2 * MOST)))
    assert in_one_second(moments) <= MOST


@pytest.mark.parametrize("parts", [(0.5, 0.5), (0.75, 0.25), (21 / 43, 21 / 43, 1 / 43)])
async def test_several_processes_together_send_no_more_than_one_may(
    parts: tuple[float, ...],
) -> None:
    ways = [WayOut() for _ in parts]
    for way_out, part in zip(ways, parts, strict=True):
        way_out.narrow(part)

    async def ask(way_out: WayOut) -> float:
        await way_out.admit()
        return await leave(way_out)

    with skipped_time():
        crowds = [ask(way_out) for way_out in ways for _ in range(2 * MOST)]
        moments = await asyncio.gather(*crowds)
    assert in_one_second(moments) <= ASKING.requests


async def test_a_process_that_is_alone_again_sends_as_much_as_before() -> None:
    way_out = WayOut()
    way_out.narrow(0.1)
    way_out.narrow(1.0)
    with skipped_time():
        moments = await asyncio.gather(*(leave(way_out) for _ in range(2 * MOST)))
    assert max(moments) - min(moments) < 3
    assert in_one_second(moments) <= MOST


async def test_answers_to_interactions_wait_for_nobody() -> None:
    way_out = WayOut()
    answers = ("/interactions/1/token/callback", "/webhooks/1/token/messages/@original")
    with skipped_time():
        began = time.monotonic()
        for path in answers:
            for _ in range(200):
                await leave(way_out, path)
        assert time.monotonic() - began < 1


async def test_first_come_first_served_but_what_somebody_waits_for() -> None:
    way_out, served = WayOut(), list[str]()

    async def ask(name: str, *, first: bool = False) -> None:
        await way_out.admit(first=first)
        served.append(name)

    names = [f"reading {n:02}" for n in range(20)]
    tasks = [asyncio.create_task(ask(name)) for name in names]
    await asyncio.sleep(0.01)
    early = len(served)
    tasks.append(asyncio.create_task(ask("announcement", first=True)))
    await asyncio.gather(*tasks)
    assert served.index("announcement") <= early + 1
    assert [name for name in served if name != "announcement"] == names


async def test_who_gives_up_holds_nobody_up() -> None:
    way_out = WayOut()
    with skipped_time():
        tasks = [asyncio.create_task(way_out.admit()) for _ in range(30)]
        await asyncio.sleep(0)
        for task in tasks[:29]:
            task.cancel()
        async with asyncio.timeout(0.5):
            await tasks[29]
        with pytest.raises(asyncio.CancelledError):
            await tasks[0]
        async with asyncio.timeout(0.5):
            await way_out.admit()
