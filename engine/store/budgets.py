"""Budgets: money and debates are reserved by conditional updates, and settled at the end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from engine.store.database import SqlConnection
from engine.store.outbox import Post
from engine.values.debate import Debate, Setup, Status, Value, short_code
from engine.values.errors import BudgetError, SeriesCapError
from engine.values.limits import Caps
from engine.values.messages import Alert


class NewGuest(Value):
    """Who is to argue a side: a user of the platform, and the names that would give them away."""

    user: str
    names: tuple[str, ...] = ()


class NewDebate(Value):
    """A debate about to be stored; `user` is its starter's id on the platform.

    `guest` is who argues a side in place of a model, `answer` the row of the right one.
    """

    id: str
    number: int
    platform: str
    community: str
    place: str
    user: str | None
    setup: Setup
    created_at: datetime
    series: str | None = None
    series_key: str | None = None
    arm: str | None = None
    guest: NewGuest | None = None
    answer: Mapping[str, str | None] = Field({}, repr=False)


WHOLE = ""  # the day of what is counted over all days
SERIES_CAP = "SELECT usd FROM series WHERE name = :name"
LIVE = """
SELECT count(*) FROM debates
WHERE platform = :platform AND community = :community AND status IN ('queued', 'running')
"""
INSTALLATION = {"scope": "installation", "day": WHOLE}  # the row that starts everywhere wait for
LIVE_EVERYWHERE = """
SELECT count(*) FROM debates WHERE status IN ('queued', 'running') AND platform <> 'series'
"""
# Every debate's money is in the row of its community.
DAY = """
SELECT coalesce(sum(reserved_usd), 0.0) AS reserved, coalesce(sum(spent_usd), 0.0) AS spent,
    coalesce(sum(debates), 0) AS debates
FROM usage WHERE day = :day AND scope LIKE 'community:%'
"""
# The first debate of a day creates the row.
ENSURE = """
INSERT INTO usage (scope, day, reserved_usd, spent_usd, debates) VALUES (:scope, :day, 0, 0, 0)
ON CONFLICT DO NOTHING
"""
RESERVE_TURN = """
UPDATE usage SET debates = debates + 1
WHERE scope = :scope AND day = :day AND (debates < :cap) IS NOT FALSE
"""
RESERVE_MONEY = """
UPDATE usage SET debates = debates + 1, reserved_usd = reserved_usd + :usd
WHERE scope = :scope AND day = :day
    AND (reserved_usd + spent_usd + :usd <= :cap + 1e-9) IS NOT FALSE
"""
# Only one process finds the row unwarned.
WARN = """
UPDATE usage SET warned = TRUE
WHERE scope = :scope AND day = :day AND NOT warned
    AND reserved_usd + spent_usd >= :share - 1e-9
"""
LOCK_DAY = "SELECT debates FROM usage WHERE scope = :scope AND day = :day FOR NO KEY UPDATE"
RESERVE_REST = "UPDATE debates SET reserved_usd = :usd, budget_day = :day WHERE id = :debate"
SPENT = "SELECT coalesce(sum(coalesce(cost, cost_max)), 0.0) FROM calls WHERE debate = :debate"
# A call that ends while its debate does waits here, so that one of the two counts it.
HELD = """
SELECT platform, community, series, status, budget_day, reserved_usd, settled_usd
FROM debates WHERE id = :debate /*+ FOR NO KEY UPDATE */
"""
SETTLE_USAGE = """
UPDATE usage SET reserved_usd = reserved_usd - :held, spent_usd = spent_usd + :more
WHERE scope = :scope AND day = :day
"""
SETTLE = """
UPDATE debates SET reserved_usd = 0, settled_usd = :total, budget_day = :day WHERE id = :debate
"""
NOTE_COST = "UPDATE listings SET usd = :total WHERE debate = :debate"


def reserve(
    connection: SqlConnection, new: NewDebate, starter: int | None, caps: Caps
) -> list[Post]:
    """Reserve what a debate may cost, or raise BudgetError naming the cap that is reached.

    Returns the alert to managers if this passes the share of the day's money for one.
    """
    day = day_of(new.created_at)
    _reserve_place(connection, new.platform, new.community, day, caps)
    if starter is not None:
        cap, scope = caps.user_daily_debates, f"person:{starter}"
        if not _count_in(connection, RESERVE_TURN, scope=scope, day=day, cap=cap):
            raise BudgetError(
                "You have started {cap} debates today, which is the cap; start again "
                "tomorrow (UTC).",
                cap=cap,
            )
    scope = community_scope(new.platform, new.community)
    _reserve_money(connection, scope, day, new.setup.reserved_usd, caps.community_daily_usd)
    _reserve_in_series(connection, new.series, new.setup.reserved_usd)
    _check_installation(connection, day, new.setup.reserved_usd, caps)
    warned = _warn(connection, scope, day, caps)
    return [_alert(new.id, new.setup.request.language, caps)] if warned else []


def reserve_rest(
    connection: SqlConnection, debate: Debate, caps: Caps, now: datetime
) -> list[Post]:
    """Reserve what a requeued debate may still cost. Raises BudgetError; returns as `reserve`.

    It resumes under today's cap, which may have been raised for this purpose.
    """
    day = day_of(now)
    _reserve_place(connection, debate.platform, debate.community, day, caps)
    most = debate.setup.reserved_usd if caps.debate_usd is None else caps.debate_usd
    rest = max(0.0, most - spent(connection, debate.id))
    scope = community_scope(debate.platform, debate.community)
    _reserve_money(connection, scope, day, rest, caps.community_daily_usd)
    _reserve_in_series(connection, debate.series, rest)
    _check_installation(connection, day, rest, caps)
    connection.run(RESERVE_REST, debate=debate.id, usd=rest, day=day)
    warned = _warn(connection, scope, day, caps)
    return [_alert(debate.id, debate.request.language, caps)] if warned else []


def settle(connection: SqlConnection, debate_id: str, day: str | None = None) -> None:
    """Replace the reservation of a debate that is not live by what it spent; at any time again.

    Unknown costs count at their maximum. What is new counts on `day`, else on the debate's own.
    """
    row = connection.first(HELD, debate=debate_id)
    if row is None or Status(row.status).live:
        return
    day, total = day or row.budget_day, spent(connection, debate_id)
    scopes = [(community_scope(row.platform, row.community), day)]
    if row.series is not None:
        scopes.append((_series_scope(row.series), WHOLE))
    for scope, counted in scopes:
        money = {"held": row.reserved_usd, "more": total - row.settled_usd}
        _count_in(connection, SETTLE_USAGE, scope=scope, day=counted, **money)
    connection.run(SETTLE, debate=debate_id, total=total, day=day)
    connection.run(NOTE_COST, debate=debate_id, total=total)


def spent(connection: SqlConnection, debate_id: str) -> float:
    """Return the cost of a debate's tries in USD; unknown costs count at their maximum."""
    return float(connection.value(SPENT, debate=debate_id))


