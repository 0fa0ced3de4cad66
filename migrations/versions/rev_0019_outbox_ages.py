"""A message says since when it may be sent, so that the age of the oldest can be watched."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Apply."""
    op.add_column(
        "outbox",
        sa.Column(
            "queued_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="since when it may be sent; null where it was not recorded",
        ),
    )
