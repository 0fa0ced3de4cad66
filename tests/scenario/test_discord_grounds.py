"""Where a debate can be held on Discord is known before any model is paid."""

from functools import partial
from urllib.parse import urlsplit

import pytest

from adapters.database.file import sqlite_path
from engine.values.debate import Status
from tests.doubles.databases import change, is_file
from tests.doubles.discord import Code, DiscordServer, Interaction, denied, status
from tests.doubles.discord.state import FORUM, MEDIA, NEWS, STAGE, VOICE, Channel, Message
from tests.doubles.model_server import ModelServer
from tests.kit import record_of, until_asked, votes_in
from tests.scenario import crowd
from tests.scenario.discord_stage import DiscordStage, author, ended, state, until, voting

NAMES = {
    "view_channel": "View Channel",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "create_public_threads": "Create Public Threads",
    "add_reactions": "Add Reactions",
    "read_message_history": "Read Message History",
    "embed_links": "Embed Links",
}
UNFIT = {VOICE: "voice channel", STAGE: "voice channel", FORUM: "a post", MEDIA: "a post"}
START = {"topic": "Tea beats coffee"}


@pytest.fixture
def stage(on_discord: DiscordStage, models: ModelServer) -> DiscordStage:
    on_discord.settings = crowd.settings_for(models)
    return on_discord


def posted(discord: DiscordServer) -> list[Message]:
    every = [m for kept in discord.world.messages.values() for m in kept.values()]
    return [message for message in every if message.author_id == discord.bot.id]


def turns(discord: DiscordServer, thread: Channel) -> list[Message]:
    return [m for m in discord.messages(thread.id) if " · turn " in author(m)]


@pytest.mark.parametrize("permission", NAMES)
async def test_a_missing_permission_is_named_before_anything_is_paid(
    stage: DiscordStage, discord: DiscordServer, models: ModelServer, permission: str
) -> None:
    discord.deny(permission, discord.channel.id)
    async with stage.process() as app:
        asked = await stage.start()
        assert asked.ephemeral
        assert f"lacks {NAMES[permission]}" in asked.text
        assert "Ask an admin of this server to grant" in asked.text
        assert await app.store.listings.recent() == []
    assert posted(discord) == []
    assert models.requests == []


@pytest.mark.slow
async def test_attach_files_is_asked_for_only_where_a_format_posts_files(
    stage: DiscordStage, discord: DiscordServer, models: ModelServer
) -> None:
    discord.deny("attach_files", discord.channel.id)
    async with stage.process() as app:
        asked = await stage.start(format="structured")
        assert "lacks Attach Files" in asked.text
        assert models.requests == []
        await stage.vote()
        await voting(app)
        await stage.close()


async def test_a_place_that_can_hold_no_debate_is_refused_and_costs_nothing(
    stage: DiscordStage, discord: DiscordServer, models: ModelServer
) -> None:
    places = {discord.add_channel("elsewhere", kind=one).id: why for one, why in UNFIT.items()}
    places[discord.open_thread("ada", "Tea", private=True).id] = "View Channel"
    locked = discord.open_thread("ada", "Tea").id
    discord.lock(locked, archived=False)
    async with stage.process():
        for place, why in (places | {locked: "is locked"}).items():
            asked = await discord.slash("ada", "debate start", START, channel=place).finished()
            assert asked.ephemeral
            await until(partial(in_answer, asked, why))
    assert posted(discord) == []
    assert models.requests == []


def in_answer(asked: Interaction, why: str) -> bool:
    return why in asked.text


async def test_an_announcement_channel_holds_debates(stage: DiscordStage) -> None:
    discord = stage.discord
    place = discord.add_channel("news", kind=NEWS)
    async with stage.process() as app:
        await discord.slash("ada", "debate start", START, channel=place.id).finished()
        await voting(app)
        (thread,) = discord.threads(place.id)
        assert len(turns(discord, thread)) == 8


@pytest.mark.parametrize("where", ["post", "thread", "private"])
async def test_a_debate_started_in_a_thread_or_a_post_is_held_there(
    stage: DiscordStage, discord: DiscordServer, where: str
) -> None:
    if where == "post":
        forum = discord.add_channel("forum", kind=FORUM)
        thread = discord.open_post("ada", forum.id, "Tea or coffee", "What is better?")
    else:
        thread = discord.open_thread("ada", "Tea", private=where == "private")
        thread.members |= discord.guild.members.keys()
    async with stage.process() as app:
        asked = await discord.slash("ada", "debate start", START, channel=thread.id).finished()
        await until(lambda: f"<#{thread.id}>" in asked.text)
        debate = await voting(app)
        assert (debate.place, debate.thread) == (thread.id, thread.id)
        assert len(turns(discord, thread)) == 8
        await until(lambda: len(ballot(discord, thread).reactions) == 4)
        discord.react("ben", ballot(discord, thread).id, "🔵")
        close = discord.slash("olga", "debate close", channel=thread.id)
        assert "closed" in (await close.finished()).text
        await ended(app)
    (reveal,) = [m for m in discord.messages(thread.id) if author(m) == "Reveal"]
    assert "People: **🔵 A** (1–0)" in reveal.text
    inside = {message.channel_id for message in posted(discord)}
    assert inside == {thread.id}


def ballot(discord: DiscordServer, thread: Channel) -> Message:
    return next(m for m in discord.messages(thread.id) if author(m) == "Vote")


