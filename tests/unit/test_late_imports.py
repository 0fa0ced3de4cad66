"""What is imported only once it is needed, and what a name means: the core is read alone."""

import ast
import os
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest
import typer

from bot.cli import PLACES, SECTIONS
from tests.doubles.command import ROOT, printed_by

# One process takes these steps in turn: what is not loaded after a later one was not before it.
STEPS = (
    "import bot.settings.load; bot.settings.load.load_settings()",
    "import engine.prompts as l\nfor code in l.NAMES: l.language_name(l.check_language(code))",
    "import adapters.models.router as r; r.open_models({})",
    "import bot.cli",
    "import bot.serve.run as r, adapters.discord.render, adapters.slack.render; r.load_served()",
)
SETTINGS, LANGUAGES, MODELS, COMMANDS, BOT = range(5)
# The whole classic debate: jury, votes, reveal and export; whatever listens on this machine.
DEMO = """
import sys
import bot.local.demo
from bot.cli import app
bot.local.demo.OLLAMA = bot.local.demo.LM_STUDIO = "http://127.0.0.1:9/v1"
app(["demo", "--out", sys.argv[1], "--votes", "A=3,B=2"], standalone_mode=False)
for name, module in [*sys.modules.items()]:
    print("LOADED", name, getattr(module, "__file__", None) or "")
"""
# What a debate does not use names the core, and the core does not name it. Lower it when you can.
DEMO_LINES = 32_000
NOT_IN_A_DEMO = """
adapters.database.upgrade adapters.metrics adapters.models.backends adapters.models.client
adapters.models.discovery adapters.models.faults adapters.models.moderation adapters.models.search
adapters.terminal.keys adapters.wire bot.commands.bench bot.commands.data bot.commands.debate
bot.commands.label bot.commands.operate bot.commands.series bot.commands.serve bot.console
bot.local.keyboard bot.local.single bot.record.filters bot.serve.health bot.settings.files
bot.settings.load
engine.blinding.self_naming engine.dataset.conversion engine.dataset.layouts
engine.dataset.license engine.dataset.prompt_table engine.delivery.board engine.delivery.deleter
engine.delivery.reasons engine.drawing engine.fleet.limits
engine.jury.history engine.jury.model engine.run.guest
engine.run.questions engine.run.rematch engine.stage.repair engine.stage.research
engine.stats.confidence engine.store.ballots engine.store.deliveries engine.store.guests
engine.store.learning engine.store.listings engine.store.privacy engine.store.purge
engine.store.queue engine.values.failures engine.values.markdown engine.values.overlap
engine.values.protocols engine.votes.audience engine.votes.interventions
engine.words.buttons engine.words.invitations
engine.words.pieces engine.words.progress engine.words.scores engine.words.stored aiohttp numpy
procrastinate psycopg
"""
# Imported by no serving process before it serves: in a thread, or by an operator's choice.
NOT_SERVED = """
engine.dataset.conversion engine.dataset.parquet engine.jury.fit_quality
engine.store.tables
"""


@pytest.fixture(scope="module")
def loaded() -> list[list[str]]:
    code = "import sys\n" + "\n".join(f"{step}\nprint(*sys.modules)" for step in STEPS)
    return [line.split() for line in printed_by(code, env=without_settings()).splitlines()]


def without_settings() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.upper().startswith("ROSTRUM_")}


@pytest.mark.parametrize(
    ("step", "late"),
    [
        pytest.param(SETTINGS, "openai sqlalchemy aiohttp structlog rich", id="settings"),
        pytest.param(LANGUAGES, "babel", id="naming the languages that chats offer"),
        pytest.param(MODELS, "openai aiohttp httpx2", id="opening models"),
        pytest.param(COMMANDS, "genai_prices", id="the command line and the bundled prices"),
        pytest.param(BOT, "prometheus_client", id="the bot and its metrics"),
        pytest.param(BOT, "opentelemetry", id="the bot and its traces"),
        pytest.param(BOT, "psycopg procrastinate", id="the bot and PostgreSQL"),
        pytest.param(BOT, "PIL", id="the bot and its pictures"),
    ],
)
def test_nothing_is_imported_too_early(loaded: list[list[str]], step: int, late: str) -> None:
    assert len(loaded) == len(STEPS)
    assert not {*late.split()} & {*loaded[step]}


def test_a_demo_loads_what_a_debate_uses(tmp_path: Path) -> None:
    printed = printed_by(DEMO, str(tmp_path / "out"), env=without_settings())
    loaded = dict(
        line.split(" ")[1:] for line in printed.splitlines() if line.startswith("LOADED ")
    )
    ours = {Path(file) for file in loaded.values() if file.startswith(f"{ROOT}/")}
    ours = {file for file in ours if ".venv" not in file.parts and file.suffix == ".py"}
    assert ROOT / "engine/formats/classic.py" in ours, "it held no debate"
    early = {*NOT_IN_A_DEMO.split()} & {*loaded}
    assert early == set()
    assert sum(file.read_text().count("\n") for file in ours) <= DEMO_LINES


def test_what_serves_has_imported_what_it_serves(loaded: list[list[str]]) -> None:
    inside = {
        name
        for file in (ROOT / "engine").rglob("*.py")
        for function in ast.walk(ast.parse(file.read_text()))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for imported in ast.walk(function)
        if isinstance(imported, ast.ImportFrom)
        for name in (imported.module, *(f"{imported.module}.{one.name}" for one in imported.names))
        if name and (ROOT / f"{name.replace('.', '/')}.py").exists()
    }
    assert "engine.run.guest" in inside
    assert inside - {*loaded[BOT]} == {*NOT_SERVED.split()}


@pytest.mark.parametrize("module", PLACES)
def test_the_command_line_knows_where_each_command_is(module: str) -> None:
    here = typer.Typer()
    here.add_typer(import_module(f"bot.commands.{module}").app)
    assert PLACES[module] == tuple(typer.main.get_group(here).commands)


def test_help_shows_every_command_in_one_section() -> None:
    shown = [name for names in SECTIONS.values() for name in names]
    assert sorted(shown) == sorted(name for names in PLACES.values() for name in names)


def test_no_two_public_classes_have_one_name() -> None:
    parts = (ROOT / part for part in ("adapters", "bot", "engine", "migrations"))
    trees = (ast.parse(path.read_text()) for part in parts for path in part.rglob("*.py"))
    classes = (node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    named = Counter(name for name in classes if not name.startswith("_"))
    assert not [name for name, times in named.items() if times > 1]
