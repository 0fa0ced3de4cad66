"""Debates that ended long ago are found by their age, and lose their prompts or everything."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    """Apply."""
    op.add_column(
        "debates",
        sa.Column(
            "pruned_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when its prompts and raw replies were deleted",
        ),
    )
    op.create_index("ix_debates_created_at", "debates", ["created_at"])
    unpruned = sa.text("pruned_at IS NULL")
    op.create_index(
        "ix_debates_unpruned",
        "debates",
        ["created_at"],
        sqlite_where=unpruned,
        postgresql_where=unpruned,
    )
