"""What a platform said about whether somebody is a bot is kept, so that no process asks again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Apply."""
    op.add_column(
        "people",
        sa.Column("bot", sa.Boolean(), nullable=True, comment="null where it was never asked"),
    )
