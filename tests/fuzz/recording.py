"""Renews the seeds that depend on what an export has: `python -m tests.fuzz.recording`."""

import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from adapters.database.database import SqlDatabase
from adapters.database.migrate import migrate
from engine.dataset.folder import MANIFEST
from tests.doubles.whole_debate import hold_whole
from tests.fuzz.target import SEEDS
from tests.fuzz.targets.exports import CURRENT

TABLES = ("artifacts", "adjustments", "calls", "debates", "judgments", "prompts", "questions",
          "quotations", "records", "scores", "sources", "turns", "verdicts", "votes")  # fmt: skip
MOST = 6  # rows of a table


async def record(format: str, top: Path) -> None:
    """Hold a debate, and write its export as one input."""
    url = f"sqlite+aiosqlite:///{top}/{format}.db"
    await migrate(SqlDatabase(url))
    whole = await hold_whole(url, top / format, format=format)
    rows = {name: whole.table(name)[:MOST] for name in TABLES}
    files = {f"data/{name}/train.jsonl": found for name, found in rows.items() if found}
    listed = [{"path": path, "bytes": 0, "sha256": ""} for path in files]
    told = json.loads((whole.out / MANIFEST).read_bytes())
    told |= {"schema_version": CURRENT, "files": listed}
    body = json.dumps({MANIFEST: told} | files, ensure_ascii=False, separators=(",", ":"))
    (SEEDS / "export" / format).write_text(body, "utf-8")


async def main() -> None:
    with TemporaryDirectory() as top:
        for format in ("classic", "structured", "audited", "team", "roundtable"):
            await record(format, Path(top))


if __name__ == "__main__":
    asyncio.run(main())
