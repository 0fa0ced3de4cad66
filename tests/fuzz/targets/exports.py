"""Folders of exports that somebody else made: their pages, and jurors calibrated on them.

An input is a JSON object: the rows of each file, and the manifest. Anything else is the bytes of
the one file that it has.
"""

import json
import re
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from adapters.web.reader import Links, write_call, write_calls, write_debate, write_list
from bot.record.exchange import _checked
from bot.research.cases import read_source
from engine.dataset.columns import SCHEMA_VERSION
from engine.dataset.folder import MANIFEST, listed_files
from engine.pages.debate_page import ListPage
from engine.pages.folder import FolderLibrary
from engine.store.listings import DebateQuery
from engine.values.errors import RostrumError
from tests.fuzz.target import Target, wait
from tests.fuzz.targets.texts import SHARED

LINKS = Links(live=False)
NAME = re.compile(r"manifest\.json|data/[a-z_]+/(train|test)\.jsonl")
CURRENT = "current"  # stands in seeds for the version of the tables, so that they stay readable
ONLY = "data/debates/train.jsonl"
PLAIN: dict[str, Any] = {
    "kind": "rostrum-export",
    "schema_version": CURRENT,
    "rostrum": "1",
    "cutoff": None,
    "filters": {"community": None, "formats": [], "languages": []},
    "rows": {"debates": {"train": 1}, "records": {"train": 1}},
    "files": [{"path": ONLY, "bytes": 0, "sha256": ""}],
}


@contextmanager
def folder_of(data: bytes) -> Iterator[Path]:
    """Write the folder of an input, for the time of the body."""
    with TemporaryDirectory(prefix="rostrum-fuzz-", dir=SHARED if SHARED.is_dir() else None) as top:
        for path, content in _files(data):
            place = Path(top) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        yield Path(top)


def _files(data: bytes) -> Iterator[tuple[str, bytes]]:
    try:
        given: Any = json.loads(data)
        files = {name: held for name, held in given.items() if NAME.fullmatch(name)}
    except (ValueError, AttributeError, RecursionError):
        yield ONLY, data
        files = {MANIFEST: PLAIN}
    for name, held in files.items():
        if name == MANIFEST:
            known = isinstance(held, dict) and held.get("schema_version") == CURRENT
            body = held | {"schema_version": SCHEMA_VERSION} if known else held
            yield MANIFEST, json.dumps(body).encode()
        else:
            rows = held if isinstance(held, list) else [held]
            yield name, b"".join(orjson_line(row) for row in rows)


def orjson_line(row: object) -> bytes:
    """Return a row as an export has it, or as JSON where that has no such value."""
    try:
        return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        return json.dumps(row).encode() + b"\n"


def view(data: bytes) -> None:
    with folder_of(data) as folder:
        library = FolderLibrary(folder)
        listed: ListPage = wait(library.find(DebateQuery(words=("tea",)), 1))
        listed = wait(library.find(DebateQuery(), 1))
        write_list(listed, LINKS, "en").encode()
        for item in listed.items:
            for page in _pages(library, item.id):
                with suppress(RostrumError):
                    wait(page()).encode()


def _pages(library: FolderLibrary, name: str) -> Iterator[Callable[[], Coroutine[Any, Any, str]]]:
    async def debate() -> str:
        return write_debate(await library.debate(name), LINKS)

    async def calls() -> str:
        return write_calls(await library.calls(name), LINKS)

    async def call() -> str:
        return write_call(await library.call(name, 1), LINKS)

    async def picture(which: str) -> str:
        return (await library.picture(name, which)).svg

    yield from (debate, calls, call, partial(library.turn_text, name, 1))
    yield from (partial(picture, which) for which in ("votes", "scores", "x"))


def cases(data: bytes) -> None:
    """Read an export that jurors are calibrated on."""
    nothing: Any = None
    with folder_of(data) as folder:
        for case in wait(read_source(str(folder), nothing)).cases:
            case.model_dump_json()


def push(data: bytes) -> None:
    """Check an export before it is pushed, or replaced."""
    with folder_of(data) as folder:
        listed_files(folder)
        _checked(folder)


EXPORTS = (
    Target("export-view", view, corpus="export"),
    Target("export-calibrate", cases, corpus="export"),
    Target("export-push", push, corpus="export"),
)
