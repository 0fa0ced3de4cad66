"""What past ballots say of jurors is stored, fit by fit, with judgments from outside.

An older version would list and export what calibrations are journaled as, so it may not go on
beside this one.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "fits",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("rehearsal", sa.Boolean(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False, comment="what it rests on, as JSON"),
        sa.Column("body", sa.Text(), nullable=False, comment="its figures, as JSON"),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_fits")),
        comment="What past ballots say of the jurors, fit by fit",
    )
    op.create_table(
        "learnt",
        sa.Column("key", sa.String(128), nullable=False, comment="a debate's id, or of its source"),
        sa.Column(
            "source", sa.String(64), nullable=False, comment="a digest of where it came from"
        ),
        sa.Column("rehearsal", sa.Boolean(), nullable=False),
        sa.Column("ballots", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_learnt")),
        comment="Judgments from outside that jurors were calibrated on: numbers, no texts",
    )
