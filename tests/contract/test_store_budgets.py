"""What every Store must do with money and caps: reserve, settle, and never pass a cap."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import cycle
from random import Random
from typing import Any

import pytest

from adapters.database.database import SqlDatabase
from engine.store import AttemptStart, Store
from engine.store.series import StoredSeries
from engine.values.debate import Debate, Status
from engine.values.errors import BudgetError, NotFoundError
from engine.values.limits import Caps
from engine.values.messages import Alert
from engine.values.ports import Attempt, Reply, utc_now
from tests.kit import NO_CAPS, NOW, Running, create as create_debate, new_debate, notice, run, some

ONE_DOLLAR = NO_CAPS.model_copy(update={"community_daily_usd": 1.0})
TWO_A_DAY = NO_CAPS.model_copy(update={"user_daily_debates": 2})
TWO_LIVE = NO_CAPS.model_copy(update={"max_live_per_community": 2})


async def create(store: Store, caps: Caps, **fields: Any) -> Debate:
    new = new_debate(**fields)
    return await create_debate(store, new, caps, [notice("announcement")])


async def test_the_communitys_money_is_capped_by_day(store: Store) -> None:
    await create(store, ONE_DOLLAR, reserved=0.75)
    with pytest.raises(
        BudgetError, match=r"may cost up to 0\.50 USD, more than is left of today's 1\.00 USD here"
    ):
        await create(store, ONE_DOLLAR, reserved=0.5)
    await create(store, ONE_DOLLAR, reserved=0.25)
    await create(store, ONE_DOLLAR, reserved=0.5, community="another")
    await create(store, ONE_DOLLAR, reserved=0.5, platform="elsewhere")


async def test_a_persons_debates_are_capped_by_day(store: Store) -> None:
    for _ in range(2):
        await create(store, TWO_A_DAY)
    with pytest.raises(BudgetError, match="You have started 2 debates today, which is the cap"):
        await create(store, TWO_A_DAY, community="another")
    await create(store, TWO_A_DAY, user="user-2")
    await create(store, TWO_A_DAY, user=None)


async def test_the_live_debates_of_a_community_are_capped(store: Store) -> None:
    first = await run(store)
    await create(store, TWO_LIVE)
    with pytest.raises(BudgetError, match="2 debates are running here already, and the cap is 2"):
        await create(store, TWO_LIVE)
    await create(store, TWO_LIVE, community="another")
    await first.advance(Status.VOTING)
    await create(store, TWO_LIVE)


async def test_a_refused_debate_leaves_no_trace(store: Store) -> None:
    await create(store, ONE_DOLLAR.model_copy(update={"user_daily_debates": 2}), reserved=1.0)
    new = new_debate(reserved=0.5)
    with pytest.raises(BudgetError):
        await create_debate(store, new, ONE_DOLLAR, [notice("announcement")])
    with pytest.raises(NotFoundError):
        await store.debates.get(new.id)
    assert len(await store.outbox.waiting("chat")) == 1
    # Nor does it count among its starter's debates.
    await create(store, TWO_A_DAY)


async def left(store: Store, cap: float = 1.0) -> float:
    """Return how much of today's money is left, to the cent, by asking for it."""
    caps = NO_CAPS.model_copy(update={"community_daily_usd": cap})
    for cents in range(round(cap * 100), 0, -1):
        try:
            probe = await run(store, new_debate(reserved=cents / 100), caps)
        except BudgetError:
            continue
        await probe.advance(Status.CANCELLED)
        return cents / 100
    return 0.0


@pytest.mark.parametrize(
    "ends",
    [
        [Status.VOTING],
        [Status.PARTIAL],
        [Status.CANCELLED],
        [Status.FAILED],
        [Status.VOTING, Status.VOTING, Status.CLOSED],
    ],
)
async def test_the_end_gives_back_what_was_not_spent_once(store: Store, ends: list[Status]) -> None:
    r = await run(store, new_debate(reserved=0.95), ONE_DOLLAR)
    await r.call("turn/opening/A", cost=0.03)
    assert await left(store) == 0.05
    await r.advance(*ends)
    assert await left(store) == 0.97


