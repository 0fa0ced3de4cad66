"""When the debates of a series before people begin; pure.

Times of day are those of the wall clock in the file's time zone, so that 09:00 stays 09:00 when the
clocks change. An hour that the clocks skip is held when they have been put forward, and one that
comes twice the first time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from engine.series.spec import Daily, People

DAY = timedelta(days=1)


def first_time(people: People, now: datetime) -> datetime:
    """Return when the first debate may begin: at once, or at the next time of day."""
    if people.at is None:
        return now
    if people.days:
        return _first_on(people.days, people.at, now - timedelta(microseconds=1))
    return _first_after(people.at, _every(people), now - timedelta(microseconds=1))


def next_time(people: People, due: datetime, now: datetime) -> datetime:
    """Return when the debate after the one due may begin: in the future.

    Times that were missed are left out, as one debate makes up for all of them.
    """
    every, at = _every(people), people.at
    if at is None:
        missed = max(0, (now - due) // every)
        return due + (missed + 1) * every
    if people.days:
        return _first_on(people.days, at, max(due, now))
    if every < DAY:
        return _first_after(at, every, max(due, now))
    days = -(-every // DAY)  # a part of a day counts as a whole one
    day = _day(at, due) + days * DAY
    while (time := _moment(at, datetime.combine(day, at.clock))) <= now:
        day += days * DAY
    return time


def _first_after(at: Daily, every: timedelta, moment: datetime) -> datetime:
    """Return the first time after a moment: `at` of a day, or every so long after it."""
    today = _day(at, moment)
    times = (
        _moment(at, local) for day in (today, today + DAY) for local in _times_of(day, at, every)
    )
    return next(time for time in times if time > moment)


def _first_on(days: Sequence[int], at: Daily, moment: datetime) -> datetime:
    """Return the first time after a moment that is on one of these days of the week."""
    today = _day(at, moment)
    week = (today + number * DAY for number in range(8))
    times = (_moment(at, datetime.combine(day, at.clock)) for day in week if day.weekday() in days)
    return next(time for time in times if time > moment)


def _times_of(day: date, at: Daily, every: timedelta) -> Iterator[datetime]:
    local = datetime.combine(day, at.clock)
    while local.date() == day:
        yield local
        local += every


def _every(people: People) -> timedelta:
    return timedelta(minutes=people.every)


def _day(at: Daily, moment: datetime) -> date:
    return moment.astimezone(ZoneInfo(at.zone)).date()


def _moment(at: Daily, local: datetime) -> datetime:
    return local.replace(tzinfo=ZoneInfo(at.zone)).astimezone(UTC)
