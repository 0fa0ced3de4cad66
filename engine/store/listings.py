"""Lists of debates, found by small rows beside them: a setup is too large to search them all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from engine.store.database import Database
from engine.store.debates import BY_ID, CODED, SELECT, ListedResult, find_by_name, to_debate
from engine.store.jobs import AWAITED
from engine.store.retention import BUSY, ENDED
from engine.values.debate import Debate, Status
from engine.values.ports import utc_now


class DebateQuery(NamedTuple):
    """Which debates to list; empty: all.

    `words` are all in the topic, or begin the short code. `interrupted` are those that run and that
    no process holds. `model` (`backend/name`) and
    `disagreement`, that people and jury decided otherwise, find only debates that have ended: a
    list must not tell who speaks in one that goes on. `held` leaves out queued ones, and those that
    ended before their vote without being partial. `order` is the newest first, or one of
    `ORDERS`. The rest is as in `ExportFilter`.
    """

    words: tuple[str, ...] = ()
    status: Status | None = None
    interrupted: bool = False
    format: str = ""
    language: str = ""
    platform: str = ""
    community: str = ""
    series: str = ""
    model: str = ""
    disagreement: bool = False
    held: bool = False
    formats: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    without_rehearsal: bool = False
    ids: tuple[str, ...] = ()
    order: str = ""


class DebateSummary(NamedTuple):
    """What the stored debates can be chosen by; models are those of debates that have ended."""

    languages: tuple[str, ...] = ()
    communities: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


Facet: TypeAlias = tuple[str, str, str, bool]
"""What chips choose debates by: state, format, language, and whether people and jury disagree."""


Decided: TypeAlias = tuple[tuple[str, str, str], ...]
"""The topic of debates, and who won by people and by the jury, where both decided."""

MOST_WORDS = 8
MOST_CHOICES = 200
AMONG = "FROM debates JOIN listings ON listings.debate = debates.id WHERE {}"
COUNT = f"SELECT count(*) {AMONG}"
FIND = f"""
{SELECT} JOIN listings ON listings.debate = debates.id WHERE debates.id IN (
    SELECT debates.id {AMONG} ORDER BY {{}} LIMIT :limit OFFSET :start
) ORDER BY {{}}
"""
UNCHOSEN: Mapping[str, Any] = {
    "status": None,
    "interrupted": False,
    "format": "",
    "language": "",
    "disagreement": False,
}
HELD = "debates.platform <> 'calibration'"
# Nearly all debates have ended in the same way: an index on the state would lead to each of them.
STATE = "coalesce(debates.status, '')"
CONDITIONS = {
    "status": f"{STATE} = :status",
    "interrupted": f"{STATE} = 'running' AND NOT {BUSY} AND NOT {AWAITED}",
    "format": "debates.format = :format",
    "language": "debates.language = :language",
    "platform": "debates.platform = :platform",
    "community": "debates.community = :community",
    "series": "debates.series = :series",
    "model": f"{STATE} IN :ended AND listings.models LIKE :model ESCAPE '!'",
    "disagreement": f"{STATE} IN :ended AND NOT listings.agree",
    "held": f"{STATE} IN ('running', 'voting', 'closed', 'partial')",
    "formats": "debates.format IN :formats",
    "languages": "debates.language IN :languages",
    "since": "coalesce(debates.revealed_at, debates.created_at) > :since",
    "until": "coalesce(debates.revealed_at, debates.created_at) <= :until",
    "without_rehearsal": "NOT debates.rehearsal",
    "ids": "debates.id IN :ids",
}
WORD = """(
    listings.topic LIKE :word{n} ESCAPE '!'
    OR lower(substr(debates.id, 21)) LIKE :code{n} ESCAPE '!'
)"""
# What is sealed sorts as if it were not there.
SHOWN = f"CASE WHEN {STATE} IN :ended THEN listings.{{}} END"
ORDERS = {
    "": "debates.number DESC",
    "disputed": f"{SHOWN.format('dispute')} DESC NULLS LAST, debates.number DESC",
    "closest": f"{SHOWN.format('lead')} NULLS LAST, debates.number DESC",
    "dearest": f"{SHOWN.format('usd')} DESC NULLS LAST, debates.number DESC",
}
"""How lists are sorted: the newest first, those where people and jury are furthest apart, where the
winner is the least ahead, or that cost most."""
RESULTS = f"SELECT listings.* {AMONG}".format(f"debates.id IN :debates AND {STATE} IN :ended")
DISAGREE = f"{STATE} IN :ended AND listings.agree IS NOT NULL AND NOT listings.agree"
FACETS = f"""
SELECT {STATE} AS state, debates.format, debates.language, {DISAGREE} AS disagree, count(*) AS n
{AMONG} GROUP BY 1, 2, 3, 4
"""
DECIDED = f"""
SELECT listings.topic, listings.people, listings.jury
{AMONG} AND {STATE} IN :ended AND listings.agree IS NOT NULL AND NOT debates.rehearsal
"""
SPENT = f"""
SELECT coalesce(sum(listings.usd), 0.0) {AMONG} AND {STATE} IN :ended
    AND NOT debates.rehearsal
