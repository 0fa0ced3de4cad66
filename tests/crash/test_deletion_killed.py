"""A debate that a worker thinks for is deleted by the gateway, also if that is killed meanwhile."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.crash.processes import Town, town, until, until_true
from tests.doubles.databases import PostgresDouble
from tests.doubles.discord import hang

CALL_SECONDS = 0.05
ANNOUNCED = "argues for it"


@pytest.fixture
async def here(tmp_path: Path, postgres: PostgresDouble, migrated_name: str) -> AsyncIterator[Town]:
    async with town(tmp_path, postgres, migrated_name, CALL_SECONDS) as made:
        yield made


@pytest.mark.slow
async def test_a_deletion_goes_on_where_a_killed_gateway_left_it(here: Town) -> None:
    gateway, _ = await here.start_all("gateway", "worker")
    here.calls.gate.set()
    doomed, other = await here.debate(2)
    await here.until_all([doomed, other], "voting")
    debate = await here.store.debates.get(doomed)
    due = here.store.retention.asked

    async def begun() -> bool:
        return any(one.messages for one in await due("discord"))

    async def done() -> bool:
        left = [debate.id for debate in await here.store.listings.recent()]
        return left == [other] and not await due("discord")

    await here.discord.fail(hang(), "DELETE", "/channels/*/messages/*", skip=3)
    await delete(here, doomed)
    await here.discord.until(lambda state: state["hanging"])
    assert await begun()
    await gateway.kill()
    await here.discord.release()
    assert debate.thread is not None
    assert debate.thread in {place for place, _ in await here.posts()}, "nothing was left to do"
    await here.start("gateway")
    await until_true(done)
    # One that a worker thinks for is stopped first, its call in flight included.
    here.calls.gate.clear()
    [running] = await here.debate(1, "Held by the worker")
    await until(lambda: here.calls.unanswered.total() > 0)
    await delete(here, running)
    await until_true(done)
    posts = await here.posts()
    threads = {place for place, _ in posts} - {debate.place}
    assert threads == {(await here.store.debates.get(other)).thread}
    # On a busy machine a command's answer may stand in the channel, too.
    announced = [shown for place, shown in posts if place == debate.place and ANNOUNCED in shown]
    assert len(announced) == 1
    assert max(posts.values()) == 1


async def delete(here: Town, debate: str) -> None:
    code = (await here.store.debates.get(debate)).code
    assert await here.ask("debate delete", {"debate": code, "confirm": True})
