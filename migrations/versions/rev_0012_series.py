"""Series: many debates as one experiment; calls have all of their tokens in columns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
TOKENS = ("tokens_reasoning", "tokens_cached")
FILL = """
UPDATE calls SET tokens_reasoning = json_extract(reply, '$.usage.tokens_reasoning'),
    tokens_cached = json_extract(reply, '$.usage.tokens_cached')
WHERE reply IS NOT NULL
"""


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
    with op.batch_alter_table("debates") as debates:
        debates.add_column(
            sa.Column("series", sa.String(64), comment="the series that it is part of")
        )
        debates.add_column(
            sa.Column("series_key", sa.String(32), comment="which debate of the series it is")
        )
        debates.create_unique_constraint(op.f("uq_debates_series"), ["series", "series_key"])
    for name in TOKENS:
        op.add_column("calls", sa.Column(name, sa.Integer()))
    op.execute(FILL)