async def test_a_call_of_unknown_cost_counts_at_its_most(store: Store) -> None:
    r = await run(store, new_debate(reserved=1.0), ONE_DOLLAR)
    await r.call("turn/opening/A", cost=None, cost_max=0.04)
    await r.call("turn/opening/B", cost=None, cost_max=0.02, text=None)
    await r.began("turn/closing/A", cost_max=0.03)
    assert (await store.journal.load(r.id)).spent == pytest.approx(0.09)
    await r.advance(Status.FAILED)
    assert await left(store) == 0.91


async def test_queueing_again_does_not_count_money_twice(store: Store) -> None:
    r = await run(store, new_debate(reserved=0.9), ONE_DOLLAR)
    await r.call("turn/opening/A", cost=0.3)
    await r.advance(Status.FAILED)
    assert await left(store) == 0.7
    for _ in range(2):
        # Somebody else may ask for the same at the same time.
        await asyncio.gather(*(store.queue.requeue(r.id, ONE_DOLLAR, NOW) for _ in range(3)))
        assert await left(store) == 0.1
        await r.advance(Status.RUNNING, Status.FAILED)
        assert await left(store) == 0.7
    await store.queue.requeue(r.id, ONE_DOLLAR, NOW)
    await r.advance(Status.RUNNING)
    await r.call("turn/opening/B", cost=0.1)
    await r.advance(Status.VOTING)
    assert await left(store) == 0.6


async def test_a_debate_queued_again_must_fit_again(store: Store) -> None:
    r = await run(store, new_debate(reserved=0.9), ONE_DOLLAR)
    await r.advance(Status.FAILED, reason="broken")
    await create(store, ONE_DOLLAR, reserved=0.5)
    with pytest.raises(BudgetError, match=r"may cost up to 0\.90 USD"):
        await store.queue.requeue(r.id, ONE_DOLLAR, NOW)
    assert ((await r.get()).status, (await r.get()).reason) == (Status.FAILED, "broken")
    r = await run(store)
    await r.advance(Status.FAILED)
    await create(store, TWO_LIVE)  # a second one, which counts among the live ones
    with pytest.raises(BudgetError, match="2 debates are running here already"):
        await store.queue.requeue(r.id, TWO_LIVE, NOW)


async def test_a_new_day_begins_at_midnight_utc(store: Store) -> None:
    before = datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)
    caps = ONE_DOLLAR.model_copy(update={"user_daily_debates": 1})
    late = await run(store, new_debate(reserved=1.0, created_at=before), caps)
    with pytest.raises(BudgetError):
        await create(store, caps, created_at=before)
    after = before + timedelta(seconds=1)
    await create(store, caps, reserved=1.0, created_at=after)
    # What is given back is given back to the day it was reserved on.
    await late.advance(Status.CANCELLED)
    with pytest.raises(BudgetError):
        await create(store, ONE_DOLLAR, reserved=0.01, created_at=after)
    await create(store, ONE_DOLLAR, reserved=1.0, created_at=NOW)


@dataclass
class Ledger:
    """A debate in a random order of what may happen to it, and what its provider has billed."""

    r: Running
    draw: Random
    billed: float = 0.0  # at most, where an answer was lost
    out: list[AttemptStart] = field(default_factory=list)
    tries: Counter[str] = field(default_factory=Counter)

    async def begin(self) -> None:
        step = self.draw.choice(["turn/opening/A", "jury/birch", "why", "judging/1/jury/birch"])
        if step not in {start.step for start in self.out}:
            self.tries[step] += 1
            self.out.append(await self.r.began(step, number=self.tries[step]))

    async def end(self) -> None:
        if self.out:
            start = self.out.pop(self.draw.randrange(len(self.out)))
            cost = self.draw.choice([0.0123, 0.002, None])
            self.billed += 0.25 if cost is None else cost
            attempt = Attempt(number=start.number, cost=cost, error="" if cost else "503")
            reply = cost and Reply(text="So.", finish="stop", model="m", cost=cost)
            await self.r.store.journal.ended(self.r.lease, start, attempt, reply or None)

    async def both(self) -> None:
        await asyncio.gather(self.end(), self.settle())

    async def settle(self) -> None:
        debate = await self.r.get()
        match debate.status:
            case Status.RUNNING:
                ends = [Status.VOTING, Status.PARTIAL, Status.FAILED]
                await self.r.advance(self.draw.choice(ends))
            case Status.VOTING:
                await self.r.store.votes.close(self.r.lease, debate.id, NOW)
            case Status.PARTIAL | Status.FAILED:
                await self.r.store.queue.requeue(debate.id, NO_CAPS, NOW)
                await self.r.advance(Status.RUNNING)

    async def kill(self) -> None:
        """Its process is gone, with the answers that it waited for; another goes on."""
        self.billed += 0.25 * len(self.out)
        self.out.clear()
        leases, old = self.r.store.leases, self.r.lease
        await leases.release(old)
        self.r = replace(self.r, lease=some(await leases.claim(old.name, f"after {old.epoch}", 9)))


