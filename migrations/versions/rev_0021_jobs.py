"""On PostgreSQL, Procrastinate's tables: jobs that say “think for debate X”."""

from __future__ import annotations

from typing import Any

from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Apply."""
    if op.get_bind().dialect.name != "postgresql":
        return  # an SQLite file belongs to one process, which needs no queue
    from procrastinate.schema import SchemaManager

    # By the driver itself: the text is a script, and has signs that SQLAlchemy would read.
    driver: Any = op.get_bind().connection.driver_connection
    driver.execute(SchemaManager.get_schema(), prepare=False)
