"""Budgets: money and debates are reserved by conditional updates, and settled at the end."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, bindparam, func, select, update
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.prepared import Prepared
from adapters.storage.tables import calls, debates, usage
from engine.debate import Debate, Status
from engine.errors import BudgetError
from engine.store import Caps, NewDebate

HELD = Prepared(
    select(
        debates.c.platform,
        debates.c.community,
        debates.c.budget_day,
        debates.c.reserved_usd,
        debates.c.settled_usd,
    ).where(debates.c.id == bindparam("of"))
)
_COST = func.coalesce(calls.c.cost, calls.c.cost_max)
SPENT = Prepared(
    select(func.coalesce(func.sum(_COST), 0.0).label("usd")).where(
        calls.c.debate == bindparam("of")
    )
)
SETTLE_USAGE = Prepared(
    update(usage)
    .where(usage.c.scope == bindparam("in"), usage.c.day == bindparam("on"))
    .values(
        reserved_usd=usage.c.reserved_usd - bindparam("held"),
        spent_usd=usage.c.spent_usd + bindparam("more"),
    )
)
SETTLE = Prepared(
    update(debates).where(debates.c.id == bindparam("of")), ("reserved_usd", "settled_usd")
)


def reserve(connection: Connection, new: NewDebate, starter: int | None, caps: Caps) -> None:
    """Reserve what a debate may cost, or raise BudgetError naming the cap that is reached."""
    day = _day(new.created_at)
    _reserve_place(connection, new.platform, new.community, caps)
    if starter is not None:
        _reserve_turn(connection, f"person:{starter}", day, caps.user_daily_debates)
    _reserve_money(
        connection,
        _scope(new.platform, new.community),
        day,
        new.setup.reserved_usd,
        caps.community_daily_usd,
    )


def reserve_rest(connection: Connection, debate: Debate, caps: Caps, now: datetime) -> None:
    """Reserve what an ended debate that goes on may still cost. Raises BudgetError.

    It goes on under the cap of today: whoever raised the cap did so for that.
    """
    _reserve_place(connection, debate.platform, debate.community, caps)
    most = debate.setup.reserved_usd if caps.debate_usd is None else caps.debate_usd
    rest = max(0.0, most - spent(connection, debate.id))
    scope, day = _scope(debate.platform, debate.community), _day(now)
    _reserve_money(connection, scope, day, rest, caps.community_daily_usd)
    row = update(debates).where(debates.c.id == debate.id)
    connection.execute(row.values(reserved_usd=rest, budget_day=day))


def settle(connection: Connection, debate_id: str) -> None:
    """Turn what a debate reserved into what it spent; a cost unknown counts at its maximum."""
    [row] = HELD.rows(connection, {"of": debate_id})
    total = spent(connection, debate_id)
    day = {"in": _scope(row.platform, row.community), "on": row.budget_day}
    moved = {"held": row.reserved_usd, "more": total - row.settled_usd}
    SETTLE_USAGE.run(connection, day | moved)
    SETTLE.run(connection, {"of": debate_id, "reserved_usd": 0.0, "settled_usd": total})


def spent(connection: Connection, debate_id: str) -> float:
    """Return what a debate's tries cost in USD, those of unknown cost at their maximum."""
    return float(SPENT.rows(connection, {"of": debate_id})[0].usd)


def _scope(platform: str, community: str) -> str:
    return f"community:{platform}:{community}"


def _day(moment: datetime) -> str:
    return moment.date().isoformat()


def _reserve_place(connection: Connection, platform: str, community: str, caps: Caps) -> None:
    if caps.max_live_per_community is None:
        return
    live = connection.scalar(
        select(func.count())
        .select_from(debates)
        .where(
            debates.c.platform == platform,
            debates.c.community == community,
            debates.c.status.in_([Status.QUEUED, Status.RUNNING]),
        )
    )
    if (live or 0) >= caps.max_live_per_community:
        raise BudgetError(
            f"{live} debates are running here already, and the cap is "
            f"{caps.max_live_per_community}; wait for one to end."
        )


def _reserve_turn(connection: Connection, scope: str, day: str, cap: int | None) -> None:
    _ensure_row(connection, scope, day)
    statement = update(usage).where(usage.c.scope == scope, usage.c.day == day)
    if cap is not None:
        statement = statement.where(usage.c.debates < cap)
    if not connection.execute(statement.values(debates=usage.c.debates + 1)).rowcount:
        raise BudgetError(
            f"You have started {cap} debates today, which is the cap; start again tomorrow (UTC)."
        )


def _reserve_money(
    connection: Connection, scope: str, day: str, amount: float, cap: float | None
) -> None:
    _ensure_row(connection, scope, day)
    statement = update(usage).where(usage.c.scope == scope, usage.c.day == day)
    if cap is not None:
        statement = statement.where(usage.c.reserved_usd + usage.c.spent_usd + amount <= cap + 1e-9)
    reserved = statement.values(
        reserved_usd=usage.c.reserved_usd + amount, debates=usage.c.debates + 1
    )
    if not connection.execute(reserved).rowcount:
        raise BudgetError(
            f"This debate may cost up to {amount:.2f} USD, more than is left of today's "
            f"{cap:.2f} USD here; start again tomorrow (UTC) or choose cheaper models."
        )


def _ensure_row(connection: Connection, scope: str, day: str) -> None:
    row = insert(usage).values(scope=scope, day=day, reserved_usd=0.0, spent_usd=0.0, debates=0)
    connection.execute(row.on_conflict_do_nothing())
