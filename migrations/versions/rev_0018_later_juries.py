"""Another jury may read a debate that was held; how it reads is kept with it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Apply."""
    about = "of another jury; null for judges of the format"
    op.add_column("judgings", sa.Column("mode", sa.String(16), comment=about))
