"""Invariants that only a test of their own would see broken: threads, owners, ids and times."""

import asyncio
import pkgutil
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

import pytest
from ulid import ULID

from adapters.models.router import open_models
from bot.app import MainLine
from engine.dataset.writer import export
from engine.prompts import load_prompts
from engine.store import ExportFilter, Store
from tests.doubles.databases import select
from tests.doubles.hall import Hall
from tests.doubles.venue import MemoryVenue
from tests.kit import HANG_SECONDS

# Pure Python over whole debates: each of these takes long enough to hold up every other debate.
HEAVY = (
    "engine.blinding.transcript.blind",
    "engine.jury.fit_quality.fit_all",
    "engine.dataset.writer.write_export",
)
BACKGROUND = (
    "adapters.dispatch.LocalDispatcher.run",
    "engine.delivery.outbox.Delivery.run",
    "engine.fleet.leases.LeaseManager.run",
    "engine.votes.window.VoteWindow.run",
)


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> dict[str, set[str]]:
    """The threads in which each piece of heavy work is done."""
    seen: dict[str, set[str]] = defaultdict(set)

    def watched(path: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def watch(*args: Any, **options: Any) -> Any:
            seen[path].add(threading.current_thread().name)
            return work(*args, **options)

        return watch

    for path in HEAVY:
        monkeypatch.setattr(path, watched(path, pkgutil.resolve_name(path)))
    return seen


@pytest.mark.usefixtures("far_east")
async def test_ids_are_ulids_times_are_utc_and_nothing_heavy_is_done_in_the_event_loops_thread(
    database_url: str, tmp_path: Path, workers: dict[str, set[str]]
) -> None:
    began = datetime.now(UTC)
    async with Hall(database_url).open() as session:
        debate_id = await session.start()
        await session.voting(debate_id)
        await session.service.close_vote(debate_id)
        debate = await session.ended(debate_id)
        ended = datetime.now(UTC)
        await session.service.learner.fit_now(rehearsal=True)
        await export(session.store, tmp_path / "out", ExportFilter(), None, version="0")
    assert set(workers) == set(HEAVY)
    assert threading.current_thread().name not in set[str]().union(*workers.values())
    ulid = ULID.from_str(debate.id)
    assert str(ulid) == debate.id
    moments = [debate.created_at, debate.opened_at, debate.vote_opened_at, debate.revealed_at]
    assert began - timedelta(milliseconds=1) <= ulid.datetime <= ended
    assert all(moment and began <= moment <= ended for moment in moments)
    assert {moment and moment.utcoffset() for moment in moments} == {timedelta(0)}
    [stored] = select(database_url, "SELECT created_at, revealed_at FROM debates")
    # A file has the text of a moment in UTC, a server the moment.
    kept = [datetime.fromisoformat(f"{at}+00:00") if isinstance(at, str) else at for at in stored]
    assert kept == [debate.created_at, debate.revealed_at]


@pytest.mark.each_case
@pytest.mark.parametrize("task", BACKGROUND)
async def test_a_background_task_that_dies_ends_the_process_with_its_exception(
    task: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: object) -> NoReturn:
        raise ZeroDivisionError(task)

    monkeypatch.setattr(task, die)
    line = MainLine(store, open_models({}), load_prompts(), [MemoryVenue()])
    with pytest.raises(ExceptionGroup) as ended:
        async with asyncio.timeout(HANG_SECONDS), line.running():
            await asyncio.Event().wait()
    assert ended.group_contains(ZeroDivisionError, match=task)


@pytest.fixture
def far_east(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose own time is nine hours ahead of UTC."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
