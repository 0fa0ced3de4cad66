"""Commands, refusals and the pace of Discord: what it is told, and what its answers mean."""

import asyncio
import base64
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import aiohttp
import discord
import pytest
import regex
from discord import app_commands
from discord.http import Route
from yarl import URL

from adapters.discord import client
from adapters.discord.client import IdentifyLimit, ShardPresence, intents
from adapters.discord.commands import DebateCommands, offer, same, start_command
from adapters.discord.errors import (
    NEEDED,
    DiscordAct,
    UnreadyError,
    application_id_of,
    explain,
    in_channel,
    invite_link,
    missing,
)
from adapters.discord.interactions import BUTTONS_ONLY, DiscordInteractionHandler
from adapters.discord.render import emoji_of, reaction_of, rows
from adapters.discord.rest import MOST, _GlobalRateLimit
from adapters.discord.texts import IN_ORDER, TABLES, Translator, table, typed, with_options
from adapters.wire import ChannelPace
from engine.chat.answers.catalogue import HelpAnswer
from engine.chat.commands import COMMANDS
from engine.chat.invocation import Invocation
from engine.values.errors import (
    MessageGoneError,
    SettingsError,
    UsageError,
    VenueAwayError,
    VenueError,
    VenueGoneError,
    VenueLockedError,
)
from engine.values.text import REACTIONS, split_variant
from engine.words.buttons import read_button
from engine.words.cards import ballot_buttons, debate_buttons
from tests.doubles.discord.rest import ASKING
from tests.doubles.facts import Code, Discord
from tests.kit import HANG_SECONDS, skipped_time, some

NAME = regex.compile(r"^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$")


async def told_to_discord() -> list[dict[str, Any]]:
    nobody: Any = None
    tree = app_commands.CommandTree(discord.Client(intents=intents()))
    offer(tree, DiscordInteractionHandler(nobody, nobody, nobody))
    await tree.set_translator(translator := Translator())
    commands: list[Any] = tree.get_commands()
    told = [await one.get_translated_payload(tree, translator) for one in commands]
    return sorted(told, key=lambda one: int(one["type"]))


async def test_every_command_is_offered_in_servers_to_whoever_may_write_and_is_recognised() -> None:
    payload, _ = await told_to_discord()
    assert {one["name"] for one in payload["options"]} == set(COMMANDS) - set(BUTTONS_ONLY)
    for option in payload["options"]:
        says = option["description"].endswith("(managers)")
        assert says == bool(COMMANDS[option["name"]].who.task), option["name"]
    assert payload["contexts"] == [0]
    assert payload["integration_types"] == [0]
    assert payload["default_member_permissions"] == discord.Permissions(send_messages=True).value
    known = payload | {"id": "1", "version": "2", "nsfw": False, "default_permission": True}
    known["default_member_permissions"] = str(payload["default_member_permissions"])
    assert same([payload], [known])
    assert not same([payload], [])
    assert not same([payload], [known | {"description": "older"}])
    assert not same([payload], [known | {"options": payload["options"][:-1]}])


async def test_names_and_descriptions_are_of_the_form_that_discord_takes_in_every_language() -> (
    None
):
    payload, _ = await told_to_discord()
    same_everywhere = {"status", "export", "format", "model_a", "model_b", "blind", "debate"}
    total = 0
    for option in walk(payload):
        assert len(option.get("options", ())) <= Discord.OPTIONS
        total += len(str(option.get("value", "")))
        for field in ("name", "description"):
            texts = localised(option, field)
            assert max(map(len, texts.values())) <= Discord.COMMAND_DESCRIPTION
            total += max(map(len, texts.values()))
            if option.get(field) and option[field] not in same_everywhere:
                assert {locale.value for locale in TABLES} <= set(texts), option
        for locale, name in localised(option, "name").items() if "value" not in option else ():
            assert NAME.match(name), (locale, name)
            assert name == name.lower(), (locale, name)
        for locale in ("en", "tr", "de", "es-ES", "zh-CN"):
            names = [
                localised(inner, "name").get(locale, inner["name"])
                for inner in option.get("options", ())
            ]
            assert len(set(names)) == len(names), (locale, names)
    assert total <= 8000


