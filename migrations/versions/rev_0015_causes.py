"""Why a debate ended early is a kind of its own, with the model that caused it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Apply."""
    cause = sa.Column("cause", sa.String(16), comment="the kind of reason for an early end")
    op.add_column("debates", cause)
    op.add_column(
        "debates", sa.Column("cause_model", sa.String(200), comment="the model that caused it")
    )
