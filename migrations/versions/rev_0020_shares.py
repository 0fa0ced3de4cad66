"""Several processes may share a platform: each debate says which lane its community is of."""

from __future__ import annotations

from zlib import crc32

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
LANE = "its community's, from which its share of the platform follows; null: 0"


def upgrade() -> None:
    """Apply; the lanes are those of `lane_of` in engine/store/served.py."""
    op.add_column("debates", sa.Column("lane", sa.BigInteger(), comment=LANE))
    debates = sa.table("debates", sa.column("community", sa.String), sa.column("lane"))
    bind = op.get_bind()
    for community in bind.scalars(sa.select(debates.c.community).distinct()).all():
        digits = community.isascii() and community.isdigit()
        lane = (int(community) >> 22) % 2**42 if digits else crc32(community.encode())
        bind.execute(debates.update().where(debates.c.community == community).values(lane=lane))
    held = sa.text("holder <> ''")
    op.create_index(
        "ix_leases_held", "leases", ["holder"], sqlite_where=held, postgresql_where=held
    )
