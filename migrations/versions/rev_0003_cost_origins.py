"""The source of each call's cost; unknown for earlier calls."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Apply."""
    op.add_column(
        "calls",
        sa.Column(
            "cost_origin",
            sa.String(length=8),
            nullable=False,
            server_default="unknown",
            comment="where the cost is known from",
        ),
    )
