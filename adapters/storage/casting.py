"""Answers within a transaction: which question each answers, and its row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, bindparam, select
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.connection import Connection
from adapters.storage.people import Known, ensure_person, find_key
from adapters.storage.tables import debates, vote_events
from adapters.storage.targets import Found, find_question
from engine.debate import BallotKind
from engine.judging import How, Question, VoteEvent
from engine.store import Cast, Outcome, Press, Pressed, Revision
from engine.votes.hands import chosen_option

# Statements of the hot path are built once: that costs twice what running them does.
OWN_EVENTS = (
    select(vote_events)
    .where(
        vote_events.c.debate == bindparam("of"),
        vote_events.c.person == bindparam("who"),
        vote_events.c.question == bindparam("asked"),
    )
    .order_by(vote_events.c.number)
)
KNOWN_EVENT = select(vote_events.c.number).where(
    vote_events.c.debate == bindparam("of"), vote_events.c.event == bindparam("same")
)
INSERT_EVENT = insert(vote_events).on_conflict_do_nothing()
EVENT_FIELDS = tuple(set(VoteEvent.model_fields) - {"votes_seen_before", "mirror_revealed"})


def cast_all(connection: Connection, casts: Sequence[Cast]) -> list[Outcome]:
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
    known = _Known(connection)
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
            rows.append(_row(cast, question, person.id))
            outcomes.append("stored")
    if rows:
        connection.execute(INSERT_EVENT, rows)
    return outcomes


class _Known:
    """The platform's ids of events that are stored already, or about to be."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._seen: set[tuple[str, str]] = set()

    def before(self, debate: str, event: str) -> bool:
        """Return whether an event came before; the next time it has."""
        if (debate, event) in self._seen:
            return True
        self._seen.add((debate, event))
        same = {"of": debate, "same": event}
        return self._connection.scalar(KNOWN_EVENT, same) is not None


def _people_of(
    connection: Connection, casts: Sequence[Cast]
) -> dict[tuple[str, str], Known | None]:
    """Return who casts, by platform and user, making those who are new; None: forgotten."""
    people: dict[tuple[str, str], Known | None] = {}
    key = find_key(connection)
    for cast in casts:
        if (cast.platform, cast.user) not in people:
            person = ensure_person(connection, cast.platform, cast.user, key)
            people[cast.platform, cast.user] = person
    return people


def _row(cast: Cast, found: Found, person: int) -> dict[str, Any]:
    return {
        "debate": found.debate,
        "person": person,
        "option": cast.option,
        "added": cast.added,
        "how": cast.how,
        "event": cast.event,
        "received_at": cast.received_at,
        "given_at": cast.given_at,
        "heard_from": cast.heard_from,
        "read_at": found.read_at,
        "question": found.question,
        "step": found.step,
    }


def press_one(connection: Connection, press: Press) -> Pressed:
    """Choose by button, or withdraw; a repetition changes nothing."""
    found = find_question(connection, press.platform, press.place, press.message)
    if found is None or found.ballot is BallotKind.OPEN:
        return Pressed(outcome="unknown")
    person = ensure_person(connection, press.platform, press.user, find_key(connection))
    if person is None or not person.may_answer(found.began):
        return Pressed(outcome="forgotten")
    own = {"of": found.debate, "who": person.id, "asked": found.question}
    log = read_log(connection.execute(OWN_EVENTS, own))
    chosen = chosen_option(log, tally_visible=False)
    if found.closed:
        return Pressed(outcome="closed", option=chosen)
    withdrawn = press.option is None or press.option == chosen
    option = chosen if withdrawn else press.option
    if option is None:
        return Pressed(outcome="stored")
    row = {
        "debate": found.debate,
        "person": person.id,
        "option": option,
        "added": not withdrawn,
        "how": How.BUTTON,
        "event": press.event,
        "received_at": press.received_at,
        "question": found.question,
    }
    if append(connection, row) == "duplicate":
        return Pressed(outcome="duplicate", option=chosen)
    return Pressed(outcome="stored", option=None if withdrawn else option)


def append(connection: Connection, row: dict[str, Any]) -> Outcome:
    """Append an event; one whose platform's id is known already changes nothing."""
    return "stored" if connection.execute(INSERT_EVENT, row).rowcount else "duplicate"


def revise_one(connection: Connection, revision: Revision) -> Pressed:
    """Answer after the reveal, or take that back; the same answer again changes nothing."""
    began = select(debates.c.created_at).where(debates.c.id == revision.debate)
    person = ensure_person(connection, revision.platform, revision.user, find_key(connection))
    if person is None or not person.may_answer(connection.scalars(began).one()):
        return Pressed(outcome="forgotten")
    own = {"of": revision.debate, "who": person.id, "asked": Question.AGAIN}
    events = read_log(connection.execute(OWN_EVENTS, own))
    held = chosen_option(events, tally_visible=revision.ballot is BallotKind.OPEN)
    if revision.option == held:
        return Pressed(outcome="duplicate", option=held)
    row = {
        "debate": revision.debate,
        "person": person.id,
        "option": revision.option or held,
        "added": revision.option is not None,
        "how": How.BUTTON,
        "received_at": revision.received_at,
        "question": Question.AGAIN,
    }
    append(connection, row)
    return Pressed(outcome="stored", option=revision.option)


def read_log(
    rows: Iterable[Row[Any]], mirror_revealed_at: datetime | None = None
) -> Iterator[VoteEvent]:
    """Read a debate's log, with what its voters could know: others' answers, and its mirror."""
    known: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in rows:
        others = known[row.question, row.step]
        plain = {name: getattr(row, name) for name in EVENT_FIELDS}
        told = mirror_revealed_at is not None and row.received_at >= mirror_revealed_at
        seen = len(others) - (row.person in others)
        yield VoteEvent(**plain, votes_seen_before=seen, mirror_revealed=told)
        others.add(row.person)
