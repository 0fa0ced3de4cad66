"""The Discord double, judged by the real discord.py and by what Discord documents."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import discord
import pytest
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.doubles.discord import (
    DidNotRespondError,
    DiscordServer,
    Fault,
    NotOfferedError,
    Rate,
    Rates,
    Refusal,
    Remote,
    drop,
    hang,
    limited,
    status,
)
from tests.kit import HANG_SECONDS

A = "🅰️"


class Bot(discord.Client):
    """A small bot: one group of commands, and a log of raw events."""

    def __init__(self) -> None:
        intents = discord.Intents(guilds=True, guild_messages=True, guild_reactions=True)
        super().__init__(
            intents=intents,
            guild_ready_timeout=0.02,
            allowed_mentions=discord.AllowedMentions.none(),
            max_messages=None,
        )
        self.tree = app_commands.CommandTree(self)
        self.heard: asyncio.Queue[tuple[str, int, str]] = asyncio.Queue()
        self.resumed = asyncio.Event()

    async def setup_hook(self) -> None:
        self.tree.add_command(_group())
        self.add_view(_buttons())
        await self.tree.sync()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """Identify at once: no limit is tested here."""

    async def on_resumed(self) -> None:
        self.resumed.set()

    async def on_raw_reaction_add(self, seen: discord.RawReactionActionEvent) -> None:
        self.heard.put_nowait(("+", seen.user_id, str(seen.emoji)))

    async def on_raw_reaction_remove(self, seen: discord.RawReactionActionEvent) -> None:
        self.heard.put_nowait(("-", seen.user_id, str(seen.emoji)))


class Topic(discord.ui.Modal, title="Your topic"):
    """A dialog with one long field."""

    words: discord.ui.TextInput[Topic] = discord.ui.TextInput(label="Topic")

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message(f"about {self.words.value}", ephemeral=True)


def _group() -> app_commands.Group:
    group = app_commands.Group(name="debate", description="Debates")

    @group.command(name="start", description="Start")
    async def start(interaction: discord.Interaction, topic: str, rounds: int = 4) -> None:
        await interaction.response.defer(ephemeral=True)
        await interaction.followup.send(f"{topic} in {rounds} ({interaction.locale})")
        await interaction.followup.send("more", ephemeral=True)

    @start.autocomplete("topic")
    async def complete(
        interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        return [app_commands.Choice(name=typed.upper(), value=typed)]

    @group.command(name="ask", description="Ask")
    async def ask(interaction: discord.Interaction) -> None:
        await interaction.response.send_modal(Topic())

    @group.command(name="sleep", description="Answer too late")
    async def sleep(interaction: discord.Interaction) -> None:
        """Say nothing at all."""

    @group.command(name="twice", description="Answer twice")
    async def twice(interaction: discord.Interaction) -> None:
        await interaction.response.send_message("one", view=_buttons())
        interaction.response._response_type = None
        try:
            await interaction.response.send_message("two")
        except discord.HTTPException as error:
            await interaction.followup.send(f"refused with {error.code}")

    return group


def _buttons() -> discord.ui.View:
    view = discord.ui.View(timeout=None)
    button: discord.ui.Button[discord.ui.View] = discord.ui.Button(label="Status", custom_id="s")

    async def pressed(interaction: discord.Interaction) -> None:
        await interaction.response.edit_message(content="pressed")

    button.callback = pressed  # type: ignore[method-assign]  # discord.py's own documented way
    view.add_item(button)
    return view


@pytest.fixture
async def platform() -> AsyncIterator[DiscordServer]:
    async with DiscordServer(rates=Rates.generous()) as server:
        yield server


def _redirect(platform: DiscordServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Route, "BASE", platform.api_url)
    monkeypatch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(platform.gateway.url))


@pytest.fixture
async def bot(platform: DiscordServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Bot]:
    _redirect(platform, monkeypatch)
    client = Bot()
    async with client:
        running = asyncio.create_task(client.start(platform.token))
        await platform.gateway.until_connected()
        async with asyncio.timeout(HANG_SECONDS):
            await client.wait_until_ready()
        yield client
    await asyncio.gather(running, return_exceptions=True)


def hall(bot: Bot, platform: DiscordServer) -> discord.TextChannel:
    """The channel, as the bot knows it."""
    found = bot.get_channel(int(platform.channel.id))
    assert isinstance(found, discord.TextChannel)
    return found


async def heard(bot: Bot) -> tuple[str, int, str]:
    """The next reaction that the bot hears of."""
    async with asyncio.timeout(HANG_SECONDS):
        return await bot.heard.get()


# --- people ask, the bot answers ---------------------------------------------------------


async def test_a_command_is_answered_privately_with_its_options_and_locale(
    platform: DiscordServer, bot: Bot
) -> None:
    asked = platform.slash("ada", "debate start", {"topic": "Cats", "rounds": 2}, locale="de")
    await asked.answered()
    await asked.finished()
    assert asked.answer is not None
    assert "Cats in 2 (de)" in asked.text
    assert asked.ephemeral
    assert (asked.latency or 0.0) < 3
    assert platform.messages() == []


async def test_choices_dialogs_and_buttons_reach_the_bot(platform: DiscordServer, bot: Bot) -> None:
    typed = await platform.autocomplete("ada", "debate start", "topic", "ca").answered()
    assert typed.choices == [{"name": "CA", "value": "ca"}]
    dialog = await platform.slash("ada", "debate ask").answered()
    (field,) = [row["components"][0]["custom_id"] for row in dialog.modal["components"]]  # type: ignore[index]  # it has one
    filled = await platform.submit_modal(dialog, {field: "owls"}).answered()
    assert "about owls" in filled.text


async def test_a_second_answer_is_refused_and_buttons_edit_their_message(
    platform: DiscordServer, bot: Bot
) -> None:
    asked = await platform.slash("ada", "debate twice").followed_up()
    assert "refused with 40060" in asked.text
    message = platform.messages()[0]
    await platform.press("ben", message.id, "s").answered()
    assert message.content == "pressed"


async def test_people_cannot_use_what_is_not_offered(platform: DiscordServer, bot: Bot) -> None:
    for name, options in (
        ("debate nothing", {}),
        ("debate start", {}),
        ("debate start", {"topic": "x", "colour": "y"}),
        ("debate start", {"topic": "x", "rounds": "two"}),
    ):
        with pytest.raises(NotOfferedError):
            platform.slash("ada", name, options)


async def test_silence_is_seen_and_a_late_or_old_answer_is_refused(
    platform: DiscordServer, bot: Bot
) -> None:
    asked = platform.slash("ada", "debate sleep")
    with pytest.raises(DidNotRespondError):
        await asked.answered(0.05)
    callback = f"{platform.api_url}/interactions/{asked.id}/{asked.token}/callback"
    platform.advance(4)
    assert await post(callback, {"type": 4, "data": {"content": "late"}}) == (404, 10062)
    other = platform.slash("ada", "debate sleep")
    callback = f"{platform.api_url}/interactions/{other.id}/{other.token}/callback"
    assert await post(callback, {"type": 4, "data": {"content": "ok"}}) == (204, 0)
    platform.advance(901)
    webhook = f"{platform.api_url}/webhooks/{platform.bot.id}/{other.token}"
    assert await post(webhook, {"content": "more"}) == (401, 50027)


async def post(url: str, body: dict[str, Any]) -> tuple[int, int]:
    """Post without discord.py; return the status and Discord's code."""
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as response:
        if response.status == 204:
            return 204, 0
        return response.status, (await response.json()).get("code", 0)


