"""A series: its file, its times, its progress, and which debates it holds next."""

import asyncio
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import combinations, islice
from random import Random
from types import SimpleNamespace
from typing import Any, cast
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console

from bot.console import pack
from bot.research.series_progress import LINE_SECONDS, Display, _Bar
from engine.series.contents import (
    Planned,
    check_arms,
    check_unchanged,
    expand,
    first_time,
    next_time,
)
from engine.series.design import PRIOR, Informative, _Design, _Seats, learn, rate_seats, width_of
from engine.series.matches import Chooser, _Swiss, choose, pair_up
from engine.series.runner import SeriesProgress, one_of_each, order_of
from engine.series.spec import Series, SeriesAudience, SeriesPlace, read_series, read_when
from engine.stats.bradley_terry import chances, reach
from engine.store import Store
from engine.store.usage import CallUsage, UsageTotals
from engine.values.errors import UsageError
from engine.values.topics import Topic
from engine.values.verdicts import TIE
from tests.kit import some

BASE: dict[str, Any] = {
    "name": "spring",
    "topics": ["Tabs beat spaces", "Tea beats coffee"],
    "models": ["near/ana", "near/ben", "near/cid"],
}


TABLE = {"format": "roundtable", "agents": 3, "judges": 1}


def series(**changes: Any) -> Series:
    return read_series(BASE | changes, ())


def debates(**changes: Any) -> list[Planned]:
    return list(expand(series(**changes)))


def test_each_pair_meets_on_each_topic_on_both_sides_about_as_often_at_every_cut() -> None:
    held = {(one.topic.text, one.a.ref, one.b.ref) for one in debates()}
    names = BASE["models"]
    assert held == {(t, a, b) for t in BASE["topics"] for a in names for b in names if a != b}
    assert series().size == len(debates()) == 12
    assert [one.ordinal for one in debates()] == list(range(1, 13))
    long = debates(topics=[f"Topic {n}" for n in range(9)])
    for cut in range(6, len(long), 5):
        counts = Counter(frozenset((one.a.ref, one.b.ref)) for one in long[:cut]).values()
        assert max(counts) - min(counts) <= 2
    once = debates(sides="drawn", repeats=8)
    assert len(once) == series(sides="drawn", repeats=8).size == 48
    assert once == debates(sides="drawn", repeats=8, models=BASE["models"])
    assert 10 < sum(one.a.ref < one.b.ref for one in once) < 38


def test_a_topic_is_held_in_its_language_and_a_roundtable_of_two_is_a_series() -> None:
    topics = (Topic(text="Tee ist besser", language="de"), Topic(text="Tea is fine", language="en"))
    read = read_series({"name": "x", "models": ["a/x", "a/y"], "languages": ["de", "tr"]}, topics)
    assert {(one.topic.text, one.language) for one in expand(read)} == {("Tee ist besser", "de")}
    (one, *_) = debates(formats=[{"format": "roundtable", "agents": 2}])
    assert list(one.models) == ["1", "2"]


