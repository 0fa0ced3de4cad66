"""A series is held whole, goes on after a kill, waits for models, and stops at its cap."""

import asyncio
import re
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from adapters.database.file import lock
from engine.delivery.reasons import MODEL_REFUSED, why
from engine.fleet import leases
from engine.series.contents import save_series
from engine.series.runner import Ending, SeriesProgress, plan_series, standing_of
from engine.series.spec import Series, read_series
from engine.store.usage import UsageFilter
from engine.values.debate import Cause, Model, Status
from engine.values.errors import LeaseLostError, UsageError
from tests.doubles.command import rostrum
from tests.doubles.model_server import says, status
from tests.kit import HANG_SECONDS, some
from tests.scenario.conftest import DEFAULTS, JURORS, Running, Stage

FILE: dict[str, Any] = {
    "name": "spring",
    "topics": ["Tabs beat spaces", "Tea beats coffee"],
    "models": ["near/ana", "near/ben", "near/cid"],
    "jury": {"models": [f"{one.ref}#{one.family}" for one in JURORS[:3]], "mode": "all"},
    "limits": {"debates_at_once": 4},
}
PRICED = tuple(Model.parse(name) for name in FILE["models"]) + JURORS


def series(**changes: Any) -> Series:
    return read_series(FILE | changes, ())


@pytest.fixture
def stage(stage: Stage) -> Stage:
    stage.priced = PRICED
    return stage


async def hold(line: Running, held: Series, **services: Any) -> SeriesProgress:
    await save_series(line.store, held)
    defaults, watch = services.pop("defaults", DEFAULTS), services.pop("watch", lambda _: None)
    runner = line.line.open_series(defaults, held, watch)
    runner.first_pause = 0.05
    async with asyncio.timeout(HANG_SECONDS):
        return await runner.run()


async def test_every_debate_is_held_once_sealed_nowhere_and_takes_what_the_plan_said(
    stage: Stage,
) -> None:
    seen: list[SeriesProgress] = []
    async with stage.process() as line:
        plan = await plan_series(series(), line.service, DEFAULTS)
        assert not stage.server.requests
        assert await line.store.series.all() == []
        standing = await hold(line, series(), watch=seen.append)
        debates = await line.store.series.debates("spring")
        usage = await line.store.usage.read(UsageFilter(series="spring"))
        assert await standing_of(line.store, series()) == standing.model_copy(
            update={"ending": None}
        )
        record = await line.record(debates[0].id)
    assert (standing.ending, standing.held, standing.total) == (Ending.COMPLETE, 12, 12)
    assert {debate.status for debate in debates} == {Status.CLOSED}
    assert max(one.running for one in seen) == 4
    assert record.debate.revealed_at is not None
    assert some(record.verdict).winner is not None
    assert not stage.venue.threads
    asked = Counter(body["model"] for body in stage.server.requests)
    taken: Counter[str] = Counter()
    for one in usage.totals:
        taken[one.key.removeprefix("near/")] += one.calls
    assert taken == asked
    assert (plan.debates, plan.calls) == (12, asked.total())


class KilledError(Exception):
    pass


def kill_at(number: int) -> Any:
    def watch(standing: SeriesProgress) -> None:
        if standing.held >= number:
            raise KilledError

    return watch


async def test_a_run_goes_on_after_a_kill_without_asking_anything_again(stage: Stage) -> None:
    for number in (2, 5, 9):
        async with stage.process() as line:
            with pytest.raises(KilledError):
                await hold(line, series(), watch=kill_at(number))
    async with stage.process() as line:
        standing = await hold(line, series())
        usage = await line.store.usage.read(UsageFilter(series="spring"))
        plan = await plan_series(series(), line.service, DEFAULTS)
    assert (standing.ending, standing.held) == (Ending.COMPLETE, 12)
    assert usage.sum("failed") == 0
    assert usage.sum("calls") - usage.sum("lost") == plan.calls
    assert len(stage.server.requests) == usage.sum("calls")


@pytest.mark.slow
async def test_more_topics_add_debates_and_a_changed_jury_is_refused(line: Running) -> None:
    await hold(line, series())
    standing = await hold(line, series(topics=[*FILE["topics"], "Cats beat dogs"]))
    assert standing.held == standing.total == 18
    with pytest.raises(UsageError, match="would change"):
        await hold(line, series(jury={"models": [JURORS[0].ref]}))


async def test_a_model_that_is_away_is_waited_for_while_others_go_on(stage: Stage) -> None:
    away = [status(503)] * 12
    stage.server.script(*away, model="cid")
    seen: list[SeriesProgress] = []
    with capture_logs() as logs:
        async with stage.process() as line:
            standing = await hold(line, series(), watch=seen.append)
    assert (standing.ending, standing.held, standing.failed) == (Ending.COMPLETE, 12, 0)
    assert "debate ended early" not in [one["event"] for one in logs], "it only waits"
    assert any(one.waiting == {"near/cid": 1} or one.waiting.get("near/cid") for one in seen)


async def test_a_model_that_declines_is_recorded_as_refusing_and_not_asked_again(
    stage: Stage,
) -> None:
    stage.server.script(status(400, kind="content_policy_violation"), model="cid")
    stage.server.script(says("I'm sorry, but I can't argue for this."), model="ben")
    async with stage.process() as line:
        first = await hold(line, series())
        asked = len(stage.server.requests)
        again = await hold(line, series())
        assert await standing_of(line.store, series()) == again.model_copy(update={"ending": None})
        ended = [one for one in await line.store.series.debates("spring") if one.refused]
        debate = await line.store.debates.get(ended[0].id)
    assert first == again
    assert (first.ending, first.held, first.failed, first.refused) == (Ending.COMPLETE, 11, 0, 1)
    assert first.refusals == {"near/ben": 1, "near/cid": 1}
    assert len(stage.server.requests) == asked
    assert (debate.status, debate.cause, debate.cause_model) == (
        Status.FAILED,
        Cause.REFUSED,
        "near/cid",
    )
    assert why(debate) == MODEL_REFUSED
    assert "near" not in MODEL_REFUSED


