"""Debates that share a short code: a community finds its own, and is asked which one is meant."""

from pathlib import Path
from typing import Any

import pytest

from bot.app import App
from engine.values.debate import Debate, Status
from tests.doubles.command import rostrum
from tests.kit import NO_CAPS, new_debate, some
from tests.scenario.chat_stage import Chat, vote
from tests.scenario.discord_stage import voting

EARLIER = "01ARZ3NDEKTSV4RRFFQ{}"


async def namesake(app: App, debate: Debate, community: str, topic: str) -> Debate:
    """Store a cancelled debate whose id ends as another's."""
    where: dict[str, Any] = {
        "platform": debate.platform,
        "community": community,
        "place": debate.place,
    }
    number = 900 + (community == debate.community)
    id = EARLIER.format(number % 10) + debate.id[-6:]
    new = new_debate(id=id, number=number, request={"topic": topic}, **where)
    [made] = await app.store.debates.create([(new, [])], NO_CAPS)
    lease = some(await app.store.leases.claim(f"debate/{made.id}", "test", 9))
    await app.store.debates.advance(lease, made.id, Status.CANCELLED)
    return made


async def test_a_community_finds_its_own_debate_by_a_shared_code_and_of_two_here_is_asked_which(
    chat: Chat,
) -> None:
    async with chat.stage.process() as app:
        await vote(chat)
        debate = await voting(app)
        await namesake(app, debate, "elsewhere", "Somebody else's secret")
        said = await chat.ask("ada", "status", "The vote is open", debate=debate.code)
        assert "Tea beats coffee" in said
        other = await namesake(app, debate, debate.community, "Rain beats sun")
        for user, command in (("ada", "status"), ("ada", "result"), ("olga", "close")):
            said = await chat.ask(user, command, debate=debate.code)
            assert f"Several debates have the code {debate.code}; give one of these" in said
            assert f"{debate.id.lower()} ({debate.created_at:%Y-%m-%d}, “Tea beats coffee”)" in said
            assert f"{other.id.lower()} (2026-03-01, “Rain beats sun”)" in said
        assert "Rain beats sun" in await chat.ask("ada", "status", debate=other.id.lower())
        assert (await app.store.debates.get(debate.id)).status is Status.VOTING
        assert "is closed" in await chat.ask("olga", "close", debate=debate.id.lower())


@pytest.mark.sqlite
async def test_the_command_line_asks_which_one_too(chat: Chat, database_url: str) -> None:
    async with chat.stage.process() as app:
        await vote(chat)
        debate = await voting(app)
        await namesake(app, debate, "elsewhere", "Rain beats sun")
    folder = Path(database_url.partition(":///")[2]).parent
    shown = rostrum(folder, "show", debate.code, ROSTRUM_DATABASE_URL=database_url)
    said = shown.failed(1)
    assert said.startswith(f"Several debates have the code {debate.code}; give one of these")
    assert "“Tea beats coffee”" in said
    assert "“Rain beats sun”" in said
    one = rostrum(folder, "show", debate.id.lower(), ROSTRUM_DATABASE_URL=database_url)
    assert "Tea beats coffee" in one.done()
