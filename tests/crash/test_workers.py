"""What must hold when workers die, stand still, are cut off or are replaced, as real processes."""

import asyncio
import json
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.database.database import SqlDatabase
from adapters.database.migrate import migrate
from engine.fleet.leases import LEASE_SECONDS
from tests.crash.processes import JURORS, NAMES, Calls, Town, model_server, town, until, until_true
from tests.doubles.databases import PostgresDouble
from tests.doubles.wire import wired
from tests.kit import Starved, within

CALL_SECONDS = 0.3
TAKEOVER_SECONDS = 15.0
MANY, HALF, SOME = 20, 10, 5
PACE = 2.0  # so much faster do leases run out, but where their own time is what is shown


@pytest.fixture
async def here(tmp_path: Path, postgres: PostgresDouble, migrated_name: str) -> AsyncIterator[Town]:
    async with town(tmp_path, postgres, migrated_name, CALL_SECONDS) as made:
        yield made


async def begin(here: Town, calls: Calls, number: int) -> list[str]:
    """Start debates, and wait until all are held and wait for their first answer."""
    debates = await here.debate(number)
    await until(lambda: calls.unanswered.total() >= number)
    assert set(debates) <= (await here.holders()).keys()
    return debates


async def vote_on_one(here: Town) -> str:
    here.calls.gate.set()
    [voted] = await here.debate(1, "Before it")
    await here.until_all([voted], "voting")
    for user, option in (("ben", "A"), ("ada", "B")):
        await here.vote(voted, user, option)
    here.calls.gate.clear()
    return voted


async def taken_over(here: Town, debates: list[str], before: set[str]) -> None:
    """Wait until others hold all debates whose panel has not ended, which may not take long."""

    async def gone_on() -> bool:
        held = await here.holders()
        found = {one.id: one.status for one in await here.store.listings.recent()}
        return all(
            found[debate] == "voting" or held.get(debate, *before) not in before
            for debate in debates
        )

    with within(TAKEOVER_SECONDS, here.pids):
        await until_true(gone_on)


async def check_posts(here: Town) -> None:
    assert not {post: count for post, count in (await here.posts()).items() if count > 1}


async def test_a_killed_workers_debates_go_on_elsewhere(here: Town) -> None:
    _, doomed = await here.start_all("gateway", "worker")
    voted = await vote_on_one(here)
    debates = await begin(here, here.calls, MANY)
    before = set((await here.holders()).values())
    assert len(before) == 1
    await here.start("worker")
    here.calls.gate.set()
    asked = here.calls.asked.total()
    await until(lambda: here.calls.asked.total() >= asked + 2 * MANY)
    await here.vote(voted, "cleo", "B")
    stored = await here.stored()
    await doomed.kill()
    assert stored <= here.calls.asked.keys()
    assert len(stored) > MANY
    await taken_over(here, debates, before)
    await here.until_all(debates, "voting")
    again = here.calls.twice()
    assert again, "nothing was in flight"
    assert not stored & again.keys(), "a stored call was paid for again"
    assert max(again.values()) == 1
    await check_posts(here)
    cast = "SELECT count(*) FROM vote_events WHERE debate = :debate"
    assert await here.database.value(cast, debate=voted) == 3, "a vote was lost"


@pytest.mark.slow
async def test_a_worker_that_stood_still_stores_and_asks_nothing(here: Town) -> None:
    here.pace = PACE
    _, frozen = await here.start_all("gateway", "worker")
    debates = await begin(here, here.calls, SOME)
    before = set((await here.holders()).values())
    await here.start("worker")
    here.calls.gate.set()
    await until(lambda: here.calls.asked.total() >= 3 * SOME)
    frozen.signal(signal.SIGSTOP)
    await taken_over(here, debates, before)
    await here.until_all(debates, "voting")
    await until_true(lambda: _settled(here, SOME))
    left, asked, posts = await _at_rest(here)
    frozen.signal(signal.SIGCONT)
    await until(lambda: "held by another process" in frozen.said)
    await asyncio.sleep(1.0)
    assert await here.tables() == left
    assert here.calls.asked.total() == asked
    assert await here.posts() == posts
    await check_posts(here)
    [one] = await here.debate(1, "After it")
    await here.until_all([one], "voting")


async def _settled(here: Town, votes: int) -> bool:
    """Return whether that many votes are open and nothing is left to do."""
    unsent = "SELECT count(*) FROM outbox WHERE state IN ('pending', 'sending')"
    if await here.database.value(unsent) or await here.holders():
        return False
    return sum("Vote now in" in shown for _, shown in await here.posts()) == votes


