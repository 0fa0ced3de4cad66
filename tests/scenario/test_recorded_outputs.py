"""The same seeds give the same exports and threads as they did when they were recorded.

`make record` records them anew, on purpose; the commit that does says what changed and why.
"""

import asyncio
import shutil
from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import orjson
import pytest

from adapters.database.database import SqlDatabase
from adapters.database.transfer import copy
from tests.doubles.databases import PostgresDouble
from tests.scenario.recorded_debates import Recorded, hold_all

KEPT = Path(__file__).parents[1] / "recorded"
MOST_SHOWN, LONGEST, NOTHING = 40, 200, "nothing"


@pytest.fixture(scope="module")
def recorded(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    folder = tmp_path_factory.mktemp("recorded")
    shutil.copy(migrated_file, folder / "rostrum.db")
    url = f"sqlite+aiosqlite:///{folder / 'rostrum.db'}"
    return asyncio.run(hold_all(url, folder / "out"))


@pytest.fixture(scope="module")
def moved(
    migrated_file: Path, postgres: PostgresDouble, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Recorded]:
    folder = tmp_path_factory.mktemp("moved")
    shutil.copy(migrated_file, folder / "rostrum.db")
    name = postgres.create()

    async def move() -> str:
        target = SqlDatabase(postgres.url(name), writable=False)
        sums = await copy(folder / "rostrum.db", target, lambda headway: None)
        await target.close()
        assert sums["debates"].rows == 2
        (folder / "rostrum.db").unlink()
        return postgres.url(name)

    url = f"sqlite+aiosqlite:///{folder / 'rostrum.db'}"
    yield asyncio.run(hold_all(url, folder / "out", move))
    postgres.drop(name)


@pytest.mark.each_case
@pytest.mark.parametrize("part", Recorded._fields)
def test_what_comes_of_the_same_seeds_is_what_was_recorded(
    recorded: Recorded, part: str, pytestconfig: pytest.Config
) -> None:
    kept, found = KEPT / f"{part}.json", getattr(recorded, part)
    if pytestconfig.getoption("record"):  # first of all, as the tests below read what is kept
        kept.write_bytes(_encode(found))
    differ = list(islice(_differences(orjson.loads(kept.read_bytes()), found, ""), MOST_SHOWN))
    assert not differ, f"{kept.name} differs; `make record` if it should:\n" + "\n".join(differ)


@pytest.mark.slow
@pytest.mark.parametrize("part", Recorded._fields)
def test_debates_that_move_to_postgresql_become_what_they_would_have_become(
    moved: Recorded, part: str
) -> None:
    kept, found = KEPT / f"{part}.json", getattr(moved, part)
    assert not list(islice(_differences(orjson.loads(kept.read_bytes()), found, ""), MOST_SHOWN))


def _encode(rows: dict[str, list[Any]]) -> bytes:
    """Write one row a line, so that version control shows which rows changed."""
    tables = (
        orjson.dumps(name) + b": [\n" + b",\n".join(map(orjson.dumps, held)) + b"\n]"
        for name, held in rows.items()
    )
    return b"{\n" + b",\n".join(tables) + b"\n}\n"


def _differences(old: Any, new: Any, path: str) -> Iterator[str]:
    """Yield where two values of JSON differ, and how."""
    match old, new:
        case dict(), dict():
            if list(old) != list(new) and old.keys() == new.keys():
                yield f"{path}: the order of {', '.join(new)}"
            for name in old | new:
                where = f"{path}.{name}".lstrip(".")
                yield from _differences(old.get(name, NOTHING), new.get(name, NOTHING), where)
        case list(), list():
            for at, (was, now) in enumerate(zip_longest(old, new, fillvalue=NOTHING)):
                yield from _differences(was, now, f"{path}[{at}]")
        case _ if old != new:
            yield f"{path}: {str(old)[:LONGEST]} → {str(new)[:LONGEST]}"
