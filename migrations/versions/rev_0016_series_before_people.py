"""Series may be held before people: each has a place and the time of its next debate."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
PLATFORM = sa.Column("platform", sa.String(32), comment="where people watch it; null: nowhere")
COMMUNITY = sa.Column("community", sa.String(128))
DUE_AT = sa.Column(
    "due_at",
    sa.DateTime(timezone=True),
    comment="when its next debate may begin; null: nothing is planned",
)
PROBLEM = sa.Column("problem", sa.Text(), comment="why its next debate cannot begin; null: it can")


def upgrade() -> None:
    """Apply."""
    for column in (PLATFORM, COMMUNITY, DUE_AT, PROBLEM):
        op.add_column("series", column)
