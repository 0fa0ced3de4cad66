"""An annotator's browser sends its answer again when the pages were killed: it is stored once."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import ClientError, ClientSession

from adapters.database.database import SqlDatabase
from engine.labelling.tasks import Labelling
from engine.store import Store
from engine.store.labels import Terms
from engine.values.ports import SystemClock
from tests.contract.test_store_labelling import debates, labels
from tests.doubles.command import ROOT, environment_of, fork, kill_group, streams_to
from tests.kit import PROCESS_SECONDS, until
from tests.scenario.test_label_pages import Browser, answer

SERVE = "from tests.crash.label_pages import serve; serve()"
ORIGIN = re.compile(r"(http.*)\n")


@asynccontextmanager
async def pages(url: str, when: str, browser: Browser, log: Path) -> AsyncIterator[None]:
    with streams_to(log) as streams:
        process = await fork(SERVE, ROOT, (url, when), environment_of({}), streams)
    try:
        origin = await until(lambda: ORIGIN.match(log.read_text()), PROCESS_SECONDS)
        await browser.client.close()
        browser.client = ClientSession(origin[1], cookie_jar=browser.jar)
        yield
    finally:
        kill_group(process)
        await process.wait()


async def test_an_answer_whose_process_was_killed_is_stored_once_when_it_is_sent_again(
    database_url: str, tmp_path: Path
) -> None:
    database = SqlDatabase(database_url)
    labelling = Labelling(Store(database), SystemClock())
    ids = await debates(labelling.store, 2)
    await labelling.create(Terms(name="tea", repeats=0))
    (token,) = await labelling.invite("tea")
    await database.close()
    browser, stored = Browser("http://127.0.0.1:1"), []
    for when in ("before", "after"):
        async with pages(database_url, when, browser, tmp_path / when):
            page = await browser.get("/label/tea/next")
            if page.status != 200:
                page = await browser.join(f"/label/tea?t={token}")
            said = answer(page, comment=f"Killed {when}")
            try:
                told = await browser.post(page.path, **said)
            except ClientError:
                told = None
            assert told is None, "the process lives"
        stored.append(await count(database_url))
        async with pages(database_url, "never", browser, tmp_path / f"since {when}"):
            again = [await browser.post(page.path, **said) for _ in range(2)]
            assert [one.status for one in again] == [200, 200]
            assert {one.path == page.path for one in again} == {False}
        stored.append(await count(database_url))
    await browser.client.close()
    assert stored == [0, 1, 2, 2]
    assert len(ids) == 2


async def count(url: str) -> int:
    database = SqlDatabase(url, writable=False)
    found = await labels(Store(database))
    await database.close()
    assert set(found.values()) <= {1}
    return found.total()