def test_keys_stay_when_debates_are_added_in_any_order() -> None:
    before = {one.key: one.seed for one in debates()}
    more = debates(
        topics=["Cats beat dogs", *reversed(BASE["topics"])],
        models=["near/dan", *reversed(BASE["models"])],
        formats=["oxford", "classic"],
        languages=["de", "en"],
        repeats=2,
    )
    after = {one.key: one.seed for one in more}
    assert len(after) == len(more)
    assert before.items() <= after.items()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pairng": "all"}, "There is no key “pairng”; did you mean pairing?"),
        ({"limits": {"usdd": 3}}, "There is no key “usdd” in [limits]; did you mean usd?"),
        ({"name": "Spring 2026"}, "name is “Spring 2026”; use at most 60 small letters"),
        ({"name": None}, "name"),
        ({"topics": []}, "There is no topic; give topics"),
        ({"topics": ["  "]}, "topics has an empty entry"),
        ({"topics": ["Tea", "tea!"]}, "The topic “tea!” is there twice"),
        ({"models": ["near/ana"]}, "models has one model; a series needs at least two."),
        ({"models": ["near/ana", "near/ana"]}, "models names near/ana twice"),
        ({"models": ["ana", "near/ben"]}, "models: “ana” does not name a model"),
        ({"pairing": "swis", "rounds": 2}, "pairing is “swis”; did you mean swiss?"),
        ({"pairing": "swiss"}, "rounds must say how many rounds to hold"),
        ({"rounds": 3}, "rounds is for pairing “swiss” alone"),
        ({"pairing": []}, "pairing is an empty list"),
        ({"pairing": [["near/ana"]]}, "pairing has an entry of 1; in this format 2"),
        ({"pairing": [["near/ana", "near/ana"]]}, "pairing lets near/ana meet itself"),
        ({"pairing": [["near/ana", "near/bem"]]}, "not in models; did you mean near/ben?"),
        ({"sides": "bth"}, "sides must be both or drawn."),
        ({"formats": ["clasic"]}, "formats: There is no format “clasic”"),
        (
            {"formats": ["roundtable"], "models": BASE["models"][:2]},
            "models has 2 models; a series needs at least 3.",
        ),
        ({"formats": ["roundtable", "classic"]}, "formats: 3 (roundtable) and 2 (classic) models"),
        (
            {"arms": [{"name": "a"}, {"name": "b", "format": "roundtable"}]},
            "arms: 2 (classic) and 3 (roundtable) models meet; give each number a series of its",
        ),
        (
            {"formats": ["roundtable"], "pairing": "informative"},
            "pairing informative is for two models, and 3 meet; list groups.",
        ),
        ({"judges": ["near/x"]}, "judges: This format, with these options, has no judges of its"),
        ({"formats": [TABLE], "judges": ["near/x", "near/y"]}, "judges: This format, with these"),
        ({"judges": ["x"]}, "judges: “x” does not name a model"),
        ({"seats": {"A1": "near/x"}}, "seats names A1, which is no seat; its formats have none."),
        (
            {"formats": ["team"], "seats": {"A9": "near/x"}},
            "seats names A9, which is no seat; the",
        ),
        ({"formats": ["team"], "seats": {"A1": "x"}}, "seats.A1: “x” does not name a model"),
        ({"models": ["near/x@efort=high", "near/y"]}, "models: “efort” is no setting of a model"),
        ({"jury": {"models": ["near/x@effort=1"]}}, "jury.models: effort of a model is “1”"),
        ({"formats": ["classic", "classic"]}, "formats has an entry twice"),
        ({"formats": [{"length": "short"}]}, "formats: each entry needs its name"),
        ({"formats": [{"format": "classic", "topic": "x"}]}, "topic is not an option of a format"),
        ({"formats": [{"format": "classic", "rounds": 99}]}, "it must be between 1 and 9."),
        ({"languages": ["klingon"]}, "languages: “klingon” is not a language code"),
        ({"languages": ["en", "en"]}, "languages names one twice"),
        ({"arms": [{"name": "a"}]}, "arms has one arm; add another one to compare it with."),
        ({"arms": [{"rounds": 1}, {"name": "a"}]}, "arms: each arm needs a name"),
        ({"arms": [{"name": "A b"}, {"name": "a"}]}, "arms: name is “A b”; use at most 60"),
        ({"arms": [{"name": "a"}, {"name": "a"}]}, "arms has two arms named a"),
        ({"arms": [{"name": "a", "format": "clasic"}, {"name": "b"}]}, "arms: a: There is no fo"),
        (
            {"arms": [{"name": "a", "rounds": 99}, {"name": "b"}]},
            "arms: a: rounds is 99; it must",
        ),
        ({"arms": [{"name": "a", "roundz": 2}, {"name": "b"}]}, "arms: a: "),
        ({"arms": [{"name": "a", "topic": "x"}, {"name": "b"}]}, "arms: a: topic is not an"),
        (
            {"formats": ["classic"], "arms": [{"name": "a", "format": "oxford"}, {"name": "b"}]},
            "arms: a has a format, and so has formats; leave one out.",
        ),
        ({"arms": 3}, "arms"),
        ({"arms_seed": "x"}, "arms_seed must be a whole number."),
        ({"repeats": 0}, "repeats must be between 1 and 1000."),
        ({"repeats": "many"}, "repeats must be a whole number."),
        ({"limits": {"usd": 0}}, "limits.usd must be more than 0."),
        ({"limits": {"usd": float("inf")}}, "limits.usd"),
        ({"limits": {"debates_at_once": 0}}, "limits.debates_at_once must be between 1 and 10000."),
        ({"jury": {"mode": "most"}}, "jury.mode must be"),
        ({"people": {"place": "nowhere"}}, "people.place is “nowhere”; write the platform"),
        ({"people": {"place": "discord:1", "at": "25:00"}}, "people.at is “25:00”; write a time"),
        ({"people": {"place": "slack:C1", "at": "09:00 Europe/Berln"}}, "mean Europe/Berlin?"),
        ({"people": {"place": "slack:C1", "every": "soon"}}, "people.every is “soon”"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_its_key(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        series(**changes)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "pydantic" not in str(refused.value)


def test_a_file_as_people_write_it() -> None:
    text = """
    name = "spring"
    topics = "Tabs beat spaces"
    models = ["near/ana", "near/ben"]
    pairing = [["near/ana", "near/ben"]]
    formats = ["oxford", { format = "classic", length = "short", rounds = 2 }]
    [jury]
    models = ["near/j1", "near/j2"]
    mode = "all"
    [people]
    place = "discord:123"
    every = "1d"
    at = "09:00 Europe/Berlin"
    """
    read = read_series(tomllib.loads(text), ())
    assert some(read.people).every == 1440
    assert [one.rounds for one in read.formats] == [None, 2]
    assert Series.model_validate_json(read.model_dump_json()) == read


KEYS = {one.key for one in debates()}


def test_what_adds_debates_may_change_and_what_else_did_is_said_as_a_file_writes_it() -> None:
    more = series(topics=[*BASE["topics"], "Cats beat dogs"], repeats=3, limits={"usd": 4})
    check_unchanged(series(), more, KEYS)
    jury = {"models": ["near/j1", "near/j2"], "mode": "all"}
    with pytest.raises(UsageError, match="near/j1 and near/j2, mode all, and is now the default"):
        check_unchanged(series(jury=jury), series(), KEYS)
    before = series(formats=[{"format": "team", "one_model": True, "blind": False}])
    keys = {one.key for one in expand(before)}
    with pytest.raises(UsageError, match="no longer has format team, blind off, one_model on"):
        check_unchanged(before, series(), keys)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"topics": ["Tea beats coffee"]}, "topics no longer has “Tabs beat spaces”"),
        ({"models": ["near/ana", "near/ben"]}, "models no longer has near/cid"),
        ({"sides": "drawn"}, "sides was both and is now drawn"),
        ({"jury": {"models": ["near/j1"]}}, "12 of them: jury was the default and is now near/j1."),
        (
            {"jury": {"mode": "all"}, "topics": ["Tabs beat spaces"]},
            "would change 12 of them: jury was the default and is now mode all; topics no longer",
        ),
    ],
)
def test_what_would_change_a_debate_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match="The series spring has 12 debates") as refused:
        check_unchanged(series(), series(**changes), KEYS)
    assert said in str(refused.value)
    check_unchanged(series(), series(**changes), ())


