"""A small run of `python -m bench.votes`: no vote differs from what its person holds."""

from __future__ import annotations

import asyncio

import pytest

from bench.votes import Size, measure
from tests.doubles.remote import Json

SMALL = Size(debates=2, voters=20, kills=1, minutes=0.2)
PLATFORMS = ("discord", "slack")


@pytest.fixture(scope="module")
def results() -> dict[str, Json]:
    """What came of a run on each platform, side by side: most of their time is waiting."""

    async def run() -> list[Json]:
        return await asyncio.gather(*(measure([p], SMALL, seed=1, runs=1) for p in PLATFORMS))

    return dict(zip(PLATFORMS, asyncio.run(run()), strict=True))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_vote_is_what_people_hold_through_kills_and_refusals(
    results: dict[str, Json], platform: str
) -> None:
    result = results[platform]
    assert result["broken"] == [], result
    [run] = result[platform]
    assert (run["people"], run["kills"]) == (SMALL.debates * SMALL.voters, SMALL.kills)
    assert run["acts_not_told"], "nobody voted while it was away"
