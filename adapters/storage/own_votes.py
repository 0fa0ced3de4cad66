"""A person's votes of revealed debates, beside what other people and the jury chose."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import orjson

from adapters.storage.connection import SqlConnection
from engine.store import OwnVote

# What stood at the close, of the newest debates of one community.
STOOD = """
SELECT debates.id, debates.revealed_at, debates.rehearsal, votes.body, votes.person
FROM votes JOIN debates ON debates.id = votes.debate JOIN people ON people.id = votes.person
WHERE people.platform = :platform AND people."user" = :user AND debates.community = :community
    AND debates.platform = :platform AND debates.revealed_at IS NOT NULL
    AND votes.question = 'vote'
ORDER BY debates.revealed_at DESC LIMIT :most
"""
OTHERS = """
SELECT debate, body FROM votes
WHERE question = 'vote' AND debate IN :debates AND person <> :person
"""
JURIES = "SELECT debate, body FROM verdicts WHERE judge = 'panel' AND debate IN :debates"


def read_own_votes(
    connection: SqlConnection, platform: str, community: str, user: str, most: int
) -> tuple[OwnVote, ...]:
    """Return a person's newest votes, the newest first."""
    whose = {"platform": platform, "community": community, "user": user}
    stood = connection.rows(STOOD, most=most, **whose)
    if not stood:
        return ()
    ids = [row.id for row in stood]
    others: dict[str, Counter[str]] = defaultdict(Counter)
    for row in connection.rows(OTHERS, debates=ids, person=stood[0].person):
        vote = orjson.loads(row.body)
        others[row.debate][vote["option"]] += not vote["ambiguous"]
    juries = {row.debate: orjson.loads(row.body) for row in connection.rows(JURIES, debates=ids)}
    return tuple(
        _own(row, _leader(others[row.id]), juries.get(row.id, {}).get("winner")) for row in stood
    )


def _own(row: Any, crowd: str | None, jury: str | None) -> OwnVote:
    vote = orjson.loads(row.body)
    return OwnVote(
        debate=row.id,
        option=None if vote["ambiguous"] else vote["option"],
        crowd=crowd,
        jury=jury,
        rehearsal=bool(row.rehearsal),
        revealed_at=row.revealed_at,
    )


def _leader(counts: Counter[str]) -> str | None:
    """Return the option that most chose; None if several did, or no one chose any."""
    first, *rest = [*counts.most_common(2), ("", 0)]
    return first[0] if first[1] > rest[0][1] else None
