"""When debates before people begin: times of day hold when clocks change, and none is doubled."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from engine.series.contents import first_time, next_time
from engine.series.spec import Daily, People, Place, read_when
from engine.values.errors import UsageError

BERLIN = "Europe/Berlin"
PLACE = Place(platform="memory", channel="lobby")
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


@pytest.mark.parametrize(
    ("text", "every", "days"),
    [
        ("every day 09:00 Europe/Berlin", 1440, ()),
        ("every weekday at 9:00 UTC", 1440, (0, 1, 2, 3, 4)),
        ("Mondays, Thursday and sun 18:30 UTC", 1440, (0, 3, 6)),
        ("every weekend 10:00", 1440, (5, 6)),
        ("every 2 days 09:00 UTC", 2880, ()),
        ("every 12 hours 09:00 UTC", 720, ()),
        ("09:00 UTC", 1440, ()),
    ],
)
def test_a_schedule_is_read_as_people_write_it(
    text: str, every: float, days: tuple[int, ...]
) -> None:
    people = read_when(text, PLACE)
    assert (people.every, people.days) == (every, days)
    assert people.at is not None


@pytest.mark.parametrize("text", ["", "every day", "soon 09:00", "every 5 minutes 09:00", "9"])
def test_what_is_no_schedule_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="write for example “every weekday 09:00 Europe/Berlin”"):
        read_when(text, PLACE)


@pytest.mark.parametrize(("days", "held"), [("every day", 14), ("every weekday", 10)])
@pytest.mark.parametrize("start", ["2027-03-22", "2027-10-25"])  # a week before the clocks change
def test_each_day_is_held_once_over_a_change_of_clocks(days: str, held: int, start: str) -> None:
    # 02:30 does not exist on the first Sunday, and comes twice on the other.
    people = read_when(f"{days} 02:30 Europe/Berlin", PLACE)
    begin = datetime.fromisoformat(f"{start}T00:00:00+00:00")
    times = [first_time(people, begin)]
    while (following := next_time(people, times[-1], times[-1])) < begin + timedelta(days=14):
        times.append(following)
    local = [time.astimezone(ZoneInfo("Europe/Berlin")) for time in times]
    assert len(times) == len({one.date() for one in local}) == held
    assert {f"{one:%H:%M}" for one in local} <= {"02:30", "03:30"}


def test_times_that_passed_in_an_outage_are_left_out() -> None:
    people = read_when("every weekday 09:00 UTC", PLACE)
    due = datetime(2027, 1, 4, 9, tzinfo=UTC)  # a Monday
    assert next_time(people, due, due + timedelta(days=4.5)) == due + timedelta(days=7)
