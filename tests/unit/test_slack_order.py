"""Slack's events: what concerns the same thing is handled in its order, the rest side by side."""

from __future__ import annotations

import asyncio

from adapters.in_order import InOrder
from engine.values.ports import CommunityLost, EventsMissed, Inbound, ReactionSeen
from tests.kit import HANG_SECONDS


def reaction(user: str, option: str) -> ReactionSeen:
    return ReactionSeen("T1:C1/1.5", "2.5", user, option, True)


async def test_a_persons_events_wait_for_one_another_and_for_nobody_elses() -> None:
    slow, heard = asyncio.Event(), list[Inbound]()

    async def listener(event: Inbound) -> None:
        if event == reaction("ada", "A"):
            await slow.wait()
        heard.append(event)

    events = InOrder(listener)
    ada = [
        asyncio.ensure_future(events.hear("ada", reaction("ada", option))) for option in ("A", "B")
    ]
    await asyncio.wait_for(events.hear("ben", reaction("ben", "B")), HANG_SECONDS)
    assert heard == [reaction("ben", "B")]
    assert not any(task.done() for task in ada)
    slow.set()
    await asyncio.gather(*ada)
    assert heard[1:] == [reaction("ada", "A"), reaction("ada", "B")]


async def test_one_that_fails_says_so_and_holds_the_next_not_up() -> None:
    heard = list[Inbound]()

    async def listener(event: Inbound) -> None:
        if isinstance(event, CommunityLost):
            raise OSError("the disk is full")
        heard.append(event)

    events = InOrder(listener)
    failed, later = await asyncio.gather(
        events.hear("ada", CommunityLost("T1")),
        events.hear("ada", EventsMissed()),
        return_exceptions=True,
    )
    assert isinstance(failed, OSError)
    assert later is None
    assert heard == [EventsMissed()]