@pytest.mark.parametrize("seed", range(12))
async def test_a_day_knows_what_calls_cost_that_ended_after_their_debate(
    store: Store, database: SqlDatabase, seed: int
) -> None:
    draw = Random(seed)
    ledgers = [Ledger(await run(store, new_debate(reserved=2.0)), draw) for _ in range(3)]
    for _ in range(60):
        one = draw.choice(ledgers)
        act = draw.choices((one.begin, one.end, one.settle, one.both, one.kill), (6, 4, 2, 1, 1))
        await act[0]()
    for one in ledgers:
        while one.out:
            await one.end()
        if (await one.r.get()).status.live:
            await one.settle()
    days = [await store.usage.day(day) for day in (NOW, utc_now())]
    journals = [(await store.journal.load(one.r.id)).spent for one in ledgers]
    assert sum(day.spent for day in days) == pytest.approx(sum(journals))
    assert sum(journals) == pytest.approx(sum(one.billed for one in ledgers))
    assert sum(day.reserved for day in days) == pytest.approx(0)


async def test_a_late_call_counts_on_the_day_on_which_it_begins_and_at_what_it_cost(
    store: Store,
) -> None:
    before = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
    r = await run(store, new_debate(reserved=0.95, created_at=before), ONE_DOLLAR)
    await r.call("turn/opening/A", cost=0.03)
    await r.advance(Status.VOTING)
    await r.call("why", cost=0.02)
    spent = [(await store.usage.day(day)).spent for day in (before, utc_now())]
    assert spent == pytest.approx([0.03, 0.02])
    # It was counted at the most that it may cost, for good, if its debate ended meanwhile.
    await store.series.save(StoredSeries(name="cup", body="{}", usd=1.0, begun_at=NOW))
    r = await run(store, new_debate(reserved=0.9, series="cup", series_key="1"))
    start = await r.began("why", cost_max=0.25)
    await r.advance(Status.VOTING)
    answer = Reply(text="So.", finish="stop", model="m", cost=0.01)
    await store.journal.ended(r.lease, start, Attempt(number=1, cost=0.01), answer)
    assert await store.series.taken("cup") == pytest.approx(0.01)


async def test_a_resume_reserves_and_settles_on_its_own_day(store: Store) -> None:
    """It was reserved, and released, on the day of the start, which no longer matters."""
    tomorrow = NOW + timedelta(days=1)
    r = await run(store, new_debate(reserved=1.0), ONE_DOLLAR)
    await r.call("turn/opening/A", cost=0.3)
    await r.advance(Status.FAILED)
    await store.queue.requeue(r.id, ONE_DOLLAR, tomorrow)
    await create(store, ONE_DOLLAR, reserved=0.7)  # today only 0.3 are spent
    with pytest.raises(BudgetError):
        await create(store, ONE_DOLLAR, reserved=0.4, created_at=tomorrow)
    await r.advance(Status.RUNNING)
    await r.call("turn/opening/B", cost=0.1)
    await r.advance(Status.VOTING)
    with pytest.raises(BudgetError):
        await create(store, ONE_DOLLAR, reserved=0.01)
    with pytest.raises(BudgetError):
        await create(store, ONE_DOLLAR, reserved=0.95, created_at=tomorrow)
    await create(store, ONE_DOLLAR, reserved=0.9, created_at=tomorrow)


async def test_a_raised_cap_is_the_cap_from_the_resume_on(store: Store) -> None:
    r = await run(store, new_debate(reserved=0.5), ONE_DOLLAR)
    await r.call("turn/opening/A", cost=0.3)
    await r.advance(Status.PARTIAL)
    raised = ONE_DOLLAR.model_copy(update={"debate_usd": 0.8})
    assert (await store.queue.requeue(r.id, raised, NOW)).setup.cap_usd == 0.8
    await r.advance(Status.RUNNING)
    # Of today's dollar 0.3 are spent and 0.5 reserved.
    await create(store, ONE_DOLLAR, reserved=0.2)
    with pytest.raises(BudgetError):
        await create(store, ONE_DOLLAR, reserved=0.01)