def test_models_of_equal_points_meet_and_no_pair_twice() -> None:
    pairs, bye = pair_up("abcd", {"a": 2, "b": 2, "c": 1, "d": 1}, {frozenset("ab")})
    assert pairs == {frozenset("ac"), frozenset("bd")}
    assert bye is None
    pairs, bye = pair_up("abc", {"a": 1}, (), {"c"})
    assert bye == "b"
    assert pairs == {frozenset("ac")}


def test_rounds_follow_results_and_come_out_the_same_again() -> None:
    read = series(
        pairing="swiss",
        rounds=3,
        models=[f"near/m{n}" for n in range(6)],
        topics=[f"Topic {n}" for n in range(5)],
    )
    results: dict[str, str | None] = {}
    met: list[frozenset[str]] = []
    while found := list(_Swiss(read).next(results.keys(), results)):
        assert {one.a.ref for one in found} == {model.ref for model in read.models}
        met += {frozenset((one.a.ref, one.b.ref)) for one in found}
        results |= {one.key: "A" if one.a.ref < one.b.ref else "B" for one in found}
    assert len(met) == len(set(met)) == 9
    assert len(results) == _Swiss(read).total() == 18


# --- When debates before people begin: times of day hold when clocks change, and none is doubled


PLACE = SeriesPlace(platform="memory", channel="lobby")
NINE = "09:00 Europe/Berlin"
NIGHT = "every day 02:30 Europe/Berlin"


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
def test_the_first_is_at_the_next_time_of_day_and_without_one_now(now: str, first: str) -> None:
    assert first_time(read_when(NINE, PLACE), utc(now)) == utc(first)
    assert first_time(SeriesAudience(place=PLACE, every=1440), utc(now)) == utc(now)


