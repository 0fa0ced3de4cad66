"""What `rostrum debate` has imported when its first call comes, by Python's own report."""

import asyncio
import os
import re
import sys
from pathlib import Path

import orjson
import pytest

from bench.wheel.loopback import Answering

LATER = (
    *(
        "alembic",
        "sqlalchemy",
        "genai_prices",
        "json_repair",
        "markdown_it",
        "openai",
        "PIL",
        "babel",
    ),
    *("discord", "slack_bolt", "slack_sdk", "pyarrow", "prometheus_client", "aiohttp.web"),
    *("adapters.discord", "adapters.slack", "adapters.models.rehearsal"),
    *("engine.chat", "engine.dataset", "engine.stats"),
    *("engine.formats.audited", "engine.formats.oxford", "engine.formats.roundtable"),
    *("engine.formats.structured", "engine.formats.team"),
)
IMPORTED = re.compile(r"^import '?([\w.]+)'? #", re.MULTILINE)


class Reporting(Answering):
    """A connection that notes what the process has imported when a call comes."""

    def __init__(self, report: Path, found: list[frozenset[str]]) -> None:
        super().__init__(0.001, {})
        self._report = report
        self._found = found

    def take(self, body: bytes) -> None:
        """Read the report as it stands at the first call."""
        if not self._found:
            text = self._report.read_text(encoding="utf-8", errors="replace")
            self._found.append(frozenset(IMPORTED.findall(text)))
        super().take(body)


@pytest.mark.slow
async def test_the_first_call_waits_for_nothing_that_is_needed_later(tmp_path: Path) -> None:
    report, found = tmp_path / "report", list[frozenset[str]]()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Reporting(report, found), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    mine = {name: value for name, value in os.environ.items() if not name.startswith("ROSTRUM_")}
    models = [f"bench/{name}#{name}" for name in ("maple", "cedar", "birch", "elm", "rowan")]
    environment = mine | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "ROSTRUM_BACKENDS": orjson.dumps({"bench": {"base_url": url, "local": True}}).decode(),
        "ROSTRUM_MODELS": ",".join(models[:2]),
        "ROSTRUM_JURORS": ",".join(models[2:]),
    }
    with report.open("wb") as errors:  # on a new database
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-v", "-c", "from bot.cli import main; main()"),
            *("debate", "x", "--votes", "A=1"),
            cwd=tmp_path,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=errors,
        )
    assert await process.wait() == 0, report.read_text(errors="replace")[-2000:]
    server.close()
    first = found[0]
    assert {"aiohttp.client", "engine.formats.classic", "engine.run.run"} <= first
    early = {name for name in first for later in LATER if f"{name}.".startswith(f"{later}.")}
    assert early == set()
