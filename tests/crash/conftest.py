"""Folders in which processes hold a debate and die, and what is left in them."""

import asyncio
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import orjson
import pytest
from sqlalchemy import MetaData, create_engine, select

from adapters.database.database import SqlDatabase
from bot.app import MainLine
from engine.run.order import Order
from engine.store import DebateRecord, ExportFilter, Store
from engine.values.debate import Debate
from tests.crash.driver import TellingModels
from tests.crash.fate import DOOMED, FREEZE, MET, TRAIL, URL, Fate, lines
from tests.crash.inputs import ORDER, Inputs
from tests.crash.lives import READY
from tests.doubles.command import ROOT, Child, ask, environment_of, streams_to
from tests.doubles.venue import MemoryVenue
from tests.kit import PROCESS_SECONDS

MOST_DEBATES = 12
SAID = "said"
DRIVER = "import sys; from tests.crash.driver import main; sys.exit(main())"


@dataclass(frozen=True, slots=True)
class Scene:
    """A folder with one debate's database and the platform that it is held on."""

    folder: Path
    url: str
    copied: Callable[[], str]
    """Copies the database, and returns the copy's address."""

    format: str = "classic"

    def doom(self, points: list[str]) -> None:
        (self.folder / DOOMED).write_text("\n".join(points))

    def freeze(self, point: str) -> None:
        (self.folder / FREEZE).write_text(point)

    def thaw(self) -> None:
        (self.folder / FREEZE).unlink()

    def open(self, *arguments: str) -> Child:
        words = ("debate", str(self.folder), self.format, *arguments)
        with streams_to(self.folder / SAID) as streams:
            return Child(ask(DRIVER, ROOT, words, environment_of({}), streams, ready=READY))

    def finish(self, process: Child) -> None:
        """Wait until a process has come to the end of the debate."""
        with process:
            assert process.wait(PROCESS_SECONDS) == 0, (self.folder / SAID).read_text()

    def run(self) -> None:
        self.finish(self.open())

    @property
    def met(self) -> list[str]:
        """The points that a process came to, or died at."""
        return lines(self.folder / MET)

    @property
    def trail(self) -> list[str]:
        return lines(self.folder / TRAIL)

    @property
    def platform(self) -> list[list[Any]]:
        """Every act that the platform was asked for, in order."""
        return [orjson.loads(line) for line in lines(self.folder / "platform.jsonl")]

    def transcript(self) -> list[tuple[str, str]]:
        shown: dict[str, tuple[str, str]] = {}
        for act in self.platform:
            if act[0] == "post":
                shown[f"m{len(shown) + 1}"] = (act[1], act[2]["body"])
            elif act[0] == "edit":
                shown[act[2]] = (act[1], act[3]["body"])
        code = re.escape(self.platform[0][2]["reference"].partition("·")[0])
        alike = re.compile(rf"{code}|; \d+ calls, .* USD")
        return [(place, alike.sub("*", body)) for place, body in shown.values()]

    def asked_again(self) -> list[str]:
        """Return the steps that a model was asked for though their result was stored."""
        stored, again = set(), []
        for line in self.trail:
            what, _, step = line.partition(" ")
            if what == "journal.ended":
                stored.add(step.removeprefix("debate "))
            elif what == "asked" and step in stored:
                again.append(step)
        assert stored
        return again

    def record(self) -> DebateRecord:

        async def read() -> DebateRecord:
            store = Store(SqlDatabase(self.url))
            with store.archive.reading(ExportFilter(community=ORDER.community)) as records:
                [record] = records
            await store.close()
            return record

        return asyncio.run(read())

    def begin(self, order: Order, inputs: Inputs) -> Debate:
        """Begin another debate on a copy of what is in the database now, and return it."""

        async def start() -> Debate:
            store = Store(SqlDatabase(self.copied()))
            models = TellingModels(Fate(self.folder), inputs.price)
            service = MainLine(store, models, inputs.prompts, [MemoryVenue()]).service
            debate = (await service.start(order, inputs.defaults)).debate
            await store.close()
            return debate

        return asyncio.run(start())

    def users(self) -> Mapping[int, str]:
        """Return the platform's users by the ids that the database gave them."""
        return {row["id"]: row["user"] for row in self.tables()["people"]}

    def votes(self) -> dict[str, str]:
        """Return who holds what as the database has it."""
        users, rows = self.users(), self.tables()["votes"]
        return {users[row["person"]]: orjson.loads(row["body"])["option"] for row in rows}

    def tables(self) -> dict[str, list[dict[str, Any]]]:
        driver = "sqlite:" if self.url.startswith("sqlite") else "postgresql+psycopg:"
        engine = create_engine(driver + self.url.partition(":")[2])
        schema = _schemas.setdefault(driver, MetaData())
        if not schema.tables:  # it takes half a second
            schema.reflect(engine)
        with engine.connect() as connection:
            found = {
                name: [dict(row) for row in connection.execute(select(table)).mappings()]
                for name, table in schema.tables.items()
                if name != "leases"
            }
        engine.dispose()
        return found


_schemas: dict[str, MetaData] = {}  # of every scene's database, by kind


class NewScene(Protocol):
    """Makes a folder in which no debate has begun."""

    def __call__(self, format_name: str = "classic") -> Scene:
        """Return the folder, for a debate in a format."""
        ...


def one_of_each_kind(points: Sequence[str]) -> list[str]:
    """Return the middle one of the points of each kind: what is done, and when it is met."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for point in points:
        kinds.setdefault((point.split()[0], point.rpartition(", ")[2]), []).append(point)
    chosen = {alike[len(alike) // 2] for alike in kinds.values()}
    return [point for point in points if point in chosen]


def kill_at(points: list[str], new_scene: NewScene, format_name: str = "classic") -> list[Scene]:
    """Hold a debate again and again, its process killed at point after point of the clean one.

    Two at a time, one for each half of the points. What one task does when another dies is a
    point passed by: it is made up for in the next pair.
    """
    scenes: list[Scene] = []
    left = points
    while left and len(scenes) < MOST_DEBATES:
        pair = [new_scene(format_name) for half in (left[::2], left[1::2]) if half]
        for scene, doomed in zip(pair, (left[::2], left[1::2]), strict=False):
            scene.doom(doomed)
        with ExitStack() as stack:
            processes = [stack.enter_context(scene.open("chain")) for scene in pair]
            for scene, process in zip(pair, processes, strict=True):
                scene.finish(process)
        scenes += pair
        died = {point for scene in pair for point in scene.met}
        left = [point for point in left if point not in died]
    assert not left
    return scenes


@pytest.fixture(scope="session")
def new_scene(
    database_kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> NewScene:
    if database_kind == "postgresql":
        server, template = map(request.getfixturevalue, ("postgres", "migrated_name"))
    else:
        template = request.getfixturevalue("migrated_file")

    def make(format_name: str = "classic") -> Scene:
        folder = tmp_path_factory.mktemp("scene")
        if database_kind == "postgresql":
            name = server.create(template)
            url, copied = server.url(name), lambda: server.url(server.create(name))
        else:
            file = folder / "debate.db"
            shutil.copy(template, file)
            url, copied = _file(file), lambda: _file(shutil.copy(file, folder / "copy.db"))
        (folder / URL).write_text(url)
        return Scene(folder, url, copied, format_name)

    return make


def _file(path: Path | str) -> str:
    return f"sqlite+aiosqlite:///{path}"


@pytest.fixture(scope="session")
def clean(new_scene: NewScene) -> Scene:
    scene = new_scene()
    scene.run()
    return scene
