"""What the documents name exists: files, tests, targets, commands, settings, links."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

from bot.cli import app
from bot.settings.settings import Settings
from bot.settings.sources import known_paths, shape_of, variable

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]]+\]\(([^)]+)\)")
FOLDERS = ("adapters/", "bot/", "docs/", "engine/", "migrations/", "tests/", ".ci/")
FILES = (".env.example", "Makefile", "pyproject.toml")


class Named(NamedTuple):
    """Something that a document names, and which document does."""

    document: str
    text: str


def read(document: Path) -> str:
    return document.read_text(encoding="utf-8")


def code(document: Path) -> Iterator[str]:
    """Yield what a document shows as code: inline pieces, and the lines of shell blocks."""
    text = read(document)
    yield from INLINE.findall(FENCE.sub("", text))
    for language, block in FENCE.findall(text):
        if language == "sh":
            yield from (part.strip() for line in block.splitlines() for part in line.split("&&"))


def named(pattern: str) -> list[Named]:
    """Return what the documents' code names that begins like the pattern."""
    return [
        Named(document.name, piece)
        for document in DOCUMENTS
        for piece in code(document)
        if re.match(pattern, piece)
    ]


def of_the_tree(text: str) -> bool:
    return text.startswith(FOLDERS) or text in FILES


PATHS = [name for name in named(r"[\w.]") if of_the_tree(name.text)]
COMMANDS = named(r"(\.venv/bin/)?rostrum\b(?!\.)")
TARGETS = named(r"make\b")


def test_all_the_documents_are_there() -> None:
    required = ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "PRIVACY", "README", "SECURITY")
    named = {str(document.relative_to(ROOT)) for document in DOCUMENTS}
    assert {f"{name}.md" for name in required} | {"docs/operations.md"} <= named


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.document}:{path.text}")
def test_every_path_exists_with_the_test_that_it_names(path: Named) -> None:
    file, _, test = path.text.split()[0].partition("::")
    assert (ROOT / file).exists()
    assert not test or re.search(rf"^ *(async )?def {test}\(", read(ROOT / file), re.MULTILINE)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_link_within_the_project_leads_somewhere(document: Path) -> None:
    within = [link for link in LINK.findall(read(document)) if "://" not in link]
    assert [link for link in within if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: f"{target.document}:{target.text}")
def test_every_make_target_is_in_the_makefile(target: Named) -> None:
    words = [word for word in target.text.split()[1:] if re.fullmatch(r"[a-z]+", word)]
    targets = re.findall(r"^([a-z]+):", read(ROOT / "Makefile"), re.MULTILINE)
    assert not words or words[0] in targets


@pytest.mark.parametrize("command", COMMANDS, ids=lambda named: f"{named.document}:{named.text}")
def test_every_command_and_option_is_one_of_the_program(command: Named) -> None:
    known = typer.main.get_command(app)
    for word in command.text.split()[1:]:
        known = getattr(known, "commands", {}).get(word, known)
    given = {word for word in command.text.split() if word.startswith("--")}
    assert given <= {option for parameter in known.params for option in parameter.opts}
    words = re.findall(r"^\S+ ([a-z]+)", command.text)
    assert not words or words[0] in getattr(typer.main.get_command(app), "commands", {})


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_setting_is_known(document: Path) -> None:
    paths = known_paths(shape_of(Settings), like=("backends",))
    known = {variable(path) for path in paths} | {"ROSTRUM_BACKENDS"}
    written = re.findall(r"\bROSTRUM_[A-Z0-9_]+", read(document))
    backend = re.compile(r"(ROSTRUM_BACKENDS)__[A-Z0-9]+(?=__)")
    assert {backend.sub(r"\1__*", name) for name in written} <= known


def test_the_operators_manual_lists_every_event_of_the_log_with_its_level_and_fields() -> None:
    manual = read(ROOT / "docs" / "operations.md")
    tables = {"rest": manual.partition("Warnings and errors")[2]}
    tables["plain"] = manual.removesuffix(tables["rest"])
    for level, event, fields in events():
        table = tables["plain" if level in ("debug", "info") else "rest"]
        row = next((row for row in table.splitlines() if event in row.partition("|")[2]), "")
        told = row.split("|")[2] if row else ""
        assert row, f"{event!r} is not in the manual's table of that level"
        assert fields - {"debate"} <= set(re.findall(r"\w+", told)), event


def events() -> Iterator[tuple[str, str, set[str]]]:
    """Yield (level, event, fields) of every line that the product itself logs."""
    for file in sorted(ROOT.glob("*/**/*.py")):
        if file.relative_to(ROOT).parts[0] not in ("adapters", "bot", "engine"):
            continue
        for node in ast.walk(ast.parse(read(file))):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="log" | "logger"), attr=level),
                    args=[ast.Constant(value=str(event))],
                ):
                    yield level, event, {keyword.arg or "" for keyword in node.keywords}


def test_the_changelog_tells_of_this_version() -> None:
    version = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["version"]
    assert f"## {version}\n" in read(ROOT / "CHANGELOG.md")