# --- messages, reactions, threads ----------------------------------------------------------


async def test_messages_are_read_as_they_were_posted_but_without_their_nonce(
    platform: DiscordServer, bot: Bot
) -> None:
    channel = hall(bot, platform)
    embed = discord.Embed(title="Turn", description="**bold**").set_footer(text="k7f2·3·1/2")
    file = discord.File(io.BytesIO(b"bytes"), "export.zip")
    sent = await channel.send("hello", embed=embed, file=file, nonce="n1")
    again = await channel.send("hello", nonce="n1")
    assert (sent.nonce, again.id) == ("n1", sent.id)
    (read,) = [message async for message in channel.history()]
    assert read.nonce is None
    assert read.embeds[0].footer.text == "k7f2·3·1/2"
    assert await read.attachments[0].read() == b"bytes"
    platform.advance(platform.rules.nonce_seconds + 1)
    assert (await channel.send("hello", nonce="n1")).id != sent.id
    assert "k7f2·3·1/2" in platform.sent_text


@pytest.mark.parametrize(
    ("content", "allowed", "pinged"),
    [
        ("@everyone <@1>", {"parse": []}, set()),
        ("<@1> <@&2>", None, {"1", "2"}),
        ("<@1> <@2>", {"users": ["2"]}, {"2"}),
    ],
)
async def test_who_is_pinged_follows_allowed_mentions(
    platform: DiscordServer, content: str, allowed: dict[str, Any] | None, pinged: set[str]
) -> None:
    body = {"content": content} | ({} if allowed is None else {"allowed_mentions": allowed})
    headers = {"Authorization": f"Bot {platform.token}"}
    url = f"{platform.api_url}/channels/{platform.channel.id}/messages"
    async with aiohttp.ClientSession(headers=headers) as session:
        await session.post(url, json=body)
    assert {who for _, who in platform.world.pings} == pinged


