"""What Discord is told of the commands: names, limits, languages, and who may use them."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import discord
import pytest
import regex
from discord import app_commands
from pydantic import SecretStr

from adapters.discord.answering import BUTTONS_ONLY, FrontDesk
from adapters.discord.client import intents
from adapters.discord.commands import DebateCommands, start_command
from adapters.discord.registration import same
from adapters.discord.render import rows
from adapters.discord.rest import Rest
from adapters.discord.translation import IN_ORDER, TABLES, Translator, table, typed, with_options
from adapters.discord.venue import DiscordVenue
from engine.chat.answers.catalogue import HelpAnswer, HelpLine
from engine.chat.commands import COMMANDS
from engine.chat.invocation import Invocation
from engine.values.errors import UsageError
from engine.words.buttons import ballot_buttons, debate_buttons, read_button
from tests.doubles.facts import Discord

NAME = regex.compile(r"^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$")


@pytest.fixture
async def payload() -> dict[str, Any]:
    """Everything that Discord is told."""
    nobody: Any = None
    rest = Rest(SecretStr("x"), "http://127.0.0.1:1")
    tree = app_commands.CommandTree(discord.Client(intents=intents()))
    tree.add_command(DebateCommands(FrontDesk(nobody, nobody, DiscordVenue(rest))))
    await tree.set_translator(Translator())
    assert tree.translator is not None
    (command,) = tree.get_commands()
    return await command.get_translated_payload(tree, tree.translator)


def walk(option: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield option
    for inner in (*option.get("options", ()), *option.get("choices", ())):
        yield from walk(inner)


def localised(option: dict[str, Any], field: str) -> dict[str, str]:
    return {"en": option.get(field, ""), **(option.get(f"{field}_localizations") or {})}


async def test_every_command_that_the_engine_knows_is_offered(payload: dict[str, Any]) -> None:
    offered = {option["name"] for option in payload["options"]}
    assert offered == set(COMMANDS) - set(BUTTONS_ONLY)


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
        interaction: Any = SimpleNamespace(namespace=typed.items())
        await command.callback(group, interaction, **typed)  # type: ignore[arg-type]
        assert given[-1].name == command.name
        assert type(given[-1].arguments) is type(COMMANDS[command.name].takes.read([]))


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


async def test_options_that_answers_name_in_order_are_those_that_discord_shows() -> None:
    nobody: Any = SimpleNamespace(trial=None)
    group = DebateCommands(nobody)
    for name, options in IN_ORDER.items():
        command = group.get_command(name)
        assert isinstance(command, app_commands.Command)
        assert tuple(one.display_name for one in command.parameters)[: len(options)] == options


async def test_help_on_a_command_shows_what_can_be_typed() -> None:
    nobody: Any = SimpleNamespace(trial=None)
    group = DebateCommands(nobody)
    line = HelpLine(written="forget [confirm=yes]", about="erases your identity")
    answer = HelpAnswer(command="forget", commands=(line,))
    shown = with_options(answer, group.get_command("help"))
    assert shown.commands[0].written == "forget [confirm:True|False]"


async def test_help_offers_no_command_that_discord_lacks() -> None:
    nobody: Any = SimpleNamespace(trial=None)
    group: Any = DebateCommands(nobody)
    offered = await group._commands(nobody, "rem")
    assert offered == []
    with pytest.raises(UsageError) as told:
        group._help_on("xyzzy")
    assert "rematch" not in str(told.value)


async def test_a_mistake_in_more_is_answered_without_a_usage_that_no_one_can_type() -> None:
    with pytest.raises(UsageError) as told:
        start_command({"topic": "Tea", "more": "blind=maybe"})
    assert str(told.value) == "blind is “maybe”; write on or off."


async def test_a_description_says_when_only_managers_may(payload: dict[str, Any]) -> None:
    for option in payload["options"]:
        says = option["description"].endswith("(managers)")
        assert says == bool(COMMANDS[option["name"]].who.task), option["name"]


async def test_names_are_of_the_form_that_discord_takes(payload: dict[str, Any]) -> None:
    named = [option for option in walk(payload) if "value" not in option]
    for option in named:
        for locale, name in localised(option, "name").items():
            assert NAME.match(name), (locale, name)
            assert name == name.lower(), (locale, name)


async def test_names_are_unique_in_every_language(payload: dict[str, Any]) -> None:
    for option in walk(payload):
        for locale in ("en", "tr", "de", "es-ES", "zh-CN"):
            names = [
                localised(inner, "name").get(locale, inner["name"])
                for inner in option.get("options", ())
            ]
            assert len(set(names)) == len(names), (locale, names)


async def test_descriptions_and_the_whole_fit(payload: dict[str, Any]) -> None:
    total = 0
    for option in walk(payload):
        for field in ("name", "description"):
            lengths = [len(text) for text in localised(option, field).values()]
            assert max(lengths) <= Discord.COMMAND_DESCRIPTION
            total += max(lengths)
        total += len(str(option.get("value", "")))
    assert total <= 8000
    assert all(len(option.get("options", ())) <= Discord.OPTIONS for option in walk(payload))


async def test_every_text_is_in_every_language(payload: dict[str, Any]) -> None:
    same_everywhere = {"status", "export", "format", "model_a", "model_b", "blind", "debate"}
    for option in walk(payload):
        for field in ("name", "description"):
            if option.get(field) and option[field] not in same_everywhere:
                assert {locale.value for locale in TABLES} <= set(localised(option, field)), option


def test_the_tables_translate_nothing_that_is_not_there() -> None:
    languages = set(TABLES.values())
    keys = [set(table(language)) for language in languages]
    union, shared = set[str]().union(*keys), keys[0].intersection(*keys)
    assert len(union - shared) <= 10  # words that a language shares with English


async def test_it_is_for_servers_only_and_for_whoever_may_write(payload: dict[str, Any]) -> None:
    assert payload["contexts"] == [0]
    assert payload["integration_types"] == [0]
    assert payload["default_member_permissions"] == discord.Permissions(send_messages=True).value


def test_no_intent_is_privileged() -> None:
    privileged = discord.Intents(members=True, presences=True, message_content=True)
    assert not intents().value & privileged.value
    assert intents().guilds
    assert intents().guild_reactions


async def test_what_discord_has_already_is_recognised(payload: dict[str, Any]) -> None:
    known = payload | {"id": "1", "version": "2", "nsfw": False, "default_permission": True}
    known["default_member_permissions"] = str(payload["default_member_permissions"])
    assert same([payload], [known])
    assert not same([payload], [])
    assert not same([payload], [known | {"description": "older"}])
    assert not same([payload], [known | {"options": payload["options"][:-1]}])


def test_a_button_says_all_that_it_does() -> None:
    buttons = (*debate_buttons("k7f2qz", stoppable=True), *ballot_buttons(("A", "tie")))
    ids = [button["custom_id"] for row in rows(buttons) for button in row["components"]]
    assert [read_button(id) for id in ids] == [
        ("stop", "k7f2qz"),
        ("status", "k7f2qz"),
        ("vote", "A"),
        ("vote", "tie"),
        ("withdraw", ""),
    ]


@pytest.mark.parametrize("foreign", ["", "other:stop:x", "rostrum:stop:", "rostrum:bomb:x", "x:y"])
def test_a_foreign_button_is_left_alone(foreign: str) -> None:
    assert read_button(foreign) is None
