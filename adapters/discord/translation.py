"""Whose language is spoken, and the commands' names and descriptions from the tables in locales/.

Each table maps an English text to its translation; texts missing in a table stay English. A
person's Discord client picks the language.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

import discord
from discord import Client, Interaction, Locale, app_commands

from engine.chat.answers.catalogue import HelpAnswer
from engine.values.language import ENGLISH
from engine.words.translation import catalogue

# Commands as they are typed on Discord: `/debate forget confirm:True`, not `confirm=yes`.


_WRITTEN = re.compile(r"`/debate (\w+) ([^`\n]+)`")
_SWITCHES = {"yes": "True", "on": "True", "no": "False", "off": "False"}
# The options that answers give without a name, in their order; the last one takes the rest.
IN_ORDER = {
    "status": ("debate",),
    "delete": ("debate",),
    "review": ("debate", "vote"),
    "suggest": ("topic",),
    "schedule": ("when", "topic"),
}


def typed(text: str) -> str:
    """Return an answer whose commands are written as Discord takes them."""
    return _WRITTEN.sub(lambda found: f"`/debate {found[1]} {_options(found[1], found[2])}`", text)


def _options(command: str, written: str) -> str:
    names = list(IN_ORDER.get(command, ()))
    said: list[str] = []
    for word in re.findall(r'"[^"]*"|\S+', written):
        name, equals, value = word.partition("=")
        if equals and command == "settings":
            said.append(f"setting:{name} value:{value}")
        elif equals and name.isidentifier():
            said.append(f"{name}:{_SWITCHES.get(value, value)}")
        elif names:
            said.append(f"{names.pop(0)}:{word.strip(chr(34))}")
        elif said:
            said[-1] += f" {word}"
        else:
            said.append(word)
    return " ".join(said)


def with_options(answer: HelpAnswer, asked: object, *, hides: bool = True) -> HelpAnswer:
    """Return the help on one command with the options that Discord shows for it.

    `asked` is the command that was asked, beside which the others are. `hides`: votes can be
    secret here; else that choice is left out.
    """
    group = asked.parent if isinstance(asked, app_commands.Command) else None
    command = group.get_command(answer.command) if group and answer.command else None
    if not isinstance(command, app_commands.Command):
        return answer
    written = " ".join((command.name, *(_shown(one, hides) for one in command.parameters)))
    lines = tuple(line.model_copy(update={"written": written}) for line in answer.commands)
    return answer.model_copy(update={"commands": lines})


def _shown(option: app_commands.Parameter, hides: bool) -> str:
    """Return an option with its choices, in brackets if it may be left out."""
    switch = option.type is discord.AppCommandOptionType.boolean
    choices = [choice.name for choice in option.choices if hides or choice.value != "secret"]
    values = ("True", "False") if switch else choices
    said = f"{option.display_name}:{'|'.join(map(str, values)) or '…'}"
    return said if option.required else f"[{said}]"


TABLES = {
    Locale.turkish: "tr",
    Locale.german: "de",
    Locale.spain_spanish: "es",
    Locale.latin_american_spanish: "es",
    Locale.chinese: "zh",
}


@cache
def table(language: str) -> Mapping[str, str]:
    """Return a language's table."""
    forms = catalogue(language, "adapters.discord")
    return {text: form for text, form in forms.items() if isinstance(form, str)}


def language_of(interaction: Interaction[Client]) -> str:
    """Return the language of the person's client."""
    return str(interaction.locale.value)


def language_around(interaction: Interaction[Client]) -> str:
    """Return the language of the server, for what everyone there reads."""
    locale = interaction.guild_locale
    return str(locale.value) if locale else ENGLISH


class Translator(app_commands.Translator):
    """Looks up the commands' texts in the tables."""

    async def translate(
        self,
        string: app_commands.locale_str,
        locale: Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        """Return a text's translation, None for a language without a table."""
        language = TABLES.get(locale)
        return None if language is None else table(language).get(string.message)
