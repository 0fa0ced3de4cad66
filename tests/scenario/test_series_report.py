"""The report of a series: totals as they were stored, results, and what they cannot say."""

from __future__ import annotations

from collections import Counter

import pytest

from bot.series_report import make_files, read_report
from engine.errors import NotFoundError
from engine.report.caveats import CaveatKind
from engine.report.report import SeriesReport
from engine.report.wording import NO_DEBATES
from engine.series.saving import save_series
from tests.doubles.model_server import status
from tests.scenario.conftest import Stage
from tests.scenario.test_series import hold, series
from tests.scenario.test_series import stage as stage


async def test_a_report_has_the_totals_and_results_of_its_series(stage: Stage) -> None:
    stage.server.script(status(503), model="ana")
    async with stage.process() as line:
        await hold(line, series())
        report = await read_report(line.store, "spring")
    asked = Counter("near/" + str(body["model"]) for body in stage.server.requests)
    assert {one.model: one.calls for one in report.availability} == asked
    assert sum(one.calls for one in report.totals) == asked.total()
    assert {one.model: one.failed for one in report.totals if one.failed} == {"near/ana": 1}
    assert (report.standing.held, report.ratings.jury, report.ratings.people) == (12, 12, 0)
    assert [(one.won + one.lost + one.tied) for one in report.wins] == [4, 4, 4]
    assert report.costs[0].usd == pytest.approx(sum(one.usd for one in report.totals) / 12)
    assert CaveatKind.FEW_DEBATES in {one.kind for one in report.caveats}


async def test_a_report_can_be_read_back_from_its_json(stage: Stage) -> None:
    async with stage.process() as line:
        await hold(line, series())
        report = await read_report(line.store, "spring")
    assert SeriesReport.model_validate_json(make_files(report)["report.json"]) == report


async def test_a_series_without_debates_and_an_unknown_one_have_a_sentence(stage: Stage) -> None:
    async with stage.process() as line:
        await save_series(line.store, series())
        report = await read_report(line.store, "spring")
        assert NO_DEBATES in make_files(report)["report.md"].decode()
        with pytest.raises(NotFoundError, match="did you mean spring"):
            await read_report(line.store, "sprong")
