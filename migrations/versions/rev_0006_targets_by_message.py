"""A message's question is found by the message alone, as Slack does not name the thread."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Apply."""
    op.create_index(op.f("ix_targets_message"), "targets", ["message"])
