"""People label debates on pages.

An older version would forget a person without what they wrote there, so it may not go on beside
this one.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "label_tasks",
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column(
            "platform", sa.String(32), nullable=False, comment="of whose manager made it, or empty"
        ),
        sa.Column("community", sa.String(128), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column(
            "closed_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="since when it takes no answers",
        ),
        sa.Column("body", sa.Text(), nullable=False, comment="JSON: what it asks for"),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_label_tasks")),
        comment="What people are asked to label on pages",
    )
    op.create_table(
        "label_debates",
        sa.Column("task", sa.String(40), nullable=False),
        sa.Column("debate", sa.String(26), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False, comment="the lowest is given first"),
        sa.Column("sides", sa.String(8), nullable=False),
        sa.Column(
            "known", sa.String(8), nullable=True, comment="its answer where it is a test; else null"
        ),
        sa.Column(
            "taken",
            sa.Integer(),
            nullable=False,
            comment="its labels, and those that are awaited",
        ),
        sa.ForeignKeyConstraint(
            ["task"], ["label_tasks.name"], name=op.f("fk_label_debates_task_label_tasks")
        ),
        sa.ForeignKeyConstraint(
            ["debate"], ["debates.id"], name=op.f("fk_label_debates_debate_debates")
        ),
        sa.PrimaryKeyConstraint("task", "debate", name=op.f("pk_label_debates")),
        comment="The debates of a labelling task",
    )
    op.create_index(
        op.f("ix_label_debates_task_taken_rank"), "label_debates", ["task", "taken", "rank"]
    )
    op.create_index(op.f("ix_label_debates_debate"), "label_debates", ["debate"])
    op.create_table(
        "label_links",
        sa.Column("digest", sa.String(64), nullable=False, comment="of what stands in the link"),
        sa.Column("task", sa.String(40), nullable=False),
        sa.Column("people", sa.Integer(), nullable=False, comment="who may join by it"),
        sa.Column("used", sa.Integer(), nullable=False, comment="who have"),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["task"], ["label_tasks.name"], name=op.f("fk_label_links_task_label_tasks")
        ),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_label_links")),
        comment="Invitations to a labelling task",
    )
    op.create_index(op.f("ix_label_links_task"), "label_links", ["task"])
    op.create_table(
        "annotators",
        sa.Column("key", sa.String(32), nullable=False, comment="names them in a session"),
        sa.Column("task", sa.String(40), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column(
            "link", sa.String(64), nullable=True, comment="the digest of the one they joined by"
        ),
        sa.Column(
            "claim",
            sa.String(64),
            nullable=True,
            comment="the digest of what their browser sent with it",
        ),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["task"], ["label_tasks.name"], name=op.f("fk_annotators_task_label_tasks")
        ),
        sa.ForeignKeyConstraint(
            ["person"], ["people.id"], name=op.f("fk_annotators_person_people")
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_annotators")),
        sa.UniqueConstraint("task", "person", name=op.f("uq_annotators_task_person")),
        sa.UniqueConstraint("link", "claim", name=op.f("uq_annotators_link_claim")),
        comment="Who labels in a task",
    )
    op.create_index(op.f("ix_annotators_person"), "annotators", ["person"])
    op.create_table(
        "sheets",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("task", sa.String(40), nullable=False),
        sa.Column("debate", sa.String(26), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column(
            "number",
            sa.Integer(),
            nullable=True,
            comment="which of theirs; null: only seen elsewhere",
        ),
        sa.Column("kind", sa.String(8), nullable=False, comment="plain, known, again or seen"),
        sa.Column("order", sa.String(8), nullable=False, comment="of the sides as they are shown"),
        sa.Column("given_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column(
            "changed_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when the answer that stands was given",
        ),
        sa.Column(
            "exposed",
            sa.Boolean(),
            nullable=False,
            comment="models or result may be known to them",
        ),
        sa.Column("held", sa.Boolean(), nullable=False, comment="counted in its debate's `taken`"),
        sa.Column("body", sa.Text(), nullable=True, comment="JSON: the answer"),
        sa.ForeignKeyConstraint(
            ["task"], ["label_tasks.name"], name=op.f("fk_sheets_task_label_tasks")
        ),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_sheets_debate_debates")),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name=op.f("fk_sheets_person_people")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sheets")),
        sa.UniqueConstraint("task", "person", "number", name=op.f("uq_sheets_task_person_number")),
        comment="Debates as they were shown to people who label, and their answers",
    )
    op.create_index(op.f("ix_sheets_person"), "sheets", ["person"])
    op.create_index(op.f("ix_sheets_debate_person"), "sheets", ["debate", "person"])
    waiting = sa.text("held AND answered_at IS NULL")
    op.create_index(
        "ix_sheets_open",
        "sheets",
        ["task", "given_at"],
        sqlite_where=waiting,
        postgresql_where=waiting,
    )
