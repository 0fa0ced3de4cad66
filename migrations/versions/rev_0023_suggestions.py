"""Topics that people suggest, and their upvotes.

An older version would forget a person without these, so it may not go on beside this one.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "suggestions",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("platform", sa.String(32), nullable=False),
        sa.Column("community", sa.String(128), nullable=False),
        sa.Column(
            "topic", sa.String(16), nullable=False, comment="the id that its rewordings share"
        ),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("suggester", sa.Integer(), nullable=True, comment="null: was forgotten"),
        sa.Column("approved", sa.Boolean(), nullable=False),
        sa.Column("suggested_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "debate", sa.String(26), nullable=True, comment="that was held on it; null: none yet"
        ),
        sa.ForeignKeyConstraint(
            ["suggester"], ["people.id"], name=op.f("fk_suggestions_suggester_people")
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_suggestions")),
        sa.UniqueConstraint(
            "platform", "community", "topic", name=op.f("uq_suggestions_platform_community_topic")
        ),
        comment="Topics that people of a community suggested",
    )
    op.create_index(op.f("ix_suggestions_suggester"), "suggestions", ["suggester"])
    op.create_index(op.f("ix_suggestions_debate"), "suggestions", ["debate"])
    op.create_table(
        "upvotes",
        sa.Column("suggestion", sa.Integer(), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["suggestion"], ["suggestions.number"], name=op.f("fk_upvotes_suggestion_suggestions")
        ),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name=op.f("fk_upvotes_person_people")),
        sa.PrimaryKeyConstraint("suggestion", "person", name=op.f("pk_upvotes")),
        comment="Who wants which suggested topic debated",
    )
    op.create_index(op.f("ix_upvotes_person"), "upvotes", ["person"])
