"""Findings of formats: artifacts, scores, adjustments, and their own judges' verdicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import orjson

from adapters.storage.connection import SqlConnection
from adapters.storage.outbox import insert_held, insert_posts
from engine.store import Note
from engine.values.judging import UNANSWERED, Adjustment, Artifact, Score, Verdict

PANEL = "panel"
INSERT_ARTIFACT = """
INSERT INTO artifacts (debate, name, kind, valid, body)
VALUES (:debate, :name, :kind, :valid, :body)
ON CONFLICT DO NOTHING
"""
INSERT_SCORE = """
INSERT INTO scores (debate, subject, side, criterion, value, original, spread)
VALUES (:debate, :subject, :side, :criterion, :value, :original, :spread)
ON CONFLICT DO NOTHING
"""
INSERT_ADJUSTMENT = """
INSERT INTO adjustments (debate, name, subject, side, criterion, amount, reason, "by")
VALUES (:debate, :name, :subject, :side, :criterion, :amount, :reason, :by)
ON CONFLICT DO NOTHING
"""
INSERT_VERDICT = """
INSERT INTO verdicts (debate, judge, body) VALUES (:debate, :judge, :body) ON CONFLICT DO NOTHING
"""
ARTIFACTS = "SELECT * FROM artifacts WHERE debate IN :debates ORDER BY name"
SCORES = "SELECT * FROM scores WHERE debate IN :debates ORDER BY subject, side, criterion"
ADJUSTMENTS = "SELECT * FROM adjustments WHERE debate IN :debates ORDER BY name"
VERDICTS = """
SELECT * FROM verdicts WHERE debate IN :debates AND judge <> 'panel' ORDER BY judge
"""
Grouped = Callable[[str], dict[str, list[Any]]]


def insert_note(connection: SqlConnection, debate_id: str, note: Note) -> None:
    """Store a note's parts and queue its posts; parts that are already stored stay as they are."""
    for artifact in note.artifacts:
        row = artifact.model_dump() | {"body": orjson.dumps(artifact.body).decode()}
        connection.run(INSERT_ARTIFACT, debate=debate_id, **row)
    scores = ({"debate": debate_id, **score.model_dump()} for score in note.scores)
    connection.run_each(INSERT_SCORE, scores)
    for adjustment in note.adjustments:
        connection.run(INSERT_ADJUSTMENT, debate=debate_id, **adjustment.model_dump())
    for judge, verdict in note.verdicts.items():
        insert_verdict(connection, debate_id, judge, verdict)
    insert_posts(connection, debate_id, note.posts)
    insert_held(connection, debate_id, note.held)


def insert_verdict(connection: SqlConnection, debate_id: str, judge: str, verdict: Verdict) -> None:
    """Store a judge's verdict once; a format's own judge is named after its format."""
    connection.run(INSERT_VERDICT, debate=debate_id, judge=judge, body=verdict.model_dump_json())


def to_unanswered(row: Any) -> tuple[str, str]:
    """Return an unanswered step and the reason, from its artifact."""
    return row.name.removeprefix(f"{UNANSWERED}/"), orjson.loads(row.body)["problem"]


def to_put(row: Any) -> tuple[str, ...]:
    """Return what the audience asked the sides, from its artifact."""
    return tuple(orjson.loads(row.body)["put"])


def to_artifact(row: Any) -> Artifact:
    """Return an artifact as it is stored."""
    return Artifact(name=row.name, kind=row.kind, valid=row.valid, body=orjson.loads(row.body))


def read_findings(grouped: Grouped, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return, by debate, the fields of a record that hold what its format found out.

    `grouped` runs a query for these debates and sorts its rows by debate.
    """
    kept, given, changed, judged = map(grouped, (ARTIFACTS, SCORES, ADJUSTMENTS, VERDICTS))
    return {
        debate: {
            "verdicts": {
                row.judge: Verdict.model_validate_json(row.body) for row in judged[debate]
            },
            "artifacts": tuple(map(to_artifact, kept[debate])),
            "scores": tuple(Score(**_fields(Score, row)) for row in given[debate]),
            "adjustments": tuple(Adjustment(**_fields(Adjustment, row)) for row in changed[debate]),
        }
        for debate in ids
    }


def _fields(kind: type[Score | Adjustment], row: Any) -> dict[str, Any]:
    """Return what a row has of a value; a newer version may have added columns."""
    return {name: getattr(row, name) for name in kind.model_fields}
