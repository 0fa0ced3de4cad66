"""When debates before people begin: times of day hold when clocks change, and none is doubled."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from engine.series.spec import Daily, People, Place
from engine.series.times import first_time, next_time

BERLIN = "Europe/Berlin"
HOUR = 60.0
DAY = 24 * HOUR


def people(every: float = DAY, at: tuple[int, int] | None = (9, 0)) -> People:
    daily = Daily(hour=at[0], minute=at[1], zone=BERLIN) if at else None
    return People(place=Place(platform="memory", channel="lobby"), every=every, at=daily)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "first"),
    [
        ("2026-03-10 07:59", "2026-03-10 08:00"),
        ("2026-03-10 08:00", "2026-03-10 08:00"),
        ("2026-03-10 08:01", "2026-03-11 08:00"),
        ("2026-07-10 23:30", "2026-07-11 07:00"),
    ],
)
def test_the_first_is_at_the_next_time_of_day(now: str, first: str) -> None:
    assert first_time(people(), utc(now)) == utc(first)


def test_without_a_time_of_day_the_first_is_now() -> None:
    assert first_time(people(at=None), utc("2026-03-10 07:59")) == utc("2026-03-10 07:59")


def test_a_time_of_day_stays_when_the_clocks_change() -> None:
    # On 29 March 2026 clocks in Berlin go forward, on 25 October back.
    assert next_time(people(), utc("2026-03-28 08:00"), utc("2026-03-28 09:00")) == utc(
        "2026-03-29 07:00"
    )
    assert next_time(people(), utc("2026-10-24 07:00"), utc("2026-10-24 08:00")) == utc(
        "2026-10-25 08:00"
    )


def test_a_time_that_the_clocks_skip_is_an_hour_later_and_one_that_comes_twice_is_once() -> None:
    night = people(at=(2, 30))
    skipped = next_time(night, utc("2026-03-28 01:30"), utc("2026-03-28 02:00"))
    assert skipped == utc("2026-03-29 01:30")  # 03:30 in Berlin
    assert next_time(night, skipped, skipped) == utc("2026-03-30 00:30")
    twice = next_time(night, utc("2026-10-24 00:30"), utc("2026-10-24 01:00"))
    assert twice == utc("2026-10-25 00:30")
    assert next_time(night, twice, twice) == utc("2026-10-26 01:30")


def test_missed_times_are_left_out() -> None:
    assert next_time(people(), utc("2026-03-10 08:00"), utc("2026-03-14 12:00")) == utc(
        "2026-03-15 08:00"
    )
    assert next_time(people(2 * DAY), utc("2026-03-10 08:00"), utc("2026-03-14 12:00")) == utc(
        "2026-03-16 08:00"
    )
    assert next_time(
        people(HOUR, at=None), utc("2026-03-10 08:10"), utc("2026-03-10 11:30")
    ) == utc("2026-03-10 12:10")


def test_several_times_a_day_begin_anew_each_morning() -> None:
    six = people(6 * HOUR)
    assert next_time(six, utc("2026-03-10 08:00"), utc("2026-03-10 08:05")) == utc(
        "2026-03-10 14:00"
    )
    assert next_time(six, utc("2026-03-10 20:00"), utc("2026-03-10 20:05")) == utc(
        "2026-03-11 08:00"
    )
    assert next_time(six, utc("2026-03-10 08:00"), utc("2026-03-12 21:00")) == utc(
        "2026-03-13 08:00"
    )
