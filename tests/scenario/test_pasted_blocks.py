"""The shell blocks of README and guides do what they say, pasted as they are by a newcomer.

A double stands in for the backends that they name, and lists the models that documents name:
`test_named_models.py` shows that the real ones have them.
"""

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot import sentences
from tests.doubles.command import environment_of
from tests.doubles.model_server import ModelServer
from tests.scenario.conftest import play
from tests.unit.test_documents import DOCUMENTS, FENCE, ROOT, read
from tests.unit.test_models_backends import named_in

PRICED = {"prompt": "0.000001", "completion": "0.000002"}
GUIDES = [document for document in DOCUMENTS if document.name != "CONTRIBUTING.md"]
ELSEWHERE = (
    *("docker ", "DOMAIN=", "WEB_DOMAIN=", "kubectl ", "sudo ", "mkdir -m 700 deploy/secrets"),
    "git clone <this repository>",  # .ci/run pastes the two commands into a clone
    "rostrum init",  # asks: tests/scenario/test_init.py answers
    ". .venv/bin/activate\nrostrum init",
    "rostrum run",  # serves until it is stopped, as does the next
    "rostrum view",
    "export ROSTRUM_WEB__URL",  # tests/scenario/test_pages_without_chat.py serves them
    "rostrum invite",  # needs a bot's token
    "rostrum check",  # is part of the block of docs/debates.md
    "rostrum label create",  # needs debates of a whole season
    "rostrum backup --out before-moving.db",  # needs a PostgreSQL
    "sqlite3 ",
)


def blocks(document: Path) -> list[str]:
    """Return a document's shell blocks; a console's without its prompts."""
    found = FENCE.findall(read(document))
    return [
        re.sub(r"(?m)^\$ ", "", text)
        for language, text in found
        if language in ("sh", "console") and not text.startswith(ELSEWHERE)
    ]


def block(name: str, begins: str) -> str:
    [found] = [text for text in blocks(ROOT / name) if text.startswith(begins)]
    return found


OWN = block("docs/debates.md", "export ROSTRUM_BACKENDS")
EXPORT = block("docs/debates.md", "rostrum export")
PAGES = block("docs/web.md", "rostrum export --as html")
BACKUP = block("docs/operations.md", "rostrum backup --out rostrum-monday.db")
COPY = block("docs/operations.md", "ROSTRUM_DATABASE_URL=sqlite")
EXPERIMENT = block("README.md", "rostrum series plan")
SERIES = block("docs/series.md", "rostrum series plan")
ROSTERS = [text for kind, text in FENCE.findall(read(ROOT / "docs/jury.md")) if kind == "dotenv"]
DEMO = sentences.BY_HAND.format(topic=sentences.TOPIC).partition("own key:\n")[2]
PASTED = {OWN, EXPORT, PAGES, BACKUP, COPY, EXPERIMENT, SERIES}


def test_every_shell_block_is_pasted_here_or_needs_what_is_not_offline() -> None:
    assert [text for guide in GUIDES for text in blocks(guide) if text not in PASTED] == []


@pytest.fixture
async def models() -> AsyncIterator[ModelServer]:
    async with ModelServer(play) as server:
        named = {
            name
            for text in (
                read(ROOT / "docs/debates.md"),
                DEMO,
                *ROSTERS,
                read(ROOT / "docs/series.md"),
            )
            for _, name in named_in(text)
        }
        server.models = [{"id": name, "pricing": PRICED} for name in sorted(named)]
        yield server


async def paste(folder: Path, text: str, **settings: str) -> str:
    """Run lines as a shell takes them, and return what they printed; each of them must succeed."""
    env = environment_of(settings)
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    process = await asyncio.create_subprocess_exec(
        *("bash", "-e", "-c", text.replace("=…", "=sk-a-key-for-the-double-only")),
        cwd=folder,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    said = out.decode()
    assert process.returncode == 0, said
    return said


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [pytest.param(OWN, id="own"), pytest.param(DEMO, id="demo")],
)
async def test_a_debate_of_real_models_begins_with_one_paste(
    tmp_path: Path, models: ModelServer, text: str
) -> None:
    there = {"ROSTRUM_BACKENDS__ONLINE__BASE_URL": models.base_url}
    quick = text.replace("rostrum debate", "rostrum debate --votes A=5")
    said = await paste(tmp_path, quick, **there)
    assert "[Reveal]" in said
    assert {body["model"] for body in models.requests} <= {name for _, name in named_in(text)}
    if text == OWN:
        assert "Exported to my-debates: debates 1" in await paste(tmp_path, EXPORT)
        assert "closed" in await paste(tmp_path, BACKUP + COPY)
        await paste(tmp_path, PAGES)
        assert (tmp_path / "pages" / "index.html").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", [pytest.param(EXPERIMENT, id="README"), pytest.param(SERIES, id="guide")]
)
async def test_a_series_is_planned_held_and_reported_with_one_paste(
    tmp_path: Path, models: ModelServer, text: str
) -> None:
    [spec] = [
        text for _, text in FENCE.findall(read(ROOT / "docs/series.md")) if "# spring.toml" in text
    ]
    (tmp_path / "spring.toml").write_text(spec, "utf-8")
    there = {f"ROSTRUM_BACKENDS__{name}__BASE_URL": models.base_url for name in ("ONLINE", "LOCAL")}
    there |= {
        "ROSTRUM_BACKENDS__ONLINE__API_KEY": "sk-double",
        "ROSTRUM_PRICES": '{"local/qwen3": [0, 0]}',
    }
    await paste(tmp_path, text, **there)
    assert (tmp_path / "report").is_dir()
    assert (tmp_path / "spring-data" / "README.md").exists()


@pytest.mark.parametrize("text", ROSTERS, ids=lambda text: text.split("\n")[0].partition("=")[2])
async def test_a_roster_of_the_guide_passes_the_check(
    tmp_path: Path, models: ModelServer, text: str
) -> None:
    (tmp_path / ".env").write_text(text.replace("=…", "=sk-double"), "utf-8")
    backends = re.findall(r"ROSTRUM_BACKENDS__(\w+)__PRESET", text)
    models.models += [{"id": name} for name in re.findall(r"\blocal/([\w.]+)", text)]
    there = {f"ROSTRUM_BACKENDS__{name}__BASE_URL": models.base_url for name in backends}
    prices = {name: [1, 2] for name in re.findall(r"[a-z]+/[\w./-]+", text)}
    said = await paste(
        tmp_path, "rostrum check", ROSTRUM_PRICES=str(prices).replace("'", '"'), **there
    )
    assert "FAIL" not in said
