"""Debates on Discord from the slash command to the reveal, with the real discord.py."""

import asyncio
import io
import re
import zipfile
from functools import partialmethod

import orjson
import pytest
from discord import AutoShardedClient
from pydantic import SecretStr

from adapters.discord import render
from adapters.discord.rest import DiscordRest
from adapters.discord.venue import DiscordVenue
from engine.values.debate import Status
from engine.values.messages import TurnPost
from tests.doubles.databases import select, traces
from tests.doubles.discord import DiscordServer
from tests.doubles.discord.server import NotOfferedError
from tests.doubles.discord.state import Message, guild_create_json
from tests.doubles.facts import Discord
from tests.doubles.model_server import ModelServer
from tests.kit import HANG_SECONDS, some
from tests.scenario import crowd
from tests.scenario.conftest import on_discord, play
from tests.scenario.discord_stage import DiscordStage, author, ended, until, voting

stage = on_discord


async def test_its_thread_has_its_topic_and_colours_and_pings_nobody(stage: DiscordStage) -> None:
    async with stage.process() as app:
        asked = await stage.start()
        assert asked.ephemeral
        assert " · free" in asked.text
        await stage.ballot()
        assert stage.thread.name == "Tea beats coffee"
        await until(lambda: f"<#{stage.thread.id}>" in asked.text)
        await voting(app)
        await stage.close()
        await ended(app)
    turns = [m for m in stage.discord.messages(stage.thread.id) if " · turn " in author(m)]
    assert {m.embeds[0]["color"] for m in turns} == {render.BLUE, render.RED}
    assert author(stage.discord.messages(stage.thread.id)[-2]) == "The vote was closed early"
    assert stage.discord.world.pings == []
    assert stage.discord.violations == []