@pytest.mark.parametrize(("caps", "cap"), [(ONE_DOLLAR, 0.5), (NO_CAPS, None)])
async def test_without_a_cap_of_its_own_a_resumed_debate_may_spend_what_it_reserved(
    store: Store, caps: Caps, cap: float | None
) -> None:
    r = await run(store, new_debate(reserved=0.5), caps)
    await r.advance(Status.FAILED)
    assert (await store.queue.requeue(r.id, caps, NOW)).setup.cap_usd == cap


async def alerts(store: Store, *debates: Debate) -> list[str]:
    """Return which of these debates carry an alert."""
    found = [(debate.id, await store.outbox.find(debate.id, "alert")) for debate in debates]
    return [debate for debate, intent in found if intent is not None]


async def test_the_debate_that_passes_the_share_carries_the_one_alert_of_the_day(
    store: Store,
) -> None:
    first = await create(store, ONE_DOLLAR, reserved=0.5)
    many = await asyncio.gather(
        *(create(store, ONE_DOLLAR, reserved=0.1, request={"language": "tr"}) for _ in range(5))
    )
    assert await alerts(store, first, *many) == [many[2].id]
    intent = some(await store.outbox.find(many[2].id, "alert"))
    assert intent.message == Alert(language="tr", code=many[2].code, percent=80.0, usd=1.0)
    other = await create(store, ONE_DOLLAR, reserved=0.9, community="another")
    tomorrow = await create(store, ONE_DOLLAR, reserved=0.9, created_at=NOW + timedelta(days=1))
    assert await alerts(store, other, tomorrow) == [other.id, tomorrow.id]


@pytest.mark.parametrize(
    "changes",
    [{"alert_percent": None}, {"community_daily_usd": None}, {"community_daily_usd": 0.0}],
    ids=["off", "no cap", "nothing may be spent"],
)
async def test_where_no_share_can_be_passed_no_one_is_warned(
    store: Store, changes: dict[str, Any]
) -> None:
    caps = ONE_DOLLAR.model_copy(update=changes)
    debate = await create(store, caps, reserved=1.0 if caps.community_daily_usd else 0.0)
    assert await alerts(store, debate) == []


async def test_a_debate_that_is_resumed_may_pass_the_share_too(store: Store) -> None:
    held = await run(store, new_debate(reserved=0.5), ONE_DOLLAR)
    await held.advance(Status.FAILED)
    await create(store, ONE_DOLLAR, reserved=0.7)
    caps = ONE_DOLLAR.model_copy(update={"debate_usd": 0.2})
    await store.queue.requeue(held.id, caps, NOW)
    assert await store.outbox.find(held.id, "alert") is not None


ALL_TOGETHER = NO_CAPS.model_copy(update={"installation_daily_usd": 1.0})


async def test_the_money_of_all_communities_together_is_capped_by_day(store: Store) -> None:
    await create(store, ALL_TOGETHER, reserved=0.6, community="one")
    await create(store, ALL_TOGETHER, reserved=0.3, community="two", platform="elsewhere")
    with pytest.raises(
        BudgetError,
        match=r"may cost up to 0\.20 USD, more than is left of what this bot may spend today, "
        r"here and elsewhere; start again tomorrow",
    ):
        await create(store, ALL_TOGETHER, reserved=0.2, community="three")
    await create(store, ALL_TOGETHER, reserved=0.1, community="three")
    tomorrow = NOW + timedelta(days=1)
    await create(store, ALL_TOGETHER, reserved=1.0, community="one", created_at=tomorrow)
    day = await store.usage.day(NOW)
    assert day.held == pytest.approx(1.0)
    assert (day.spent, day.debates) == (0.0, 3)


