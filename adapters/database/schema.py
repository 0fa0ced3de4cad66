"""The newest tables as one script, `migrations/schema.sql`: a new SQLite file needs no Alembic.

`make schema` writes the script from `engine/store/tables.py`, as the first migration makes the
tables; a test holds that it is up to date.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from importlib.resources import files
from pathlib import Path

from engine.store.database import SqlConnection

SCRIPT = files("migrations") / "schema.sql"
HEAD = "-- Every table of revision {}, made from engine/store/tables.py by: make schema\n"
STAMP = "INSERT INTO alembic_version VALUES ('{}')"
STATEMENTS = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name"
END = ";\n"


def script() -> list[str]:
    """Return the statements of the script."""
    _, _, text = SCRIPT.read_text(encoding="utf-8").partition("\n")
    return [statement for statement in text.split(END) if statement]


def create(connection: SqlConnection) -> None:
    """Make the tables in an empty database."""
    for statement in script():
        connection.run(statement)


def described() -> str:
    """Return the script that makes the tables as they are described now."""
    # Only here, as migrations use the script as well.
    from adapters.database.database import SqlDatabase
    from adapters.database.migrate import newest
    from adapters.database.upgrade import upgrade

    with tempfile.TemporaryDirectory() as folder:
        database = SqlDatabase(f"sqlite+aiosqlite:///{Path(folder) / 'new.db'}")
        upgrade(database)
        asyncio.run(database.close())
        with closing(sqlite3.connect(Path(folder) / "new.db")) as connection:
            made = [sql for (sql,) in connection.execute(STATEMENTS)]
    made.append(STAMP.format(newest()))
    return HEAD.format(newest()) + "".join(statement + END for statement in made)


if __name__ == "__main__":
    Path(str(SCRIPT)).write_text(described(), encoding="utf-8")