async def test_informative_pairing_stops_when_ratings_are_narrow_enough_and_goes_on(
    line: Running,
) -> None:
    wide = {"interval_points": 900, "debates_at_once": 4}
    first = await hold(line, series(pairing="informative", repeats=6, limits=wide))
    again = await hold(line, series(pairing="informative", repeats=6, limits=wide))
    assert first.ending is again.ending is Ending.COMPLETE
    assert first.total == 72
    assert 3 <= first.held == again.held < 36
    narrower = wide | {"interval_points": 400}
    second = await hold(line, series(pairing="informative", repeats=6, limits=narrower))
    assert first.held < second.held < 72
    results = await line.store.series.results("spring")
    assert None not in results.values()


@pytest.mark.slow
def test_the_command_says_that_informative_pairing_may_hold_fewer(tmp_path: Path) -> None:
    (tmp_path / "spring.toml").write_text(
        """
        name = "spring"
        topics = ["Tabs beat spaces", "Tea beats coffee"]
        models = ["rehearsal/ana", "rehearsal/ben"]
        pairing = "informative"
        repeats = 10
        jury.models = ["rehearsal/j1", "rehearsal/j2", "rehearsal/j3"]
        limits.interval_points = 900
        """
    )
    planned = rostrum(tmp_path, "series", "plan", "spring.toml").done()
    assert planned.startswith("Series spring: at most 40 debates\n")
    held = rostrum(tmp_path, "series", "run", "spring.toml").done()
    found = re.search(r"^Series spring: (\d+) of at most 40 debates held$", held, re.M)
    assert found
    assert 2 <= int(found[1]) < 40
    assert "Every rating's interval is at most 900 points wide; no more is needed." in held


def test_a_plan_makes_no_database_and_works_beside_a_process_that_runs(tmp_path: Path) -> None:
    (tmp_path / "spring.toml").write_text(
        'name = "spring"\ntopics = ["Tea"]\nmodels = ["rehearsal/ana", "rehearsal/ben"]'
    )
    new = rostrum(tmp_path, "series", "plan", "spring.toml").done()
    assert [path.name for path in tmp_path.iterdir()] == ["spring.toml"]
    rostrum(tmp_path, "migrate").done()
    with closing(lock(tmp_path / "rostrum.db")):
        assert rostrum(tmp_path, "series", "plan", "spring.toml").done() == new
        said = rostrum(tmp_path, "series", "run", "spring.toml").failed(1)
        assert said.startswith("Another Rostrum already runs on")


async def test_a_failure_for_good_is_counted_and_tried_again_by_the_next_run(stage: Stage) -> None:
    stage.server.script(status(404), model="cid")
    async with stage.process() as line:
        first = await hold(line, series())
        again = await hold(line, series())
    assert (first.ending, first.held, first.failed) == (Ending.COMPLETE, 11, 1)
    assert (again.held, again.failed) == (12, 0)


@pytest.mark.slow
async def test_a_series_stops_at_its_cap_and_goes_on_when_it_is_raised(stage: Stage) -> None:
    async with stage.process() as line:
        plan = await plan_series(series(), line.service, DEFAULTS)
        await hold(line, series(name="autumn"))
        whole = (await line.store.usage.read(UsageFilter(series="autumn"))).sum("usd")
        cap = some(plan.dearest_usd) + whole / 3
        first = await hold(line, series(limits={"usd": cap, "debates_at_once": 4}))
        spent = (await line.store.usage.read(UsageFilter(series="spring"))).sum("usd")
        assert first.ending is Ending.CAP
        assert 0 < first.held < 12
        assert spent <= cap
        second = await hold(line, series())
        assert (second.ending, second.held) == (Ending.COMPLETE, 12)
        with pytest.raises(UsageError, match="a single debate is expected to cost"):
            await plan_series(series(limits={"usd": 1e-9}), line.service, DEFAULTS)


async def test_a_stopped_series_finishes_what_runs(stage: Stage) -> None:
    async with stage.process() as line:
        asked: list[asyncio.Task[None]] = []

        def watch(standing: SeriesProgress) -> None:
            if standing.held and not asked:
                asked.append(asyncio.create_task(line.store.series.ask_stop("spring")))

        standing = await hold(line, series(), watch=watch)
        states = {debate.status for debate in await line.store.series.debates("spring")}
    assert standing.ending is Ending.STOPPED
    assert 0 < standing.held < 12
    assert states == {Status.CLOSED}


@pytest.mark.postgresql
async def test_two_processes_do_not_hold_one_series(
    line: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def held_elsewhere(name: str, holder: str, seconds: float) -> None:
        assert name == "series/spring"

    monkeypatch.setattr(line.store.leases, "claim", held_elsewhere)
    monkeypatch.setattr(leases, "LEASE_SECONDS", 0.1)
    with pytest.raises(LeaseLostError, match="held by another process"):
        await hold(line, series())


async def test_a_series_waits_until_the_lease_of_a_killed_process_has_run_out(
    line: Running,
) -> None:
    """It ended with "wrong usage", and asked to stop a process that was dead."""
    some(await line.store.leases.claim("series/spring", "killed", 1.0))
    standing = await hold(line, series(topics=["Tabs beat spaces"]))
    assert standing.ending is Ending.COMPLETE
