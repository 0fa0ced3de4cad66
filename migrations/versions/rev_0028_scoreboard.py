"""People may be named on the scoreboard of those who guess models."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
expands = True


def upgrade() -> None:
    """Apply."""
    shown = sa.Column(
        "scoreboard",
        sa.Boolean,
        nullable=False,
        server_default=sa.false(),
        comment="wants to be named among those who guess models",
    )
    op.add_column("people", shown)
