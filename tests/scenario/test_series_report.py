"""The report of a series: totals as they were stored, results, and what they cannot say."""

import re
from collections import Counter
from pathlib import Path

import pytest
from aiohttp import ClientSession

from adapters.web.reader import ReadingPages
from bot.research.series_runs import make_files, read_report
from engine.pages.figures import FiguresReader
from engine.pages.stored import StoredLibrary
from engine.series.contents import save_series
from engine.series.report import SeriesReport
from engine.series.report.page import NO_DEBATES
from engine.stats.agreement import measure_agreement
from engine.stats.ratings import rank_models
from engine.stats.row import work_out
from engine.store import ExportFilter
from engine.values.errors import NotFoundError
from engine.values.ports import SystemClock
from tests.doubles.command import rostrum
from tests.doubles.model_server import status
from tests.doubles.wire import serving
from tests.kit import some
from tests.scenario.conftest import Stage
from tests.scenario.test_report import tags_of
from tests.scenario.test_series import hold, series, stage as stage


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
    assert "few_debates" in {one.kind for one in report.caveats}
    read = SeriesReport.model_validate_json(make_files(report)["report.json"])
    assert read.model_dump() == report.model_dump()


async def test_pages_have_the_figures_of_stats_and_lead_to_the_report_and_back(
    stage: Stage,
) -> None:
    async with stage.process() as line:
        await hold(line, series())
        store = line.store
        figures = FiguresReader(store, SystemClock())
        rows = await work_out(store.archive, ExportFilter(series="spring"), tuple)
        found = await figures.models({"a": "near/ana", "b": "near/ben"})
        assert found.board == rank_models(rows)
        whole, *kinds = some(found.comparison).shares
        assert whole.n == len(some(found.comparison).debates)
        assert whole.n == sum(one.n for one in kinds if one.kind == "side")
        jurors = await figures.jurors({})
        assert jurors.agreement == measure_agreement(rows)
        costs = await figures.costs({})
        assert costs["models"].debates == costs["series"].totals[0].debates == 12
        reading = ReadingPages(StoredLibrary(store), live=True, figures=figures)
        async with serving(reading.routes()) as port, ClientSession() as client:
            at = f"http://127.0.0.1:{port}"
            listed = await (await client.get(f"{at}/")).text()
            assert 'href="/series/spring"' in listed
            report = await (await client.get(f"{at}/series/spring")).text()
            assert 'href="/?series=spring"' in report
            assert "12 of 12 debates" in report
            assert (await client.get(f"{at}/series/sprong")).status == 404
            reading.end()


async def test_a_series_without_debates_and_an_unknown_one_have_a_sentence(stage: Stage) -> None:
    async with stage.process() as line:
        await save_series(line.store, series())
        report = await read_report(line.store, "spring")
        assert NO_DEBATES in make_files(report)["report.md"].decode()
        with pytest.raises(NotFoundError, match="did you mean spring"):
            await read_report(line.store, "sprong")


@pytest.fixture
def wood(tmp_path: Path) -> Path:
    models = ["rehearsal/maple", "rehearsal/birch", "rehearsal/aspen"]
    jury = ["rehearsal/oak", "rehearsal/elm", "rehearsal/ash"]
    lines = ['name = "wood"', 'topics = ["Tea beats <b>coffee</b>", "Cats beat | dogs"]']
    lines += [f"models = {models}", "[jury]", f"models = {jury}", 'mode = "all"']
    (tmp_path / "wood.toml").write_text("\n".join(lines))
    rostrum(tmp_path, "series", "run", "wood.toml").done()
    return tmp_path


def test_the_command_writes_a_report_that_holds_together(wood: Path) -> None:
    said = rostrum(wood, "series", "report", "wood", "--out", "out").done()
    assert "12 of 12 debates held" in said
    assert "not language models" in said
    out = wood / "out"
    report = SeriesReport.model_validate_json((out / "report.json").read_bytes())
    assert len(report.rehearsal) == 6
    assert report.ratings.jury == 12
    tags = tags_of((out / "report.html").read_text())
    pictures = [attrs for tag, attrs in tags if tag == "img"]
    assert [one["alt"] for one in pictures if "rehearsal/maple" in str(one["alt"])]
    for one in pictures:
        assert str(one["src"]).startswith("data:image/svg+xml;base64,")
        assert len(str(one["alt"])) > 40
    ids = {attrs["id"] for _, attrs in tags if "id" in attrs}
    links = [str(attrs["href"]) for _, attrs in tags if "href" in attrs]
    assert links
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    assert "b" not in {tag for tag, _ in tags}
    markdown = (out / "report.md").read_text()
    named = re.findall(r"\]\((\S+)\)", markdown)
    assert named == [f"{name}.svg" for name in ("ratings", "wins", "sides", "jurors")]
    for name in named:
        for file in (name, name.replace(".svg", ".png"), name.replace(".svg", "-dark.png")):
            assert (out / file).stat().st_size > 500
    for grid in re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in grid.splitlines()}) == 1


@pytest.mark.slow
def test_an_unknown_series_and_a_folder_that_cannot_be_written_are_sentences(wood: Path) -> None:
    (wood / "file").write_text("")
    unknown = rostrum(wood, "series", "report", "wod", "--out", "out").failed(1)
    assert unknown.startswith("There is no series “wod”; did you mean wood?")
    blocked = rostrum(wood, "series", "report", "wood", "--out", "file").failed(2)
    assert blocked.startswith("The report cannot be written to file: ")
    assert not (wood / "out").exists()
