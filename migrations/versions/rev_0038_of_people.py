"""What a person did is found, and forgotten, without reading everybody else's."""

from __future__ import annotations

from alembic import op

revision = "0038"
down_revision = "0037"
expands = True


def upgrade() -> None:
    """Apply."""
    for table, column in (("debates", "starter"), ("vote_events", "person"), ("votes", "person")):
        op.create_index(f"ix_{table}_{column}", table, [column])
