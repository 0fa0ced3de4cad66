"""Where the cost of each call is known from; of calls from before, nobody kept it."""

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
