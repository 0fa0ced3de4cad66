"""What Discord accepts as an application's commands."""

from __future__ import annotations

from typing import Any, Final

import regex

from tests.doubles.discord.limits import check_choices
from tests.doubles.discord.refusals import Faulty, Json, Refusal
from tests.doubles.facts import Code, Discord

CHAT_INPUT: Final = 1
SUBCOMMAND, GROUP = 1, 2
NAME: Final = regex.compile(r"^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$")
LOCALES: Final = frozenset(
    (
        "id",
        "da",
        "de",
        "en-GB",
        "en-US",
        "es-ES",
        "es-419",
        "fr",
        "hr",
        "it",
        "lt",
        "hu",
        "nl",
        "no",
        "pl",
        "pt-BR",
        "ro",
        "fi",
        "sv-SE",
        "vi",
        "tr",
        "cs",
        "el",
        "bg",
        "ru",
        "uk",
        "hi",
        "th",
        "zh-CN",
        "ja",
        "zh-TW",
        "ko",
    )
)


def check_commands(commands: Any) -> None:
    """Check a whole list of commands; raises Refusal 30032 or 50035 with the fields at fault."""
    faulty = Faulty()
    if not isinstance(commands, list):
        raise Refusal(Code.INVALID_FORM)
    slash = [c for c in commands if c.get("type", CHAT_INPUT) == CHAT_INPUT]
    if len(slash) > Discord.COMMANDS:
        raise Refusal(Code.TOO_MANY_COMMANDS)
    names: set[tuple[int, str]] = set()
    for number, command in enumerate(commands):
        key = (command.get("type", CHAT_INPUT), str(command.get("name")))
        if key in names:
            text = "Application command names must be unique"
            faulty.add(str(number), "APPLICATION_COMMANDS_DUPLICATE_NAME", text)
        names.add(key)
        _check_command(command, str(number), faulty)
    faulty.check()


def _check_command(command: Json, path: str, faulty: Faulty) -> None:
    if command.get("type", CHAT_INPUT) != CHAT_INPUT:
        faulty.length(f"{path}.name", command.get("name"), 32, least=1)
        for locale, text in (command.get("name_localizations") or {}).items():
            faulty.length(f"{path}.name_localizations.{locale}", text, 32, least=1)
        for field in ("description", "options"):
            if command.get(field):
                text = "Context menu commands cannot have it."
                faulty.add(f"{path}.{field}", "APPLICATION_COMMAND_CONTEXT_MENU", text)
        return
    _check_entry(command, path, faulty)
    if _size(command) > Discord.COMMAND_TOTAL:
        text = f"Command exceeds maximum size ({Discord.COMMAND_TOTAL})"
        faulty.add(path, "APPLICATION_COMMAND_TOO_LARGE", text)


def _check_entry(entry: Json, path: str, faulty: Faulty) -> None:
    """Check a command or an option: both have a name, a description and options."""
    _check_name(entry.get("name"), f"{path}.name", faulty)
    faulty.length(
        f"{path}.description", entry.get("description"), Discord.COMMAND_DESCRIPTION, least=1
    )
    for field in ("name", "description"):
        for locale, text in (entry.get(f"{field}_localizations") or {}).items():
            where = f"{path}.{field}_localizations.{locale}"
            if locale not in LOCALES:
                faulty.add(where, "ENUM_TYPE_COERCE", f"Value '{locale}' is not a locale.")
            elif field == "name":
                _check_name(text, where, faulty)
            else:
                faulty.length(where, text, Discord.COMMAND_DESCRIPTION, least=1)
    if entry.get("choices") is not None:
        check_choices(entry["choices"], f"{path}.choices", faulty)
        if entry.get("autocomplete") and entry["choices"]:
            text = "Choices and autocomplete exclude one another."
            faulty.add(f"{path}.autocomplete", "APPLICATION_COMMAND_AUTOCOMPLETE", text)
    _check_options(entry.get("options") or [], f"{path}.options", faulty)


def _check_name(name: Any, path: str, faulty: Faulty) -> None:
    if not isinstance(name, str) or not NAME.match(name) or name != name.lower():
        faulty.add(
            path,
            "APPLICATION_COMMAND_INVALID_NAME",
            "Command name is invalid",
        )


def _check_options(options: Any, path: str, faulty: Faulty) -> None:
    if not faulty.count(path, options, Discord.OPTIONS):
        return
    optional = False
    seen: set[str] = set()
    for number, option in enumerate(options):
        where = f"{path}.{number}"
        _check_entry(option, where, faulty)
        if option.get("name") in seen:
            text = "Option names must be unique"
            faulty.add(where, "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", text)
        seen.add(str(option.get("name")))
        if option.get("required") and optional:
            text = "Required options must be placed before non-required options"
            faulty.add(where, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", text)
        optional = optional or (option.get("type", 3) > GROUP and not option.get("required"))


def _size(entry: Json) -> int:
    """Count names, descriptions and values; of a text's localisations the longest counts."""
    total = 0
    for field in ("name", "description"):
        texts = [entry.get(field) or "", *(entry.get(f"{field}_localizations") or {}).values()]
        total += max(len(str(text)) for text in texts)
    total += len(entry["value"]) if isinstance(entry.get("value"), str) else 0
    nested = (entry.get("options") or []) + (entry.get("choices") or [])
    return total + sum(_size(item) for item in nested)
