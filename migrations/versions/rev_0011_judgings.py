"""A debate that ended may be scored again by other judges, beside the first."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "judgings",
        sa.Column("debate", sa.String(26), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("judges", sa.Text(), nullable=False, comment="JSON: the models that judge"),
        sa.Column(
            "body",
            sa.Text(),
            nullable=True,
            comment="JSON: what they found; null while they are asked",
        ),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_judgings_debate")),
        sa.PrimaryKeyConstraint("debate", "number", name=op.f("pk_judgings")),
        comment="A debate that ended, scored again by other judges, beside the first",
    )
