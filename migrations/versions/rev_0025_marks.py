"""A question knows which reactions stand for its options: letters for sides, or colours.

An older version would read a vote by colours as one without reactions, and take back what people
chose, so it may not go on beside this one.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    """Apply."""
    op.add_column(
        "targets",
        sa.Column(
            "marks",
            sa.String(8),
            nullable=True,
            comment="the reactions of its options; none: letters for sides",
        ),
    )