def community_scope(platform: str, community: str) -> str:
    """Return the name under which a community's money is counted."""
    return f"community:{platform}:{community}"


def day_of(moment: datetime) -> str:
    """Return the name of a moment's UTC day."""
    return moment.date().isoformat()


def _reserve_place(
    connection: SqlConnection, platform: str, community: str, day: str, caps: Caps
) -> None:
    if caps.max_live_per_community is None:
        return
    # Debates of one community are counted and started by one process at a time.
    which = {"scope": community_scope(platform, community), "day": day}
    connection.run(ENSURE, **which)
    connection.lock(LOCK_DAY, **which)
    live = connection.value(LIVE, platform=platform, community=community)
    if live >= caps.max_live_per_community:
        raise BudgetError(
            "{live} debates are running here already, and the cap is {cap}; wait for one to end.",
            live=live,
            cap=caps.max_live_per_community,
        )


def _reserve_money(
    connection: SqlConnection, scope: str, day: str, usd: float, cap: float | None
) -> None:
    if not _count_in(connection, RESERVE_MONEY, scope=scope, day=day, cap=cap, usd=usd):
        raise BudgetError(
            "This debate may cost up to {usd:.2f} USD, more than is left of today's "
            "{cap:.2f} USD here; start again tomorrow (UTC) or choose cheaper models.",
            usd=usd,
            cap=cap,
        )


def _reserve_in_series(connection: SqlConnection, name: str | None, usd: float) -> None:
    """Reserve from the cap of a debate's series. Raises SeriesCapError."""
    if name is None:
        return
    cap = connection.value(SERIES_CAP, name=name)
    scope = _series_scope(name)
    if not _count_in(connection, RESERVE_MONEY, scope=scope, day=WHOLE, cap=cap, usd=usd):
        raise SeriesCapError(
            f"The series {name} may cost {cap:.2f} USD in all; too little is left for its next "
            f"debate, which may cost {usd:.2f} USD."
        )


def _check_installation(connection: SqlConnection, day: str, usd: float, caps: Caps) -> None:
    """Refuse a debate for which all communities together have no room; `usd` is reserved already.

    It comes last, and starts wait here for one another: each sees what those before it reserved.
    """
    cap, most = caps.installation_daily_usd, caps.max_live
    if cap is None and most is None:
        return
    connection.run(ENSURE, **INSTALLATION)
    connection.lock(LOCK_DAY, **INSTALLATION)
    if most is not None and connection.value(LIVE_EVERYWHERE) >= most:
        raise BudgetError(
            "As many debates are running as this bot may hold at once, here and elsewhere; try "
            "again in some minutes.",
            hint="The cap is ROSTRUM_BUDGET__MAX_LIVE.",
        )
    held = connection.first(DAY, day=day)
    if cap is not None and held.reserved + held.spent > cap + 1e-9:
        raise BudgetError(
            "This debate may cost up to {usd:.2f} USD, more than is left of what this bot may "
            "spend today, here and elsewhere; start again tomorrow (UTC) or choose cheaper models.",
            usd=usd,
            hint="The cap is ROSTRUM_BUDGET__INSTALLATION_DAILY_USD.",
        )


def _warn(connection: SqlConnection, scope: str, day: str, caps: Caps) -> bool:
    """Note that the share for an alert is passed; False if it is not, or was noted before."""
    cap = caps.community_daily_usd
    if not cap or caps.alert_percent is None:
        return False
    share = cap * caps.alert_percent / 100
    return connection.run(WARN, scope=scope, day=day, share=share) > 0


def _alert(debate_id: str, language: str, caps: Caps) -> Post:
    percent, usd = caps.alert_percent or 0.0, caps.community_daily_usd or 0.0
    message = Alert(language=language, code=short_code(debate_id), percent=percent, usd=usd)
    return Post(key="alert", message=message)


def _series_scope(name: str) -> str:
    return f"series:{name}"


def _count_in(connection: SqlConnection, sql: str, *, scope: str, day: str, **values: Any) -> int:
    """Change a day's row; 0 if its cap forbids it."""
    connection.run(ENSURE, scope=scope, day=day)
    return connection.run(sql, scope=scope, day=day, **values)
