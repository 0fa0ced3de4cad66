"""A person may answer one question several times, once for each round: `votes` says which."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

COPY = """
INSERT INTO votes (debate, person, question, step, body)
SELECT debate, person, question, '', body FROM votes_by_question
"""


def upgrade() -> None:
    """Apply."""
    op.rename_table("votes", "votes_by_question")
    if op.get_bind().dialect.name == "postgresql":
        # Its name would be the new table's: there it is one of the whole schema.
        op.execute("ALTER TABLE votes_by_question RENAME CONSTRAINT pk_votes TO pk_votes_before")
    op.create_table(
        "votes",
        sa.Column("debate", sa.String(26), nullable=False),
        sa.Column("person", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(16), nullable=False),
        sa.Column("step", sa.String(255), nullable=False, comment="of a round; otherwise empty"),
        sa.Column("body", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_votes_debate")),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name=op.f("fk_votes_person")),
        sa.PrimaryKeyConstraint("debate", "person", "question", "step", name=op.f("pk_votes")),
        comment="What stood at the close, derived from vote_events",
    )
    op.execute(COPY)
    op.drop_table("votes_by_question")