@pytest.mark.parametrize(
    ("text", "due", "now", "following"),
    [
        # On 29 March 2026 clocks in Berlin go forward, on 25 October back.
        (NINE, "2026-03-28 08:00", "2026-03-28 09:00", "2026-03-29 07:00"),
        (NINE, "2026-10-24 07:00", "2026-10-24 08:00", "2026-10-25 08:00"),
        # What clocks skip is an hour later, at 03:30, and what comes twice is held once.
        (NIGHT, "2026-03-28 01:30", "2026-03-28 02:00", "2026-03-29 01:30"),
        (NIGHT, "2026-03-29 01:30", "2026-03-29 01:30", "2026-03-30 00:30"),
        (NIGHT, "2026-10-24 00:30", "2026-10-24 01:00", "2026-10-25 00:30"),
        (NIGHT, "2026-10-25 00:30", "2026-10-25 00:30", "2026-10-26 01:30"),
        # Missed times are left out.
        (NINE, "2026-03-10 08:00", "2026-03-14 12:00", "2026-03-15 08:00"),
        (f"every 2 days {NINE}", "2026-03-10 08:00", "2026-03-14 12:00", "2026-03-16 08:00"),
        ("every weekday 09:00 UTC", "2027-01-04 09:00", "2027-01-08 21:00", "2027-01-11 09:00"),
        # Several a day start over each morning.
        (f"every 6 hours {NINE}", "2026-03-10 08:00", "2026-03-10 08:05", "2026-03-10 14:00"),
        (f"every 6 hours {NINE}", "2026-03-10 20:00", "2026-03-10 20:05", "2026-03-11 08:00"),
        (f"every 6 hours {NINE}", "2026-03-10 08:00", "2026-03-12 21:00", "2026-03-13 08:00"),
    ],
)
def test_the_next_is_at_a_time_of_day_there_that_has_not_passed(
    text: str, due: str, now: str, following: str
) -> None:
    assert next_time(read_when(text, PLACE), utc(due), utc(now)) == utc(following)


def test_without_a_time_of_day_the_next_is_on_the_beat_of_the_first() -> None:
    hourly = SeriesAudience(place=PLACE, every=60)
    following = next_time(hourly, utc("2026-03-10 08:10"), utc("2026-03-10 11:30"))
    assert following == utc("2026-03-10 12:10")


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
def test_schedules_are_read_as_written(text: str, every: float, days: tuple[int, ...]) -> None:
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
    begin = utc(start)
    times = [first_time(people, begin)]
    while (following := next_time(people, times[-1], times[-1])) < begin + timedelta(days=14):
        times.append(following)
    local = [time.astimezone(ZoneInfo("Europe/Berlin")) for time in times]
    assert len(times) == len({one.date() for one in local}) == held
    assert {f"{one:%H:%M}" for one in local} <= {"02:30", "03:30"}


# --- What people see of a series while it is held: a bar as wide as the terminal, or plain lines


FILE: dict[str, Any] = {
    "name": "spring",
    "topics": ["Tabs beat spaces"],
    "models": ["near/ana", "near/ben"],
    "jury": {"models": ["near/j1"]},
    "limits": {"usd": 35.0},
}
TAKEN = UsageTotals(
    "near/ana", "debater", 12, 11_000, 7, 0, 23_456_789, 3_456_789, 456_789, 56_789, 27, 0
)
STANDING = SeriesProgress(
    total=1000, held=250, running=48, failed=3, refused=2, waiting={"near/a-model-that-is-away": 4}
)
ON_A_LINE = (
    "250 of 1,000 debates · 48 running · 3 failed · 2 refused · ETA 1 h 00 min · "
    "4 waiting for near/a-model-that-is-away · 11,000 calls · tokens 23,456,789 in · "
    "3,456,789 out · 456,789 reasoning · 56,789 cached · 27.00 USD"
)


class Books:
    """A store of which only the totals are read, and a clock."""

    def __init__(self) -> None:
        self.seconds, self.read_times, self.usd = 0.0, 0, 0.0
        self.slow = 0.0  # how long a reading takes
        self.usage = self.series = SimpleNamespace(read=self._read, taken=self._taken)

    async def _read(self, _: object) -> CallUsage:
        self.read_times += 1
        self.seconds += self.slow
        return CallUsage((TAKEN,), 250)

    async def _taken(self, _: str) -> float:
        return self.usd

    def now(self) -> float:
        return self.seconds

    def display(self, percent: float | None = 80.0) -> Display:
        return Display(read_series(FILE, ()), cast(Store, self), percent, self.now)


async def told(display: Display, standing: SeriesProgress = STANDING) -> None:
    display.print_line(standing)
    for _ in range(3):
        await asyncio.sleep(0)


