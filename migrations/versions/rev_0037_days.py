"""A day's budget outlives the data of its community, and is found by its day."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
expands = True


def upgrade() -> None:
    """Apply."""
    purged: sa.Column[bool] = sa.Column(
        "purged",
        sa.Boolean(),
        nullable=False,
        server_default=sa.false(),
        comment="it stays until its day is over, though its community's data was deleted",
    )
    op.add_column("usage", purged)
    op.create_index("ix_usage_day", "usage", ["day"])
    where = sa.text("purged")
    op.create_index("ix_usage_purged", "usage", ["day"], sqlite_where=where, postgresql_where=where)
