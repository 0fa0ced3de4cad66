"""Each question of a debate is a row: when it opens and closes, and whether it was read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

# Each row of `targets` belongs to a question; a turn has one for each of its messages.
ASKED = """
INSERT INTO questions (debate, question, step, message, extended, unread, read_at, closes_at)
SELECT debate, question, step, CASE WHEN question <> 'turn' THEN min(message) END,
    FALSE, max(CASE WHEN unread THEN 1 ELSE 0 END) = 1, min(read_at), min(deadline)
FROM targets GROUP BY debate, question, step
"""
# One that has no message yet, or lost it with its thread.
UNPOSTED = """
INSERT INTO questions (debate, question, step, extended, unread)
SELECT id, :question, '', FALSE, FALSE FROM debates
WHERE {} AND NOT EXISTS (
    SELECT 1 FROM questions WHERE questions.debate = debates.id AND question = :question
)
"""
VOTES = """
UPDATE questions SET message = debates.vote_message, opened_at = debates.vote_opened_at,
    closes_at = debates.vote_deadline, extended = debates.vote_extended,
    closed_at = debates.revealed_at
FROM debates WHERE debates.id = questions.debate AND question = 'vote'
"""
STANCES = """
UPDATE questions SET closes_at = debates.stance_deadline, closed_at = debates.stance_closed_at,
    opened_at = CASE WHEN debates.stance_deadline IS NOT NULL
        THEN coalesce(debates.opened_at, debates.created_at) END
FROM debates WHERE debates.id = questions.debate AND question = 'stance_before'
"""
LAST_STANCES = """
UPDATE questions SET closed_at = debates.revealed_at
FROM debates WHERE debates.id = questions.debate AND question = 'stance_after'
"""
# Its messages took no more answers from then on; one that was deleted did so before.
AGAINS = """
UPDATE questions SET
    opened_at = CASE WHEN closes_at IS NOT NULL THEN debates.revealed_at END,
    closed_at = (
        SELECT max(targets.closed_at) FROM targets
        WHERE targets.debate = questions.debate AND targets.question = 'again'
    )
FROM debates WHERE debates.id = questions.debate AND question = 'again'
"""
MOVED = {
    "debates": (
        *("stance_deadline", "stance_closed_at"),
        *("vote_message", "vote_opened_at", "vote_deadline", "vote_extended"),
    ),
    "targets": ("deadline", "unread", "read_at"),
}


def upgrade() -> None:
    """Apply."""
    _create()
    op.execute(ASKED)
    vote = "vote_message IS NOT NULL OR vote_deadline IS NOT NULL OR vote_opened_at IS NOT NULL"
    stance = "stance_deadline IS NOT NULL OR stance_closed_at IS NOT NULL"
    for question, known in (("vote", vote), ("stance_before", stance)):
        op.execute(sa.text(UNPOSTED.format(f"({known})")).bindparams(question=question))
    for move in (VOTES, STANCES, LAST_STANCES, AGAINS):
        op.execute(move)
    op.drop_index(op.f("ix_targets_question_closed_at"), table_name="targets")
    for table, columns in MOVED.items():
        for column in columns:
            op.drop_column(table, column)


def _create() -> None:
    """Create the table of questions."""
    moment = sa.DateTime(timezone=True)
    where = sa.text("closed_at IS NULL AND closes_at IS NOT NULL")
    op.create_table(
        "questions",
        sa.Column("debate", sa.String(length=26), nullable=False),
        sa.Column("question", sa.String(length=16), nullable=False),
        sa.Column("step", sa.String(length=255), nullable=False),
        sa.Column("message", sa.String(length=128), nullable=True),
        sa.Column("opened_at", moment, nullable=True),
        sa.Column("closes_at", moment, nullable=True),
        sa.Column("extended", sa.Boolean(), nullable=False),
        sa.Column("closed_at", moment, nullable=True),
        sa.Column("unread", sa.Boolean(), nullable=False),
        sa.Column("read_at", moment, nullable=True),
        sa.ForeignKeyConstraint(["debate"], ["debates.id"], name=op.f("fk_questions_debate")),
        sa.PrimaryKeyConstraint("debate", "question", "step", name=op.f("pk_questions")),
        comment="What a debate asks people, and until when",
    )
    op.create_index(
        "ix_questions_open",
        "questions",
        ["closes_at"],
        sqlite_where=where,
        postgresql_where=where,
    )
