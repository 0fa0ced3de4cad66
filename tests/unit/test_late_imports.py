"""What is imported only once it is needed, so that a process starts at once."""

from __future__ import annotations

import os

import pytest

from tests.doubles.command import printed_by

# One process takes these steps in turn: what is not loaded after a later one was not before it.
STEPS = (
    "import bot.settings.settings; bot.settings.settings.load_settings()",
    "import engine.prompts.languages as l\n"
    "for code in l.NAMES: l.language_name(l.check_language(code))",
    "import adapters.models.router as r; r.open_models({})",
    "import bot.cli",
    "import bot.run, adapters.discord.render, adapters.slack.render",
)
SETTINGS, LANGUAGES, MODELS, COMMANDS, BOT = range(5)


@pytest.fixture(scope="module")
def loaded() -> list[list[str]]:
    """The modules that are loaded after each step."""
    code = "import sys\n" + "\n".join(f"{step}\nprint(*sys.modules)" for step in STEPS)
    clean = {k: v for k, v in os.environ.items() if not k.upper().startswith("ROSTRUM_")}
    return [line.split() for line in printed_by(code, env=clean).splitlines()]


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
def test_nothing_is_imported_before_it_is_needed(
    loaded: list[list[str]], step: int, late: str
) -> None:
    assert len(loaded) == len(STEPS)
    assert not {*late.split()} & {*loaded[step]}
