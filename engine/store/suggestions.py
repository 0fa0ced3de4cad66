"""Topics that people of a community suggested, and who wants them debated."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from engine.store.communities import Communities, join
from engine.store.database import Database, SqlConnection
from engine.store.people import ensure_person, find_key
from engine.store.purge import mark_unwiped
from engine.values.debate import Value, short_code
from engine.values.errors import NotAllowedError, NotFoundError, UsageError
from engine.values.language import N_
from engine.values.topics import has_blocked, topic_id

MOST_OF_PERSON = 5  # open suggestions
MOST_OF_COMMUNITY = 200


class Suggestion(Value):
    """A suggested topic; `upvotes` counts people, its suggester too, unless they withdrew it.

    `mine`: the person for whom it was read wants it. Until it is `approved`, only managers see it.
    """

    number: int
    text: str
    approved: bool
    upvotes: int = 0
    mine: bool = False


OF = "platform = :platform AND community = :community"
COLUMNS = """
SELECT number, text, approved,
    (SELECT count(*) FROM upvotes WHERE suggestion = suggestions.number) AS upvotes,
    EXISTS (
        SELECT 1 FROM upvotes JOIN people ON people.id = upvotes.person
        WHERE suggestion = suggestions.number
            AND people.platform = :platform AND people."user" = :user
    ) AS mine
FROM suggestions
"""
OPEN = f"{COLUMNS} WHERE {OF} AND debate IS NULL ORDER BY upvotes DESC, number"
ONE = f"{COLUMNS} WHERE {OF} AND number = :number AND debate IS NULL"
SAME = f"SELECT number, debate FROM suggestions WHERE {OF} AND topic = :topic"  # noqa: S608
COUNTED = f"""
SELECT count(*) AS total, count(CASE WHEN suggester = :person THEN 1 END) AS own
FROM suggestions WHERE {OF} AND debate IS NULL
"""  # noqa: S608
ADD = """
INSERT INTO suggestions (platform, community, topic, text, suggester, approved, suggested_at)
VALUES (:platform, :community, :topic, :text, :person, :approved, :now) RETURNING number
"""
LOCK = "SELECT number FROM suggestions WHERE number = :number FOR UPDATE"
UPVOTE = """
INSERT INTO upvotes (suggestion, person) VALUES (:number, :person) ON CONFLICT DO NOTHING
"""
WITHDRAW = "DELETE FROM upvotes WHERE suggestion = :number AND person = :person"
APPROVE = "UPDATE suggestions SET approved = TRUE WHERE number = :number"
SET_ASIDE = f"""
UPDATE suggestions SET approved = FALSE WHERE {OF} AND topic = :topic AND debate IS NULL
"""  # noqa: S608
REMOVE_UPVOTES = "DELETE FROM upvotes WHERE suggestion = :number"
REMOVE = "DELETE FROM suggestions WHERE number = :number"
FORGOTTEN = N_(
    "You asked to be forgotten, so nothing of you is stored; use optin to suggest topics and to "
    "vote again."
)


class Suggestions:
    """Topics that people of a community suggested; users are platform ids.

    A suggestion is open until a debate on its topic is stored, which marks it used in the same
    transaction. Topics that differ in case, spacing or punctuation alone are the same.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def suggest(
        self,
        platform: str,
        community: str,
        user: str,
        text: str,
        now: datetime,
        *,
        approved: bool,
    ) -> tuple[Suggestion, bool]:
        """Store a suggestion and its suggester's upvote; a known topic gets the upvote.

        Returns it, and whether it is new.

        Raises UsageError at a limit or for a topic that was debated, NotAllowedError for a person
        who was forgotten.
        """
        of = {"platform": platform, "community": community}

        def store(connection: SqlConnection) -> tuple[Suggestion, bool]:
            join(connection, platform, community, now)  # which locks its row
            person = _ensure(connection, platform, user)
            same = connection.first(SAME, **of, topic=topic_id(text))
            if same is not None and same.debate is not None:
                raise UsageError(
                    "There was a debate on this topic already, {code}; suggest another one.",
                    code=short_code(same.debate),
                )
            number = None if same is None else int(same.number)
            if number is None:
                _check_limits(connection.first(COUNTED, **of, person=person))
                new = {"topic": topic_id(text), "text": text, "person": person, "now": now}
                number = connection.value(ADD, **of, **new, approved=approved)
            connection.run(UPVOTE, number=number, person=person)
            return _one(connection, of, number, user), same is None

        return await self._database.write(store)

    async def toggle(
        self, platform: str, community: str, number: int, user: str, now: datetime
    ) -> Suggestion:
        """Add a person's upvote to an approved suggestion, or withdraw it.

        Raises NotFoundError, and NotAllowedError for a person who was forgotten.
        """
        of = {"platform": platform, "community": community}

        def store(connection: SqlConnection) -> Suggestion:
            connection.lock(LOCK, number=number)
            before = _one(connection, of, number, user)
            if not before.approved:
                raise _unknown(number)
            person = _ensure(connection, platform, user)
            connection.run(WITHDRAW if before.mine else UPVOTE, number=number, person=person)
            return _one(connection, of, number, user)

        return await self._database.write(store)

    async def open(self, platform: str, community: str, user: str = "") -> Sequence[Suggestion]:
        """Return the open suggestions, the most upvoted first and of these the oldest.

        `mine` is filled in for `user`.
        """
        of = {"platform": platform, "community": community, "user": user}
        return [_read(row) for row in await self._database.rows(OPEN, **of)]

    async def approve(self, platform: str, community: str, number: int) -> Suggestion:
        """Put a suggestion on the list. Raises NotFoundError."""
        of = {"platform": platform, "community": community}

        def store(connection: SqlConnection) -> Suggestion:
            _one(connection, of, number)
            connection.run(APPROVE, number=number)
            return _one(connection, of, number)

        return await self._database.write(store)

    async def set_aside(self, platform: str, community: str, topic: str) -> None:
        """Have a manager approve the open suggestion of a topic again, if there is one."""
        of = {"platform": platform, "community": community, "topic": topic_id(topic)}
        await self._database.run(SET_ASIDE, **of)

    async def remove(self, platform: str, community: str, number: int) -> Suggestion:
        """Delete an open suggestion with its upvotes, and return it. Raises NotFoundError."""
        of = {"platform": platform, "community": community}

        def store(connection: SqlConnection) -> Suggestion:
            connection.lock(LOCK, number=number)
            removed = _one(connection, of, number)
            for statement in (REMOVE_UPVOTES, REMOVE):
                connection.run(statement, number=number)
            mark_unwiped(connection)
            return removed

        return await self._database.write(store)


