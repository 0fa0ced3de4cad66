"""The newest tables as one script, `migrations/schema.sql`: a new database needs no Alembic.

`make schema` writes the script from the migrations; a test holds that it makes the same database.
One that was not renewed after a migration is not used.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from importlib.resources import files
from pathlib import Path

from adapters.storage.connection import SqlConnection

SCRIPT = "schema.sql"
HEAD = "-- Every table of revision {}, as the migrations make them. Renew it by: make schema\n"
STAMP = "INSERT INTO alembic_version VALUES ('{}')"
STATEMENTS = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name"
END = ";\n"


def script() -> list[str]:
    """Return the statements of the script, none without one."""
    file = files("migrations").joinpath(SCRIPT)
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    return [statement for statement in text.partition("\n")[2].split(END) if statement]


def create(connection: SqlConnection, revision: str) -> bool:
    """Make the tables in an empty database; False if the script is of another revision."""
    statements = script()
    if STAMP.format(revision) not in statements:
        return False
    for statement in statements:
        connection.run(statement)
    return True


def dump(path: Path, revision: str) -> list[str]:
    """Return the statements that make the tables of a database, and say at which revision."""
    with closing(sqlite3.connect(path)) as connection:
        made = [sql for (sql,) in connection.execute(STATEMENTS)]
    return [*made, STAMP.format(revision)]


async def migrated() -> list[str]:
    """Return the statements that make what all migrations make of an empty database."""
    # Only here, as migrations use the script as well.
    from adapters.storage.database import Database
    from adapters.storage.migrate import newest, upgrade

    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite+aiosqlite:///{Path(folder) / 'new.db'}")
        await asyncio.to_thread(upgrade, database)
        await database.close()
        return dump(database.path, newest())


def main() -> None:
    """Write the script again."""
    from adapters.storage.migrate import newest

    text = HEAD.format(newest()) + "".join(made + END for made in asyncio.run(migrated()))
    Path(str(files("migrations").joinpath(SCRIPT))).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
