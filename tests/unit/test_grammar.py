"""The grammar of the shell, over every command: docs/reference/commands.md says it in ten lines."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from bot.cli import app
from bot.commands.choice import DebateChoice
from engine.values.options import Options
from tests.kit import some

CHOOSING = ("export", "push", "usage", "list", "stats", "report", "view", "label create", "judge")
TABLES = (
    *("list", "show", "stats", "usage", "judge", "calibrate", "check", "topics"),
    *("series list", "series plan", "series run", "series status"),
    *("label create", "label invite", "label list", "label report", "label exclude"),
)
SPENDING = ("debate", "resume", "series run", "judge", "calibrate")


def commands_of(group: TyperGroup, before: str = "") -> Iterator[tuple[str, Any]]:
    context = typer.Context(group, info_name="rostrum")
    for name in group.list_commands(context):
        command = some(group.get_command(context, name))
        if isinstance(command, TyperGroup):
            yield from commands_of(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


@pytest.fixture(scope="module")
def commands() -> dict[str, Any]:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    return dict(commands_of(group))


def options_of(command: Any) -> dict[str, Any]:
    """Return the options of a command by their first spelling."""
    options = [one for one in command.params if one.param_type_name == "option"]
    return {max(one.opts, key=len): one for one in options if "--help" not in one.opts}


def test_an_option_of_a_debate_is_a_pair_of_flags_and_every_other_flag_is_plain(
    commands: dict[str, Any],
) -> None:
    for name in ("debate", "demo"):
        for spelled, option in options_of(commands[name]).items():
            field = Options.model_fields.get(option.name)
            if field is not None and "bool" in str(field.annotation) and option.name != "mirror":
                assert option.secondary_opts == [f"--no-{spelled[2:]}"], (name, spelled)
    for name, command in commands.items():
        for spelled, option in options_of(command).items():
            assert option.is_flag == (option.type_descriptor.annotation is bool), (name, spelled)
            if option.secondary_opts:
                assert option.secondary_opts == [f"--no-{spelled[2:]}"], (name, spelled)
            assert not re.search(r"\bon or off\b", option.help or ""), (name, spelled)


def test_one_spelling_takes_one_kind_of_value_and_names_it_by_a_word(
    commands: dict[str, Any],
) -> None:
    metavars: dict[str, set[str]] = defaultdict(set)
    for name, command in commands.items():
        for spelled, option in options_of(command).items():
            if not option.is_flag and not option.type_descriptor.is_choice:
                metavars[spelled].add(str(option.metavar))
                assert re.fullmatch(r"[A-Z]+([=-][A-Z]+)?", option.metavar), (name, spelled)
    assert metavars.pop("--debates") == {"CODES", "NUMBER"}  # of a task; of a benchmark
    assert metavars.pop("--out") == {"DIR", "FILE", "ADDRESS"}
    assert {spelled: said for spelled, said in metavars.items() if len(said) > 1} == {}


def test_destinations_are_out_kinds_of_files_as_and_formats_those_of_debates(
    commands: dict[str, Any],
) -> None:
    spelled = {name: set(options_of(command)) for name, command in commands.items()}
    for old in ("--to", "--layout", "--html", "--debate-format", "--file", "--output"):
        assert [name for name, given in spelled.items() if old in given] == []
    assert {name for name, given in spelled.items() if "--as" in given} == {"export", "push"}
    writing = {"export", "stats", "report", "series report", "mydata", "backup", "copy"}
    assert {name for name, given in spelled.items() if "--out" in given} == {
        *writing,
        *("debate", "demo", "resume"),
    }


@pytest.mark.parametrize("name", CHOOSING)
def test_commands_that_choose_debates_have_the_same_options(
    commands: dict[str, Any], name: str
) -> None:
    known = {one.name for one in options_of(commands[name]).values()}
    assert set(DebateChoice._fields) <= known
    assert "--format" in options_of(commands[name])


@pytest.mark.parametrize("name", TABLES)
def test_what_prints_a_table_prints_json(commands: dict[str, Any], name: str) -> None:
    assert "--json" in options_of(commands[name])


@pytest.mark.parametrize("name", SPENDING)
def test_what_spends_money_has_a_cap(commands: dict[str, Any], name: str) -> None:
    assert options_of(commands[name])["--usd"].min == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("view", "--port", "99999"), "--port is “99999”; it must be between 0 and 65535."),
        (("list", "--limit", "0"), "--limit is “0”; it must be between 1 and 1000000."),
        (("debate", "Tea", "--usd", "-1"), "--usd is “-1”; it must be at least 0."),
        (("view", "--port", "http"), "--port is “http”; it must be between 0 and 65535."),
    ],
)
def test_a_number_out_of_its_range_is_refused_in_one_form(
    words: tuple[str, ...], said: str
) -> None:
    ended = CliRunner().invoke(app, list(words))
    assert ended.exit_code == 2
    assert said in " ".join(ended.output.split())


@pytest.mark.parametrize("path", [(), ("series",), ("label",)])
def test_a_list_of_commands_cuts_no_sentence(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*path, "--help"], terminal_width=60).stdout
    assert not re.search(r"[^]]\.\.\.$", shown, re.MULTILINE)
