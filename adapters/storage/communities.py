"""Communities: when one leaves, its settings are deleted and its row stays."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from secrets import token_hex
from typing import Any

import orjson

from adapters.storage.budgets import community_scope, day_of
from adapters.storage.connection import SqlConnection
from adapters.storage.database import Database
from adapters.storage.purge import (
    ANY_LATE_USAGE,
    DELETE_LATE_USAGE,
    finish_purge,
    load_tables,
    purge_some,
)
from engine.store import HeldDebate, Holdings, Left, Shown
from engine.store.community import CommunitySettings
from engine.values.debate import Status

PAGE_BYTES = 10
SETTINGS = """
SELECT settings FROM communities WHERE platform = :platform AND community = :community
"""
# One that had left is back; a known one stays as it is.
JOIN = """
INSERT INTO communities (platform, community, settings, joined_at)
VALUES (:platform, :community, '{}', :now)
ON CONFLICT (platform, community) DO UPDATE SET joined_at = excluded.joined_at, left_at = NULL
WHERE communities.left_at IS NOT NULL
"""
SET = """
UPDATE communities SET settings = :settings WHERE platform = :platform AND community = :community
"""
PAGE = "SELECT page FROM communities WHERE platform = :platform AND community = :community"
SHOWN = """
SELECT platform, community, settings FROM communities WHERE page = :page AND left_at IS NULL
"""
HELD = """
SELECT id, setup, format, language, status, created_at FROM debates
WHERE platform = :platform AND community = :community
    AND status IN ('running', 'voting', 'closed', 'partial')
    AND (:first OR (created_at, number) < (
        SELECT created_at, number FROM debates WHERE id = :before
    ))
ORDER BY created_at DESC, number DESC LIMIT :limit
"""
OPEN_PAGE = """
UPDATE communities SET page = :page
WHERE platform = :platform AND community = :community AND page IS NULL
"""
LEAVE = """
UPDATE communities SET settings = '{}', left_at = :now
WHERE platform = :platform AND community = :community
"""
STOP_SERIES = """
UPDATE series SET due_at = NULL, stop = TRUE
WHERE platform = :platform AND community = :community AND due_at IS NOT NULL
"""
KNOWN = """
SELECT community FROM communities WHERE platform = :platform AND left_at IS NULL
UNION
SELECT community FROM debates
WHERE platform = :platform AND community NOT IN (
    SELECT community FROM communities WHERE platform = :platform
)
"""
GONE = """
SELECT platform, community FROM communities
WHERE left_at < :before AND NOT EXISTS (
    SELECT 1 FROM debates
    WHERE debates.platform = communities.platform AND debates.community = communities.community
        AND debates.status IN ('queued', 'running')
)
"""
# A vote is one person's on one debate.
HOLDINGS = """
SELECT
    (SELECT count(*) FROM debates WHERE platform = :platform AND community = :community) AS debates,
    (SELECT count(DISTINCT debates.id || '/' || vote_events.person)
    FROM vote_events JOIN debates ON debates.id = vote_events.debate
    WHERE platform = :platform AND community = :community AND question = 'vote') AS votes,
    EXISTS (SELECT 1 FROM communities WHERE platform = :platform AND community = :community)
    OR EXISTS (SELECT 1 FROM usage WHERE scope = :scope) AS kept
"""


class CommunityTable:
    """The Communities part of the store."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, platform: str, community: str) -> CommunitySettings:
        which = {"platform": platform, "community": community}
        return _read(await self._database.value(SETTINGS, **which))

    async def page(self, platform: str, community: str) -> str | None:
        found: str | None = await self._database.value(PAGE, platform=platform, community=community)
        return found

    async def shown(self, page: str) -> Shown | None:
        row = await self._database.first(SHOWN, page=page)
        settings = _read(row and row.settings)
        return Shown(row.platform, row.community, settings) if settings.public else None

    async def held(
        self, platform: str, community: str, before: str = "", limit: int = 50
    ) -> list[HeldDebate]:
        which = {"platform": platform, "community": community, "limit": limit}
        rows = await self._database.rows(HELD, first=not before, before=before, **which)
        return list(map(_held, rows))

    async def change(
        self,
        platform: str,
        community: str,
        make: Callable[[CommunitySettings], CommunitySettings],
        now: datetime,
    ) -> CommunitySettings:
        def store(connection: SqlConnection) -> CommunitySettings:
            join(connection, platform, community, now)  # which locks its row
            stored = connection.value(SETTINGS, platform=platform, community=community)
            changed = make(_read(stored))
            settings = changed.model_dump_json(exclude_defaults=True)
            connection.run(SET, platform=platform, community=community, settings=settings)
            if changed.public:
                page = token_hex(PAGE_BYTES)  # no one can guess it, nor whose it is
                connection.run(OPEN_PAGE, platform=platform, community=community, page=page)
            return changed

        return await self._database.write(store)

    async def joined(self, platform: str, community: str, now: datetime) -> None:
        await self._database.write(lambda connection: join(connection, platform, community, now))

    async def left(self, platform: str, community: str, now: datetime) -> None:
        def store(connection: SqlConnection) -> None:
            join(
                connection, platform, community, now
            )  # it may have joined while Rostrum was offline
            connection.run(LEAVE, platform=platform, community=community, now=now)
            connection.run(STOP_SERIES, platform=platform, community=community)

        await self._database.write(store)

    async def known(self, platform: str) -> frozenset[str]:
        return frozenset(await self._database.column(KNOWN, platform=platform))

    async def gone(self, before: datetime) -> list[Left]:
        return [Left(*row) for row in await self._database.rows(GONE, before=before)]

    async def holdings(self, platform: str, community: str) -> Holdings:
        scope = community_scope(platform, community)
        which = {"platform": platform, "community": community, "scope": scope}
        found = await self._database.first(HOLDINGS, **which)
        return Holdings(found.debates, found.votes, bool(found.debates or found.kept))

    async def purge(self, platform: str, community: str) -> int:
        await load_tables()
        left, total = Left(platform, community), 0
        while some := await self._database.write(lambda c: purge_some(c, left)):
            total += some
        await self._database.write(lambda connection: finish_purge(connection, left))
        return total

    async def drop_late_budgets(self, now: datetime) -> None:
        today = day_of(now)
        if await self._database.value(ANY_LATE_USAGE, today=today) is not None:
            await self._database.run(DELETE_LATE_USAGE, today=today)


def _held(row: Any) -> HeldDebate:
    topic = orjson.loads(row.setup)["request"]["topic"]
    return HeldDebate(row.id, topic, row.format, row.language, Status(row.status), row.created_at)


def _read(stored: str | None) -> CommunitySettings:
    return CommunitySettings.model_validate_json(stored or "{}")


def join(connection: SqlConnection, platform: str, community: str, now: datetime) -> None:
    """Create a community's row, or revive the row of one that had left."""
    connection.run(JOIN, platform=platform, community=community, now=now)
