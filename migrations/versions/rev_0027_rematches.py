"""A rematch says which debate it holds once more."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
expands = True


def upgrade() -> None:
    """Apply."""
    before = sa.Column(
        "rematch_of", sa.String(26), comment="the debate that this one holds once more"
    )
    op.add_column("debates", before)
    op.create_index(op.f("ix_debates_rematch_of"), "debates", ["rematch_of"])
