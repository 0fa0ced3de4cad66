"""What formats find out beside their turns: artifacts, scores, adjustments, their own verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson
from sqlalchemy import Row, Select, Table, select
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.connection import Connection
from adapters.storage.outbox import insert_held, insert_posts
from adapters.storage.prepared import Prepared
from adapters.storage.tables import adjustments, artifacts, scores, verdicts
from engine.findings import UNANSWERED, Adjustment, Artifact, Score
from engine.judging import Verdict
from engine.store import Note

PANEL = "panel"


def _insert_into(table: Table) -> Prepared:
    return Prepared(insert(table).on_conflict_do_nothing(), table.c.keys())


INSERT_ARTIFACT = _insert_into(artifacts)
INSERT_SCORE = _insert_into(scores)
INSERT_ADJUSTMENT = _insert_into(adjustments)
INSERT_VERDICT = _insert_into(verdicts)
Grouped = Callable[[Select[Any]], dict[str, list[Row[Any]]]]


def insert_note(connection: Connection, debate_id: str, note: Note) -> None:
    """Store a note's parts and queue its posts; what is stored already stays as it is."""
    for artifact in note.artifacts:
        body = orjson.dumps(artifact.body).decode()
        row = artifact.model_dump(exclude={"body"}) | {"debate": debate_id, "body": body}
        INSERT_ARTIFACT.run(connection, row)
    for score in note.scores:
        INSERT_SCORE.run(connection, score.model_dump() | {"debate": debate_id})
    for adjustment in note.adjustments:
        INSERT_ADJUSTMENT.run(connection, adjustment.model_dump() | {"debate": debate_id})
    for judge, verdict in note.verdicts.items():
        insert_verdict(connection, debate_id, judge, verdict)
    insert_posts(connection, debate_id, note.posts)
    insert_held(connection, debate_id, note.held)


def to_unanswered(row: Row[Any]) -> tuple[str, str]:
    """Return the step that an artifact says stayed unanswered, and why."""
    return row.name.removeprefix(f"{UNANSWERED}/"), orjson.loads(row.body)["problem"]


def insert_verdict(connection: Connection, debate_id: str, judge: str, verdict: Verdict) -> None:
    """Store the verdict of a format's own judge, once."""
    row = {"debate": debate_id, "judge": judge, "body": verdict.model_dump_json()}
    INSERT_VERDICT.run(connection, row)


def read_findings(grouped: Grouped, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return, by debate, the fields of a record that hold what its format found out.

    `grouped` runs a query and sorts its rows by debate.
    """
    kept = grouped(select(artifacts).where(artifacts.c.debate.in_(ids)).order_by(artifacts.c.name))
    given = grouped(
        select(scores)
        .where(scores.c.debate.in_(ids))
        .order_by(scores.c.subject, scores.c.side, scores.c.criterion)
    )
    changed = grouped(
        select(adjustments).where(adjustments.c.debate.in_(ids)).order_by(adjustments.c.name)
    )
    judged = grouped(
        select(verdicts)
        .where(verdicts.c.debate.in_(ids), verdicts.c.judge != PANEL)
        .order_by(verdicts.c.judge)
    )
    return {
        debate: {
            "verdicts": {
                row.judge: Verdict.model_validate_json(row.body) for row in judged[debate]
            },
            "artifacts": tuple(
                Artifact(name=row.name, kind=row.kind, valid=row.valid, body=orjson.loads(row.body))
                for row in kept[debate]
            ),
            "scores": tuple(Score(**_without_debate(row)) for row in given[debate]),
            "adjustments": tuple(Adjustment(**_without_debate(row)) for row in changed[debate]),
        }
        for debate in ids
    }


def _without_debate(row: Row[Any]) -> dict[str, Any]:
    return {name: value for name, value in row._mapping.items() if name != "debate"}
