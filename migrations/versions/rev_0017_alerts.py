"""A budget says whether managers were warned that it is nearly used up."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Apply."""
    warned: sa.Column[bool] = sa.Column(
        "warned",
        sa.Boolean(),
        nullable=False,
        server_default=sa.false(),
        comment="of nearing its cap",
    )
    op.add_column("usage", warned)
