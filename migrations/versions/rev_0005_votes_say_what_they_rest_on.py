"""Votes say what they were read from, and when people acted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
UNKNOWN = {
    "sqlite": "UPDATE votes SET body = json_set(body, '$.recovery', 'unknown')",
    "postgresql": """
        UPDATE votes SET body = jsonb_set(body::jsonb, '{recovery}', '"unknown"')::text
    """,
}


def upgrade() -> None:
    """Apply."""
    given = sa.Column(
        "given_at",
        sa.DateTime(timezone=True),
        nullable=True,
        comment="when its person acted, where the platform tells",
    )
    heard = sa.Column(
        "heard_from",
        sa.DateTime(timezone=True),
        nullable=True,
        comment="of one recovered: what was heard since may be newer",
    )
    unread: sa.Column[bool] = sa.Column(
        "unread",
        sa.Boolean(),
        nullable=True,
        comment="it closed without its reactions being read",
    )
    op.add_column("vote_events", given)
    op.add_column("vote_events", heard)
    op.add_column("targets", unread)
    # Whether those that closed before were read completely is not known any more.
    op.execute(UNKNOWN[op.get_bind().dialect.name])