async def test_a_plain_line_comes_every_half_minute(capsys: pytest.CaptureFixture[str]) -> None:
    books = Books()
    display = books.display()
    await told(display, STANDING.model_copy(update={"held": 0}))
    for second in range(1, 1201):
        books.seconds = float(second)
        await told(display)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 1200 / LINE_SECONDS
    assert lines[0].startswith("0 of 1,000 debates · 48 running")
    assert "ETA unknown" in lines[0]
    assert lines[-1] == ON_A_LINE
    assert books.read_times == 600 + 1  # every two seconds


async def test_the_last_line_has_the_true_count_and_slow_totals_are_read_less_often(
    capsys: pytest.CaptureFixture[str],
) -> None:
    display = Books().display()
    await told(display, SeriesProgress(total=24))
    for _ in range(3):
        await told(display, SeriesProgress(total=24, held=24))
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("0 of 24 debates · 0 running · ETA unknown")
    assert last == "24 of 24 debates · 0 running"
    assert list(display.parts()) == ["0 running"]  # the bar's last frame had older totals
    books = Books()
    books.slow = 1.0
    display = books.display()
    for _ in range(100):
        await told(display)
        books.seconds += 0.5
    assert books.read_times == 3


def test_parts_are_never_broken() -> None:
    assert list(pack(["one", "two", "three"], 9)) == ["one · two", "three"]
    assert list(pack(["longer than the line", "b"], 5)) == ["longer than the line", "b"]
    assert list(pack([], 9)) == []


async def test_it_says_once_that_the_cap_is_near(capsys: pytest.CaptureFixture[str]) -> None:
    said = "At least 80 % of the cap of 35.00 USD is used or reserved."
    for percent, times in ((80.0, 1), (None, 0)):
        books = Books()
        display = books.display(percent)
        for books.usd in (0.0, 27.9, 28.0, 35.0):
            await told(display)
            await told(display)
            books.seconds += 3.0
        assert capsys.readouterr().out.count(said) == times


@pytest.mark.parametrize("width", [120, 80, 40, 20])
async def test_no_line_is_wider_than_the_terminal_and_no_figure_is_lost(width: int) -> None:
    books = Books()
    display = books.display()
    await told(display, STANDING.model_copy(update={"held": 0}))
    books.seconds = 1200.0
    await told(display)
    console = Console(width=width, force_terminal=True, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(_Bar(display, console))
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capture.get()).rstrip("\n").splitlines()
    assert all(cell_len(line) <= width for line in lines)
    assert "250/1,000" in lines[0]
    shown = " · ".join(line.rstrip() for line in lines[1:])
    if width >= 40:
        assert shown == " · ".join(ON_A_LINE.split(" · ")[1:])
        assert len(lines) <= {120: 4, 80: 4, 40: 7}[width]


# --- Informative pairing: what it holds next, when it stops, and that no model is left out --------


STRENGTHS = {"near/m0": 1.2, "near/m1": 0.9, "near/m2": 0.0, "near/m3": -0.8, "near/m4": -1.3}


def informative_series(points: float = 150, **changes: object) -> Series:
    plain: dict[str, object] = {
        "topics": [f"Topic {number}" for number in range(20)],
        "models": list(STRENGTHS),
        "pairing": "informative",
        "repeats": 5,
        "limits": {"interval_points": points},
    }
    return series(**plain | changes)


def decide(planned: Planned, side: float = 0.3) -> str:
    lead = STRENGTHS[planned.a.ref] - STRENGTHS[planned.b.ref] + side
    options = (*planned.contenders, TIE)
    return Random(planned.key).choices(options, chances(lead, -1.5))[0]


