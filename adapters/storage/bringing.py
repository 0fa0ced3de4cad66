"""Labels from other tools, stored as votes of people on the platform `import`."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.storage.connection import SqlConnection
from adapters.storage.people import ensure_person, find_key
from engine.store import Brought, Kept
from engine.values.judging import IMPORT, Vote

FIND = """
SELECT body FROM votes
WHERE debate = :debate AND person = :person AND question = 'vote' AND step = ''
"""
KEEP = """
INSERT INTO votes (debate, person, question, step, body)
VALUES (:debate, :person, 'vote', '', :body)
ON CONFLICT (debate, person, question, step) DO UPDATE SET body = excluded.body
"""


def bring(connection: SqlConnection, labels: Sequence[Brought]) -> list[Kept]:
    """Store labels; see `Votes.bring`."""
    key = find_key(connection)
    return [_bring(connection, label, key) for label in labels]


def _bring(connection: SqlConnection, label: Brought, key: bytes | None) -> Kept:
    person = ensure_person(connection, IMPORT, label.user, key)
    if person is None:
        return "forgotten"
    own = {"debate": label.debate, "person": person.id}
    body = connection.value(FIND, **own)
    vote = label.vote.model_copy(update={"person": person.id})
    if body is not None and _same(Vote.model_validate_json(body), vote):
        return "same"
    connection.run(KEEP, **own, body=vote.model_dump_json())
    return "new" if body is None else "changed"


def _same(before: Vote, now: Vote) -> bool:
    """Return whether two labels say the same, whenever they were given."""
    return (before.option, before.gold) == (now.option, now.gold)
