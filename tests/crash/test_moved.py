"""A debate is killed on SQLite, copied, and ends on PostgreSQL as if nothing had happened."""

import asyncio
import re
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from adapters.database.database import SqlDatabase
from engine.dataset.entry import Keys
from engine.dataset.writer import write_export
from engine.store import ExportFilter, Store
from tests.crash.conftest import NewScene, Scene
from tests.crash.fate import URL
from tests.crash.inputs import ORDER
from tests.crash.test_kill import assert_same
from tests.doubles.command import rostrum
from tests.doubles.databases import PostgresDouble
from tests.kit import PROCESS_SECONDS
from tests.slow import slow_after

pytestmark = pytest.mark.sqlite  # it begins in a file
KEYS = Keys(splits=b"splits", master=b"master")
OURS = ExportFilter(community=ORDER.community)
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)")
# How long it took, whether one can have read it by then, in how many tries, and a hash that has the
# debate's id in it.
MACHINE = {"latency_s", "fast", "attempt", "n_calls", "voter", "judge"}
# The middle one of the points of a kind.
POINTS = {
    "while a model is asked": ("journal.began", ", after"),
    "while a message is sent": ("send", ", stored"),
    "in the vote": ("votes.cast", ", after"),
}


@pytest.fixture(scope="module", params=slow_after(1, POINTS))
def moved(
    request: pytest.FixtureRequest, clean: Scene, new_scene: NewScene, postgres: PostgresDouble
) -> Iterator[Scene]:
    """A scene whose process was killed in a file, and whose debate has ended on a server."""
    scene = new_scene()
    begins, ends = POINTS[request.param]
    points = [met for met in clean.met if met.startswith(begins) and met.endswith(ends)]
    scene.doom([points[len(points) // 2]])
    with scene.open() as process:
        assert process.wait(PROCESS_SECONDS) == -signal.SIGKILL
    name = postgres.create()
    url = postgres.url(name)
    ended = rostrum(scene.folder, "copy", "--out", url, ROSTRUM_DATABASE_URL=scene.url)
    assert ended.code == 0, ended
    (scene.folder / "debate.db").rename(scene.folder / "left.db")
    (scene.folder / URL).write_text(url)
    scene.run()
    yield replace(scene, url=url)
    postgres.drop(name)


def exported(url: str, out: Path) -> dict[str, list[Any]]:
    """Return every row of an export, without ids and times, and without tries that were cut off."""

    async def write() -> str:
        store = Store(SqlDatabase(url, writable=False))
        await asyncio.to_thread(write_export, store.archive, OURS, out, KEYS, version="0")
        [debate] = [
            d for d in await store.listings.recent(limit=99) if d.community == ORDER.community
        ]
        await store.close()
        return debate.id

    own = asyncio.run(write())
    tables = {path.parent.name: path for path in sorted(out.glob("data/*/*.jsonl"))}
    return {name: rows(path, own) for name, path in tables.items()}


def rows(path: Path, own: str) -> list[Any]:
    found = map(orjson.loads, path.read_bytes().splitlines())
    kept = (masked(row, own) for row in found if row.get("answered", True))
    return sorted(kept, key=orjson.dumps)


def masked(value: Any, own: str) -> Any:
    match value:
        case str():
            return TIME.sub("…", value.replace(own, "…").replace(own[-6:], "…"))
        case dict():
            return {k: masked(v, own) for k, v in value.items() if k not in MACHINE}
        case list():
            return [masked(each, own) for each in value]
        case _:
            return value


def test_what_people_read_and_what_is_stored_is_the_same_and_nothing_is_asked_or_posted_again(
    clean: Scene, moved: Scene
) -> None:
    assert moved.transcript() == clean.transcript()
    assert_same(moved, clean)
    assert not moved.asked_again()
    posted = [act[2]["reference"] for act in moved.platform if act[0] == "post"]
    assert len(posted) == len(set(posted))


def test_its_export_is_the_same(clean: Scene, moved: Scene, tmp_path: Path) -> None:
    expected = exported(clean.url, tmp_path / "here")
    assert exported(moved.url, tmp_path / "there") == expected
    assert {"turns", "votes"} <= expected.keys()
