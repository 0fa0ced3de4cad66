"""What is told after a reading says only when it was done: the reading has seen what came of it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Apply."""
    moment = sa.DateTime(timezone=True)
    read = "when the last complete reading before it was told began"
    op.add_column("vote_events", sa.Column("read_at", moment, nullable=True, comment=read))
