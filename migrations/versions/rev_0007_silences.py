"""Periods in which choices may have been missed are stored for the next process."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Apply."""
    moment = sa.DateTime(timezone=True)
    newer = "of one recovered: what was heard since is newer"
    read = "until when nothing was missed that is not in the log"
    op.add_column("vote_events", sa.Column("newer_since", moment, nullable=True, comment=newer))
    op.add_column("targets", sa.Column("read_at", moment, nullable=True, comment=read))
    op.create_table(
        "silences",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("platform", sa.String(length=32), nullable=False),
        sa.Column("ended_at", moment, nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_silences")),
        comment=(
            "When a platform told of what happens again, after a while of which it tells nothing"
        ),
    )
    op.create_index(op.f("ix_silences_platform"), "silences", ["platform"])