async def test_reactions_come_with_their_holders(platform: DiscordServer, bot: Bot) -> None:
    message = await hall(bot, platform).send("vote")
    await message.add_reaction(A)
    platform.react("ada", message.id, A)
    platform.react("ben", message.id, "\U0001f170")  # without its variation selector
    platform.unreact("ada", message.id, A)
    own, ada, ben, gone = [await heard(bot) for _ in range(4)]
    assert own == ("+", int(platform.bot.id), A)
    assert (ada[0], ben[0], gone[0]) == ("+", "+", "-")
    assert gone[1] == int(platform.users["ada"].id)
    fetched = await message.channel.fetch_message(message.id)
    users = [user.name async for user in fetched.reactions[0].users()]
    assert sorted(users) == ["Rostrum", "ben"]
    assert platform.holders(message.id, A) == {"ben"}
    platform.clear_reactions(message.id)
    assert platform.holders(message.id, A) == set()


async def test_a_thread_hangs_on_its_message_and_takes_nothing_when_archived(
    platform: DiscordServer, bot: Bot
) -> None:
    message = await hall(bot, platform).send("debate")
    thread = await message.create_thread(name="Cats")
    assert thread.id == message.id
    await refused(160004, lambda: message.create_thread(name="Cats"))
    inside = await thread.send("turn")
    platform.archive(thread.id)
    await refused(50083, lambda: inside.add_reaction(A))
    await refused(50083, lambda: inside.edit(content="new"))
    with pytest.raises(Refusal):
        platform.react("ada", inside.id, A)
    await thread.send("wakes it")
    assert not platform.threads()[0].archived
    platform.lock(thread.id)
    await refused(50083, lambda: thread.send("locked"))
    platform.delete_thread(thread.id)
    await refused(10003, lambda: thread.send("gone"))


async def refused(code: int, act: Callable[[], Any]) -> discord.HTTPException:
    with pytest.raises(discord.HTTPException) as caught:
        await act()
    assert caught.value.code == code, caught.value
    return caught.value


async def test_what_is_too_big_or_empty_is_refused(platform: DiscordServer, bot: Bot) -> None:
    channel = hall(bot, platform)
    long = discord.Embed(description="x" * 4000)
    await refused(50035, lambda: channel.send("x" * 2001))
    await refused(50035, lambda: channel.send(embeds=[long, long]))
    await refused(50035, lambda: channel.send(embed=discord.Embed(title="x" * 257)))
    await refused(50035, lambda: channel.send("x", nonce="n" * 26))
    await refused(50006, lambda: channel.send(""))
    message = await channel.send("x")
    await refused(50035, lambda: message.create_thread(name="x" * 101))
    await refused(10014, lambda: message.add_reaction("notanemoji"))
    for number in range(20):
        await message.add_reaction(chr(0x1F600 + number))
    await refused(30010, lambda: message.add_reaction(A))
    big = discord.File(io.BytesIO(b"x" * (10 * 2**20 + 1)), "big.zip")
    await refused(40005, lambda: channel.send(file=big))


