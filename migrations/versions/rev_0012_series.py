"""Series: many debates as one experiment; calls have all of their tokens in columns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
TOKENS = ("tokens_reasoning", "tokens_cached")
FILL = {
    "sqlite": """
        UPDATE calls SET tokens_reasoning = json_extract(reply, '$.usage.tokens_reasoning'),
            tokens_cached = json_extract(reply, '$.usage.tokens_cached')
        WHERE reply IS NOT NULL
    """,
    "postgresql": """
        UPDATE calls SET
            tokens_reasoning = (reply::json #>> '{usage,tokens_reasoning}')::integer,
            tokens_cached = (reply::json #>> '{usage,tokens_cached}')::integer
        WHERE reply IS NOT NULL
    """,
}


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "series",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("body", sa.Text(), nullable=False, comment="JSON: what its file holds, checked"),
        sa.Column(
            "usd", sa.Float(), nullable=True, comment="what it may cost in all; null: no cap"
        ),
        sa.Column(
            "stop",
            sa.Boolean(),
            nullable=False,
            server_default=sa.false(),
            comment="it begins no more",
        ),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_series")),
        comment="Experiments of many debates",
    )
    series = sa.Column("series", sa.String(64), comment="the series that it is part of")
    key = sa.Column("series_key", sa.String(32), comment="which debate of the series it is")
    op.add_column("debates", series)
    op.add_column("debates", key)
    index = op.f("ix_debates_series_series_key")
    op.create_index(index, "debates", ["series", "series_key"], unique=True)
    for name in TOKENS:
        op.add_column("calls", sa.Column(name, sa.Integer()))
    op.execute(FILL[op.get_bind().dialect.name])
