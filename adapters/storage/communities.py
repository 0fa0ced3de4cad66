"""What communities have set; a row stays when one leaves, its settings do not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import ColumnElement, and_, select, update
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.connection import Connection
from adapters.storage.database import Database
from adapters.storage.purge import count_holdings, find_gone, finish_purge, purge_some
from adapters.storage.tables import communities, debates
from engine.store import Holdings, Left
from engine.store.community import CommunitySettings

NOTHING_SET = "{}"


class CommunityTable:
    """The Communities part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, platform: str, community: str) -> CommunitySettings:
        """Return a community's settings; nothing is set in one that is not known."""
        return await self._database.read(lambda c: _get(c, platform, community))

    async def change(
        self,
        platform: str,
        community: str,
        make: Callable[[CommunitySettings], CommunitySettings],
        now: datetime,
    ) -> CommunitySettings:
        """Store what `make` makes of a community's settings, at once; what it raises undoes it."""

        def store(connection: Connection) -> CommunitySettings:
            changed = make(_get(connection, platform, community))
            join(connection, platform, community, now)
            row = update(communities).where(_is(platform, community))
            settings = changed.model_dump_json(exclude_defaults=True)
            connection.execute(row.values(settings=settings))
            return changed

        return await self._database.write(store)

    async def joined(self, platform: str, community: str, now: datetime) -> None:
        """Note that a community has Rostrum; one that is known stays as it is."""
        await self._database.write(lambda connection: join(connection, platform, community, now))

    async def left(self, platform: str, community: str, now: datetime) -> None:
        """Note that a community removed Rostrum, and delete its settings."""
        row = update(communities).where(_is(platform, community))
        gone = row.values(settings=NOTHING_SET, left_at=now)

        def store(connection: Connection) -> None:
            join(connection, platform, community, now)  # it may have come while nobody listened
            connection.execute(gone)

        await self._database.write(store)

    async def known(self, platform: str) -> frozenset[str]:
        """Return the communities of a platform that have Rostrum, or held a debate."""
        return await self._database.read(lambda connection: _known(connection, platform))

    async def gone(self, before: datetime) -> list[Left]:
        """Return those that left before a moment, and where no debate runs any more."""
        return await self._database.read(lambda connection: find_gone(connection, before))

    async def holdings(self, platform: str, community: str) -> Holdings:
        """Return how much is stored of a community."""
        left = Left(platform, community)
        return await self._database.read(lambda connection: count_holdings(connection, left))

    async def purge(self, platform: str, community: str) -> int:
        """Delete a community's debates wholly, a few at a time; return how many."""
        left, total = Left(platform, community), 0
        while some := await self._database.write(lambda c: purge_some(c, left)):
            total += some
        await self._database.write(lambda connection: finish_purge(connection, left))
        return total


def _get(connection: Connection, platform: str, community: str) -> CommunitySettings:
    query = select(communities.c.settings).where(_is(platform, community))
    return CommunitySettings.model_validate_json(connection.scalar(query) or NOTHING_SET)


def _known(connection: Connection, platform: str) -> frozenset[str]:
    told = select(communities.c.community, communities.c.left_at)
    rows = connection.execute(told.where(communities.c.platform == platform)).all()
    held = select(debates.c.community).where(debates.c.platform == platform).distinct()
    have = {row.community for row in rows if row.left_at is None}
    return frozenset(have | {*connection.scalars(held)} - {row.community for row in rows})


def join(connection: Connection, platform: str, community: str, now: datetime) -> None:
    """Make a community's row, or bring back the one of a community that had left."""
    row = insert(communities).values(
        platform=platform, community=community, settings=NOTHING_SET, joined_at=now
    )
    back = row.on_conflict_do_update(
        index_elements=["platform", "community"],
        set_={"joined_at": now, "left_at": None},
        where=communities.c.left_at.is_not(None),
    )
    connection.execute(back)


def _is(platform: str, community: str) -> ColumnElement[bool]:
    return and_(communities.c.platform == platform, communities.c.community == community)