async def test_old_messages_take_few_edits(platform: DiscordServer, bot: Bot) -> None:
    message = await hall(bot, platform).send("status")
    platform.rules.old_edits = 1
    platform.advance(3700)
    await message.edit(content="one more")
    url = f"{platform.api_url}/channels/{platform.channel.id}/messages/{message.id}"
    headers = {"Authorization": f"Bot {platform.token}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.patch(url, json={"content": "too many"}) as response,
    ):
        assert (await response.json())["code"] == 30046


async def test_permissions_are_needed_where_discord_needs_them(
    platform: DiscordServer, bot: Bot
) -> None:
    channel = hall(bot, platform)
    message = await channel.send("x")
    thread = await message.create_thread(name="t")
    inside = await thread.send("in it")
    platform.deny("read_message_history")
    assert isinstance(await refused(50013, lambda: inside.add_reaction(A)), discord.Forbidden)
    platform.allow("read_message_history")
    platform.deny("send_messages_in_threads")
    await refused(50013, lambda: thread.send("x"))
    await channel.send("here I may")
    platform.deny("view_channel", channel.id)
    await refused(50001, lambda: channel.send("x"))
    platform.allow("view_channel", channel.id)
    platform.kick_bot()
    await refused(50001, lambda: channel.send("x"))


async def test_commands_over_the_limits_are_not_registered(
    platform: DiscordServer, bot: Bot
) -> None:
    bad: list[dict[str, Any]] = [
        {"name": "Upper", "description": "x"},
        {"name": "x", "description": ""},
        {"name": "x", "description": "x", "options": [_option(n) for n in range(26)]},
        {"name": "x", "description": "x", "name_localizations": {"xx": "y"}},
        {"name": "x", "description": "x", "options": [_option(1), _option(1)]},
        {"name": "x", "description": "x", "options": [_large(n) for n in range(4)]},
    ]
    register = bot.http.bulk_upsert_global_commands
    for command in bad:
        await refused(50035, partial(register, int(platform.bot.id), [command]))
    assert [c.name for c in await bot.tree.fetch_commands()] == ["debate"]


def _option(number: int) -> dict[str, Any]:
    return {"type": 3, "name": f"o{number}", "description": "x"}


def _large(number: int) -> dict[str, Any]:
    choices = [{"name": f"{n:03}" + "x" * 97, "value": str(n)} for n in range(25)]
    return {**_option(number), "choices": choices}


# --- when things go wrong ---------------------------------------------------------------------


