"""Deleting the debates of a community wholly, with everything that belongs to them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, and_, delete, exists, func, or_, select, union
from sqlalchemy.sql.expression import literal

from adapters.storage.connection import Connection
from adapters.storage.people import mark_unwiped
from adapters.storage.tables import (
    OF_DEBATES,
    communities,
    debates,
    leases,
    people,
    usage,
    vote_events,
    votes,
)
from engine.debate import Status
from engine.judging import Question
from engine.store import Holdings, Left

AT_ONCE = 20  # debates a commit: every other write waits for it
LIVE = tuple(status for status in Status if status.live)
LEASED = ("debate", "gone", "stance", "thumbs")


def find_gone(connection: Connection, before: datetime) -> list[Left]:
    """Return the communities that left before a moment, and where no debate runs any more."""
    running = exists().where(
        debates.c.platform == communities.c.platform,
        debates.c.community == communities.c.community,
        debates.c.status.in_(LIVE),
    )
    query = select(communities.c.platform, communities.c.community)
    query = query.where(communities.c.left_at < before, ~running)
    return [Left(row.platform, row.community) for row in connection.execute(query)]


def count_holdings(connection: Connection, left: Left) -> Holdings:
    """Count what is stored of a community; a vote is one person's on one debate."""
    held = connection.scalars(select(func.count()).where(_held_in(left))).one()
    of_votes = vote_events.join(debates, vote_events.c.debate == debates.c.id)
    cast = select(vote_events.c.debate, vote_events.c.person).select_from(of_votes)
    cast = cast.where(_held_in(left), vote_events.c.question == Question.VOTE).distinct()
    voted = connection.scalars(select(func.count()).select_from(cast.subquery())).one()
    budget = exists().where(usage.c.scope == _budget_of(left))
    kept = exists().where(_is_of(left))
    return Holdings(held, voted, bool(held) or bool(connection.scalar(select(or_(kept, budget)))))


def purge_some(connection: Connection, left: Left) -> int:
    """Delete a few of a community's debates that do not run; return how many."""
    chosen = select(debates.c.id).where(_held_in(left), debates.c.status.not_in(LIVE))
    ids = connection.scalars(chosen.limit(AT_ONCE)).all()
    for table in OF_DEBATES:
        connection.execute(delete(table).where(table.c.debate.in_(ids)))
    names = [f"{kind}/{debate}" for debate in ids for kind in LEASED]
    connection.execute(delete(leases).where(leases.c.name.in_(names)))
    connection.execute(delete(debates).where(debates.c.id.in_(ids)))
    return len(ids)


def finish_purge(connection: Connection, left: Left) -> None:
    """Delete what is kept for a community without debates, and people of whom nothing else is."""
    if connection.scalar(select(debates.c.id).where(_held_in(left)).limit(1)) is None:
        connection.execute(delete(usage).where(usage.c.scope == _budget_of(left)))
        connection.execute(delete(communities).where(_is_of(left)))
    nobody = _without_traces()
    scopes = select(literal("person:").concat(people.c.id)).where(nobody)
    connection.execute(delete(usage).where(usage.c.scope.in_(scopes)))
    connection.execute(delete(people).where(nobody))
    mark_unwiped(connection)


def _budget_of(left: Left) -> str:
    return f"community:{left.platform}:{left.community}"


def _is_of(left: Left) -> ColumnElement[bool]:
    return and_(communities.c.platform == left.platform, communities.c.community == left.community)


def _held_in(left: Left) -> ColumnElement[bool]:
    return and_(debates.c.platform == left.platform, debates.c.community == left.community)


def _without_traces() -> ColumnElement[bool]:
    """Return the condition that nothing is stored of a person, not even a wish."""
    named = union(
        select(vote_events.c.person),
        select(votes.c.person),
        select(debates.c.starter).where(debates.c.starter.is_not(None)),
    )
    wishes = people.c.opted_out.is_(False) & people.c.since.is_(None)
    return and_(people.c.id.not_in(named), wishes)
