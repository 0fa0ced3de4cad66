"""The tables, as `engine/store/tables.py` describes them now.

A new database gets all of them at once and is then at the newest revision: only databases of
earlier releases run the migrations after this one.
"""

from __future__ import annotations

from typing import Any

from alembic import op

from engine.store.tables import metadata

revision = "0100"
down_revision = None


def upgrade() -> None:
    """Apply."""
    metadata.create_all(op.get_bind())
    if op.get_bind().dialect.name != "postgresql":
        return  # an SQLite file belongs to one process, which needs no queue
    from procrastinate.schema import SchemaManager

    # By the driver itself: the text is a script, and has signs that SQLAlchemy would read.
    driver: Any = op.get_bind().connection.driver_connection
    driver.execute(SchemaManager.get_schema(), prepare=False)
