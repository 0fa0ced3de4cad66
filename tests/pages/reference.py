"""Write docs/reference from the code: commands of the shell and of chats, and every setting.

With it `.env.example`: a debate's options are the table's there, and values are the code's; and
the tables of docs/dataset.md, whose text before them is handwritten.

Run as `python -m tests.pages.reference`; `make docs` does.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import typer
from pydantic import BaseModel
from typer.core import TyperGroup

from bot.cli import app
from bot.settings.settings import Settings
from bot.settings.values import variable
from engine.chat.commands import COMMANDS
from engine.dataset.card import describe_table
from engine.dataset.tables import every_table
from engine.values.options import PARAMS
from tests.kit import some

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reference"
EXAMPLE = ROOT / ".env.example"
DATASET = ROOT / "docs" / "dataset.md"
TABLES = "## Tables\n"
NAME = re.compile(r"#?(ROSTRUM_\w+|[A-Z][A-Z_]+)=(.*)")
SETTING = re.compile(r"^#(ROSTRUM_\w+)=(.*)$", re.MULTILINE)
SECTION = re.compile(r"# --- (.+?) -+")


def example() -> str:
    """Return `.env.example` as the code has it; a new option comes after the one before it."""
    text, before = EXAMPLE.read_text("utf-8"), ""
    for param in PARAMS.values():
        if param.setting:
            block = re.compile(rf"(?:# .*\n)+#{variable([param.variable])}=.*\n")
            about = fill(param.setting, 100, initial_indent="# ", subsequent_indent="# ")
            said = f"{about}\n#{variable([param.variable])}=\n"
            found = block.search(text)
            text = text.replace(found[0] if found else before, said if found else before + said)
            before = said
    usual = {variable(path): value for path, value in values_of(Settings())}
    return SETTING.sub(lambda found: f"#{found[1]}={written(usual.get(found[1]), found[2])}", text)


def values_of(settings: BaseModel, above: tuple[str, ...] = ()) -> Iterator[tuple[Any, object]]:
    """Yield each setting's path and value."""
    for name, value in settings:
        if isinstance(value, BaseModel):
            yield from values_of(value, (*above, name))
        else:
            yield (*above, name), value


def written(value: object, before: str) -> str:
    """Return a default as a setting has it; what is no single value stays as it was written."""
    match value:
        case bool():
            return "on" if value else "off"
        case float():
            return f"{value:g}"
        case str() | int():
            return str(value)
    return before


def dataset() -> str:
    """Return docs/dataset.md with its tables as they are declared now."""
    by_hand, _, _ = DATASET.read_text("utf-8").partition(f"\n{TABLES}")
    return "\n".join([by_hand, TABLES, *map(describe_table, every_table())])


def pages() -> dict[str, str]:
    return {
        "commands.md": "\n".join(shell_lines()) + "\n",
        "chat.md": "\n".join(chat_lines()) + "\n",
        "settings.md": "\n".join(setting_lines(example())) + "\n",
    }


def shell_lines() -> Iterator[str]:
    yield "# Commands of the shell"
    yield ""
    yield "Each of them explains itself too, with `--help`. They have one grammar:"
    yield ""
    yield "- `--format` is the format of debates, `--as` the kind of files that are written."
    yield "- What is written goes to `--out`: a `DIR`, a `FILE`, or the `ADDRESS` of a database."
    yield "- `--community --format --language --series --since --until --quorum-met` and"
    yield "  `--include-rehearsal` choose debates, on each command that is about several."
    yield "- `--usd` caps what a command may spend; nothing is paid for that would pass it."
    yield "- A flag that can be on without being given, by settings or by default, is a pair,"
    yield "  `--x` and `--no-x`. Any other flag is off unless it is given."
    yield "- `--json` prints as data what is otherwise a table; `--yes` skips the question."
    yield "- Values are named by words: `CODE` of a debate, `MODEL` as backend/model, `DATE`."
    yield "- A number out of its range is refused: “--port is “0”; it must be between 1 and 9.”"
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    yield from command_lines(typer.Context(group, info_name="rostrum"), group)


def command_lines(context: typer.Context, group: TyperGroup) -> Iterator[str]:
    """Describe the commands of a group, those of groups in it too."""
    for name in group.list_commands(context):
        command = some(group.get_command(context, name))
        own = typer.Context(command, parent=context, info_name=name)
        if isinstance(command, TyperGroup):
            yield from command_lines(own, command)
            continue
        yield ""
        yield f"## {own.command_path}"
        yield ""
        yield cell(command.help or "", lines=True)
        rows = [row for one in command.get_params(own) if (row := parameter_row(one, own))]
        if rows:
            yield from ("", "| give | what it does |", "| --- | --- |", *rows)


def parameter_row(parameter: Any, context: typer.Context) -> str:
    """Return the row of an argument or option as help shows it, but for `--help` itself."""
    written, about = parameter.get_help_record(context) or ("", "")
    shown = written and "--help" not in parameter.opts
    return f"| `{cell(written)}` | {cell(about)} |" if shown else ""


def chat_lines() -> Iterator[str]:
    yield "# Commands in Discord and Slack"
    yield ""
    yield "Both platforms have the same commands. Below is Slack's text; in Discord each"
    yield "option is a field. `/debate help start` explains one where you are."
    yield ""
    yield "| command | what it does | who may use it |"
    yield "| --- | --- | --- |"
    for command in COMMANDS.values():
        who = str(command.who.note or "everyone").strip("()")
        yield f"| `/debate {cell(command.usage())}` | {cell(command.about)} | {cell(who)} |"


def setting_lines(example: str) -> Iterator[str]:
    yield "# Settings"
    yield ""
    yield "They come from the environment, from `.env` or from `rostrum.toml`, in this order. Lists"
    yield "and tables are written as in [.env.example](../../.env.example), which this page shows."
    about: list[str] = []
    for line in example.splitlines():
        if section := SECTION.fullmatch(line):
            about = []
            yield from ("", f"## {section[1].capitalize()}", "")
            yield from ("| setting | default | what it does |", "| --- | --- | --- |")
        elif setting := NAME.fullmatch(line):
            default = f"`{cell(setting[2])}`" if setting[2] else ""
            yield f"| `{setting[1]}` | {default} | {cell(' '.join(about))} |"
            about = []
        elif line.startswith("# "):
            about.append(line.removeprefix("# "))
        else:
            about = []


def cell(text: str, *, lines: bool = False) -> str:
    """Return a text that a table's cell can hold; with `lines`, its own paragraphs stay."""
    whole = text.strip() if lines else " ".join(text.split())
    return whole if lines else whole.replace("|", r"\|")


def main(arguments: Sequence[str] = ()) -> None:
    folder = Path(arguments[0]) if arguments else FOLDER
    EXAMPLE.write_text(example(), "utf-8")
    DATASET.write_text(dataset(), "utf-8")
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
