"""A turn of a person that was missed says whether what they wrote was withheld."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
expands = True


def upgrade() -> None:
    """Apply."""
    op.add_column(
        "spoken",
        sa.Column(
            "withheld",
            sa.String(8),
            nullable=True,
            comment="why what was written is not its text: blocked, flagged",
        ),
    )
