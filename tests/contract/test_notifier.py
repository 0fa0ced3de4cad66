"""Notifications across processes: prompt while the connection lives, and missed by no one."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

import pytest

from adapters.database.database import SqlDatabase
from adapters.database.processes import MOST_BYTES, NotificationExchange, pack
from adapters.models.router import open_models
from bot.app import MainLine
from bot.database import Role, open_sharing
from bot.settings.settings import Settings
from engine.fleet.leases import Notifier
from engine.prompts import load_prompts
from engine.run.order import Order
from engine.store import Store
from tests.doubles.databases import PostgresDouble
from tests.doubles.rehearsed import DEFAULTS
from tests.doubles.venue import MemoryVenue
from tests.doubles.wire import wired
from tests.kit import beside, until_asked, until_true

MOST_SECONDS = 0.15  # that a second process may add at the median


@asynccontextmanager
async def ringing(url: str, direct: str, sender: str) -> AsyncIterator[Notifier]:
    """A process's notifier, joined with those of others."""
    database, notifier = SqlDatabase(url), Notifier()
    async with beside(NotificationExchange(direct, database, notifier, sender).run()):
        yield notifier
    await database.close()


async def heard(here: Notifier, there: Notifier, key: str, seconds: float = 10.0) -> None:
    """Ring here until it is heard there: a process may still be on its way to listen."""

    async def publish() -> None:
        while True:
            here.publish("votes", key)
            await asyncio.sleep(0.05)

    async with beside(publish()), asyncio.timeout(seconds):
        while key not in await there.wait("votes", 0.5):
            pass


async def test_a_ring_is_heard_in_other_processes_and_not_again_in_its_own(
    postgres: PostgresDouble, name: str
) -> None:
    url = postgres.url(name)
    async with ringing(url, url, "one") as one, ringing(url, url, "two") as two:
        await heard(one, two, "a")
        await heard(two, one, "b")
        one.publish("votes", "mine")
        await heard(one, two, "after it")
        await one.wait("votes", 0.001)
        assert "mine" not in await one.wait("votes", 0.1)
        ended = asyncio.create_task(two.wait("ended/x", 60))
        await asyncio.sleep(0)
        one.notify("ended/x")
        assert await asyncio.wait_for(ended, 5) == set()


async def test_a_ring_takes_a_few_milliseconds(postgres: PostgresDouble, name: str) -> None:
    url, times = postgres.url(name), []
    async with ringing(url, url, "one") as one, ringing(url, url, "two") as two:
        await heard(one, two, "a")
        for number in range(30):
            began = perf_counter()
            one.publish("votes", f"n{number}")
            while f"n{number}" not in await two.wait("votes", 5):
                pass
            times.append(perf_counter() - began)
    assert median(times) < MOST_SECONDS


async def test_a_bell_whose_connection_is_cut_rings_again_by_itself(
    postgres: PostgresDouble, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.database.processes.LONGEST_PAUSE", 0.2)
    url = postgres.url(name)
    with wired(postgres.port) as wire:
        direct = postgres.tcp(name, port=wire.port)
        async with ringing(url, url, "one") as one, ringing(url, direct, "two") as two:
            await heard(one, two, "a")
            wire.cut()
            await asyncio.sleep(0.1)
            one.publish("votes", "unheard")
            await asyncio.sleep(0.3)
            assert "unheard" not in await two.wait("votes", 0.001)
            wire.mend()
            await heard(one, two, "b")


def test_rings_of_any_number_fit_into_what_the_server_takes() -> None:
    rings = [("outbox/discord", f"01ARZ3NDEKTSV4RRFFQ69G5F{n:02}") for n in range(100)] * 10
    payloads = pack("me", rings)
    assert 1 < len(payloads) < 20
    assert all(len(payload) <= MOST_BYTES for payload in payloads)
    assert pack("me", []) == []


@dataclass
class Course:
    """When turns of a debate were journaled and posted, in order."""

    journaled: list[float] = field(default_factory=list)
    posted: list[float] = field(default_factory=list)

    @property
    def delay(self) -> float:
        pairs = zip(self.journaled, self.posted, strict=True)
        return median(posted - journaled for journaled, posted in pairs)


@asynccontextmanager
async def process(
    url: str, role: Role, course: Course, venue: MemoryVenue | None = None
) -> AsyncIterator[MainLine]:
    settings = Settings(database_url=url)
    database = SqlDatabase(url)
    store, sharing = Store(database), open_sharing(settings, database, role)
    record = store.journal.record_turn

    async def note(*given: Any) -> None:
        await record(*given)
        course.journaled.append(time.monotonic())

    store.journal.record_turn = note  # type: ignore[method-assign, assignment]
    venues = [venue] if venue else []
    line = MainLine(store, open_models({}), load_prompts(), venues, role=role, sharing=sharing)
    async with line.running():
        yield line
    await store.close()


async def hold(line: MainLine, venue: MemoryVenue, course: Course) -> None:
    order = Order(platform="memory", community="club", place="lobby", topic="Tea beats coffee")
    started = await line.service.start(order, DEFAULTS)

    async def opened() -> bool:
        debate = await line.service.store.debates.get(started.debate.id)
        return debate.vote_opened_at is not None

    await until_true(opened)
    first: dict[str, float] = {}
    for message in venue.messages.values():
        first.setdefault(message.reference.split("·")[1], message.at)
    course.posted = sorted(first.values())[1 : 1 + len(course.journaled)]  # after the announcement


async def alone(url: str) -> Course:
    course, venue = Course(), MemoryVenue()
    async with process(url, Role.ALL, course, venue) as line:
        await hold(line, venue, course)
    return course


LISTENING = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE 'LISTEN%'"""


async def divided(url: str) -> Course:
    course, venue, database = Course(), MemoryVenue(), SqlDatabase(url)
    async with process(url, Role.WORKER, course), process(url, Role.GATEWAY, course, venue) as line:
        await until_asked(lambda: database.value(LISTENING), lambda both: both == 2)
        await hold(line, venue, course)
    await database.close()
    return course


@pytest.mark.slow
async def test_a_second_process_adds_little_between_journal_and_post(
    postgres: PostgresDouble, name: str
) -> None:
    one = await alone(postgres.url(name))
    two = await divided(postgres.url(name))
    assert len(two.journaled) == len(one.journaled) > 5
    assert two.delay - one.delay < MOST_SECONDS, (one.delay, two.delay)
