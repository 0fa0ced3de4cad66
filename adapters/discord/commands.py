"""`/debate` and its subcommands, as Discord shows them; each becomes a command value.

Each Discord client shows them in its own language (translation.py). Autocompletion validates
nothing, so the command itself checks every value.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import discord
import structlog
from discord import app_commands

from adapters.discord import texts
from adapters.discord.errors import DiscordAct, unreadable
from adapters.discord.interactions import (
    BUTTONS_ONLY,
    NO_SETTINGS,
    DiscordInteractionHandler,
    Interaction,
)
from adapters.discord.rest import DiscordRest
from adapters.discord.texts import Translator, language_of
from adapters.wire import reads
from engine.chat.choices import (
    CommandChoice,
    format_choices,
    language_choices,
    match_debates,
    match_jurors,
    match_models,
    match_topics,
    matching,
    motion_of,
)
from engine.chat.commands import COMMANDS, Command
from engine.chat.invocation import (
    Invocation,
    StartArguments,
    read_start,
    split_words,
    suggest,
)
from engine.chat.parameters import IN_A_CHAT
from engine.chat.participants import NO_VOTE
from engine.store.communities import SETTING_NAMES
from engine.tally.questions import vote_options
from engine.values.errors import RostrumError, UsageError, VenueAwayError, VenueError, why_of
from engine.values.language import speaking
from engine.values.options import LONGEST_TOPIC, STANCES, Param
from engine.values.ports import Backoff
from engine.values.text import clean, headline
from engine.words.phrases import TOPIC_HINT
from engine.words.translation import say

LONGEST_CHOICE = 100  # characters
Choices = list[app_commands.Choice[str]]
Complete = Callable[[Interaction, str], Coroutine[Any, Any, Choices]]
MATCHES = {
    "model": match_models,
    "juror": match_jurors,
    "debate": match_debates,
}
ATTACHED = ("source", "source_2")
log = structlog.get_logger(__name__)


# Each command with what Discord says of it.
ABOUT = {
    "start": "Start a debate; models left out are drawn at random",
    "cancel": "Stop a debate (its starter or a manager)",
    "close": "Close a vote early (managers)",
    "delete": "Take a debate out of the chat and the record",
    "status": "Show a debate's progress",
    "result": "Show a debate's result",
    "list": "List the debates on this server",
    "models": "List the models that can debate and judge here",
    "topics": "List the topics that people here suggested, and ideas",
    "suggest": "Suggest a topic for a debate here",
    "formats": "List the debate formats",
    "settings": "Show or change this server's settings (managers)",
    "export": "Export the data of revealed debates as a file (managers)",
    "agreement": "Show how far jury and people agree",
    "leaderboard": "Show how people and jury rate the models",
    "league": "Hold a league among the models here (managers); its standing",
    "schedule": "Hold debates at set times (managers); shows them",
    "review": "Review debates whose winner is unclear",
    "me": "Show how your votes compare with people and jury",
    "privacy": "Show what is stored about you and this server",
    "mydata": "Get everything stored about you as a file",
    "forget": "Erase your identity, at once and for good; your votes still count",
    "optout": "Leave your data out of exports; your votes still count",
    "optin": "Undo optout, or come back after being forgotten",
    "help": "Show what Rostrum can do",
}


LISTED = {
    "vote": (*vote_options(("A", "B", *"123456789")), NO_VOTE),
    "setting": tuple(name for name in SETTING_NAMES if name not in NO_SETTINGS),
    "command": tuple(ABOUT),
}


class DebateCommands(app_commands.Group):
    """`/debate`, for everyone who can write; servers can override that, as for any command."""

    def __init__(self, handler: DiscordInteractionHandler) -> None:
        super().__init__(
            name="debate",
            description="Debates between AI models, judged by a blind jury and by you",
            guild_only=handler.trial is None,
            allowed_installs=app_commands.AppInstallationType(
                guild=True, user=handler.trial is not None
            ),
            allowed_contexts=app_commands.AppCommandContext(
                guild=True, dm_channel=handler.trial is not None, private_channel=False
            ),
            default_permissions=discord.Permissions(send_messages=True),
        )
        self._handler = handler
        for name, about in ABOUT.items():
            self.add_command(self._command(COMMANDS[name], about))

    def _command(self, command: Command, about: str) -> app_commands.Command[Any, ..., None]:
        """Build a command with the options that its table of parameters has."""
        options = [param for param in command.params if param.about]

        async def call(interaction: Interaction, **options: Any) -> None:
            given = {name: value for name, value in options.items() if value is not None}
            if command.name == "start" and "topic" not in given:
                with speaking(language_of(interaction)):
                    await interaction.response.send_modal(_TopicForm(self._handler, given))
                return
            asked = partial(self._invocation, command, given)
            await self._handler.carry_out(interaction, asked, attached(given))

        asker = inspect.Parameter("interaction", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        signature = inspect.Signature([asker, *map(_declared, options)])
        call.__signature__ = signature  # type: ignore[attr-defined]  # what discord.py reads
        renamed = {one.name: one.said for one in options if one.name != one.said}
        completed = {one.name: self._completer(one.complete) for one in options if one.complete}
        call = app_commands.describe(**{one.name: one.about for one in options})(call)
        call = app_commands.autocomplete(**completed)(app_commands.rename(**renamed)(call))
        return app_commands.Command(name=command.name, description=about, callback=call)

    def _invocation(self, command: Command, given: Mapping[str, Any]) -> Invocation:
        """Return what the options given to a command ask for. Raises UsageError."""
        match command.name:
            case "start":
                return start_command(given)
            case "schedule":
                return schedule_command(given)
            case "settings":
                changes = {given["setting"]: given["value"]} if len(given) == 2 else {}
                return Invocation("settings", {"changes": changes})
            case "help":
                # Raises UsageError for one that is not here.
                name = clean(given.get("command", "")).strip().casefold().rsplit("/", 1)[-1]
                if name and name not in (*ABOUT, *BUTTONS_ONLY):
                    near = suggest(name, ABOUT, listed_by="help")
                    raise UsageError(
                        "Unknown command “{command}”; {near}", command=headline(name, 40), near=near
                    )
                return Invocation("help", {"command": name or None})
        return Invocation(command.name, given)

    def _completer(self, what: str) -> Complete:
        async def complete(interaction: Interaction, typed: str) -> Choices:
            return await self._complete(what, interaction, typed)

        return complete

    async def _complete(self, what: str, interaction: Interaction, typed: str) -> Choices:
        """Offer what can be chosen for an option; none while somebody types too fast."""
        if what in LISTED:
            words = LISTED[what]
            return _listed(matching(typed, [CommandChoice(value=n, label=n) for n in words]))
        if what == "format":
            return _listed(format_choices(typed))
        if what == "language":
            return _listed(language_choices(typed, interaction.locale.value))
        before, comma, last = typed.rpartition(",") if what == "juror" else ("", "", typed)
        commands = self._handler.commands
        try:
            commands.check_database()
            person = await self._handler.person(interaction)
            commands.typing.check((person.platform, person.user), commands.service.clock.now())
            if what == "topic":
                locale = interaction.locale.value
                return _listed(await match_topics(commands, person, typed, locale))
            found = await MATCHES[what](commands, person, last.strip() if comma else last)
        except RostrumError as error:
            log.debug("nothing offered", why=str(error))
            return []
        if not comma:
            return _listed(found)
        whole = (f"{before}{comma}{choice.value}" for choice in found)
        return _listed(
            tuple(CommandChoice(value=text, label=text[-LONGEST_CHOICE:]) for text in whole)
        )


def _declared(param: Param) -> inspect.Parameter:
    """Return an option as discord.py reads it from a function's signature."""
    kind: Any = param.kind
    if isinstance(kind, tuple):
        kind = Literal[kind]
    elif kind is bytes:
        kind = discord.Attachment
    elif param.range is not None:
        of = float if kind is float else int  # of a text the length
        kind = app_commands.Range[kind, *map(of, param.range)]
    if param.required:
        return inspect.Parameter(param.name, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
    return inspect.Parameter(
        param.name, inspect.Parameter.KEYWORD_ONLY, annotation=kind | None, default=None
    )


class _TopicForm(discord.ui.Modal):
    """Asks for a topic that may be long; the other options were given with the command."""

    def __init__(self, handler: DiscordInteractionHandler, given: Mapping[str, Any]) -> None:
        super().__init__(title=say(texts.TOPIC_TITLE))
        self._handler, self._given = handler, given
        self.topic: discord.ui.TextInput[_TopicForm] = discord.ui.TextInput(
            custom_id="topic",
            label=say(texts.TOPIC_FIELD),
            placeholder=say(TOPIC_HINT),
            style=discord.TextStyle.paragraph,
            default=given.get("topic"),
            max_length=LONGEST_TOPIC,
        )
        self.conditions: discord.ui.TextInput[_TopicForm] = discord.ui.TextInput(
            custom_id="conditions",
            label=say(texts.CONDITIONS_FIELD),
            placeholder=say(texts.CONDITIONS_HINT),
            style=discord.TextStyle.paragraph,
            default=given.get("conditions"),
            required=False,
            max_length=LONGEST_TOPIC,
        )
        self.stances: dict[str, discord.ui.TextInput[_TopicForm]] = {
            name: discord.ui.TextInput(
                custom_id=said,
                label=say(texts.STANCE_FIELDS[said]),
                placeholder=say(texts.STANCE_HINTS[said]),
                default=given.get(name),
                required=False,
                max_length=LONGEST_TOPIC,
            )
            for said, name in STANCES.items()
        }
        for item in (self.topic, *self.stances.values(), self.conditions):
            self.add_item(item)

    async def on_submit(self, interaction: Interaction) -> None:
        """Start the debate."""
        typed = {"topic": self.topic.value, "conditions": self.conditions.value}
        stances = {name: item.value for name, item in self.stances.items()}
        given = {**self._given, **typed, **stances}
        await self._handler.carry_out(interaction, partial(start_command, given), attached(given))


def attached(given: Mapping[str, Any]) -> tuple[discord.Attachment, ...]:
    """Return the files among the options given to `/debate start`, in their order."""
    return tuple(given[name] for name in ATTACHED if name in given)


def start_command(given: Mapping[str, Any]) -> Invocation:
    """Parse the options given to `/debate start`. Raises UsageError."""
    # No usage: Discord shows how each option is written.
    more = read_start(split_words(clean(given.get("more") or "")))
    if more.topic:
        raise UsageError(texts.MORE_IS_OPTIONS)
    sides = {"A": given.get("model_a"), "B": given.get("model_b")}
    said = {name: given[name] for name in IN_A_CHAT if given.get(name) not in (None, "")}
    named = {
        name: tuple(filter(None, map(str.strip, given[name].split(","))))
        for name in ("jurors", "judges")
        if given.get(name)
    }
    chosen = {**more.sides, **{side: model for side, model in sides.items() if model}}
    asked = StartArguments(**dict(more) | said | named | {"sides": chosen})
    return Invocation("start", {"asked": asked})


def schedule_command(given: Mapping[str, Any]) -> Invocation:
    """Parse the options given to `/debate schedule`. Raises UsageError."""
    when = given.get("when", "").strip()
    when = "off" if when.casefold() == "off" else when
    return Invocation("schedule", {"when": when, **start_command(given).arguments})


def _listed(choices: tuple[CommandChoice, ...]) -> Choices:
    fit = (choice for choice in choices if len(choice.value) <= LONGEST_CHOICE)
    return [app_commands.Choice(name=choice.label, value=choice.value) for choice in fit]


# Registers the commands with Discord, if they differ from the registered ones.
#
# It runs beside the gateway: commands of an earlier version still work, and so do votes.


# “Debate this” in the menu of a message: opens the form with the message as its motion.
#
# Discord hands over the message's text with the command, so that no privileged intent is needed.


def debate_this(handler: DiscordInteractionHandler) -> app_commands.ContextMenu:
    """Return the entry, for everyone who can write, as `/debate`."""

    @app_commands.guild_only()
    @app_commands.default_permissions(send_messages=True)
    @app_commands.allowed_installs(guilds=True, users=False)
    async def ask(interaction: Interaction, message: discord.Message) -> None:
        with speaking(language_of(interaction)):
            try:
                motion = motion_of(message.content)
            except UsageError as error:
                await handler.refuse(interaction, error)
            else:
                await interaction.response.send_modal(_TopicForm(handler, {"topic": motion}))

    return app_commands.ContextMenu(name="Debate this", callback=ask)


FIRST_PAUSE, LONGEST_PAUSE = 30.0, 3600.0


async def keep_registered(
    tree: app_commands.CommandTree, rest: DiscordRest, guild_ids: Sequence[int]
) -> None:
    """Register for these servers, where commands appear at once, or else globally.

    What Discord refuses is tried again after growing pauses.
    """
    paths, backoff = _paths_of(rest, guild_ids), Backoff(FIRST_PAUSE, LONGEST_PAUSE)
    while paths:
        refused: list[str] = []
        after = backoff.next()
        for path in paths:
            try:
                wanted = await _payload(tree)
                if not same(wanted, await _known(rest, path)):
                    await rest.request(DiscordAct.EDIT, "PUT", path, body=wanted)
                    log.info("commands registered", path=path)
            except VenueError as error:
                refused.append(path)
                after = max(after, error.retry_after if isinstance(error, VenueAwayError) else 0.0)
                why = why_of(error.__cause__ or error)  # Discord's own words
                log.error("commands not registered", path=path, why=why, seconds=round(after))
        paths = refused
        if refused:
            await asyncio.sleep(after)


def offer(tree: app_commands.CommandTree, handler: DiscordInteractionHandler) -> None:
    """Add every command to a tree."""
    tree.add_command(DebateCommands(handler))
    tree.add_command(debate_this(handler))


async def is_registered(rest: DiscordRest, guild_ids: Sequence[int], trial: float | None) -> bool:
    """Return whether Discord has the commands of this version. Raises VenueError."""
    nobody: Any = None
    tree = app_commands.CommandTree(discord.Client(intents=discord.Intents.none()))
    offer(tree, DiscordInteractionHandler(nobody, nobody, nobody, trial=trial))
    await tree.set_translator(Translator())
    wanted = await _payload(tree)
    known = [await _known(rest, path) for path in _paths_of(rest, guild_ids)]
    return all(same(wanted, one) for one in known)


def _paths_of(rest: DiscordRest, guild_ids: Sequence[int]) -> list[str]:
    application = f"/applications/{rest.application}"
    return [f"{application}/guilds/{guild}/commands" for guild in guild_ids] or [
        f"{application}/commands"
    ]


@reads(unreadable)
async def _known(rest: DiscordRest, path: str) -> list[Mapping[str, Any]]:
    asked = {"with_localizations": "true"}
    return _in_order(await rest.request(DiscordAct.READ, "GET", path, params=asked))


async def _payload(tree: app_commands.CommandTree) -> list[Mapping[str, Any]]:
    translator = tree.translator
    commands = tree.get_commands()
    if translator is None:
        return _in_order([command.to_dict(tree) for command in commands])
    return _in_order(
        [await command.get_translated_payload(tree, translator) for command in commands]
    )


def _in_order(commands: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return commands by kind and name; Discord lists them in an order of its own."""
    return sorted(commands, key=lambda command: (command.get("type", 1), command["name"]))


def same(wanted: object, known: object) -> bool:
    """Return whether Discord has the wanted commands; it adds fields and drops empty ones."""
    if isinstance(wanted, Mapping):
        have = known if isinstance(known, Mapping) else {}
        return all(same(value, have.get(name)) for name, value in wanted.items())
    if isinstance(wanted, list | tuple):
        have_all = known if isinstance(known, list | tuple) else ()
        if len(wanted) != len(have_all):
            return False
        return all(same(one, other) for one, other in zip(wanted, have_all, strict=True))
    return (wanted or None) == (known or None) or str(wanted) == str(known)