def walk(option: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield option
    for inner in (*option.get("options", ()), *option.get("choices", ())):
        yield from walk(inner)


def localised(option: dict[str, Any], field: str) -> dict[str, str]:
    return {"en": option.get(field, ""), **(option.get(f"{field}_localizations") or {})}


async def test_each_command_gives_what_its_entry_takes() -> None:
    given: list[Invocation] = []

    class Recorder:
        trial = None

        async def carry_out(self, interaction: Any, asked: Any, attached: Any = ()) -> None:
            given.append(asked() if callable(asked) else asked)

    recorder: Any = Recorder()
    group = DebateCommands(recorder)
    for command in group.commands:
        assert isinstance(command, app_commands.Command)
        typed = {"topic": "Tea"} if command.name in ("start", "suggest") else {}
        interaction: Any = SimpleNamespace()
        await command.callback(interaction, **typed)  # type: ignore[call-arg]
        assert given[-1].name == command.name
        handler = inspect.signature(COMMANDS[command.name].run)
        handler.bind("context", "person", **given[-1].arguments)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("`/debate forget confirm=yes`", "`/debate forget confirm:True`"),
        ("`/debate delete k7 confirm=yes`", "`/debate delete debate:k7 confirm:True`"),
        ("`/debate me scoreboard=off`", "`/debate me scoreboard:False`"),
        ("`/debate suggest your own topic`", "`/debate suggest topic:your own topic`"),
        ("`/debate review k7 A`", "`/debate review debate:k7 vote:A`"),
        ('`/debate schedule "every day 09:00"`', "`/debate schedule when:every day 09:00`"),
        ("`/debate settings rounds=2`", "`/debate settings setting:rounds value:2`"),
        ("`/debate topics` and a=b", "`/debate topics` and a=b"),
    ],
)
def test_an_answer_writes_commands_as_discord_takes_them(written: str, shown: str) -> None:
    assert typed(written) == shown


async def test_help_shows_what_can_be_typed_and_offers_no_command_that_discord_lacks() -> None:
    nobody: Any = SimpleNamespace(trial=None)
    group: Any = DebateCommands(nobody)
    for name, options in IN_ORDER.items():
        command = group.get_command(name)
        assert tuple(one.display_name for one in command.parameters)[: len(options)] == options
    line = ("forget [confirm=yes]", "erases your identity", "")
    answer = HelpAnswer(command="forget", commands=(line,))
    shown = with_options(answer, group.get_command("help"))
    assert shown.commands[0][0] == "forget [confirm:True|False]"
    assert await group._complete("command", nobody, "rem") == []
    with pytest.raises(UsageError) as told:
        group._invocation(COMMANDS["help"], {"command": "xyzzy"})
    assert "rematch" not in str(told.value)
    with pytest.raises(UsageError) as told:
        start_command({"topic": "Tea", "more": "blind=maybe"})
    assert str(told.value) == "blind is “maybe”; write on or off."


def test_no_intent_is_privileged_and_a_token_says_whose_it_is() -> None:
    privileged = discord.Intents(members=True, presences=True, message_content=True)
    assert not intents().value & privileged.value
    assert intents().guilds
    assert intents().guild_reactions
    head = base64.urlsafe_b64encode(b"123456789012345678").decode().rstrip("=")
    assert application_id_of(f" {head}.abc.def ") == 123456789012345678
    with pytest.raises(SettingsError, match="ROSTRUM_DISCORD__TOKEN"):
        application_id_of("not a token")


