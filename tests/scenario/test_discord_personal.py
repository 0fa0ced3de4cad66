"""Rostrum installed by a person: debates in its direct messages, for them alone."""

from __future__ import annotations

import orjson
import pytest

from tests.doubles.databases import traces
from tests.doubles.discord import DiscordServer
from tests.doubles.discord.server import NotOfferedError
from tests.doubles.discord.state import Message
from tests.scenario.discord_stage import DiscordStage, author, ended, until, voting


@pytest.fixture
def stage(database_url: str, discord: DiscordServer) -> DiscordStage:
    return DiscordStage(database_url, discord, {"discord": {"personal": True}})


async def test_a_private_trial_is_held_in_direct_messages_and_forgotten_with_its_person(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    ben = discord.users["ben"].id
    place = discord.world.direct(ben)

    def said(what: str) -> Message | None:
        return next((m for m in discord.messages(place.id) if author(m) == what), None)

    async with stage.process() as app:
        await until(lambda: discord.world.commands.get(None))
        topic = {"topic": "Tea beats coffee", "ballot": "open"}
        asked = await discord.slash("ben", "debate start", topic, channel=place.id).finished()
        assert asked.ephemeral
        second = await discord.slash("ben", "debate start", topic, channel=place.id).finished()
        assert "already running" in second.text
        ballot = await until(lambda: said("Vote"))
        await voting(app)
        assert not discord.threads()
        # Reactions in direct messages are not heard, so people vote with buttons.
        pressed = await discord.press("ben", ballot, "rostrum:vote:A").finished()
        assert "recorded" in pressed.text
        change = {"setting": "vote_minutes", "value": "45"}
        await discord.slash("ben", "debate settings", change, channel=place.id).finished()
        found = await discord.slash("ben", "debate list", channel=place.id).finished()
        assert "Tea beats coffee" in found.text
        # Where only the person brought the bot, it says so; it could not post there.
        elsewhere = discord.add_guild("Elsewhere", ben, with_bot=False)
        room = discord.add_channel("room", guild=elsewhere.id)
        there = await discord.slash("ben", "debate start", topic, channel=room.id).finished()
        assert there.ephemeral
        assert "not a member of this server" in there.text
        # No one else sees it, on a server neither.
        other = await discord.slash("ada", "debate list").finished()
        assert "Tea beats coffee" not in other.text
        await discord.slash("ben", "debate close", channel=place.id).finished()
        await until(lambda: said("Reveal"))
        debate = await ended(app)
        assert (debate.community.startswith("person-"), debate.place) == (True, place.id)
        assert ben not in debate.community
        given = await discord.slash("ben", "debate mydata", channel=place.id).finished()
        assert given.answer is not None
        (file,) = given.answer.attachments
        whole = orjson.loads(file.data)
        assert whole["started"] == [debate.id]
        # The settings of one's own direct messages are one's own data too.
        assert whole["direct_messages"]["settings"]["vote_minutes"] == 45
        confirm = {"confirm": True}
        done = await discord.slash("ben", "debate forget", confirm, channel=place.id).finished()
        assert "You are forgotten." in done.text
        assert not await app.store.debates.recent(limit=5)
        assert traces(stage.url, ben, place.id) == []


async def test_nothing_of_it_is_offered_unless_the_operator_wants_it(
    database_url: str, discord: DiscordServer
) -> None:
    stage = DiscordStage(database_url, discord)
    place = discord.world.direct(discord.users["ben"].id)
    async with stage.process():
        await until(lambda: discord.world.commands.get(None))
        with pytest.raises(NotOfferedError):
            discord.slash("ben", "debate list", channel=place.id)
