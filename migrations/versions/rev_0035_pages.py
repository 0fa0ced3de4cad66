"""Communities that show something on the web have a key for their page."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
expands = True


def upgrade() -> None:
    """Apply."""
    op.add_column(
        "communities",
        sa.Column("page", sa.String(32), nullable=True, comment="the key of its page on the web"),
    )
    op.create_index("ix_communities_page", "communities", ["page"], unique=True)