async def next_topic(
    communities: Communities, suggestions: Suggestions, platform: str, community: str
) -> Suggestion | None:
    """Return the most upvoted approved topic without a debate and blocked words; None without any.

    It is used once a debate with its text as topic is stored, in the same transaction; until then
    it is returned again.
    """
    settings = await communities.get(platform, community)
    suggested = await suggestions.open(platform, community)
    return next(iter(listed(suggested, settings.blocked_words)), None)


def listed(suggested: Iterable[Suggestion], blocked: Collection[str]) -> list[Suggestion]:
    """Return those of the suggestions that everyone sees."""
    return [one for one in suggested if one.approved and not has_blocked(blocked, one.text)]


def _ensure(connection: SqlConnection, platform: str, user: str) -> int:
    person = ensure_person(connection, platform, user, find_key(connection))
    if person is None:
        raise NotAllowedError(FORGOTTEN)
    return person.id


def _check_limits(counted: Any) -> None:
    if counted.own >= MOST_OF_PERSON:
        raise UsageError(
            "You have {n} topics on the list, which is the limit; suggest more once one of them "
            "was debated.",
            n=counted.own,
        )
    if counted.total >= MOST_OF_COMMUNITY:
        raise UsageError(
            "The list is full with {n} topics; ask a manager to remove some.", n=counted.total
        )


def _one(connection: SqlConnection, of: dict[str, str], number: int, user: str = "") -> Suggestion:
    row = connection.first(ONE, **of, number=number, user=user)
    if row is None:
        raise _unknown(number)
    return _read(row)


def _unknown(number: int) -> NotFoundError:
    return NotFoundError(
        "There is no topic {number} on the list any more; the command topics shows the list.",
        number=str(number),
    )


def _read(row: Any) -> Suggestion:
    return Suggestion(
        number=row.number,
        text=row.text,
        approved=bool(row.approved),
        upvotes=row.upvotes,
        mine=bool(row.mine),
    )
