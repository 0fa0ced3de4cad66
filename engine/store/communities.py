"""Communities: their settings, and when they installed Rostrum.

When one leaves, its settings are deleted and its row stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from secrets import token_hex
from typing import NamedTuple

from pydantic import Field

from engine.store.budgets import community_scope, day_of
from engine.store.database import Database, SqlConnection
from engine.store.purge import (
    ANY_LATE_USAGE,
    DELETE_LATE_USAGE,
    finish_purge,
    load_tables,
    purge_some,
)
from engine.values.debate import Model
from engine.values.options import PARAMS, Options, in_order

MOST_SETTINGS = 256  # kept parsed


class PublicPart(StrEnum):
    """What a community can show to everyone on the web."""

    DEBATES = "debates"
    LEADERBOARD = "leaderboard"
    AGREEMENT = "agreement"
    LEAGUES = "leagues"
    DATASET = "dataset"


class CommunitySettings(Options):
    """What a community has set; None and empty mean the operator's value.

    Of a debate's options it has those with a `label` in `PARAMS`.

    `models` may debate and `jurors` judge; `judges` judge where a format has judges of its own, and
    `seats` are models of single seats, such as `A2`. Debates start only in `channels`, if there are
    any. Money is USD. Holders of `manager_role` are managers. `license` is the SPDX id that an
    export's card names. A topic with one of `blocked_words` is refused, and with `topic_approval`
    managers approve what people suggest. Only members of `starters` start debates, if there are
    any: roles or groups. `public` is what everyone may see on the web. Votes are gold only from
    accounts that are `account_days` old and members of `member_days`.
    """

    models: tuple[Model, ...] = ()
    jurors: tuple[Model, ...] = ()
    judges: tuple[Model, ...] = ()
    seats: Mapping[str, Model] = {}
    channels: tuple[str, ...] = ()
    debate_usd: float | None = Field(None, ge=0)
    daily_usd: float | None = Field(None, ge=0)
    user_daily_debates: int | None = Field(None, ge=0)
    max_live: int | None = Field(None, ge=0)
    manager_role: str | None = None
    license: str | None = None
    blocked_words: tuple[str, ...] = ()
    topic_approval: bool | None = None
    starters: tuple[str, ...] = ()
    public: tuple[PublicPart, ...] = ()
    account_days: int | None = Field(None, ge=0)
    member_days: int | None = Field(None, ge=0)


SETTING_NAMES = in_order(
    "models jurors judges seats format language channels debate_usd daily_usd user_daily_debates "
    "max_live length vote_minutes quorum panel ballot … manager_role license blocked_words "
    "topic_approval starters public account_days member_days",
    (name for name, param in PARAMS.items() if param.label),
)


class PublicCommunity(NamedTuple):
    """A community that shows something on the web."""

    platform: str
    community: str
    settings: CommunitySettings


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


class Communities:
    """Communities: their settings, and when they installed Rostrum."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, platform: str, community: str) -> CommunitySettings:
        """Return a community's settings; all unset for an unknown one."""
        which = {"platform": platform, "community": community}
        return _read(await self._database.value(SETTINGS, **which))

    async def page(self, platform: str, community: str) -> str | None:
        """Return the random key of a community's page; None before it first showed anything."""
        found: str | None = await self._database.value(PAGE, platform=platform, community=community)
        return found

    async def shown(self, page: str) -> PublicCommunity | None:
        """Return the community that shows something under a key; None without any."""
        row = await self._database.first(SHOWN, page=page)
        settings = _read(row and row.settings)
        return PublicCommunity(row.platform, row.community, settings) if settings.public else None

    async def change(
        self,
        platform: str,
        community: str,
        make: Callable[[CommunitySettings], CommunitySettings],
        now: datetime,
    ) -> CommunitySettings:
        """Replace a community's settings by what `make` returns, in one transaction.

        One that begins to show something on the web gets the key of its page, for good.
        """

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
        """Record that a community has Rostrum; a known one stays as it is."""
        await self._database.write(lambda connection: join(connection, platform, community, now))

    async def left(self, platform: str, community: str, now: datetime) -> None:
        """Record that a community removed Rostrum, and delete its settings."""

        def store(connection: SqlConnection) -> None:
            # It may have joined while Rostrum was offline.
            join(connection, platform, community, now)
            connection.run(LEAVE, platform=platform, community=community, now=now)
            connection.run(STOP_SERIES, platform=platform, community=community)

        await self._database.write(store)

    async def known(self, platform: str) -> frozenset[str]:
        """Return the communities of a platform that have Rostrum or held a debate."""
        return frozenset(await self._database.column(KNOWN, platform=platform))

    async def gone(self, before: datetime) -> list[tuple[str, str]]:
        """Return the communities that left before then and have no running debate."""
        rows = await self._database.rows(GONE, before=before)
        return [(row.platform, row.community) for row in rows]

    async def holdings(self, platform: str, community: str) -> tuple[int, int, bool]:
        """Return how much is stored of a community."""
        scope = community_scope(platform, community)
        which = {"platform": platform, "community": community, "scope": scope}
        found = await self._database.first(HOLDINGS, **which)
        return found.debates, found.votes, bool(found.debates or found.kept)

    async def purge(self, platform: str, community: str) -> int:
        """Delete everything stored for a community; return the number of debates deleted.

        Queued and running debates stay, and so does what today's cost, until the day is over.
        People without any other record are deleted too.
        """
        await load_tables()
        left, total = {"platform": platform, "community": community}, 0
        while some := await self._database.write(lambda c: purge_some(c, left)):
            total += some
        await self._database.write(lambda connection: finish_purge(connection, left))
        return total

    async def drop_late_budgets(self, now: datetime) -> None:
        """Delete what is kept of purged communities' budgets of days before that of `now`."""
        today = day_of(now)
        if await self._database.value(ANY_LATE_USAGE, today=today) is not None:
            await self._database.run(DELETE_LATE_USAGE, today=today)


@lru_cache(maxsize=MOST_SETTINGS)
def _read(stored: str | None) -> CommunitySettings:
    return CommunitySettings.model_validate_json(stored or "{}")


def join(connection: SqlConnection, platform: str, community: str, now: datetime) -> None:
    """Create a community's row, or revive the row of one that had left."""
    connection.run(JOIN, platform=platform, community=community, now=now)
