"""The audience of a debate may ask its sides something.

An older version would forget a person without what they asked, so it may not go on beside this one.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "asked",
        sa.Column("debate", sa.String(26), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False, comment="from 1, in the order of asking"),
        sa.Column("person", sa.Integer(), nullable=True, comment="null for one who was forgotten"),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("removed", sa.String(12), nullable=False, comment="by whom; empty: it stands"),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_asked_debate")),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name=op.f("fk_asked_person")),
        sa.PrimaryKeyConstraint("debate", "number", name=op.f("pk_asked")),
        comment="What audiences ask the sides of a debate",
    )
    op.create_index("ix_asked_person", "asked", ["person"])
