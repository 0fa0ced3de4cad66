"""What the documents name exists: files, tests, targets, commands, settings, links."""

import ast
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from bot import __version__
from bot.cli import app
from bot.settings.load import known_paths, secret_paths, shape_of
from bot.settings.settings import Settings
from bot.settings.values import variable
from engine.store.tables import metadata
from tests.pages.reference import FOLDER, pages

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
ARCHITECTURE = {"ARCHITECTURE.md", *(page.name for page in ROOT.glob("docs/architecture/*.md"))}
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`([^`\n]+)`")
STEP = re.compile(r"^\| `([\w/]+\.py)` \| (`[^|]+`) \|", re.MULTILINE)
LINK = re.compile(r"\[[^\]]+\]\(([^)]+)\)")
QUOTE = re.compile(r"“([^”]+)”")
PLATFORMS_OWN = (
    "The application did not respond",
    "/debate is not a valid command",
    "/debate failed with the error dispatch_failed",
)
PACKAGES = ("adapters/", "bench/", "bot/", "engine/", "migrations/", "tests/")
FOLDERS = (*PACKAGES, "deploy/", "docs/", ".ci/")


class Named(NamedTuple):
    """Something that a document names, and which document does."""

    document: str
    text: str


def read(document: Path) -> str:
    return document.read_text(encoding="utf-8")


def code(document: Path) -> Iterator[str]:
    text = read(document)
    yield from INLINE.findall(FENCE.sub("", text))
    for language, block in FENCE.findall(text):
        if language == "sh":
            yield from (part.strip() for line in block.splitlines() for part in line.split("&&"))


def named(pattern: str) -> list[Named]:
    return [
        Named(document.name, piece)
        for document in DOCUMENTS
        for piece in code(document)
        if re.match(pattern, piece)
    ]


def expect_no(faults: list[Named]) -> None:
    """Fail with all the faults of all documents, a line for each."""
    assert not faults, "\n".join(f"{fault.document}: {fault.text}" for fault in faults)


def of_the_tree(text: str) -> bool:
    return text.startswith(FOLDERS) or text in (".env.example", "Makefile", "pyproject.toml")


PATHS = [name for name in named(r"[\w.]") if of_the_tree(name.text)]
COMMANDS = named(r"(\.venv/bin/)?rostrum\b(?!\.)")
TARGETS = named(r"make\b")


def test_all_the_documents_are_there() -> None:
    required = ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "PRIVACY", "README", "SECURITY")
    named = {str(document.relative_to(ROOT)) for document in DOCUMENTS}
    assert {f"{name}.md" for name in required} | {"docs/operations.md"} <= named


def test_the_reference_is_that_of_the_code() -> None:
    stale = [name for name, text in pages().items() if read(FOLDER / name) != text]
    assert stale == [], "run make docs"


def test_every_path_exists_with_the_test_that_it_names() -> None:
    assert PATHS
    expect_no([path for path in PATHS if not leads_somewhere(path)])


def leads_somewhere(path: Named) -> bool:
    file, _, test = path.text.split()[0].partition("::")
    if not (ROOT / file).exists():
        return False
    defined = rf"^ *(async )?def {test}\("
    return not test or bool(re.search(defined, read(ROOT / file), re.MULTILINE))


def test_every_name_of_the_walk_is_in_the_file_beside_it() -> None:
    steps = STEP.findall(read(ROOT / "docs" / "architecture" / "walk.md"))
    assert len(steps) > 40
    unknown = [
        Named(file, name)
        for file, names in steps
        for name in INLINE.findall(names)
        if not is_defined(name.split("."), ast.parse(read(ROOT / file)).body)
    ]
    expect_no(unknown)


def is_defined(parts: Sequence[str], body: Sequence[ast.stmt]) -> bool:
    """Return whether a name, such as `Floor.speak`, is defined in a file or class."""
    first, *rest = parts
    for node in body:
        match node:
            case ast.ClassDef(name=name, body=inner) if name == first:
                return not rest or is_defined(rest, inner)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name == first:
                return not rest
            case ast.Assign(targets=[ast.Name(id=name)]) if name == first:
                return not rest
            case ast.AnnAssign(target=ast.Name(id=name)) if name == first:
                return not rest
    return False


def test_every_name_in_the_architecture_is_in_the_code() -> None:
    code = "\n".join(map(read, sources("tests", "migrations")))
    known = set(re.findall(r"\w+", code))
    names = [
        name
        for name in named(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")
        if name.document in ARCHITECTURE and not of_the_tree(name.text)
    ]
    assert len(names) > 150
    expect_no([name for name in names if not known >= set(name.text.split("."))])


def test_every_room_and_table_has_a_line() -> None:
    rooms = {f"engine/{init.parent.name}/" for init in ROOT.glob("engine/*/__init__.py")}
    pages = ("ARCHITECTURE.md", "docs/architecture/durability.md")
    rows = {row for page in pages for row in re.findall(r"(?m)^\| `([^`]+)` \|", read(ROOT / page))}
    assert rooms | set(metadata.tables) <= rows


def test_every_message_that_a_guide_quotes_is_one_of_the_product() -> None:
    said = "\n".join(
        node.value
        for file in sources()
        for node in ast.walk(ast.parse(read(file)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    quoted = [
        Named(guide, quote)
        for guide in ("discord.md", "slack.md", "operations.md")
        for quote in QUOTE.findall(read(ROOT / "docs" / guide))
        if quote not in PLATFORMS_OWN
    ]
    assert quoted
    expect_no([quote for quote in quoted if not is_said(quote.text, said)])


def is_said(quote: str, said: str) -> bool:
    """Return whether the product says all of a quote, but what is left out as `…`."""
    return all(piece.strip() in said for piece in quote.split("…"))


def test_every_link_within_the_project_leads_somewhere() -> None:
    within = [
        (document, link)
        for document in DOCUMENTS
        for link in LINK.findall(read(document))
        if "://" not in link
    ]
    gone = [Named(document.name, link) for document, link in within if not exists(document, link)]
    assert within
    expect_no(gone)


def exists(document: Path, link: str) -> bool:
    """Return whether the file that a link names exists, and has the heading after “#”."""
    name, _, anchor = link.partition("#")
    target = document.parent / name if name else document
    if not anchor or not target.is_file():
        return target.exists()
    headings = re.findall(r"(?m)^#+ (.+)$", FENCE.sub("", read(target)))
    return anchor in {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in headings}


def test_every_make_target_is_in_the_makefile() -> None:
    targets = re.findall(r"^([a-z]+):", read(ROOT / "Makefile"), re.MULTILINE)
    unknown = []
    for target in TARGETS:
        words = [word for word in target.text.split()[1:] if re.fullmatch(r"[a-z]+", word)]
        if words and words[0] not in targets:
            unknown.append(target)
    assert TARGETS
    expect_no(unknown)


def test_every_command_and_option_is_one_of_the_program() -> None:
    program: Any = typer.main.get_command(app)
    for name in program.list_commands(None):
        program.get_command(None, name)  # and from now on it is in `commands`
    assert COMMANDS
    expect_no([command for command in COMMANDS if not is_known(command, program)])


def is_known(command: Named, program: Any) -> bool:
    known = program
    for word in command.text.split()[1:]:
        known = getattr(known, "commands", {}).get(word, known)
    given = {word for word in command.text.split() if word.startswith("--")}
    options = {option for parameter in known.params for option in parameter.opts}
    words = re.findall(r"^\S+ ([a-z][a-z-]*)", command.text)
    return given <= options and (not words or words[0] in getattr(program, "commands", {}))


@pytest.mark.parametrize("group", [(), ("bench",), ("label",), ("series",)])
def test_no_line_of_a_list_of_commands_is_cut_off(group: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*group, "--help"], terminal_width=80).stdout
    assert ("Commands:" if group else "Begin here:") in shown
    assert [line for line in shown.splitlines() if line.endswith("...")] == [
        line for line in shown.splitlines() if line.startswith("Usage: ")
    ]


def test_every_setting_is_known() -> None:
    paths = known_paths(shape_of(Settings), like=("backends",))
    known = {variable(path) for path in paths} | {"ROSTRUM_BACKENDS"}
    secrets = secret_paths(shape_of(Settings), like=("backends",))
    known |= {f"{variable(path)}_FILE" for path in secrets}
    backend = re.compile(r"(ROSTRUM_BACKENDS)__[A-Z0-9]+(?=__)")
    written = [
        Named(document.name, name)
        for document in DOCUMENTS
        for name in re.findall(r"\bROSTRUM_[A-Z0-9_]+", read(document))
    ]
    assert written
    expect_no([name for name in written if backend.sub(r"\1__*", name.text) not in known])


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


def sources(*more: str) -> list[Path]:
    """Return the product's own files, and those of more folders."""
    folders = ("adapters", "bot", "engine", *more)
    return sorted(file for folder in folders for file in ROOT.glob(f"{folder}/**/*.py"))


def events() -> Iterator[tuple[str, str, set[str]]]:
    """Yield (level, event, fields) of every line that the product itself logs."""
    for file in sources():
        for node in ast.walk(ast.parse(read(file))):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="log" | "logger"), attr=level),
                    args=[ast.Constant(value=str(event))],
                ):
                    yield level, event, {keyword.arg or "" for keyword in node.keywords}


def test_nothing_advises_to_install_rostrum_from_an_index_that_lacks_it() -> None:
    advice = [
        Named(file.name, package)
        for file in (*DOCUMENTS, *sources())
        for package in re.findall(r"pip install ['\"]?([\w-]+)", read(file))
    ]
    assert {"huggingface-hub", "pyarrow"} <= {one.text for one in advice}
    expect_no([one for one in advice if one.text.startswith("rostrum")])


def test_the_changelog_tells_of_this_version() -> None:
    assert f"## {__version__}\n" in read(ROOT / "CHANGELOG.md")
