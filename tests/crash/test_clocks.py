"""Machines whose clocks are minutes apart: real processes that share a database's time."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.fleet.leases import LEASE_SECONDS, RENEW_SECONDS
from tests.crash.processes import COMMAND, alone, town, until, until_true
from tests.doubles.databases import PostgresDouble
from tests.kit import within

CALL_SECONDS = 0.2
TAKEOVER_SECONDS = 15.0
DEBATES = 4
FAST, SLOW = 5.0, -5.0  # minutes
VOTE = timedelta(seconds=15)
LATE = timedelta(minutes=2)  # on a machine that has much to do; a wrong clock would be more
COURSE = "SELECT opened_at, closes_at, closed_at FROM questions WHERE question = 'vote'"
EPOCHS = "SELECT name, epoch FROM leases WHERE holder <> '' ORDER BY name"
UNSENT = "SELECT count(*) FROM outbox WHERE state <> 'sent'"


def put_wrong_by(minutes: float) -> str:
    wrong = f"from tests.doubles.other_clock import put_wrong; put_wrong({minutes})"
    return wrong + COMMAND


@pytest.mark.slow
async def test_clocks_that_are_minutes_apart_change_nothing(
    tmp_path: Path, postgres: PostgresDouble, migrated_name: str
) -> None:
    began = datetime.now(UTC)
    async with town(tmp_path, postgres, migrated_name, CALL_SECONDS) as here:
        here.begin = alone  # nothing may have taken the time's functions from where they are
        settings = {"ROSTRUM_DEFAULT_VOTE_MINUTES": str(VOTE / timedelta(minutes=1))}
        here.command = put_wrong_by(FAST)
        gateway = await here.start("gateway", **settings)
        here.command = put_wrong_by(SLOW)
        worker = await here.start("worker")
        debates = await here.debate(DEBATES)
        await until(lambda: here.calls.asked.total() >= DEBATES)
        first = await here.holders()
        # The other way round: whose clock is ahead would find leases run out, and take them.
        here.command = put_wrong_by(FAST)
        await here.start("worker")
        here.command = put_wrong_by(SLOW)
        await here.start("gateway", **settings)
        epochs = await here.database.rows(EPOCHS)
        renewed = datetime.now(UTC) + timedelta(seconds=2 * RENEW_SECONDS)
        await until(lambda: datetime.now(UTC) > renewed)
        assert {debate: (await here.holders())[debate] for debate in debates} == first
        after = {row.name: row.epoch for row in await here.database.rows(EPOCHS)}
        assert {row.name: after.get(row.name) for row in epochs} == {
            row.name: row.epoch for row in epochs
        }
        here.calls.gate.set()
        await until(lambda: here.calls.asked.total() >= 3 * DEBATES)
        await worker.kill()
        await gateway.kill()
        killed_at = datetime.now(UTC)

        async def followed() -> bool:
            held, state = await here.holders(), await here.discord.state()
            return bool(state["connected"]) and not set(held.values()) & set(first.values())

        with within(TAKEOVER_SECONDS, here.pids):
            await until_true(followed)
        assert datetime.now(UTC) - killed_at > timedelta(seconds=LEASE_SECONDS - RENEW_SECONDS) / 2
        await here.until_all(debates, "closed")
        course = await here.database.rows(COURSE)
        assert len(course) == DEBATES
        for row in course:
            assert began < row.opened_at < datetime.now(UTC)
            assert row.closes_at - row.opened_at == VOTE
            assert timedelta() <= row.closed_at - row.closes_at < LATE

        async def all_sent() -> bool:
            return not await here.database.value(UNSENT)

        await until_true(all_sent)
        twice = here.calls.twice()
        assert max(twice.values(), default=1) == 1
        posts = await here.posts()
    assert not {post: times for post, times in posts.items() if times > 1}