def test_the_tables_translate_nothing_that_is_not_there() -> None:
    keys = [set(table(language)) for language in set(TABLES.values())]
    union, shared = set[str]().union(*keys), keys[0].intersection(*keys)
    assert len(union - shared) <= 10  # words that a language shares with English


def test_a_button_says_all_that_it_does_and_a_foreign_one_is_left_alone() -> None:
    buttons = (*debate_buttons("k7f2qz", stoppable=True), *ballot_buttons(("A", "tie")))
    ids = [button["custom_id"] for row in rows(buttons) for button in row["components"]]
    assert [read_button(id) for id in ids] == [
        ("stop", "k7f2qz"),
        ("status", "k7f2qz"),
        ("vote", "A"),
        ("vote", "tie"),
        ("withdraw", ""),
    ]
    for foreign in ("", "other:stop:x", "rostrum:stop:", "rostrum:bomb:x", "x:y"):
        assert read_button(foreign) is None


# --- What Discord's answers mean, what it must allow, and how often it may be asked ---------------


def refusal(code: Code, text: str = "No.", *, status: int = 0) -> discord.HTTPException:
    response: Any = SimpleNamespace(status=status or code.status, reason="x")
    kinds = {403: discord.Forbidden, 404: discord.NotFound}
    kind = kinds.get(response.status, discord.HTTPException)
    return kind(response, {"code": code, "message": text})


@pytest.mark.parametrize(
    ("error", "act", "kind", "said"),
    [
        (refusal(Code.UNKNOWN_CHANNEL), DiscordAct.POST, VenueGoneError, "was deleted"),
        (refusal(Code.UNKNOWN_MESSAGE), DiscordAct.READ, MessageGoneError, "A message in <#7>"),
        (refusal(Code.MISSING_ACCESS), DiscordAct.READ, VenueGoneError, "View Channel"),
        (refusal(Code.MISSING_PERMISSIONS), DiscordAct.POST, VenueGoneError, "Messages in Threads"),
        (refusal(Code.MISSING_PERMISSIONS), DiscordAct.REACT, VenueError, "Add Reactions"),
        (refusal(Code.MISSING_PERMISSIONS), DiscordAct.REMOVE, VenueError, "Manage Messages"),
        (refusal(Code.MISSING_PERMISSIONS), DiscordAct.READ, VenueError, "Read Message History"),
        (refusal(Code.THREAD_ARCHIVED), DiscordAct.POST, VenueLockedError, "unlock"),
        (refusal(Code.THREAD_LOCKED), DiscordAct.EDIT, VenueLockedError, "grant Manage Threads"),
        (refusal(Code.TOO_MANY_THREADS), DiscordAct.THREAD, VenueError, "archive some"),
        (refusal(Code.NONE, status=401), DiscordAct.POST, VenueGoneError, "ROSTRUM_DISCORD__TOKEN"),
        (refusal(Code.INVALID_FORM, "Must be 4096"), DiscordAct.POST, VenueError, "Must be 4096"),
        (
            UnreadyError(429, 1.0, False, Code.TOO_OLD_TO_EDIT),
            DiscordAct.EDIT,
            VenueError,
            "posted as a new message",
        ),
    ],
)
def test_a_refusal_is_a_sentence_that_says_what_to_do(
    error: Exception, act: DiscordAct, kind: type[VenueError], said: str
) -> None:
    explained = explain(error, act, "7", "9")
    assert type(explained) is kind
    assert said in str(explained)


@pytest.mark.parametrize(
    ("error", "maybe_stored"),
    [
        (UnreadyError(429, 2.5, False), False),
        (UnreadyError(503, 1.0, False), True),
        (aiohttp.ServerDisconnectedError(), True),
        (ConnectionResetError(), True),
        (TimeoutError(), True),
    ],
)
def test_a_failure_says_if_the_message_may_be_there(error: Exception, maybe_stored: bool) -> None:
    explained = explain(error, DiscordAct.POST, "7")
    assert isinstance(explained, VenueAwayError)
    assert explained.maybe_stored is maybe_stored
    if not maybe_stored:
        assert explained.retry_after == 2.5


