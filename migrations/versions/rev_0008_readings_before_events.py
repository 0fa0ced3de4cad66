"""An event after a reading only adds its time: the reading has seen its effect."""

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
