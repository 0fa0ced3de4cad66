"""Parts of a debate that are missing in its thread."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

# What is revealed stays as it was exported.
COUNT = """
UPDATE debates SET gaps = (
    SELECT count(*) FROM outbox
    WHERE outbox.debate = debates.id AND outbox.target IS NULL
        AND outbox.kind IN ('turn', 'report', 'scoreboard', 'arc')
        AND outbox.state IN ('refused', 'doubtful')
        AND outbox.number < coalesce(
            (SELECT vote.number FROM outbox AS vote
             WHERE vote.debate = debates.id AND vote.key = 'vote'),
            2147483647
        )
)
WHERE revealed_at IS NULL
"""


def upgrade() -> None:
    """Apply."""
    op.add_column(
        "debates",
        sa.Column(
            "gaps",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="messages that are missing in its thread, or may be",
        ),
    )
    op.execute(COUNT)