async def test_a_thread_needs_no_permission_to_post_in_its_channel_or_to_open_threads(
    stage: DiscordStage, discord: DiscordServer, models: ModelServer
) -> None:
    thread = discord.open_thread("ada", "Tea")
    discord.deny("send_messages", discord.channel.id)
    discord.deny("create_public_threads", discord.channel.id)
    async with stage.process() as app:
        change = {"setting": "channels", "value": discord.channel.id}  # which allows its threads
        await discord.slash("olga", "debate settings", change).finished()
        await discord.slash("ada", "debate start", START, channel=thread.id).finished()
        await voting(app)
        discord.deny("send_messages_in_threads", discord.channel.id)
        other = discord.open_thread("ada", "Coffee")
        before = len(models.requests)
        asked = await discord.slash("ada", "debate start", START, channel=other.id).finished()
        assert "lacks Send Messages in Threads" in asked.text
        assert len(models.requests) == before


async def test_a_thread_holds_one_debate_at_a_time_and_no_mirrored_pair(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    thread = discord.open_thread("ada", "Tea")
    async with stage.process() as app:
        mirrored = {**START, "mirror": True}
        asked = await discord.slash("ada", "debate start", mirrored, channel=thread.id).finished()
        assert "needs two threads" in asked.text
        people = ("ada", "ben", "olga")
        at_once = [discord.slash(p, "debate start", START, channel=thread.id) for p in people]
        said = [(await one.finished()).text for one in at_once]
        assert sum("Your debate starts now" in text for text in said) == 1
        assert sum("running in this thread" in text for text in said) == 2
        assert len(await app.store.listings.recent()) == 1
        await voting(app)
        await discord.slash("olga", "debate close", channel=thread.id).finished()
        await ended(app)
        asked = await discord.slash("ben", "debate start", START, channel=thread.id).finished()
        assert "Your debate starts now" in asked.text


async def test_a_database_that_takes_no_write_is_not_shown_to_members(stage: DiscordStage) -> None:
    discord = stage.discord
    path = sqlite_path(stage.url) if is_file(stage.url) else urlsplit(stage.url).path[1:]
    async with stage.process():
        change(stage.url, "ALTER TABLE templates RENAME TO taken_away")
        asked = await stage.start()
        change(stage.url, "ALTER TABLE taken_away RENAME TO templates")
    assert "The operator can see the reason in the log" in asked.text
    assert str(path) not in asked.text
    assert posted(discord) == []


async def test_a_secret_ballot_needs_to_take_reactions_away(
    stage: DiscordStage, discord: DiscordServer, models: ModelServer
) -> None:
    discord.deny("manage_messages", discord.channel.id)
    async with stage.process() as app:
        asked = await stage.start(ballot="secret")
        assert "lacks Manage Messages" in asked.text
        change = {"setting": "ballot", "value": "secret"}
        await discord.slash("olga", "debate settings", change).finished()
        assert "lacks Manage Messages" in (await stage.start()).text
        asked = await discord.slash("ada", "debate help", {"command": "start"}).finished()
        assert "[ballot:open|private]" in asked.text
        assert models.requests == []
        await stage.start(ballot="private")
        await voting(app)


async def test_a_secret_vote_says_whether_others_could_be_seen(stage: DiscordStage) -> None:
    discord = stage.discord
    async with stage.process() as app:
        await stage.start(ballot="secret")
        debate = await voting(app)
        message = await until(lambda: whole(ballot(discord, discord.threads()[-1])))
        discord.react("ben", message.id, "🔵")
        await until(lambda: not discord.holders(message.id, "🔵"))
        discord.deny("manage_messages", discord.channel.id)
        discord.react("cleo", message.id, "🔴")
        noted = partial(app.store.votes.interventions, debate.id)
        await until_asked(noted, lambda found: len(found) >= 1)
        discord.react("olga", message.id, "🔴")
        await until_asked(noted, lambda found: len(found) >= 2)
        await app.service.close_vote(debate.id)
        record = await record_of(app.store, debate.id)
    seen = [(vote.tally_visible, vote.votes_seen_before) for vote in votes_in(record)]
    # ben chose alone, cleo before hers was left there, olga beside it
    assert seen == [(False, 0), (False, 0), (True, 2)]


def whole(message: Message) -> Message | None:
    return message if len(message.reactions) == 4 else None


FAULTS = {
    "no post": ("POST", "/channels/*/messages", denied(Code.MISSING_PERMISSIONS)),
    "no channel": ("POST", "/channels/*/messages", denied(Code.UNKNOWN_CHANNEL)),
    "no thread": ("POST", "/channels/*/messages/*/threads", denied(Code.MISSING_PERMISSIONS)),
    "too many threads": ("POST", "/channels/*/messages/*/threads", denied(Code.TOO_MANY_THREADS)),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_nothing_is_paid_for_a_debate_that_cannot_be_announced(
    stage: DiscordStage, discord: DiscordServer, models: ModelServer, name: str
) -> None:
    method, path, fault = FAULTS[name]
    discord.fail(fault, method, path, times=-1)
    async with stage.process() as app:
        await stage.start()
        debate = await state(app, lambda d: not d.status.live)
        assert (debate.status, debate.gone) == (Status.FAILED, True)
    assert models.requests == []


@pytest.mark.slow
@pytest.mark.usefixtures("swift")
async def test_while_discord_is_away_nothing_is_paid_and_then_the_debate_is_held(
    stage: DiscordStage, discord: DiscordServer, models: ModelServer
) -> None:
    discord.fail(status(503), "POST", "/channels/*/messages", times=2)
    async with stage.process() as app:
        await stage.start()
        await state(app, lambda d: "Waiting to post" in d.reason)
        assert models.requests == []
        await voting(app)
    assert models.requests
