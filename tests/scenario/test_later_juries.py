"""Another jury reads debates that were held: beside the first, paid once, within a cap."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from ulid import ULID

from engine.dataset.entry import Pseudonyms, make_entry
from engine.dataset.verdict_tables import VERDICTS
from engine.fleet.leases import LeaseManager, Notifier
from engine.series.judging import SeriesJury, cap_left
from engine.series.runner import Ending
from engine.store import DebateRecord, ExportFilter
from engine.values.debate import Model, PanelMode
from engine.values.ports import utc_now
from tests.doubles.model_server import status
from tests.kit import until
from tests.scenario.conftest import JURORS, Running, Stage
from tests.scenario.test_series import PRICED, hold, series

LATER = JURORS[3:5]


def jury(line: Running, jurors: tuple[Model, ...] = LATER, **changes: Any) -> SeriesJury:
    keeper = LeaseManager(line.store, Notifier(), holder=str(ULID()))
    joints = (line.store, line.service.models, keeper)
    return SeriesJury(series(), jurors, PanelMode.ALL, *joints, **changes)


def rows(record: DebateRecord) -> list[dict[str, Any]]:
    voters = Pseudonyms(b"master", ExportFilter(), utc_now())
    return list(VERDICTS.rows(make_entry(record, voters, b"salt")))


async def test_another_jury_reads_a_series_once_and_changes_nothing(stage: Stage) -> None:
    stage.priced = (*PRICED, *JURORS)
    async with stage.process() as line:
        await hold(line, series())
        debates = await line.store.series.debates("spring")
        before = await line.record(debates[0].id)
        asked = len(stage.server.requests)
        reading = jury(line)
        standing = await reading.run()
        assert (standing.ending, standing.held, standing.failed) == (Ending.COMPLETE, 12, 0)
        calls = len(stage.server.requests) - asked
        assert calls == 12 * 2 * len(LATER)
        assert {body["model"] for body in stage.server.requests[asked:]} == {
            juror.name for juror in LATER
        }
        after = await line.record(debates[0].id)
        for kept in ("turns", "ballots", "verdict", "verdicts", "calls", "scores"):
            assert getattr(after, kept) == getattr(before, kept)
        found = rows(after)
        assert [row["panel"] for row in found].count(0) == len(before.ballots)
        assert {row["juror"] for row in found if row["panel"] == 1} == {one.ref for one in LATER}
        again = await jury(line).run()
        assert again.held == 12
        other = await jury(line, JURORS[:1]).run()
        assert other.held == 12
        assert len(stage.server.requests) == asked + calls + 12 * 2
        assert {row["panel"] for row in rows(await line.record(debates[0].id))} == {0, 1, 2}


async def test_what_was_stored_before_a_kill_is_not_asked_for_again(stage: Stage) -> None:
    stage.priced = (*PRICED, *JURORS)
    async with stage.process() as line:
        await hold(line, series())
        asked = len(stage.server.requests)
        stage.server.latency = 0.05
        running = asyncio.create_task(jury(line).run())
        await until(lambda: len(stage.server.requests) >= asked + 20)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        debates = [one.id for one in await line.store.series.debates("spring")]
        stored = [await line.store.journal.load(one) for one in debates]
        done = sum(step.startswith("judging/") for one in stored for step in one.steps)
        began = len(stage.server.requests)
        standing = await jury(line).run()
    assert standing.held == 12
    assert 0 < done < 48
    assert len(stage.server.requests) - began == 48 - done


async def test_a_juror_that_is_away_leaves_the_debate_for_the_next_run(stage: Stage) -> None:
    stage.priced = (*PRICED, *JURORS)
    async with stage.process() as line:
        await hold(line, series())
        stage.server.script(*[status(503)] * 60, model=LATER[0].name)  # of 72 tries at most
        reading = jury(line)
        standing = await reading.run()
        assert standing.failed > 0
        assert standing.held + standing.failed == 12
        assert all("503" in why for why in reading.problems.values())
        assert (await jury(line).run()).held == 12


@pytest.mark.slow
async def test_a_cap_is_used_up_and_a_second_run_reads_what_is_missing(stage: Stage) -> None:
    stage.priced = (*PRICED, *JURORS)
    async with stage.process() as line:
        await hold(line, series())
        whole = jury(line, JURORS[3:4], usd=100.0)
        await whole.run()
        debate = await line.store.debates.get(next(iter(whole.judged)))
        prices = {one.ref: await line.service.models.price(one) for one in LATER}
        most = await whole._most(debate, prices)
        before = (await whole._usage()).sum("usd")
        standing = await jury(line, usd=1.5 * most).run()
        spent = (await whole._usage()).sum("usd") - before
        assert standing.ending is Ending.CAP
        assert 1 < standing.held < 12
        assert 0.5 * most < spent <= 1.5 * most  # whatever is reserved for those under way
        again = await jury(line, usd=1.5 * most).run()
    assert (again.ending, again.held) == (Ending.COMPLETE, 12)


async def test_a_debate_that_is_deleted_meanwhile_is_none_to_read(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.priced = (*PRICED, *JURORS)
    async with stage.process() as line:
        await hold(line, series())
        listed = await line.store.series.debates("spring")
        await line.store.retention.delete(listed[3].id)

        async def list_as_before(*_: object) -> object:
            return listed

        monkeypatch.setattr(type(line.store.series), "debates", list_as_before)
        standing = await jury(line).run()
    assert (standing.ending, standing.total, standing.held) == (Ending.COMPLETE, 11, 11)


def test_the_cap_is_what_is_left_of_the_series_and_what_was_asked() -> None:
    assert cap_left(series(), 3.0, None) is None
    assert cap_left(series(), 3.0, 2.0) == 2.0
    assert cap_left(series(limits={"usd": 4.0}), 3.0, 2.0) == 1.0
    assert cap_left(series(limits={"usd": 4.0}), 5.0, None) == 0.0