def test_emojis_are_known_with_and_without_their_mark_and_in_any_skin_tone() -> None:
    for option, emoji in REACTIONS.items():
        assert reaction_of(emoji) == reaction_of(emoji.replace("\ufe0f", "")) == option
    assert reaction_of("🎉") is None
    assert reaction_of(None) is None
    assert len(set(REACTIONS.values())) == len(REACTIONS)
    # No message has letters beside colours.
    assert len([one for one in REACTIONS if not one.startswith("letter")]) <= Discord.EMOJIS
    for emoji in ("🤝", "🤝🏽", "🫱🏻\u200d🫲🏿", "👍🏿"):
        for burst in (False, True):
            reaction = some(reaction_of(emoji, burst=burst))
            assert split_variant(reaction)[0] == ("up" if emoji[0] == "👍" else "tie")
            assert emoji_of(reaction) == emoji  # it reads back
        assert reaction_of(emoji) != reaction_of(emoji, burst=True)


def test_the_link_asks_for_exactly_what_is_needed_and_a_channel_may_take_it_away() -> None:
    link = invite_link(123)
    usable = NEEDED | discord.Permissions(manage_webhooks=True)  # which an admin may untick
    assert f"permissions={usable.value}" in link
    assert "scope=bot+applications.commands" in link
    assert not NEEDED.manage_messages
    assert not NEEDED.manage_webhooks
    assert not NEEDED.administrator
    secret = invite_link(123, secret_ballots=True)
    assert f"permissions={usable.value | discord.Permissions(manage_messages=True).value}" in secret
    send = discord.Permissions(send_messages=True).value
    overwrites = [
        {"id": "1", "allow": "0", "deny": str(send)},
        {"id": "5", "allow": str(send), "deny": "0"},
    ]
    admin = discord.Permissions(administrator=True)
    for granted, roles, lacks in (
        (NEEDED, [], ["Send Messages"]),
        (NEEDED, ["5"], []),
        (admin, [], []),
    ):
        assert missing(in_channel(granted, overwrites, guild="1", roles=roles, me="9")) == lacks


async def test_no_more_than_five_messages_in_five_gaps_and_channels_do_not_wait() -> None:
    pace, sent = ChannelPace(0.02), []
    with skipped_time():
        for _ in range(12):
            async with pace.turn("lobby"):
                sent.append(time.monotonic())
    assert all(later - earlier > 5 * 0.02 for earlier, later in zip(sent, sent[5:], strict=False))
    pace, served = ChannelPace(0.005), list[int]()

    async def send(number: int) -> None:
        async with pace.turn("lobby"):
            served.append(number)

    slow = ChannelPace(30.0)
    async with asyncio.timeout(HANG_SECONDS):
        await asyncio.gather(*map(send, range(50)))
        for place in ("one", "two", "three"):
            async with slow.turn(place):
                pass
    assert served == list(range(50))


async def test_a_slow_answer_costs_no_turn_and_none_leaves_before_it() -> None:
    pace, left = ChannelPace(0.1), list[float]()
    with skipped_time():
        for _ in range(5):
            async with pace.turn("lobby"):
                left.append(time.monotonic())
                await asyncio.sleep(0.05)
    assert 0.4 <= left[-1] - left[0] < 0.6  # 0.15 s apart they would be, were it after the answer


def test_a_wait_of_our_own_is_no_silence_of_discord() -> None:
    client = ShardPresence()
    client.begin(2)
    assert client.silence == 0  # nothing was asked for yet
    client.expect()
    assert client.silence > 0
    with client.pausing():
        client.heard(0)
        assert (client.connected, client.silence) == (False, 0)
    assert client.silence > 0
    client.heard(1)
    assert (client.connected, client.silence) == (True, 0)
    client.lost(0)
    assert (client.connected, client.silence > 0) == (False, True)


