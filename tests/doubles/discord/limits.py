"""Sizes that Discord enforces on messages, embeds, components, modals, choices and commands."""

from typing import Any, Final

import discord
import regex

from tests.doubles.discord.state import Attachment, Faulty, Json, Refusal
from tests.doubles.facts import Code, Discord

ROW, BUTTON, STRING_SELECT, TEXT_INPUT, LABEL = 1, 2, 3, 4, 18
SELECTS: Final = (3, 5, 6, 7, 8)
LINK_STYLE: Final = 5


def check_message(body: Json, files: list[Attachment], *, kept_files: int = 0) -> None:
    """Check what a new or wholly edited message would show.

    Raises Refusal 50006 when that is nothing, 50035 with the fields at fault, 40005 for a file
    over 10 MiB.
    """
    faulty = Faulty()
    if body.get("content") is not None:
        faulty.length("content", body["content"], Discord.CONTENT)
    if body.get("nonce") is not None:
        faulty.length("nonce", str(body["nonce"]), Discord.NONCE)
    if body.get("embeds"):
        _check_embeds(body["embeds"], faulty)
    if body.get("components"):
        _check_rows(body["components"], faulty)
    faulty.check()
    if any(len(file.data) > Discord.FILE_BYTES for file in files):
        raise Refusal(Code.TOO_LARGE)
    shows = [body.get(name) for name in ("content", "embeds", "components", "sticker_ids", "poll")]
    shows[0] = (shows[0] or "").strip()
    if not any(shows) and not files and not kept_files:
        raise Refusal(Code.EMPTY_MESSAGE)


def _check_embeds(embeds: Any, faulty: Faulty) -> None:
    if not faulty.count("embeds", embeds, Discord.EMBEDS):
        return
    total = sum(_check_embed(embed, f"embeds.{i}", faulty) for i, embed in enumerate(embeds))
    if total > Discord.EMBED_TOTAL:
        faulty.add(
            "embeds",
            "MAX_EMBED_SIZE_EXCEEDED",
            f"Embed size exceeds maximum size of {Discord.EMBED_TOTAL}",
        )


def _check_embed(embed: Json, path: str, faulty: Faulty) -> int:
    texts = [
        (f"{path}.title", embed.get("title"), Discord.TITLE),
        (f"{path}.description", embed.get("description"), Discord.DESCRIPTION),
        (f"{path}.footer.text", (embed.get("footer") or {}).get("text"), Discord.FOOTER),
        (f"{path}.author.name", (embed.get("author") or {}).get("name"), Discord.AUTHOR),
    ]
    fields = embed.get("fields") or []
    faulty.count(f"{path}.fields", fields, Discord.FIELDS)
    for number, item in enumerate(fields):
        texts.append((f"{path}.fields.{number}.name", item.get("name", ""), Discord.FIELD_NAME))
        texts.append((f"{path}.fields.{number}.value", item.get("value", ""), Discord.FIELD_VALUE))
    total = 0
    for where, text, most in texts:
        if text is not None:
            faulty.length(where, text, most, least=1 if ".fields." in where else 0)
            total += len(str(text))
    return total


def _check_rows(rows: Any, faulty: Faulty) -> None:
    if not faulty.count("components", rows, Discord.ROWS):
        return
    seen: set[str] = set()
    for r, row in enumerate(rows):
        if row.get("type") != ROW:
            faulty.add(f"components.{r}.type", "BASE_TYPE_CHOICES", "Must be an action row.")
            continue
        parts = row.get("components")
        if faulty.count(f"components.{r}.components", parts, Discord.BUTTONS, least=1):
            for p, part in enumerate(parts):
                _check_component(part, f"components.{r}.components.{p}", faulty, seen)


