"""A person's votes and guesses of revealed debates, beside what the people and the jury chose."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import orjson

from adapters.storage.connection import SqlConnection
from engine.store import Guessed, OwnVote
from engine.tally.tally import count
from engine.values.judging import Vote

# What stood at the close, of the newest debates of one community.
STOOD = """
SELECT debates.id, debates.revealed_at, debates.rehearsal, debates.setup, votes.body
FROM votes JOIN debates ON debates.id = votes.debate JOIN people ON people.id = votes.person
WHERE people.platform = :platform AND people."user" = :user AND debates.community = :community
    AND debates.platform = :platform AND debates.revealed_at IS NOT NULL
    AND votes.question = 'vote'
ORDER BY debates.revealed_at DESC LIMIT :most
"""
CAST = "SELECT debate, body FROM votes WHERE question = 'vote' AND debate IN :debates"
JURIES = "SELECT debate, body FROM verdicts WHERE judge = 'panel' AND debate IN :debates"
GUESSES = """
SELECT people."user", votes.step, votes.body, debates.setup
FROM votes JOIN debates ON debates.id = votes.debate JOIN people ON people.id = votes.person
WHERE debates.platform = :platform AND debates.community = :community
    AND debates.revealed_at IS NOT NULL AND votes.question = 'guess' AND people."user" IS NOT NULL
    AND {}
ORDER BY debates.revealed_at DESC LIMIT 2000
"""
OWN_GUESSES = GUESSES.format('people."user" = :user')
NAMED_GUESSES = GUESSES.format("people.scoreboard")


def read_own_guesses(
    connection: SqlConnection, platform: str, community: str, user: str
) -> Guessed:
    """Return how a person guessed here."""
    rows = connection.rows(OWN_GUESSES, platform=platform, community=community, user=user)
    return _guessed(rows).get(user, Guessed()).model_copy(update={"user": ""})


def read_guessers(
    connection: SqlConnection, platform: str, community: str, most: int
) -> tuple[Guessed, ...]:
    """Return those who want to be named, the best first."""
    found = _guessed(connection.rows(NAMED_GUESSES, platform=platform, community=community))
    return tuple(sorted(found.values(), key=lambda one: (-one.right, one.n, one.user))[:most])


def _guessed(rows: Sequence[Any]) -> dict[str, Guessed]:
    """Count guesses of people who could not know, by user."""
    counts: dict[str, Guessed] = {}
    for row in rows:
        vote, setup = orjson.loads(row.body), orjson.loads(row.setup)
        if not vote["gold"]:
            continue
        model, menu = setup["request"]["sides"][row.step], setup.get("menu") or ()
        ref = f"{model['backend']}/{model['name']}"
        old = counts.get(row.user, Guessed(user=row.user))
        new = {
            "right": old.right + (vote["option"] == ref),
            "n": old.n + 1,
            "chance": old.chance + (1 / len(menu) if ref in menu else 0.0),
        }
        counts[row.user] = old.model_copy(update=new)
    return counts


def read_own_votes(
    connection: SqlConnection, platform: str, community: str, user: str, most: int
) -> tuple[OwnVote, ...]:
    """Return a person's newest votes, the newest first."""
    whose = {"platform": platform, "community": community, "user": user}
    stood = connection.rows(STOOD, most=most, **whose)
    if not stood:
        return ()
    ids = [row.id for row in stood]
    cast: dict[str, list[Vote]] = defaultdict(list)
    for row in connection.rows(CAST, debates=ids):
        cast[row.debate].append(Vote.model_validate_json(row.body))
    juries = {row.debate: orjson.loads(row.body) for row in connection.rows(JURIES, debates=ids)}
    return tuple(_own(row, cast[row.id], juries.get(row.id, {}).get("winner")) for row in stood)


def _own(row: Any, cast: Sequence[Vote], jury: str | None) -> OwnVote:
    vote, request = orjson.loads(row.body), orjson.loads(row.setup)["request"]
    return OwnVote(
        debate=row.id,
        option=None if vote["ambiguous"] else vote["option"],
        people=count(cast, tuple(request["sides"]), request["quorum"]).winner,
        jury=jury,
        rehearsal=bool(row.rehearsal),
        revealed_at=row.revealed_at,
    )