async def test_introductions_stay_in_discords_daily_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "DAY", 0.2)
    limit, made = IdentifyLimit(total=100, gap=0.0), 0
    with skipped_time():
        began = time.monotonic()
        while time.monotonic() - began < 0.2:
            await limit.wait()
            made += 1
    assert made <= 100


# --- The one way out to Discord: how many leave in a second, and in which order -------------------


def asked(path: str) -> aiohttp.TraceRequestStartParams:
    return Mock(aiohttp.TraceRequestStartParams, url=URL(Route.BASE + path))


async def leave(global_limit: _GlobalRateLimit, path: str = "/channels/1/messages") -> float:
    """Leave as aiohttp lets a request do, and return when."""
    [door] = global_limit.trace().on_request_start
    await door(Mock(), SimpleNamespace(), asked(path))
    return time.monotonic()


def in_one_second(moments: list[float]) -> int:
    return max(sum(a <= b < a + 1 for b in moments) for a in moments)


async def ask(global_limit: _GlobalRateLimit) -> float:
    await global_limit.admit()
    return await leave(global_limit)


@pytest.mark.parametrize("go", [ask, leave])  # also what was held up after its turn
async def test_a_crowd_never_leaves_faster_than_discord_takes_it(
    go: Callable[[_GlobalRateLimit], Awaitable[float]],
) -> None:
    global_limit = _GlobalRateLimit()
    for part in (0.1, 1.0):  # it is alone again, and sends as much as before
        global_limit.narrow(part)
    with skipped_time():
        moments = await asyncio.gather(*(go(global_limit) for _ in range(2 * MOST)))
    assert in_one_second(moments) <= MOST < ASKING.requests
    assert max(moments) - min(moments) < 3


@pytest.mark.parametrize("parts", [(0.5, 0.5), (0.75, 0.25), (21 / 43, 21 / 43, 1 / 43)])
async def test_several_processes_send_no_more_than_one_may(parts: tuple[float, ...]) -> None:
    ways = [_GlobalRateLimit() for _ in parts]
    for global_limit, part in zip(ways, parts, strict=True):
        global_limit.narrow(part)

    with skipped_time():
        crowds = [ask(global_limit) for global_limit in ways for _ in range(2 * MOST)]
        moments = await asyncio.gather(*crowds)
    assert in_one_second(moments) <= ASKING.requests


async def test_answers_to_interactions_wait_for_nobody() -> None:
    global_limit = _GlobalRateLimit()
    answers = ("/interactions/1/token/callback", "/webhooks/1/token/messages/@original")
    with skipped_time():
        began = time.monotonic()
        for path in answers:
            for _ in range(200):
                await leave(global_limit, path)
        assert time.monotonic() - began < 1


async def test_first_come_first_served_but_what_somebody_waits_for() -> None:
    global_limit, served = _GlobalRateLimit(), list[str]()

    async def ask(name: str, *, first: bool = False) -> None:
        await global_limit.admit(first=first)
        served.append(name)

    names = [f"reading {n:02}" for n in range(20)]
    tasks = [asyncio.create_task(ask(name)) for name in names]
    await asyncio.sleep(0.01)
    early = len(served)
    tasks.append(asyncio.create_task(ask("announcement", first=True)))
    await asyncio.gather(*tasks)
    assert served.index("announcement") <= early + 1
    assert [name for name in served if name != "announcement"] == names


async def test_who_gives_up_holds_nobody_up() -> None:
    global_limit = _GlobalRateLimit()
    with skipped_time():
        tasks = [asyncio.create_task(global_limit.admit()) for _ in range(30)]
        await asyncio.sleep(0)
        for task in tasks[:29]:
            task.cancel()
        async with asyncio.timeout(0.5):
            await tasks[29]
        with pytest.raises(asyncio.CancelledError):
            await tasks[28]
        async with asyncio.timeout(0.5):
            await global_limit.admit()