def _check_component(part: Json, path: str, faulty: Faulty, seen: set[str]) -> None:
    kind = part.get("type")
    if kind not in (BUTTON, *SELECTS):
        faulty.add(f"{path}.type", "BASE_TYPE_CHOICES", "Not a component of a message.")
        return
    if kind == BUTTON:
        faulty.length(f"{path}.label", part.get("label") or "", Discord.BUTTON_LABEL)
        if not part.get("label") and not part.get("emoji"):
            faulty.add(path, "BUTTON_COMPONENT_INVALID", "A label or an emoji is required.")
        if part.get("style") == LINK_STYLE:
            return
    if kind == STRING_SELECT:
        faulty.count(f"{path}.options", part.get("options"), Discord.SELECT_OPTIONS, least=1)
    faulty.length(f"{path}.custom_id", part.get("custom_id"), Discord.CUSTOM_ID, least=1)
    custom_id = str(part.get("custom_id"))
    if custom_id in seen:
        message = "Component custom id cannot be duplicated"
        faulty.add(f"{path}.custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", message)
    seen.add(custom_id)


def modal_inputs(modal: Json) -> list[Json]:
    inputs: list[Json] = []
    for row in modal.get("components", []):
        inputs += [row["component"]] if row.get("type") == LABEL else row.get("components", [])
    return inputs


def check_modal(modal: Json) -> None:
    faulty = Faulty()
    faulty.length("data.title", modal.get("title"), Discord.MODAL_TITLE, least=1)
    faulty.length("data.custom_id", modal.get("custom_id"), Discord.CUSTOM_ID, least=1)
    rows = modal.get("components")
    if faulty.count("data.components", rows, Discord.MODAL_ROWS, least=1):
        for number, row in enumerate(rows or []):
            if row.get("type") == LABEL:
                path = f"data.components.{number}.label"
                faulty.length(path, row.get("label"), Discord.INPUT_LABEL, least=1)
        for number, item in enumerate(modal_inputs(modal)):
            _check_input(item, f"data.components.{number}.components.0", faulty)
    faulty.check()


def _check_input(item: Json, path: str, faulty: Faulty) -> None:
    faulty.length(f"{path}.custom_id", item.get("custom_id"), Discord.CUSTOM_ID, least=1)
    if item.get("type") != TEXT_INPUT:
        return
    if item.get("label") is not None:
        faulty.length(f"{path}.label", item["label"], Discord.INPUT_LABEL, least=1)
    faulty.length(f"{path}.value", item.get("value") or "", Discord.INPUT_VALUE)
    faulty.length(f"{path}.placeholder", item.get("placeholder") or "", Discord.PLACEHOLDER)
    for name in ("min_length", "max_length"):
        if not 0 <= (item.get(name) or 0) <= Discord.INPUT_VALUE:
            faulty.add(
                f"{path}.{name}", "NUMBER_TYPE_MAX", f"Must be at most {Discord.INPUT_VALUE}."
            )


def check_choices(choices: Any, path: str, faulty: Faulty) -> None:
    """Note what is wrong with choices of an option or of an autocompletion."""
    if not faulty.count(path, choices, Discord.CHOICES):
        return
    for number, choice in enumerate(choices):
        faulty.length(f"{path}.{number}.name", choice.get("name"), Discord.CHOICE, least=1)
        if isinstance(choice.get("value"), str):
            faulty.length(f"{path}.{number}.value", choice["value"], Discord.CHOICE)


def check_thread(body: Json) -> None:
    faulty = Faulty()
    if "name" in body:
        faulty.length("name", body["name"], Discord.THREAD_NAME, least=1)
    duration = body.get("auto_archive_duration")
    if duration is not None and duration not in Discord.AUTO_ARCHIVE:
        faulty.add(
            "auto_archive_duration", "BASE_TYPE_CHOICES", f"Must be one of {Discord.AUTO_ARCHIVE}."
        )
    faulty.check()


# --- what Discord accepts as an application's commands ----------------------------------

CHAT_INPUT: Final = 1
SUBCOMMAND, GROUP = 1, 2
NAME: Final = regex.compile(r"^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$")
LOCALES: Final = frozenset(map(str, discord.Locale))


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
    total = 0
    for field in ("name", "description"):
        texts = [entry.get(field) or "", *(entry.get(f"{field}_localizations") or {}).values()]
        total += max(len(str(text)) for text in texts)
    total += len(entry["value"]) if isinstance(entry.get("value"), str) else 0
    nested = (entry.get("options") or []) + (entry.get("choices") or [])
    return total + sum(_size(item) for item in nested)