async def test_a_topic_too_long_for_the_command_is_asked_for_in_a_form_and_its_thread_shows_writing(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    topic = "Tea beats coffee. " * 150
    stage.settings = {"models": "rehearsal/maple?latency=0.4, rehearsal/willow?latency=0.4"}
    async with stage.process():
        asked = await discord.slash("ada", "debate start", {"language": "tr"}).answered()
        sent = discord.submit_modal(asked, {"topic": topic, "conditions": "Hot drinks only"})
        await sent.finished()
        await until(lambda: discord.threads())
        said = discord.messages()[0].text
        await until(lambda: [place for _, place in discord.world.typing])
    assert {place for _, place in discord.world.typing} == {stage.thread.id}
    assert topic.strip() in said
    assert "Hot drinks only" in said
    assert "**🔵 A** savunuyor · **🔴 B** karşı çıkıyor" in said
    assert "**Koşullar:** Hot drinks only" in said
    assert len(stage.thread.name) <= Discord.THREAD_NAME


async def test_a_message_is_debated_from_its_own_menu(stage: DiscordStage) -> None:
    ada = f"<@{stage.discord.users['ada'].id}>"
    about = stage.discord.say("ben", f"{ada}, tea\nbeats coffee")
    wordless = stage.discord.say("ben", ada)
    async with stage.process():
        await until(lambda: len(stage.discord.world.commands.get(None) or ()) == 2)
        (menu,) = [c for c in stage.discord.world.commands[None].values() if c["type"] == 3]
        assert menu["name_localizations"]["de"] == "Darüber debattieren"
        asked = await stage.discord.menu("cleo", "Debate this", about).answered()
        assert asked.modal is not None
        # What stands in the form is sent as it is.
        sent = stage.discord.submit_modal(asked, {})
        await sent.finished()
        await until(lambda: stage.discord.threads())
        announced = next(m for m in stage.discord.messages() if m.id not in (about.id, wordless.id))
        assert "tea beats coffee" in announced.text
        empty = await stage.discord.menu("cleo", "Debate this", wordless, locale="de").finished()
        assert empty.ephemeral
        assert "kein Text, über den man debattieren kann" in empty.text


async def test_options_complete_themselves_for_one_who_types_and_not_for_one_who_floods(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    async with stage.process() as app:
        for option, typed, expected in (
            ("model_a", "wil", "rehearsal/willow"),
            ("language", "tur", "tr"),
            ("format", "cla", "classic"),
            ("jurors", "rehearsal/oak, elm", "rehearsal/oak,rehearsal/elm"),
            ("topic", "", ""),
        ):
            asked = await discord.autocomplete("ben", "debate start", option, typed).finished()
            offered = [choice["value"] for choice in asked.choices]
            assert expected in offered or (offered and not expected), option
        at_once, flood = app.commands.typing.at_once, list[bool]()
        for _ in range(at_once + 10):
            asked = discord.autocomplete("ada", "debate start", "model_a", "m")
            flood.append(bool((await asked.finished()).choices))
        assert all(flood[:at_once])
        assert not all(flood)
        other = await discord.autocomplete("ben", "debate start", "model_a", "m").finished()
        assert other.choices


async def test_settings_and_exports_are_for_managers_and_what_they_set_holds(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    role, elsewhere = discord.add_role("hosts", holder="ada"), discord.add_channel("elsewhere")

    async def set_up(setting: str, value: str) -> str:
        change = {"setting": setting, "value": value}
        return (await discord.slash("olga", "debate settings", change).finished()).text

    async with stage.process():
        for command in ("settings", "export"):
            asked = await discord.slash("ada", f"debate {command}").finished()
            assert asked.ephemeral
            assert "manager" in asked.text
        # Reveals stay in their threads, as Discord has it.
        assert "cannot also show a thread's messages" in await set_up("broadcast", "on")
        shown = (await discord.slash("olga", "debate settings").finished()).text
        assert "set here" not in shown
        assert "broadcast" not in shown
        typed = discord.autocomplete("olga", "debate settings", "setting", "b")
        offered = [choice["value"] for choice in (await typed.finished()).choices]
        assert "ballot" in offered
        assert "broadcast" not in offered
        assert "Changed: language" in await set_up("language", "tr")
        await set_up("channels", elsewhere.id)
        refused = await stage.start()
        assert refused.ephemeral
        assert discord.messages() == []
        topic = {"topic": "Tea"}
        await discord.slash("ada", "debate start", topic, channel=elsewhere.id).finished()
        await until(lambda: discord.threads(elsewhere.id))
        said = discord.messages(elsewhere.id)[0].text
        assert "**🔵 A** savunuyor · **🔴 B** karşı çıkıyor" in said
        await set_up("manager_role", role.id)
        asked = await discord.slash("ada", "debate settings").finished()
        assert "manager" in asked.text
        assert "set here" in asked.text


async def test_only_a_removal_makes_a_server_forget_its_settings(stage: DiscordStage) -> None:
    discord = stage.discord
    guild = discord.guild.id
    async with stage.process():
        change = {"setting": "language", "value": "tr"}
        await discord.slash("olga", "debate settings", change).finished()
        # An outage of Discord's own is neither a removal nor a joining.
        discord.gateway.emit("GUILD_DELETE", {"id": guild, "unavailable": True}, guild)
        discord.gateway.emit("GUILD_CREATE", guild_create_json(discord.world, discord.guild), guild)
        await discord.slash("ada", "debate help").finished()
    async with stage.process():
        asked = await discord.slash("olga", "debate settings").finished()
        assert re.search(r"language.*tr.*set here", asked.text), asked.text
        # And what Discord has already is not registered again.
        puts = [c for c in discord.rest.requests if c.method == "PUT" and "/commands" in c.path]
        assert len(puts) == 1
        discord.kick_bot()
        discord.invite_bot()
        async with asyncio.timeout(HANG_SECONDS):
            while "set here" in asked.text:
                asked = await discord.slash("olga", "debate settings").finished()


async def test_a_server_is_noted_when_it_invites_and_when_it_removes_rostrum(
    stage: DiscordStage, discord: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # For two seconds after connecting, discord.py takes every server for one known before.
    start = partialmethod(AutoShardedClient.__init__, guild_ready_timeout=0)
    monkeypatch.setattr(AutoShardedClient, "__init__", start)

    def known() -> list[str]:
        rows = select(stage.url, "SELECT community, left_at FROM communities")
        return [f"{name} {'left' if left else 'joined'}" for name, left in rows]

    async def becomes(noted: str) -> None:
        await until(lambda: known() == [f"{discord.guild.id} {noted}"])

    async with stage.process():
        await becomes("joined")  # it may have come before Rostrum ran
        for there, noted in ((False, "left"), (True, "joined"), (False, "left")):
            discord.invite_bot() if there else discord.kick_bot()
            await becomes(noted)


async def test_an_export_is_a_file_of_this_servers_debates(stage: DiscordStage) -> None:
    async with ModelServer(play) as server:
        stage.settings = crowd.settings_for(server)
        async with stage.at_vote() as (app, _, _):
            await stage.close()
            await ended(app)
            asked = await stage.discord.slash("olga", "debate export").finished()
            rated = await stage.discord.slash("olga", "debate leaderboard").finished()
    assert rated.ephemeral
    (board,) = some(rated.answer).attachments
    assert (board.filename, board.data[:4]) == ("leaderboard.png", b"\x89PNG")
    assert "Debates: " in (board.description or "")
    assert asked.ephemeral
    (file,) = some(asked.answer).attachments
    with zipfile.ZipFile(io.BytesIO(file.data)) as archive:
        assert any(name.endswith("README.md") for name in archive.namelist())


@crowd.SIZES
async def test_many_debates_at_once_keep_nobody_waiting(stage: DiscordStage, debates: int) -> None:
    discord = stage.discord
    discord.rules.answer_seconds = 60.0  # what is late is seen by what was done before it
    channels = [discord.add_channel(f"room-{n}") for n in range(debates)]
    long = {"topic": "Tea", "rounds": crowd.ROUNDS}

    async def ask(server: ModelServer) -> int:
        """Ask two things, and return how many calls ended before both were acknowledged."""
        before = server.answered
        asked = discord.slash("ben", "debate help")
        typed = discord.autocomplete("cleo", "debate start", "model_a", "an")
        await asked.answered(60)
        await typed.answered(60)
        return server.answered - before

    async with crowd.open_server() as server:
        stage.settings = crowd.settings_for(server)
        async with stage.process() as app:
            started = [discord.slash("ada", "debate start", long, channel=c.id) for c in channels]
            await until(lambda: server.in_flight == debates, 120)
            # A command that waited for a debate's call would never be answered.
            await ask(server)
            for asked in started:
                await asked.finished(60)
            assert server.answered == 0
            server.gate.set()
            await until(lambda: server.answered > debates, 120)
            # Now all debates go on as fast as they can: a command stands in no line behind them.
            assert max([await ask(server) for _ in range(3)]) < crowd.MANY * debates
            running = await app.store.listings.recent((Status.RUNNING,), 300)
            assert len(running) == debates


HOSTILE = {
    "mentions": "@everyone <@1> <@&2> <#3> @here all of you",
    "spoiler": "this is ||hidden|| text",
    "fence": "Look:\n```python\nprint('never closed')",
    "table": "| a | b |\n|---|---|\n| 1 | 2 |",
    "long": "A long sentence of words. " * 400,
    "rtl": "שלום עולם \u202eevil\u202c مرحبا",
    "jinja": "{{ 7*7 }} {0} {topic} %s",
}


def words_of(text: str) -> list[str]:
    """Return a text's words, in order, whatever marks stand between or around them."""
    return re.findall(r"[^\W_]+", text)


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_topic_is_data(stage: DiscordStage, name: str) -> None:
    async with stage.process():
        await stage.start(topic=HOSTILE[name][: Discord.INPUT_VALUE])
        await until(lambda: stage.discord.threads())
        await until(lambda: stage.discord.messages(stage.thread.id))
    said = "\n".join(m.text for m in stage.discord.messages())
    words = words_of(HOSTILE[name][: Discord.INPUT_VALUE])
    assert words
    assert [word for word in words if word not in said] == []
    assert stage.discord.world.pings == []
    assert "\u202e" not in stage.discord.sent_text
    for message in stage.discord.messages():
        if message.embeds[0]["description"]:
            assert message.embeds[0]["description"].count("```") % 2 == 0


async def test_a_private_trial_is_held_in_direct_messages_and_forgotten_with_its_person(
    stage: DiscordStage, discord: DiscordServer
) -> None:
    stage.settings = {"discord": {"personal": True}}
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
        (file,) = some(given.answer).attachments
        whole = orjson.loads(file.data)
        assert whole["started"] == [debate.id]
        # The settings of one's own direct messages are one's own data too.
        assert whole["direct_messages"]["settings"]["vote_minutes"] == 45
        confirm = {"confirm": True}
        done = await discord.slash("ben", "debate forget", confirm, channel=place.id).finished()
        assert "You are forgotten." in done.text
        assert not await app.store.listings.recent(limit=5)
        assert traces(stage.url, ben, place.id) == []


async def test_nothing_of_it_is_offered_unless_the_operator_wants_it(stage: DiscordStage) -> None:
    discord = stage.discord
    place = discord.world.direct(discord.users["ben"].id)
    async with stage.process():
        await until(lambda: discord.world.commands.get(None))
        with pytest.raises(NotOfferedError):
            discord.slash("ben", "debate list", channel=place.id)


async def test_hostile_turns_are_whole_and_ping_nobody_where_the_bot_may_ping_everybody(
    discord: DiscordServer,
) -> None:
    discord.add_role("loud", "mention_everyone", holder=discord.world.bot.id)
    rest = DiscordRest(SecretStr(discord.token), discord.api_url)
    venue = DiscordVenue(rest, gap=0.0)
    place = {"seat": "A", "side": "A", "round": "opening", "number": 1, "total": 8}
    for number, text in enumerate(HOSTILE.values()):
        before = len(discord.messages())
        turn = TurnPost.model_validate(place | {"text": text, "words": 9, "limit": 0})
        for part in venue.render(turn, f"k7f2qz·{number}"):
            await venue.post(discord.channel.id, part)
        shown = [m.embeds[0]["description"] for m in discord.messages()[before:]]
        assert all(piece.count("```") % 2 == 0 for piece in shown)
        assert "||" not in "".join(shown)
        words = words_of(text)
        assert words
        assert [word for word in words_of("\n".join(shown)) if word in words] == words
    for part in venue.plain(HOSTILE["mentions"], "k7f2qz·9·1/1"):
        await venue.post(discord.channel.id, part)
    await rest.close()
    assert "@everyone" in discord.messages()[-1].content
    assert discord.world.pings == []