class Hall:
    """Holds the debates that a chooser chooses."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser = chooser
        self.begun: dict[str, Planned] = {}
        self.results: dict[str, str | None] = {}

    def begin(self) -> Iterator[Planned]:
        for planned in self.chooser.next(self.begun.keys(), self.results):
            assert planned.key not in self.begun
            self.begun[planned.key] = planned
            yield planned

    def hold(self, at_once: int, silent: str = "") -> None:
        """Hold everything; debates of a `silent` model have no verdict."""
        while batch := list(islice(self.begin(), at_once)):
            for one in batch:
                fails = silent in (one.a.ref, one.b.ref)
                self.results[one.key] = None if fails else decide(one)

    def tallies(self) -> dict[_Seats, tuple[int, int, int]]:
        counts: dict[_Seats, Counter[str | None]] = {}
        for key, one in self.begun.items():
            seats = _Seats(int(one.a.name[1:]), int(one.b.name[1:]))
            if self.results[key] is not None:
                counts.setdefault(seats, Counter())[self.results[key]] += 1
        return {seats: (of["A"], of["B"], of[TIE]) for seats, of in counts.items()}

    def widest(self) -> float:
        fit = some(rate_seats(self.tallies()))
        return max(map(width_of, fit.errors.values()))


def hall(points: float = 150, **changes: object) -> Hall:
    chooser = choose(informative_series(points, **changes))
    assert isinstance(chooser, Informative)
    return Hall(chooser)


@pytest.mark.slow
def test_it_stops_as_soon_as_every_interval_is_narrow_enough() -> None:
    one = hall()
    one.hold(at_once=10)
    assert one.widest() <= 150
    assert 100 < len(one.begun) < one.chooser.total() == 2000
    assert not list(one.begin())
    finer = hall(points=120)
    finer.hold(at_once=10)
    assert finer.widest() <= 120
    assert len(finer.begun) > 1.3 * len(one.begun)


def test_all_pairs_take_more_debates_for_the_same_widest_interval() -> None:
    every = Hall(choose(informative_series(pairing="all", repeats=1, limits={})))
    every.hold(at_once=200)
    one = hall(points=every.widest())
    one.hold(at_once=10)
    assert one.widest() <= every.widest()
    assert len(one.begun) < 0.95 * len(every.begun)
    # One that is too short is held as a whole.
    short = hall(points=20, repeats=1, topics=["Tea", "Cats"])
    short.hold(at_once=7)
    assert len(short.begun) == short.chooser.total() == 40
    assert set(short.results) == {planned.key for planned in short.begun.values()}


def test_the_first_debates_connect_every_model_and_count_at_what_they_are_expected_to_say() -> None:
    links: dict[str, set[str]] = {model: set() for model in STRENGTHS}
    for planned in islice(hall().begin(), len(STRENGTHS) - 1):
        links[planned.a.ref].add(planned.b.ref)
        links[planned.b.ref].add(planned.a.ref)
    assert reach(links, "near/m0") == set(STRENGTHS)
    one = hall(points=200)
    first = list(one.begin())  # everything at once, without one result
    assert 20 < len(first) < 200
    assert not list(one.begin())
    one.results = {planned.key: decide(planned) for planned in first}
    one.hold(at_once=1000)
    assert one.widest() <= 200


@pytest.mark.parametrize("sides", ["both", "drawn"])
def test_sides_are_even_no_model_is_left_out_and_equals_meet_more_often(sides: str) -> None:
    one = hall(points=110, sides=sides)
    one.hold(at_once=10)
    met = Counter((planned.a.ref, planned.b.ref) for planned in one.begun.values())
    pairs = list(combinations(STRENGTHS, 2))
    assert max(abs(met[a, b] - met[b, a]) for a, b in pairs) <= 1
    often = Counter(model for pair in met.elements() for model in pair)
    assert set(often) == set(STRENGTHS)
    assert min(often.values()) > 0.4 * max(often.values())
    together = {frozenset(pair): met[pair] + met[pair[::-1]] for pair in pairs}
    strongest, furthest = frozenset(("near/m0", "near/m1")), frozenset(("near/m0", "near/m4"))
    assert together[strongest] > 1.5 * together[furthest]


def test_a_run_goes_on_after_a_kill_as_if_there_had_been_none() -> None:
    whole, killed = hall(), hall()
    whole.hold(at_once=10)
    for _ in range(7):
        batch = list(islice(killed.begin(), 10))
        killed.results |= {one.key: decide(one) for one in batch}
        killed.chooser = Informative(informative_series())
    killed.hold(at_once=10)
    assert killed.widest() <= 150
    assert len(killed.begun) == pytest.approx(len(whole.begun), rel=0.15)
    assert not list(Informative(informative_series()).next(killed.begun.keys(), killed.results))


@pytest.mark.slow
def test_a_model_without_verdicts_does_not_take_the_debates_of_others() -> None:
    one = hall()
    one.hold(at_once=10, silent="near/m2")
    often = Counter(model for on in one.begun.values() for model in (on.a.ref, on.b.ref))
    assert often["near/m2"] <= 2 * min(often[model] for model in STRENGTHS)
    assert len(one.begun) < one.chooser.total() / 2
    assert one.widest() <= 150


def direction(seats: _Seats, models: int) -> np.ndarray:
    lead = np.zeros(models + 1)
    lead[[seats.a, seats.b, models]] = 1, -1, 1
    return lead


def covariance(design: _Design) -> np.ndarray:
    """The inverse of the information, without any update."""
    models = design.models
    found = PRIOR * np.eye(models + 1)
    found[:models, :models] += 1 / models
    tie = design.parameters[-1] if len(design.parameters) > models + 1 else None
    for seats, number in design.met.items():
        lead = direction(seats, models)
        spread = chances(float(lead @ design.parameters[: models + 1]), tie).spread
        found += number * spread * np.outer(lead, lead)
    return np.linalg.inv(found)


def widths(design: _Design) -> list[float]:
    models, found = design.models, covariance(design)
    centre = np.eye(models) - 1 / models
    return [width_of(one**0.5) for one in np.diag(centre @ found[:models, :models] @ centre)]


SEATS = [_Seats(a, b) for a in range(5) for b in range(5) if a != b]


def drawn(random: Random, least: int) -> _Design:
    """Return a design that has learned some drawn results of every pair."""
    rolls = {one: [random.randrange(least, 4) for _ in range(3)] for one in SEATS}
    return learn({one: (a, b, tied) for one, (a, b, tied) in rolls.items()}, 5)


def test_updates_of_the_inverse_are_the_inverse_of_the_updated() -> None:
    random = Random(3)
    design = drawn(random, 0)
    for _ in range(50):
        assert design.widths() == pytest.approx(widths(design), rel=1e-9)
        design.begin(random.choice(SEATS))


def test_the_best_pair_lowers_the_widest_intervals_most() -> None:
    design = drawn(Random(4), 1)

    def widest_after(seats: _Seats) -> float:
        more = _Design(design.models, design.parameters, design.met + Counter([seats]))
        return float(np.linalg.norm(widths(more), ord=32))  # the widest counts most

    for _ in range(30):
        best = some(design.best(SEATS))
        assert widest_after(best) <= min(map(widest_after, SEATS)) * 1.01
        design.begin(best)
    assert design.best([]) is None


ARMS = [{"name": "brief", "length": "short"}, {"name": "oxford", "format": "oxford"}]


def arms_of(held: list[Planned]) -> dict[str, str]:
    return {one.key: one.arm for one in held}


@pytest.mark.parametrize("sides", ["both", "drawn"])
@pytest.mark.parametrize("number", [2, 3, 5])
def test_arms_meet_every_topic_pair_and_repeat_about_equally_often(number: int, sides: str) -> None:
    arms = [{"name": f"arm-{n}", "rounds": n + 1} for n in range(number)]
    topics = [f"Topic {n}" for n in range(12)]
    models = [f"near/m{n}" for n in range(6)]
    held = debates(arms=arms, topics=topics, models=models, sides=sides, repeats=3)
    by: dict[str, Callable[[Planned], object]] = {
        "topic": lambda one: one.topic.text,
        "pair": lambda one: frozenset((one.a.ref, one.b.ref)),
        "repeat": lambda one: one.repeat,
    }
    assert len({one.options.rounds for one in held}) == number
    for name, key in by.items():
        counts = Counter((key(one), one.arm) for one in held)
        groups = {key(one) for one in held}
        for group in groups:
            found = [counts[group, str(arm["name"])] for arm in arms]
            assert max(found) - min(found) <= number, (name, group)
    totals = Counter(one.arm for one in held).values()
    assert max(totals) - min(totals) <= number * number


def test_an_arm_is_as_likely_for_every_debate_and_follows_from_the_seed_alone() -> None:
    once = debates(arms=ARMS)
    assert once == debates(arms=ARMS)
    drawn: Counter[tuple[int, str]] = Counter()
    for seed in range(400):
        for one in debates(arms=ARMS, arms_seed=seed):
            drawn[one.ordinal, one.arm] += 1
    assert all(150 < drawn[one.ordinal, "brief"] < 250 for one in once)
    assert len(drawn) == 2 * len(once)


def test_what_is_added_at_the_end_moves_no_debate_to_another_arm() -> None:
    before = arms_of(debates(arms=ARMS, languages=["en"]))
    more = debates(
        arms=ARMS,
        topics=[*BASE["topics"], "Cats beat dogs"],
        models=[*BASE["models"], "near/dan"],
        languages=["en", "de"],
        repeats=3,
    )
    after = arms_of(more)
    assert before.items() <= after.items()
    assert len(after) == len(more)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"arms": [*ARMS, {"name": "long", "length": "long"}]}, "arms has new ones, which take"),
        ({"arms": [ARMS[0], ARMS[1] | {"length": "long"}]}, "arms no longer has name oxford"),
        ({"arms_seed": 7}, "arms_seed was 0 and is now 7."),
        ({"topics": ["New", *BASE["topics"]]}, "does not stand last in its list"),
        ({"arms": []}, "arms no longer has name brief, length short"),
    ],
)
def test_a_file_that_moves_held_debates_to_other_arms_is_refused(
    changes: dict[str, Any], said: str
) -> None:
    before = series(arms=ARMS)
    held = {planned.key for planned in expand(before)}
    with pytest.raises(UsageError, match=re.escape(said)):
        check_unchanged(before, series(**{"arms": ARMS} | changes), held)


def test_options_of_an_arm_stand_in_place_of_its_formats() -> None:
    formats = [{"format": "roundtable", "agents": 2, "rounds": 2}, "classic"]
    arms = [{"name": "as-is"}, {"name": "long", "rounds": 3, "quorum": 9}]
    found = {(one.options.format, one.arm): one for one in debates(formats=formats, arms=arms)}
    table = found["roundtable", "long"]
    assert (table.options.rounds, table.options.quorum) == (3, 9)
    assert dict(table.options.options) == {"agents": 2}
    assert table.contenders == ("1", "2")
    assert found["roundtable", "as-is"].options.rounds == 2
    assert found["classic", "as-is"].options.rounds is None


def test_an_arm_without_debates_is_named() -> None:
    few = {"topics": ["Tea"], "models": BASE["models"][:2], "arms": [{"name": n} for n in "abc"]}
    said = r"arms: no debate falls to [abc], as the series has 2; add topics or repeats"
    with pytest.raises(UsageError, match=said):
        check_arms(series(**few))
    check_arms(series(**few | {"repeats": 2}))
    check_arms(series())


def test_what_is_tried_of_each_kind_is_tried_in_each_arm() -> None:
    held = list(expand(one_of_each(series(arms=ARMS, topics=[f"Topic {n}" for n in range(9)]))))
    kinds = {(one.a.ref, one.b.ref, one.arm) for one in held}
    assert len(kinds) == len(held) == 12


def test_three_at_a_table_sit_in_every_order_that_tells_them_apart() -> None:
    names = [*BASE["models"], "near/dan"]
    held = debates(formats=[TABLE], models=names, judges=["far/judge"])
    assert len(held) == series(formats=[TABLE], models=names).size == 2 * 4 * 3
    assert {one.contenders for one in held} == {("1", "2", "3")}
    places = Counter((model.ref, seat) for one in held for seat, model in one.models.items())
    assert set(places.values()) == {2 * 3}
    once = debates(formats=[TABLE], models=names, sides="drawn", repeats=20)
    assert len(once) == 2 * 4 * 20
    assert len({one.seated[0].ref for one in once}) == 4


def test_a_table_may_be_listed_and_have_one_model_in_several_seats() -> None:
    pairing = [["near/ana", "near/ana", "near/ana"], ["near/ana", "near/ana", "near/ben"]]
    held = debates(formats=[TABLE], models=BASE["models"][:2], pairing=pairing)
    seated = Counter(tuple(model.name for model in one.seated) for one in held)
    assert seated == dict.fromkeys(
        [("ana",) * 3, ("ana", "ana", "ben"), ("ana", "ben", "ana"), ("ben", "ana", "ana")], 2
    )
    assert len({one.key for one in held}) == len(held)
    with pytest.raises(UsageError, match="twice; remove one group"):
        series(formats=[TABLE], pairing=[pairing[1], pairing[1][::-1]])


def test_judges_and_seats_stand_where_a_format_has_them_and_stay() -> None:
    formats = ["team", "classic"]
    asked = {"formats": formats, "seats": {"A1": "far/captain"}}
    held = series(**asked)
    orders = {one.options.format: order_of(held, one) for one in expand(held)}
    assert list(orders["classic"].models) == ["A", "B"]
    assert orders["team"].models["A1"].ref == "far/captain"
    table = series(formats=[TABLE], judges=["far/judge"])
    (planned, *_) = expand(table)
    assert [one.ref for one in order_of(table, planned).judges] == ["far/judge"]
    keys = {planned.key for planned in expand(table)}
    said = "judges were far/judge and are now far/other"
    with pytest.raises(UsageError, match=said):
        check_unchanged(table, series(formats=[TABLE], judges=["far/other"]), keys)
    keys = {planned.key for planned in expand(held)}
    with pytest.raises(UsageError, match="seats was A1 far/captain and is now none"):
        check_unchanged(held, series(formats=formats), keys)
