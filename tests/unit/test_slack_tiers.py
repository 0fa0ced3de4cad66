"""How often each of Slack's methods is asked: never over its tier, in order, others beside it."""

from __future__ import annotations

import asyncio
import time

import pytest
from pydantic import SecretStr

from adapters.slack.errors import Act
from adapters.slack.rest import METHODS, MINUTE, Rest, Tiers
from engine.values.errors import VenueAwayError
from tests.doubles.facts import Slack
from tests.kit import skipped_time


async def test_no_minute_holds_more_than_a_tier_and_none_is_overtaken() -> None:
    minute, asked = 0.3, list[tuple[int, float]]()
    tiers = Tiers(minute)

    async def ask(number: int) -> None:
        await tiers.wait("reactions.get")
        asked.append((number, time.monotonic()))

    with skipped_time():
        await asyncio.gather(*map(ask, range(120)))
    numbers, moments = zip(*asked, strict=True)
    assert list(numbers) == list(range(120))
    most = METHODS["reactions.get"]
    # Each is noted just after it left, so a moment may be a little late.
    spans = [b - a for a, b in zip(moments, moments[most:], strict=False)]
    assert min(spans) > 0.9 * minute
    assert moments[-1] - moments[0] < 3 * minute


async def test_a_method_at_its_limit_holds_up_no_other() -> None:
    tiers = Tiers(MINUTE)
    async with asyncio.timeout(MINUTE / 2):
        for _ in range(METHODS["reactions.get"]):
            await tiers.wait("reactions.get")
        waiting = asyncio.create_task(tiers.wait("reactions.get"))
        for method in ("chat.update", "users.info", "views.open", "chat.postMessage"):
            await tiers.wait(method)
        assert not waiting.done()
    waiting.cancel()


async def test_what_was_never_asked_leaves_its_place_to_others() -> None:
    tiers = Tiers(MINUTE)
    async with asyncio.timeout(MINUTE / 2):
        for _ in range(METHODS["users.info"] - 1):
            await tiers.wait("users.info")
        for _ in range(20):
            await tiers.wait("users.info")
            tiers.give_back("users.info")
        await tiers.wait("users.info")


async def test_a_closed_method_uses_up_no_place_of_its_tier() -> None:
    """It is refused here and asked later: what Slack never saw does not count."""
    rest = Rest(SecretStr("token"), "http://127.0.0.1:9/api/")
    rest._shut["users.info"] = time.monotonic() + 60
    for _ in range(METHODS["users.info"] + 1):
        with pytest.raises(VenueAwayError):
            async with asyncio.timeout(MINUTE / 2):
                await rest.read(Act.ASK, "users.info", {"user": "U1"})


def test_the_tiers_are_those_that_slack_has() -> None:
    assert {name: Slack.TIERS[Slack.METHODS[name]] for name in METHODS} == METHODS
    assert MINUTE > 60
