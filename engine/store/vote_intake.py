"""Answers that come in: which question each answers, whose it is, and its row in the log."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Any

from engine.store.database import Database, SqlConnection
from engine.store.people import PersonIdentity, ensure_person, find_key
from engine.store.targets import find_question
from engine.store.vote_log import Outcome, append_all
from engine.values.debate import Value
from engine.values.verdicts import How


class Cast(Value):
    """A reaction or button press as a platform reports it; `event` deduplicates retries.

    `heard_from` is since when everything was told; the days are those of VoteEvent.
    """

    platform: str
    place: str
    message: str
    user: str
    option: str
    added: bool
    variant: str = ""
    how: How = How.LIVE
    event: str | None = None
    given_at: datetime | None = None
    heard_from: datetime | None = None
    received_at: datetime
    account_days: int | None = None
    member_days: int | None = None


KNOWN_EVENT = "SELECT 1 FROM vote_events WHERE debate = :debate AND event = :event"


@dataclass(slots=True)
class _Batch:
    """Reactions that wait for one write; what comes after it has begun waits for the next."""

    casts: list[Cast] = field(default_factory=list)
    _sealed: bool = False
    _lock: Lock = field(default_factory=Lock)

    def add(self, cast: Cast) -> int | None:
        """Take one more and return its place; None when the write has begun."""
        with self._lock:
            if self._sealed:
                return None
            self.casts.append(cast)
            return len(self.casts) - 1

    def store(self, connection: SqlConnection) -> list[Outcome]:
        """Store them all, in the order of receipt."""
        with self._lock:  # the writer has a thread of its own
            self._sealed = True
        return cast_all(connection, self.casts)


class Casting:
    """Where answers are thrown in, as the Votes part of the store knows it.

    Reactions of one moment are collected, so that they are stored together.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._batch = _Batch()
        self._written: asyncio.Future[list[Outcome]] | None = None

    async def cast(self, cast: Cast) -> Outcome:
        """Append an event to the question of a message, in the order of receipt."""
        place = self._batch.add(cast) if self._written is not None else None
        if place is None or self._written is None:
            self._batch = _Batch([cast])
            place = 0
            self._written = self._database.enqueue(self._batch.store)
        batch, written = self._batch, self._written
        try:
            outcomes = await asyncio.shield(written)
        except Exception:
            if len(batch.casts) == 1:
                raise
            # One that cannot be stored must not take the others with it.
            return await self._database.write(lambda c: cast_all(c, [cast])[0])
        return outcomes[place]


def cast_all(connection: SqlConnection, casts: Sequence[Cast]) -> list[Outcome]:
    """Append events to the logs of their messages' questions; return what became of each.

    Several at once share their look-ups, and are written in one statement.
    """
    messages = dict.fromkeys((cast.platform, cast.place, cast.message) for cast in casts)
    asked = {message: find_question(connection, *message) for message in messages}
    found = [asked[cast.platform, cast.place, cast.message] for cast in casts]
    taken = [question is not None and not question.closed for question in found]
    people = _people_of(connection, [cast for cast, fits in zip(casts, taken, strict=True) if fits])
    outcomes: list[Outcome] = []
    rows: list[dict[str, Any]] = []
    known = _KnownEvents(connection)
    for cast, question in zip(casts, found, strict=True):
        if question is None or question.closed:
            outcomes.append("unknown" if question is None else "closed")
            continue
        person = people[cast.platform, cast.user]
        if person is None or not person.may_answer(question.began):
            outcomes.append("forgotten")
        elif cast.event is not None and known.before(question.debate, cast.event):
            outcomes.append("duplicate")
        else:
            rows.append(
                {
                    "debate": question.debate,
                    "person": person.id,
                    "option": cast.option,
                    "variant": cast.variant,
                    "added": cast.added,
                    "how": cast.how,
                    "event": cast.event,
                    "received_at": cast.received_at,
                    "given_at": cast.given_at,
                    "heard_from": cast.heard_from,
                    "read_at": question.read_at,
                    "account_days": cast.account_days,
                    "member_days": cast.member_days,
                    "question": question.question,
                    "step": question.step,
                }
            )
            outcomes.append("stored")
    append_all(connection, rows)
    return outcomes


class _KnownEvents:
    """The platform's ids of events that are stored already, or about to be."""

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection
        self._seen: set[tuple[str, str]] = set()

    def before(self, debate: str, event: str) -> bool:
        """Return whether an event came before; the next time it has."""
        if (debate, event) in self._seen:
            return True
        self._seen.add((debate, event))
        return self._connection.value(KNOWN_EVENT, debate=debate, event=event) is not None


def _people_of(
    connection: SqlConnection, casts: Sequence[Cast]
) -> dict[tuple[str, str], PersonIdentity | None]:
    """Return who casts, by platform and user, making those who are new; None: forgotten."""
    key = find_key(connection)
    users = dict.fromkeys((cast.platform, cast.user) for cast in casts)
    return {user: ensure_person(connection, *user, key) for user in users}
