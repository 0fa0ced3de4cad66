"""A person may argue a side of a debate.

An older version would forget a person without what they wrote, so it may not go on beside this one.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "guests",
        sa.Column("debate", sa.String(26), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("names", sa.Text(), nullable=False, comment="JSON: taken out of what they write"),
        sa.Column("accepted", sa.Boolean(), nullable=True, comment="null: not answered yet"),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_guests_debate")),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name=op.f("fk_guests_person")),
        sa.PrimaryKeyConstraint("debate", name=op.f("pk_guests")),
        comment="Who argues a side of a debate as a person",
    )
    op.create_index("ix_guests_person", "guests", ["person"])
    op.create_table(
        "spoken",
        sa.Column("debate", sa.String(26), nullable=False),
        sa.Column("step", sa.String(255), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("words", sa.Integer(), nullable=False, comment="at most; 0: no limit"),
        sa.Column("text", sa.Text(), nullable=True, comment="null: nothing was written yet"),
        sa.Column("spoken_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_spoken_debate")),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name=op.f("fk_spoken_person")),
        sa.PrimaryKeyConstraint("debate", "step", name=op.f("pk_spoken")),
        comment="What people who argue a side wrote for its turns",
    )
    op.create_index("ix_spoken_person", "spoken", ["person"])
