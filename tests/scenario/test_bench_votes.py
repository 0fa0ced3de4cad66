"""A small run of `rostrum bench votes`: no vote differs from what its person holds."""

from __future__ import annotations

import pytest

from tests.bench.votes import Size, run_votes

SMALL = Size(debates=2, voters=20, kills=1, minutes=0.2)


@pytest.mark.parametrize("platform", ["discord", "slack"])
async def test_every_vote_is_what_people_hold_through_kills_and_refusals(platform: str) -> None:
    result = await run_votes([platform], SMALL, seed=1, runs=1)
    assert result["broken"] == [], result
    [run] = result[platform]
    assert (run["people"], run["kills"]) == (SMALL.debates * SMALL.voters, SMALL.kills)
    assert run["acts_not_told"], "nobody voted while it was away"