async def test_what_a_debate_did_not_spend_is_there_for_another_community(store: Store) -> None:
    r = await run(store, new_debate(reserved=0.95, community="one"), ALL_TOGETHER)
    await r.call("turn/opening/A", cost=0.25)
    await r.advance(Status.FAILED)
    await create(store, ALL_TOGETHER, reserved=0.7, community="two")
    with pytest.raises(BudgetError, match="here and elsewhere"):
        await store.queue.requeue(r.id, ALL_TOGETHER, NOW)
    assert (await r.get()).status is Status.FAILED
    day = await store.usage.day(NOW)
    assert day.reserved == pytest.approx(0.7)
    assert day.spent == pytest.approx(0.25)


async def test_the_live_debates_of_all_communities_together_are_capped(store: Store) -> None:
    two = NO_CAPS.model_copy(update={"max_live": 2})
    first = await run(store, new_debate(community="one"), two)
    await create(store, two, community="two")
    with pytest.raises(BudgetError, match="As many debates are running as this bot may hold"):
        await create(store, two, community="three")
    await first.advance(Status.VOTING)
    await create(store, two, community="three")


@pytest.mark.parametrize(
    ("changes", "communities"),
    [
        ({"community_daily_usd": 0.7}, 1),
        ({"user_daily_debates": 7}, 1),
        ({"max_live_per_community": 7}, 1),
        ({"installation_daily_usd": 0.7, "community_daily_usd": 0.5}, 10),
        ({"max_live": 7}, 10),
    ],
)
async def test_a_hundred_starts_at_once_fill_a_cap_exactly(
    store: Store, database_url: str, changes: dict[str, float], communities: int
) -> None:
    caps = NO_CAPS.model_copy(update=changes)
    async with AsyncExitStack() as others:
        stores = [store]
        for _ in range(3 if "postgresql" in database_url else 0):  # of other processes
            stores.append(other := Store(SqlDatabase(database_url)))
            others.push_async_callback(other.close)
        starts = (
            create_debate(one, new_debate(reserved=0.1, community=f"c{at % communities}"), caps)
            for at, one in zip(range(100), cycle(stores), strict=False)
        )
        results = await asyncio.gather(*starts, return_exceptions=True)
    refused = [result for result in results if isinstance(result, BudgetError)]
    started = [result for result in results if isinstance(result, Debate)]
    assert (len(started), len(refused)) == (7, 93)
    assert len(await store.listings.recent()) == 7
    if "installation_daily_usd" in changes:
        assert (await store.usage.day(NOW)).held == pytest.approx(0.7)


async def test_a_days_money_survives_a_purge_and_an_invitation(store: Store) -> None:
    """A community that removes Rostrum, is purged and invites it again has spent its day."""
    today = utc_now()
    caps = ONE_DOLLAR.model_copy(update={"installation_daily_usd": 1.0})
    r = await run(store, new_debate(reserved=0.9, created_at=today), caps)
    await r.call("turn/opening/A", cost=0.8)
    await r.advance(Status.FAILED)
    debate = await r.get()
    which = (debate.platform, debate.community)
    await store.communities.left(*which, today)
    assert await store.communities.purge(*which) == 1
    await store.communities.drop_late_budgets(today)
    await store.communities.joined(*which, today)
    with pytest.raises(BudgetError, match=r"today's 1\.00 USD here"):
        await create(store, ONE_DOLLAR, reserved=0.5, created_at=today)
    with pytest.raises(BudgetError, match="here and elsewhere"):
        await create(store, caps, reserved=0.5, community="another", created_at=today)


async def test_past_days_of_a_purged_community_are_deleted_with_the_day(store: Store) -> None:
    today = utc_now()
    for created_at, cost in ((today - timedelta(days=2), 0.2), (today, 0.3)):
        r = await run(store, new_debate(reserved=0.9, created_at=created_at), ONE_DOLLAR)
        await r.call("turn/opening/A", cost=cost)
        await r.advance(Status.FAILED)
    debate = await r.get()
    which = (debate.platform, debate.community)
    await create(store, NO_CAPS, reserved=0.1, community="stays", created_at=today)
    await store.communities.purge(*which)
    spent = [(await store.usage.day(today - timedelta(days=ago))).held for ago in (2, 0)]
    assert spent == [0.0, pytest.approx(0.4)]
    assert (await store.communities.holdings(*which))[2]
    await store.communities.drop_late_budgets(today + timedelta(days=1))
    assert not (await store.communities.holdings(*which))[2]
    assert (await store.usage.day(today)).held == pytest.approx(0.1)
