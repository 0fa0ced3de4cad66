"""Scores say how far several judges of a format were apart."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Apply."""
    apart = "of several judges: the highest less the lowest"
    op.add_column("scores", sa.Column("spread", sa.Float(), nullable=True, comment=apart))
