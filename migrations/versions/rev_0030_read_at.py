"""Turns are posted no faster than people read them, if wanted: until when they read the newest.

An older process posts what follows at once.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
expands = True


def upgrade() -> None:
    """Apply."""
    read_at = sa.Column(
        "read_at",
        sa.DateTime(timezone=True),
        comment="until when people read the newest turn that was posted",
    )
    op.add_column("debates", read_at)
