"""Lists of debates find them by topic, model and disagreement without reading their setups."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from engine.blinding.mentions import scrub

revision = "0036"
down_revision = "0035"
expands = True
AT_ONCE = 200
DEBATES = sa.text(
    "SELECT debates.id, setup, outbox.message AS reveal FROM debates "
    "LEFT JOIN outbox ON outbox.debate = debates.id AND outbox.key = 'reveal' "
    "WHERE debates.id > :last ORDER BY debates.id LIMIT :most"
)


def upgrade() -> None:
    """Apply."""
    listings = op.create_table(
        "listings",
        sa.Column("debate", sa.String(26), sa.ForeignKey("debates.id"), primary_key=True),
        sa.Column("topic", sa.Text(), nullable=False, comment="in one case, without mentions"),
        sa.Column("models", sa.Text(), nullable=False, comment="that speak, between spaces"),
        sa.Column(
            "agree",
            sa.Boolean(),
            comment="whether people and jury agree; null: one did not decide",
        ),
        comment="What lists of debates are searched by",
    )
    last, connection = "", op.get_bind()
    while found := connection.execute(DEBATES, {"last": last, "most": AT_ONCE}).all():
        op.bulk_insert(listings, [_listed(*row) for row in found])
        last = found[-1].id


def _listed(debate: str, setup: str, reveal: str | None) -> dict[str, object]:
    """Return a debate's row, read as releases of any age stored it."""
    import orjson

    request = orjson.loads(setup)["request"]
    speakers = (*request["sides"].values(), *request.get("seats", {}).values())
    refs = dict.fromkeys(f"{one['backend']}/{one['name']}" for one in speakers)
    return {
        "debate": debate,
        "topic": scrub(request["topic"]).casefold(),
        "models": f" {' '.join(ref for ref in refs if not ref.startswith('person/'))} ",
        "agree": orjson.loads(reveal).get("agree") if reveal else None,
    }