async def _at_rest(here: Town) -> tuple[dict[str, list[str]], int, Counter[tuple[str, str]]]:
    """Return what is stored, asked and posted once nothing of it changes: cards follow slowly."""
    seen = None
    while seen != (now := (await here.tables(), here.calls.asked.total(), await here.posts())):
        seen = now
        await asyncio.sleep(1.5)
    return now


@pytest.mark.slow
async def test_a_worker_cut_off_from_its_database_makes_no_further_call(
    here: Town, postgres: PostgresDouble
) -> None:
    here.pace, calls = PACE, Calls(CALL_SECONDS)
    name = str(await here.database.value("SELECT current_database()"))
    async with model_server(calls) as url:
        with wired(postgres.port) as wire:
            address = postgres.tcp(name, port=wire.port)
            near = {"base_url": url, "local": True, "max_concurrency": here.at_once}
            backends = json.dumps({"near": near})
            settings = {"ROSTRUM_DATABASE_URL": address, "ROSTRUM_BACKENDS": backends}
            await asyncio.gather(here.start("gateway"), here.start("worker", **settings))
            debates = await begin(here, calls, SOME)
            before = set((await here.holders()).values())
            await here.start("worker")
            calls.gate.set()
            here.calls.gate.set()
            await until(lambda: calls.asked.total() >= 3 * SOME)
            wire.hold()
            held_at, starved = time.monotonic(), Starved(here.pids)
            stored = await here.stored()
            assert stored <= calls.asked.keys()
            await taken_over(here, debates, before)
            await here.until_all(debates, "voting")
            wire.mend()
            await asyncio.sleep(2.0)
            assert calls.last_at < held_at + LEASE_SECONDS / PACE + starved.seconds
            assert not stored & here.calls.asked.keys(), "somebody paid twice"
    await check_posts(here)


@pytest.mark.slow
async def test_every_process_is_replaced_without_a_repeated_call(here: Town) -> None:
    """That no command waits meanwhile is shown in test_gateways.py."""
    gateway, *workers = await here.start_all("gateway", "worker", "worker")
    here.calls.gate.set()
    debates = await here.debate(HALF)
    await until(lambda: here.calls.asked.total() >= 2 * HALF)
    for leaving, role in ((workers[0], "worker"), (gateway, "gateway"), (workers[1], "worker")):
        await asyncio.gather(leaving.stop(), here.start(role))
    await here.until_all(debates, "voting")
    assert not here.calls.twice()
    await check_posts(here)


@pytest.mark.slow
async def test_workers_keep_to_a_backends_limit_together(here: Town) -> None:
    here.at_once = 6
    await here.start_all("gateway", "worker")
    here.calls.gate.set()
    debates = await here.debate(HALF)
    await until(lambda: here.calls.most == 6)
    newcomer, _ = await here.start_all("worker", "worker")
    more = await here.debate(HALF, "More")
    await until(lambda: "limits divided" in newcomer.said)
    await here.until_all([*debates, *more], "voting")
    assert here.calls.most == 6


@pytest.mark.slow
async def test_a_server_that_is_restarted_under_load_loses_and_repeats_nothing(
    tmp_path: Path,
) -> None:
    server = PostgresDouble()
    try:
        template = server.create()
        database = SqlDatabase(server.url(template))
        await migrate(database)
        await database.close()
        async with town(tmp_path, server, template, CALL_SECONDS) as here:
            await here.start_all("gateway", "worker", "worker")
            here.calls.gate.set()
            debates = await here.debate(HALF)
            for _ in range(3):
                asked = here.calls.asked.total()
                await until(lambda: here.calls.asked.total() >= asked + HALF)  # noqa: B023
                server.crash()
                await asyncio.sleep(0.5)
                server.start()
                asked = here.calls.asked.total()
                await until(lambda: here.calls.asked.total() > asked + 1)  # noqa: B023
            await here.until_all(debates, "voting")
            assert not here.calls.twice()
            await check_posts(here)
    finally:
        server.stop()


SERIES = f"""
name = "spring"
topics = ["Tabs beat spaces"]
models = {NAMES}
jury.models = {JURORS}
"""


@pytest.mark.slow
async def test_commands_hold_debates_beside_workers(here: Town) -> None:
    here.calls.gate.set()
    (here.folder / "spring.toml").write_text(SERIES)
    await here.start("worker")
    series = await here.run("series", "run", "spring.toml")
    held = await here.run("debate", "Tea beats coffee", "--votes", "A=2,B=1")
    judged_by = ",".join(JURORS[:1])
    said = await held.done()
    assert "debates held" in await series.done()
    debates = await here.store.listings.recent()
    assert {one.status for one in debates} == {"closed"}, said
    assert len(debates) > 1
    [debate] = [one for one in debates if one.platform == "terminal"]
    assert not here.calls.twice()
    again = await here.run("judge", debate.code, "--jurors", judged_by)
    assert "Its verdict" in await again.done()
