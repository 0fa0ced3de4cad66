"""The bot's own reactions are removed from questions that close from now on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
expands = True


def upgrade() -> None:
    """Apply."""
    op.add_column(
        "targets",
        sa.Column(
            "seeds",
            sa.String(4),
            nullable=True,
            comment="the bot's own reactions since its close: left, then gone",
        ),
    )
    left = sa.text("seeds = 'left'")
    op.create_index(
        "ix_targets_seeds", "targets", ["platform"], sqlite_where=left, postgresql_where=left
    )
