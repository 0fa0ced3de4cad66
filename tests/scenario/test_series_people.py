"""A series before people: one debate at a time, each at its time, over kills and outages."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

import engine.series.schedule
from engine.delivery.reasons import MODEL_AWAY, why
from engine.run.order import Defaults
from engine.series.contents import save_series
from engine.series.runner import plan_series, standing_of
from engine.series.spec import Series, SeriesAudience, SeriesPlace, read_series
from engine.store.series import StoredSeries
from engine.values.debate import Debate, Model, Status
from engine.values.errors import BudgetError, VenueGoneError
from tests.doubles.model_server import status
from tests.doubles.venue import Fault
from tests.kit import HANG_SECONDS, beside, some, until, until_asked, until_true
from tests.scenario.conftest import DEFAULTS, JURORS, Running, Shifted, Stage

FILE: dict[str, Any] = {
    "name": "evening",
    "topics": ["Tabs beat spaces", "Tea beats coffee"],
    "models": ["near/ana", "near/ben"],
    "jury": {"models": [f"{one.ref}#{one.family}" for one in JURORS[:2]]},
}
LOBBY = SeriesAudience(place=SeriesPlace(platform="memory", channel="lobby"), every=24 * 60)
PRICED = (*map(Model.parse, FILE["models"]), *JURORS)


def series(people: SeriesAudience = LOBBY, **changes: Any) -> Series:
    return read_series(FILE | changes, ()).model_copy(update={"people": people})


@pytest.fixture
def stage(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setattr(engine.series.schedule, "LOOK_SECONDS", 0.02)
    stage.priced = PRICED
    return stage


@pytest.fixture
def clock() -> Shifted:
    return Shifted()


@asynccontextmanager
async def serving(
    stage: Stage, clock: Shifted, defaults: Defaults = DEFAULTS
) -> AsyncIterator[Running]:
    async with stage.process(clock=clock) as line:
        await line.line.reconcile()
        schedule = line.line.open_schedule(defaults)
        schedule.first_pause = 0.05
        async with beside(schedule.run()):
            yield line


async def held(line: Running, number: int) -> list[Debate]:
    return await until_asked(
        line.store.listings.recent,
        lambda found: sum(debate.status is Status.CLOSED for debate in found) >= number,
    )


async def stored(line: Running) -> StoredSeries:
    return some(await line.store.series.find("evening"))


async def begins_none(line: Running, number: int) -> None:
    await asyncio.sleep(0.3)
    assert len(await line.store.listings.recent()) == number


async def test_each_debate_is_held_in_its_channel_at_its_time_with_a_vote(
    stage: Stage, clock: Shifted
) -> None:
    async with serving(stage, clock) as line:
        await save_series(line.store, series())
        begun = clock.now()
        (first,) = await held(line, 1)
        assert (first.platform, first.community, first.place) == ("memory", "club", "lobby")
        assert first.vote_opened_at is not None
        assert first.revealed_at is not None
        assert first.series == "evening"
        assert len(stage.venue.threads) == 1
        await begins_none(line, 1)
        due = some((await stored(line)).due_at)
        assert abs(due - begun - timedelta(days=1)) < timedelta(seconds=2)
        for number in (2, 3, 4):
            clock.skip(days=1)
            await held(line, number)
        clock.skip(days=1)
        await begins_none(line, 4)
        assert (await stored(line)).due_at is None
        standing = await standing_of(line.store, series())
    assert (standing.held, standing.total) == (4, 4)


async def test_times_missed_in_an_outage_are_made_up_for_by_one_debate(
    stage: Stage, clock: Shifted
) -> None:
    async with serving(stage, clock) as line:
        await save_series(line.store, series())
        await held(line, 1)
    clock.skip(days=2.5)
    async with serving(stage, clock) as line:
        await held(line, 2)
        await begins_none(line, 2)
        due = some((await stored(line)).due_at)
        assert timedelta() < due - clock.now() <= timedelta(hours=12)


async def test_a_kill_between_debates_and_within_one_repeats_and_loses_nothing(
    stage: Stage, clock: Shifted
) -> None:
    async with serving(stage, clock) as line:
        await save_series(line.store, series())
        await until(lambda: stage.server.requests)
    async with serving(stage, clock) as line:
        (first,) = await held(line, 1)
        await begins_none(line, 1)
    async with serving(stage, clock) as line:
        await begins_none(line, 1)
        clock.skip(days=1)
        keys = {debate.series_key for debate in await held(line, 2)}
    assert len(keys) == 2
    assert first.series_key in keys


async def test_the_next_debate_waits_for_the_one_before(stage: Stage, clock: Shifted) -> None:
    slow = DEFAULTS.model_copy(update={"vote_minutes": 60 * 24 * 3.0})
    async with serving(stage, clock, slow) as line:
        await save_series(line.store, series())
        debates = await until_asked(lambda: line.store.listings.recent([Status.VOTING]), bool)
        clock.skip(days=1.5)
        await begins_none(line, 1)
        await line.until(debates[0].id, lambda debate: debate.vote_opened_at)
        await line.service.close_vote(debates[0].id)
        await until_asked(line.store.listings.recent, lambda found: len(found) == 2)


async def test_a_stopped_series_goes_on_when_its_file_is_run_again_and_is_purged_with_its_community(
    stage: Stage, clock: Shifted
) -> None:
    async with serving(stage, clock) as line:
        await save_series(line.store, series())
        await held(line, 1)
        await line.store.series.ask_stop("evening")
        clock.skip(days=1)
        await begins_none(line, 1)
        assert (await stored(line)).due_at is None
        await save_series(line.store, series())
        await held(line, 2)
        await line.store.communities.left("memory", "club", clock.now())
        assert (await stored(line)).due_at is None
        await line.store.communities.purge("memory", "club")
        assert await line.store.series.all() == []


async def test_a_place_that_is_no_channel_costs_nothing_and_is_said(
    stage: Stage, clock: Shifted
) -> None:
    stage.venue.delete("lobby")
    async with serving(stage, clock) as line:
        await save_series(line.store, series())
        known = await until_asked(lambda: stored(line), lambda one: one.problem)
        assert known.problem == "There is no channel lobby."
        await begins_none(line, 0)
        stage.venue.gone_places.clear()
        await held(line, 1)
        assert (await stored(line)).problem is None


async def test_a_debate_that_could_not_be_posted_is_tried_again_at_the_next_time(
    stage: Stage, clock: Shifted
) -> None:
    stage.venue.misbehave("post", Fault(VenueGoneError("Rostrum may not post here.")))
    async with serving(stage, clock) as line:
        await save_series(line.store, series())
        await until_true(lambda: line.store.listings.recent([Status.FAILED]))
        await begins_none(line, 1)
        clock.skip(days=1)
        (debate,) = await held(line, 1)
        assert debate.status is Status.CLOSED
        await begins_none(line, 1)


async def test_a_model_that_is_away_is_waited_for_and_not_named(
    stage: Stage, clock: Shifted
) -> None:
    stage.server.script(*[status(503)] * 6, model="ana")
    said: set[str] = set()
    async with serving(stage, clock) as line:
        await save_series(line.store, series())
        async with asyncio.timeout(HANG_SECONDS):
            while True:
                found = await line.store.listings.recent()
                said |= {why(debate) for debate in found if debate.status.live}
                if any(debate.status is Status.CLOSED for debate in found):
                    break
                await asyncio.sleep(0.005)
    assert said == {"", MODEL_AWAY}
    naming = [one.said for one in stage.venue.seen if "near/ana" in one.said]
    assert all("Jury: " in one for one in naming)  # the reveal


async def test_at_the_cap_of_a_series_it_ends_and_says_so(stage: Stage, clock: Shifted) -> None:
    async with serving(stage, clock) as line:
        plan = await plan_series(series(), line.service, DEFAULTS)
        await save_series(line.store, series(limits={"usd": plan.dearest_usd}))
        await held(line, 1)
        clock.skip(days=1)
        known = await until_asked(lambda: stored(line), lambda one: one.problem)
        await begins_none(line, 1)
    assert known.due_at is None
    assert str(known.problem).endswith("run rostrum series run with it again.")
    assert "too little is left for its next debate" in str(known.problem)


async def test_a_budget_that_is_used_up_for_now_is_waited_for(
    stage: Stage, clock: Shifted, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(stage, clock) as line:
        create, refusals = line.store.debates.create, [BudgetError("Today's budget is used up.")]

        async def refuse_once(*args: Any) -> Any:
            if refusals:
                raise refusals.pop()
            return await create(*args)

        monkeypatch.setattr(line.store.debates, "create", refuse_once)
        await save_series(line.store, series())
        await held(line, 1)
        assert not refusals
        assert (await stored(line)).problem is None
