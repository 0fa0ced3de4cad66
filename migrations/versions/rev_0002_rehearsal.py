"""Debates of rehearsal models are marked."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

DEBATES = sa.table(
    "debates", sa.column("id", sa.String), sa.column("setup", sa.Text), sa.column("rehearsal")
)


def upgrade() -> None:
    """Apply."""
    op.add_column(
        "debates",
        sa.Column(
            "rehearsal",
            sa.Boolean(),
            nullable=False,
            server_default=sa.false(),
            comment="a speaker or juror is no language model",
        ),
    )
    connection = op.get_bind()
    held = connection.execute(sa.select(DEBATES.c.id, DEBATES.c.setup)).all()
    found = [{"of": row.id} for row in held if _rehearsed(json.loads(row.setup))]
    if found:
        mark = sa.update(DEBATES).where(DEBATES.c.id == sa.bindparam("of"))
        connection.execute(mark.values(rehearsal=sa.true()), found)


def _rehearsed(setup: dict[str, Any]) -> bool:
    """Return whether a speaker, judge or juror is on the built-in backend."""
    request = setup["request"]
    seated = [*request["sides"].values(), *request["seats"].values()]
    seated += [*request["judges"], *setup["panel"]["roster"]]
    return any(model["backend"] == "rehearsal" for model in seated)