"""
CHOICES = "SELECT DISTINCT {0} FROM debates WHERE {1} AND {0} IS NOT NULL ORDER BY 1 LIMIT :most"
CHOSEN_BY = ("language", "community", "series")
MODELS = f"""
SELECT DISTINCT listings.models {AMONG.format(f"{STATE} IN :ended")} ORDER BY 1 LIMIT :most
"""
SPECIAL = re.compile(r"([!%_])")
# Without what calibrations of jurors are journaled as (engine/store/fits.py).
RECENT = f"{SELECT} WHERE platform <> 'calibration' ORDER BY number DESC LIMIT :limit"
RECENT_AT = f"""
{SELECT} WHERE platform <> 'calibration' AND status IN :statuses ORDER BY number DESC LIMIT :limit
"""
OF_COMMUNITY = f"""
{SELECT} WHERE platform = :platform AND community = :community AND (:every OR status IN :statuses)
ORDER BY created_at DESC, number DESC LIMIT :limit
"""
REMATCHES = "SELECT id FROM debates WHERE rematch_of = :debate ORDER BY number"
HERE = "debates.platform = :platform AND debates.community = :community"
BY_ID_HERE = f"{BY_ID} AND {HERE}"
BY_CODE_HERE = f"{SELECT} WHERE {CODED} AND {HERE} ORDER BY number DESC"
IS_STARTER = """
SELECT debates.id FROM debates JOIN people ON people.id = debates.starter
WHERE debates.id = :debate AND people."user" = :user
"""


class Listings:
    """Finds debates for lists."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def recent(self, statuses: Sequence[Status] = (), limit: int = 100) -> list[Debate]:
        """Return debates, newest first."""
        query = RECENT_AT if statuses else RECENT
        return list(
            map(to_debate, await self._database.rows(query, statuses=statuses, limit=limit))
        )

    async def of_community(
        self, platform: str, community: str, statuses: Sequence[Status] = (), limit: int = 100
    ) -> list[Debate]:
        """Return a community's own debates, newest first."""
        which = {"platform": platform, "community": community}
        at = {"statuses": statuses, "every": not statuses}
        rows = await self._database.rows(OF_COMMUNITY, limit=limit, **which, **at)
        return list(map(to_debate, rows))

    async def rematches(self, debate_id: str) -> list[str]:
        """Return the ids of the debates that hold one once more, oldest first."""
        return [str(one) for one in await self._database.column(REMATCHES, debate=debate_id)]

    async def named(self, name: str, platform: str, community: str) -> list[Debate]:
        """Return the debates of a community with that id or short code, newest first."""
        query, values = find_by_name(name, BY_ID_HERE, BY_CODE_HERE)
        rows = await self._database.rows(query, **values, platform=platform, community=community)
        return list(map(to_debate, rows))

    async def is_starter(self, debate_id: str, user: str) -> bool:
        """Return whether a user of the debate's platform started it."""
        return await self._database.value(IS_STARTER, debate=debate_id, user=user) is not None

    async def find(
        self, sought: DebateQuery, start: int, limit: int
    ) -> tuple[tuple[Debate, ...], int]:
        """Return debates from a place in the list on, in its order, and how many it has in all."""
        return await self.page(sought, start, limit), await self.count(sought)

    async def count(self, sought: DebateQuery) -> int:
        """Return how many debates a list has."""
        where, values = " AND ".join(_conditions(sought)), _values(sought)
        return int(await self._database.value(COUNT.format(where), **values))

    async def page(self, sought: DebateQuery, start: int, limit: int) -> tuple[Debate, ...]:
        """Return debates from a place in the list on, in its order."""
        where, values = " AND ".join(_conditions(sought)), _values(sought)
        query = FIND.format(where, *[ORDERS[sought.order]] * 2)
        rows = await self._database.rows(query, **values, start=start, limit=limit)
        return tuple(map(to_debate, rows))

    async def results(self, debates: Sequence[str]) -> dict[str, ListedResult]:
        """Return how debates ended, of those that have."""
        rows = await self._database.rows(RESULTS, debates=debates, ended=ENDED)
        names = ListedResult._fields
        return {row.debate: ListedResult(*(getattr(row, name) for name in names)) for row in rows}

    async def facets(self, sought: DebateQuery) -> Counter[Facet]:
        """Count debates by what chips choose by, whatever of that is chosen now."""
        wider = sought._replace(**UNCHOSEN)
        query = FACETS.format(" AND ".join(_conditions(wider)))
        rows = await self._database.rows(query, **_values(wider))
        return Counter(
            {(row.state, row.format, row.language, bool(row.disagree)): row.n for row in rows}
        )

    async def totals(self, within: DebateQuery) -> tuple[Decided, float]:
        """Return what a list's debates came to, without rehearsals; takes a look at every one.

        The second is what those cost that have ended, unknown prices at their maximum.
        """
        where, values = " AND ".join(_conditions(within)), _values(within)
        decided = await self._database.rows(DECIDED.format(where), **values)
        usd = await self._database.value(SPENT.format(where), **values)
        return tuple((row.topic, row.people, row.jury) for row in decided), float(usd)

    async def choices(self) -> DebateSummary:
        """Return what the debates can be chosen by."""
        languages, communities, series = [
            tuple(await self._database.column(CHOICES.format(name, HELD), most=MOST_CHOICES))
            for name in CHOSEN_BY
        ]
        sets = await self._database.column(MODELS, ended=ENDED, most=MOST_CHOICES)
        models = sorted({model for one in sets for model in one.split()})
        return DebateSummary(languages, communities, series, tuple(models))


def _conditions(sought: DebateQuery) -> Iterator[str]:
    yield HELD
    yield from (text for name, text in CONDITIONS.items() if getattr(sought, name))
    yield from (WORD.format(n=n) for n in range(len(sought.words[:MOST_WORDS])))


def _values(sought: DebateQuery) -> dict[str, Any]:
    words = [_escape(word.casefold()) for word in sought.words[:MOST_WORDS]]
    return {
        **{name: getattr(sought, name) for name in CONDITIONS},
        "model": f"% {_escape(sought.model)} %",
        "ended": ENDED,
        "now": utc_now(),
        **{f"word{n}": f"%{word}%" for n, word in enumerate(words)},
        **{f"code{n}": f"{word}%" for n, word in enumerate(words)},
    }


def _escape(text: str) -> str:
    return SPECIAL.sub(r"!\1", text)
