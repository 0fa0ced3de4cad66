"""Budgets: money and debates are reserved by conditional updates, and settled at the end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Float, bindparam, func, or_, select, update
from sqlalchemy.dialects.sqlite import insert

from adapters.storage.connection import Connection
from adapters.storage.prepared import Prepared, one_of
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
LIVE = Prepared(
    select(func.count().label("debates")).where(
        debates.c.platform == bindparam("on"),
        debates.c.community == bindparam("in"),
        one_of(debates.c.status, Status.QUEUED, Status.RUNNING),
    )
)
ENSURE = Prepared(
    insert(usage).on_conflict_do_nothing(),
    ("scope", "day", "reserved_usd", "spent_usd", "debates"),
)
UNUSED = {"reserved_usd": 0.0, "spent_usd": 0.0, "debates": 0}
_CAP, _AMOUNT = bindparam("cap", type_=Float), bindparam("amount", type_=Float)
_ONE_MORE = (
    update(usage)
    .where(usage.c.scope == bindparam("in"), usage.c.day == bindparam("at"))
    .values(debates=usage.c.debates + 1)
)
RESERVE_TURN = Prepared(_ONE_MORE.where(or_(_CAP.is_(None), usage.c.debates < _CAP)))
RESERVE_MONEY = Prepared(
    _ONE_MORE.where(
        or_(_CAP.is_(None), usage.c.reserved_usd + usage.c.spent_usd + _AMOUNT <= _CAP + 1e-9)
    ).values(reserved_usd=usage.c.reserved_usd + _AMOUNT)
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
    live = LIVE.rows(connection, {"on": platform, "in": community})[0].debates
    if live >= caps.max_live_per_community:
        raise BudgetError(
            f"{live} debates are running here already, and the cap is "
            f"{caps.max_live_per_community}; wait for one to end."
        )


def _reserve_turn(connection: Connection, scope: str, day: str, cap: int | None) -> None:
    if not _count_in(connection, RESERVE_TURN, {"in": scope, "at": day, "cap": cap}):
        raise BudgetError(
            f"You have started {cap} debates today, which is the cap; start again tomorrow (UTC)."
        )


def _reserve_money(
    connection: Connection, scope: str, day: str, amount: float, cap: float | None
) -> None:
    values = {"in": scope, "at": day, "cap": cap, "amount": amount}
    if not _count_in(connection, RESERVE_MONEY, values):
        raise BudgetError(
            f"This debate may cost up to {amount:.2f} USD, more than is left of today's "
            f"{cap:.2f} USD here; start again tomorrow (UTC) or choose cheaper models."
        )


def _count_in(connection: Connection, change: Prepared, values: Mapping[str, Any]) -> int:
    """Change a day's row, which the first debate of the day makes; 0 where its cap forbids it."""
    return change.run(connection, values) or (
        ENSURE.run(connection, {"scope": values["in"], "day": values["at"], **UNUSED})
        and change.run(connection, values)
    )
