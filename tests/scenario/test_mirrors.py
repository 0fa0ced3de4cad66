"""Mirrored debates: both are held, or neither is."""

from __future__ import annotations

import pytest

from engine.values.debate import Status
from engine.values.errors import BudgetError, UsageError
from tests.scenario.conftest import DEFAULTS, NO_CAPS, SIDES, Running


async def test_a_mirrored_debate_is_held_twice_with_sides_exchanged(line: Running) -> None:
    started = await line.start(mirror=True)
    assert started.mirror is not None
    first = await line.ended(started.debate.id)
    second = await line.ended(started.mirror.id)
    assert (first.status, second.status) == (Status.CLOSED, Status.CLOSED)
    assert (first.setup.mirror_of, second.setup.mirror_of) == (None, first.id)
    assert first.request.sides == SIDES
    assert second.request.sides == {"A": SIDES["B"], "B": SIDES["A"]}
    assert first.request.topic == second.request.topic
    assert first.thread != second.thread
    assert started.estimate.calls == 2 * (8 + 6 + 1)


@pytest.mark.postgresql
@pytest.mark.parametrize(
    "caps",
    [{"max_live_per_community": 1}, {"user_daily_debates": 1}, {"community_daily_usd": 0.05}],
)
async def test_when_only_one_fits_its_budget_neither_starts(
    line: Running, caps: dict[str, float]
) -> None:
    alone = await line.start()
    most = alone.estimate.usd_max
    assert most
    await line.ended(alone.debate.id)
    if "community_daily_usd" in caps:
        spent = (await line.store.journal.spending(alone.debate.id))[1] or 0.0
        caps = {"community_daily_usd": spent + 1.5 * most}
    tight = DEFAULTS.model_copy(update={"caps": NO_CAPS.model_copy(update=caps)})
    with pytest.raises(BudgetError):
        await line.start(tight, mirror=True, user="u1")
    assert [debate.id for debate in await line.store.debates.recent()] == [alone.debate.id]
    assert (await line.start(tight, user="u1")).mirror is None


async def test_a_round_table_has_no_mirror(line: Running) -> None:
    defaults = DEFAULTS.model_copy(update={"sides": {}})
    with pytest.raises(UsageError, match="A mirror swaps two sides"):
        await line.start(defaults, mirror=True, format="roundtable")
    assert await line.store.debates.recent() == []
