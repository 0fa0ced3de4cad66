"""Debates that people had deleted, until their messages are gone from the chat."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
expands = True


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "deletions",
        sa.Column("debate", sa.String(26), nullable=False, comment="which may be deleted already"),
        sa.Column("platform", sa.String(32), nullable=False),
        sa.Column("community", sa.String(128), nullable=False),
        sa.Column("lane", sa.BigInteger(), nullable=True, comment="as the debate's"),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "body",
            sa.Text(),
            nullable=True,
            comment="JSON: what is left of it in the chat; null: all of it",
        ),
        sa.PrimaryKeyConstraint("debate", name=op.f("pk_deletions")),
        comment="Debates that people had deleted, until their messages are gone",
    )