async def test_a_wrong_token_is_refused(
    platform: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _redirect(platform, monkeypatch)
    async with Bot() as client:
        with pytest.raises(discord.LoginFailure):
            await client.start("wrong")


@pytest.mark.parametrize("how", ["reconnect", "resumable", "close", "drop"])
async def test_a_lost_connection_is_resumed_and_what_was_missed_replayed(
    platform: DiscordServer, bot: Bot, how: str
) -> None:
    message = await hall(bot, platform).send("vote")
    if how == "reconnect":
        platform.gateway.reconnect()
    elif how == "resumable":
        platform.gateway.invalidate(resumable=True)
    elif how == "close":
        await platform.gateway.disconnect(1001)
    else:
        platform.gateway.drop()
    platform.react("ada", message.id, A)
    async with asyncio.timeout(HANG_SECONDS):
        await bot.resumed.wait()
    assert await heard(bot) == ("+", int(platform.users["ada"].id), A)
    assert (platform.gateway.identifies, platform.gateway.resumes) == (1, 1)


async def test_after_a_lost_session_what_was_missed_is_gone(
    platform: DiscordServer, bot: Bot
) -> None:
    message = await hall(bot, platform).send("vote")
    platform.gateway.invalidate(resumable=False)
    platform.react("ada", message.id, A)
    await platform.gateway.until_connected()
    assert platform.gateway.identifies == 2
    platform.react("ben", message.id, A)
    assert (await heard(bot))[1] == int(platform.users["ben"].id)


async def test_events_can_come_late_and_twice(platform: DiscordServer, bot: Bot) -> None:
    message = await hall(bot, platform).send("vote")
    platform.gateway.paused = True
    platform.react("ada", message.id, A)
    await asyncio.sleep(0.02)
    assert bot.heard.empty()
    platform.gateway.flow()
    platform.gateway.repeat()
    assert await heard(bot) == await heard(bot)


async def test_a_zombie_acknowledges_no_heartbeat(platform: DiscordServer, bot: Bot) -> None:
    platform.gateway.heartbeat_seconds = 0.05
    platform.gateway.reconnect()
    async with asyncio.timeout(HANG_SECONDS):
        await bot.resumed.wait()
    platform.gateway.zombie = True
    await beaten(platform, 2)  # by then the last acknowledgement has arrived
    assert bot.ws._keep_alive is not None
    acknowledged = bot.ws._keep_alive._last_ack
    await beaten(platform, 2)
    assert bot.ws._keep_alive._last_ack == acknowledged


async def beaten(platform: DiscordServer, times: int) -> None:
    goal = platform.gateway.heartbeats + times
    async with asyncio.timeout(HANG_SECONDS):
        while platform.gateway.heartbeats < goal:  # noqa: ASYNC110 - what is there is looked at
            await asyncio.sleep(0.01)


async def test_a_429_is_waited_out_and_nothing_is_violated(
    platform: DiscordServer, bot: Bot
) -> None:
    channel = hall(bot, platform)
    platform.limiter.rates.messages = Rate(2, 0.3)
    await asyncio.gather(*(channel.send(str(n)) for n in range(5)))
    assert len(platform.messages()) == 5
    platform.fail(limited(0.1), "POST", "/channels/*/messages")
    platform.fail(limited(0.1, everywhere=True), "POST", "/channels/*/typing")
    await channel.send("after a 429")
    await channel.typing()
    assert platform.violations == []


async def test_who_ignores_a_limit_is_noted(platform: DiscordServer) -> None:
    platform.limiter.rates.messages = Rate(1, 60.0)
    headers = {"Authorization": f"Bot {platform.token}"}
    url = f"{platform.api_url}/channels/{platform.channel.id}/messages"
    async with aiohttp.ClientSession(headers=headers) as session:
        answers = [await session.post(url, json={"content": "x"}) for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 429, 429]
    assert answers[1].headers["Via"]
    assert float(answers[1].headers["Retry-After"]) > 30
    assert [v.why for v in platform.violations] == [
        "more than 1 requests in 60 s",
        "sent while it was told to wait",
    ]
    platform.advance(61)
    assert len(platform.messages()) == 1


@pytest.mark.parametrize(
    ("fault", "raised", "stored"),
    [
        (status(503), discord.DiscordServerError, 0),
        (status(503, when="after"), discord.DiscordServerError, 1),
        (limited(5, via=False), discord.HTTPException, 0),
        (status(404, error=10003), discord.NotFound, 0),
        (drop(), aiohttp.ServerDisconnectedError, 0),
        (drop("after"), aiohttp.ServerDisconnectedError, 1),
    ],
)
async def test_faults_happen_before_or_after_storing(
    platform: DiscordServer, bot: Bot, fault: Fault, raised: type[Exception], stored: int
) -> None:
    platform.fail(fault, "POST", "/channels/*/messages", text="unlucky")
    channel = hall(bot, platform)
    with pytest.raises(raised):
        await channel.send("unlucky")
    assert len(platform.messages()) == stored


async def test_hooks_see_a_request_before_and_after_it_is_stored(
    platform: DiscordServer, bot: Bot
) -> None:
    seen: list[int] = []
    platform.rest.before_store.append(lambda call: seen.append(len(platform.messages())))
    platform.rest.after_store.append(lambda call: seen.append(len(platform.messages())))
    await hall(bot, platform).send("x")
    assert seen == [0, 1]


async def test_in_a_process_of_its_own_it_outlives_its_callers(tmp_path: Path) -> None:
    async with Remote.spawned(tmp_path) as remote:
        state = await remote.state()
        url = f"{remote.api_url}/channels/{state['channel']}/messages"
        headers = {"Authorization": f"Bot {state['token']}"}
        await remote.fail(hang("after"), "POST", "/channels/*/messages")
        async with aiohttp.ClientSession(headers=headers) as session:
            asked = asyncio.create_task(session.post(url, json={"content": "canary"}))
            await remote.until(lambda state: state["hanging"])
            await remote.release()
            with pytest.raises(aiohttp.ClientError):
                await asked
        state = await remote.state()
        (message,) = state["messages"][state["channel"]]
        await remote.act("react", "ada", message["id"], A)
        with pytest.raises(AssertionError, match="No command"):
            await remote.act("slash", "ada", "debate start")
        state = await remote.state()
        assert state["messages"][state["channel"]][0]["holders"] == {A: ["ada"]}
        assert "canary" in (await remote.sent())[0]["text"]


async def test_every_page_of_holders_is_there(platform: DiscordServer, bot: Bot) -> None:
    message = await hall(bot, platform).send("vote")
    for number in range(120):
        platform.react(platform.add_user(f"voter{number}").id, message.id, A)
    fetched = await message.channel.fetch_message(message.id)
    assert len([user async for user in fetched.reactions[0].users()]) == 120
    assert fetched.reactions[0].count == 120


async def test_an_event_needs_its_intent_and_a_channel_that_can_be_seen(
    platform: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    _redirect(platform, monkeypatch)
    message = platform.say("ada", "hello")
    hidden = platform.add_channel("hidden")
    secret = platform.say("ada", "secret", hidden.id)
    platform.deny("view_channel", hidden.id)
    async with connected(platform, intents=1 << 0) as deaf, connected(platform) as hearing:
        platform.react("ada", message.id, A)
        platform.react("ada", secret.id, A)
        platform.react("ben", message.id, A)
        holders = [(await hearing.receive_json())["d"]["user_id"] for _ in range(2)]
        assert holders == [platform.users["ada"].id, platform.users["ben"].id]
        with pytest.raises(TimeoutError):
            await deaf.receive_json(timeout=0.05)


@pytest.mark.parametrize(
    ("change", "code"),
    [({"token": "wrong"}, 4004), ({"intents": 1 << 15}, 4014), ({"shard": [2, 2]}, 4010)],
)
async def test_who_identifies_wrongly_is_sent_away(
    platform: DiscordServer, change: dict[str, Any], code: int
) -> None:
    identify = {"token": platform.token, "intents": 1, **change}
    async with aiohttp.ClientSession() as session:
        socket = await session.ws_connect(platform.gateway.url)
        await socket.receive_json()
        await socket.send_json({"op": 2, "d": identify})
        await socket.receive()
        assert socket.close_code == code


@asynccontextmanager
async def connected(
    platform: DiscordServer, intents: int = 1 << 10
) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """A bare gateway connection, past READY and the servers."""
    async with aiohttp.ClientSession() as session:
        socket = await session.ws_connect(platform.gateway.url)
        identify = {"token": platform.token, "intents": intents}
        await socket.send_json({"op": 2, "d": identify})
        expected = ["HELLO", "READY"] + ["GUILD_CREATE"] * (intents & 1)
        for _ in expected:
            await socket.receive_json()
        yield socket
        await socket.close()


async def test_a_refused_edit_leaves_the_answer_as_it_was(
    platform: DiscordServer, bot: Bot
) -> None:
    asked = platform.slash("ada", "debate sleep")
    callback = f"{platform.api_url}/interactions/{asked.id}/{asked.token}/callback"
    assert await post(callback, {"type": 5, "data": {}}) == (204, 0)
    webhook = f"{platform.api_url}/webhooks/{platform.bot.id}/{asked.token}"
    assert await post(webhook, {"content": "x" * 2001}) == (400, 50035)
    assert not asked.filled
    assert (await post(webhook, {"content": "x"}))[0] == 200
    assert (await asked.finished()).text.strip() == "x"
