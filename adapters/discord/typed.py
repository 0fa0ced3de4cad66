"""Commands as they are typed on Discord: `/debate forget confirm:True`, not `confirm=yes`."""

from __future__ import annotations

import re

import discord
from discord import app_commands

from engine.chat.answers.catalogue import HelpAnswer

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
