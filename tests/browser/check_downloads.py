"""The pages that people download, opened from disk: a debate's, and a series' report."""

from pathlib import Path

import pytest

from bot.research.series_runs import make_files
from engine.dataset.page import write_html
from engine.series.report import make_report
from engine.values.ports import utc_now
from tests.browser.conftest import Guard, Open, assert_readable
from tests.scenario.test_report import hostile_page
from tests.unit.test_series_report import make_file, make_series

pytestmark = pytest.mark.asyncio(loop_scope="module")
MODELS = ("near/ana", "near/ben", "near/cid")


@pytest.fixture(scope="module", params=["debate.html", "report.html"])
def page_file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page in a folder; the debate's has hostile text wherever people and models wrote."""
    path: Path = tmp_path_factory.mktemp("downloads") / request.param
    if request.param == "debate.html":
        path.write_text(write_html(hostile_page()), "utf-8")
    else:
        report = make_report(make_series(make_file(MODELS)), utc_now())
        path.write_bytes(make_files(report)["report.html"])
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_anyone_can_read_it_on_any_screen_and_print_it(
    person: Open, guard: Guard, page_file: Path, scheme: str
) -> None:
    guard.origins.add("file://")
    page = await person(color_scheme=scheme)
    await page.goto(page_file.as_uri())
    await assert_readable(page)
    paper: bytes = await page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
