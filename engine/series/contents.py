"""The debates that a series holds: from its file, at their times, and as they are stored."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import orjson

from engine.series.spec import (
    Daily,
    Group,
    Jury,
    Series,
    SeriesAudience,
    Sides,
    exchanges,
    roles_of,
)
from engine.store import Store
from engine.store.series import StoredSeries
from engine.values.debate import Model, Value
from engine.values.errors import UsageError
from engine.values.language import Text
from engine.values.options import Options
from engine.values.ports import Location, utc_now
from engine.values.text import headline
from engine.values.topics import Topic

# The debates of a series, in the order in which they are held: a pure function of its file.


Results = Mapping[str, str | None]
"""The winner of each debate that ended, by key: a contender, "tie", or None without a verdict."""


class Planned(Value):
    """One debate of a series.

    `key` stays the same as long as what is debated, by which models and on which sides, does; so
    does `seed`. `ordinal` counts the debates of the series from 1; jurors' orders and seats follow
    it, so that they are balanced within the series. `contenders` are the names of the sides, and
    `seated` their models.
    `options` are those of its format, with those of its `arm` in place of them.
    """

    key: str
    seed: int
    ordinal: int
    topic: Topic
    language: str
    options: Options
    contenders: tuple[str, ...]
    seated: Group
    repeat: int
    arm: str = ""

    @property
    def a(self) -> Model:
        """The model on the first side."""
        return self.seated[0]

    @property
    def b(self) -> Model:
        """The model on the second side."""
        return self.seated[1]

    @property
    def models(self) -> dict[str, Model]:
        """The models by contender."""
        return dict(zip(self.contenders, self.seated, strict=True))


class _Motion(NamedTuple):
    """What a pair of models debates."""

    repeat: int
    topic: Topic
    language: str
    options: Options
    contenders: tuple[str, ...]


class _Cell(NamedTuple):
    """The places of a motion's topic, among those in its language, and of its format."""

    topic: int
    format: int


def expand(series: Series) -> Iterator[Planned]:
    """Yield every debate of a series, without holding them in memory.

    Repeats come last, and each motion begins with another pair, so that a series cut short at its
    cap has met every pair about equally often.
    """
    ordinal = 0
    arms = _ArmDraw(series)
    for number, (motion, cell) in enumerate(_motions(series)):
        count = len(series.pairs)
        for pair in (place % count for place in range(number, number + count)):
            for seat, seated in enumerate(_seated(series, motion, series.pairs[pair])):
                ordinal += 1
                held, arm = arms.draw(motion, cell, pair, seat)
                refs = (model.ref for model in seated)
                parts = (held.topic, held.language, held.options, *refs, held.repeat)
                digest = _digest(*parts, *((arm,) if arm else ()))
                seed = int(_digest(series.name, digest)[:12], 16)
                yield Planned(
                    key=digest[:16],
                    seed=seed,
                    ordinal=ordinal,
                    seated=seated,
                    arm=arm,
                    **held._asdict(),
                )


def count_arms(series: Series) -> dict[str, int]:
    """Return how many debates fall to each arm, in the order of the file."""
    counts = Counter(planned.arm for planned in expand(series)) if series.arms else Counter[str]()
    return {arm.name: counts[arm.name] for arm in series.arms}


def check_arms(series: Series) -> None:
    """Refuse a series that leaves an arm without a debate. Raises UsageError."""
    missing = {arm.name: None for arm in series.arms}
    for planned in expand(series) if missing else ():
        missing.pop(planned.arm, None)
        if not missing:
            return
    for name in missing:
        raise UsageError(
            f"arms: no debate falls to {name}, as the series has {series.size}; add topics or "
            "repeats, or remove the arm."
        )


def _motions(series: Series) -> Iterator[tuple[_Motion, _Cell]]:
    formats = [(options, roles_of(options).contenders) for options in series.formats]
    for repeat in range(1, series.repeats + 1):
        met: Counter[str] = Counter()
        for topic in series.topics:
            for language in series.languages_of(topic):
                for number, (options, contenders) in enumerate(formats):
                    motion = _Motion(repeat, topic, language, options, contenders)
                    yield motion, _Cell(met[language], number)
                met[language] += 1


def _seated(series: Series, motion: _Motion, group: Group) -> list[Group]:
    """Return who is on which side: each on every side once, or as drawn."""
    if series.sides is Sides.BOTH:
        return exchanges(group)
    ordered = sorted(group, key=lambda model: model.ref)
    chance = Random(_digest(series.name, "sides", *motion, *(model.ref for model in ordered)))
    if len(ordered) == 2:
        one, other = ordered
        return [(one, other) if chance.random() < 0.5 else (other, one)]
    chance.shuffle(ordered)
    return [tuple(ordered)]


# Which arm a debate falls to. Debates are laid out in cubes of as many topics, pairs on their sides
# and repeats as there are arms; in each, the arms are a Latin square, shuffled in every direction
# (R. A. Fisher, The Design of Experiments, 1935, chapter V). So each arm is as likely for every
# debate, and meets all topics, pairs, sides and repeats about equally often. What is added at the
# end of a list moves no debate to another arm.


class _ArmDraw:
    """Says which arm each debate of a series falls to."""

    def __init__(self, series: Series) -> None:
        self._arms, self._seed = series.arms, series.arms_seed
        over = [[arm.over(options) for options in series.formats] for arm in series.arms]
        self._held = [[(options, roles_of(options).contenders) for options in arm] for arm in over]
        self._cubes: dict[tuple[object, ...], list[list[int]]] = {}
        self._seats = len(series.pairs[0]) if series.sides is Sides.BOTH else 1
        # Pairs with a model that comes late in the file have the last places.
        models = {model.ref: place for place, model in enumerate(series.models)}
        late = [max(models[model.ref] for model in pair) for pair in series.pairs]
        ordered = sorted(range(len(late)), key=late.__getitem__)
        self._places = {pair: place for place, pair in enumerate(ordered)}

    def draw(self, motion: _Motion, cell: _Cell, pair: int, seat: int) -> tuple[_Motion, str]:
        """Return a debate with the options of its arm, and the arm; empty if there are none."""
        count = len(self._arms)
        if not count:
            return motion, ""
        spot = (cell.topic, self._seats * self._places[pair] + seat, motion.repeat - 1)
        which = (cell.format, motion.language, *(place // count for place in spot))
        if which not in self._cubes:
            chance = Random(_digest(self._seed, "arms", *which))
            self._cubes[which] = [chance.sample(range(count), count) for _ in range(len(spot) + 1)]
        *shuffled, arms = self._cubes[which]
        steps = (order[place % count] for order, place in zip(shuffled, spot, strict=True))
        arm = arms[sum(steps) % count]
        options, contenders = self._held[arm][cell.format]
        return motion._replace(options=options, contenders=contenders), self._arms[arm].name


def _digest(*parts: object) -> str:
    """Return the SHA-256 of values as JSON, in hexadecimal, without any answer.

    Everyone may see a debate's seed, which follows from it.
    """
    plain = [
        part.model_dump(mode="json", exclude_none=True, exclude={"answer"})
        if isinstance(part, Value)
        else part
        for part in parts
    ]
    return hashlib.sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()


# When the debates of a series before people begin; pure.
#
# Times of day are those of the wall clock in the file's time zone, so that 09:00 stays 09:00 when
# the clocks change. An hour that the clocks skip is held when they have been put forward, and one
# that comes twice the first time.


DAY = timedelta(days=1)


def first_time(people: SeriesAudience, now: datetime) -> datetime:
    """Return when the first debate may begin: at once, or at the next time of day."""
    if people.at is None:
        return now
    if people.days:
        return _first_on(people.days, people.at, now - timedelta(microseconds=1))
    return _first_after(people.at, _every(people), now - timedelta(microseconds=1))


def next_time(people: SeriesAudience, due: datetime, now: datetime) -> datetime:
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


def _every(people: SeriesAudience) -> timedelta:
    return timedelta(minutes=people.every)


def _day(at: Daily, moment: datetime) -> date:
    return moment.astimezone(ZoneInfo(at.zone)).date()


def _moment(at: Daily, local: datetime) -> datetime:
    return local.replace(tzinfo=ZoneInfo(at.zone)).astimezone(UTC)


# Stores a series, unless its file would change debates that were held already.


MOST_SHOWN = 3
JUDGING = ("jury", "judges", "seats")  # which apply to every debate, and stand in no key


async def save_series(store: Store, series: Series) -> StoredSeries:
    """Store a series, which may then begin debates. Raises UsageError as `check_unchanged` does."""
    before, now = await store.series.find(series.name), utc_now()
    due = None if series.people is None else first_time(series.people, now)
    if before is not None:
        held = {debate.key for debate in await store.series.debates(series.name)}
        old = Series.model_validate_json(before.body)
        check_unchanged(old, series, held)
        if series.people is not None and before.due_at is not None and old.people == series.people:
            due = before.due_at
    stored = StoredSeries(
        name=series.name,
        body=series.model_dump_json(),
        usd=series.limits.usd,
        begun_at=before.begun_at if before else now,
        platform=series.people and series.people.place.platform,
        community=before and before.community,
        due_at=due,
    )
    await store.series.save(stored)
    return stored


async def begin_in_chat(
    store: Store, series: Series, where: Location, platform: str, due: datetime, now: datetime
) -> None:
    """Store a series that a command began in a community; its first debate is `due` then."""
    await store.series.save(
        StoredSeries(
            name=series.name,
            body=series.model_dump_json(),
            begun_at=now,
            platform=platform,
            community=where.community,
            due_at=due,
        )
    )


def check_unchanged(before: Series, now: Series, held: Collection[str]) -> None:
    """Refuse a file that would change debates already held; `held` are their keys.

    Adding to topics, models, formats, languages or repeats is fine (with arms, at the end), and so
    are other limits and another place. Raises UsageError with the difference.
    """
    if not held:
        return
    changed = [name for name in JUDGING if getattr(before, name) != getattr(now, name)]
    lost = len(set(held) - {planned.key for planned in expand(now)})
    if lost:
        changed += ["topics", "models", "pairs", "sides", "formats", "languages", "repeats"]
        changed += ["arms", "arms_seed"]
    differences = list(_differences(before, now, changed))
    if lost and not differences and before.arms != now.arms:
        differences = ["arms has new ones, which take debates of the others"]
    elif lost and not differences and now.arms:
        differences = ["what is new does not stand last in its list, and so moves others' arms"]
    if differences:
        count = len(held) if changed[0] in JUDGING else lost
        raise UsageError(
            f"The series {now.name} has {len(held)} debates, and this file would change "
            f"{count} of them: {'; '.join(differences)}. Undo that, or give the series another "
            "name."
        )


def _differences(before: Series, now: Series, names: Collection[str]) -> Iterator[str]:
    for name in names:
        old, new = getattr(before, name), getattr(now, name)
        if old == new:
            continue
        if name == "judges":
            was, are = (", ".join(map(_word, one)) or "none" for one in (old, new))
            yield f"judges were {was} and are now {are}"
        elif isinstance(old, tuple):
            gone = [one for one in old if one not in new]
            if gone:
                shown = ", ".join(map(_word, gone[:MOST_SHOWN]))
                more = f" and {len(gone) - MOST_SHOWN} more" if len(gone) > MOST_SHOWN else ""
                yield f"{name} no longer has {shown}{more}"
        elif name != "repeats" or new < old:
            was = _word(old)
            yield f"{name} was {was}{',' if ', ' in was else ''} and is now {_word(new)}"


def _word(value: Any) -> str:
    """Return how a file writes a value."""
    if isinstance(value, tuple):
        return " against ".join(map(_word, value))
    if isinstance(value, Model):
        return value.ref
    if isinstance(value, Jury):
        # Its models and how they read, where that is not the default.
        jury = value
        refs = tuple(model.ref for model in jury.models)
        models = [str(Text("{refs:and}", refs=refs))] if refs else []
        mode = [f"mode {jury.mode}"] if jury.mode is not Jury().mode else []
        return ", ".join((*models, *mode)) or "the default"
    if isinstance(value, Mapping):
        return ", ".join(f"{seat} {model.ref}" for seat, model in value.items()) or "none"
    if not isinstance(value, Value):
        return str(value)
    held = value.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    if "text" in held:
        return f"“{headline(str(held['text']), 60)}”"
    while "options" in held:
        held |= held.pop("options")
    switches = {True: "on", False: "off"}
    plain = {key: switches[one] if isinstance(one, bool) else one for key, one in held.items()}
    return ", ".join(f"{key} {one}" for key, one in plain.items()) or "the default"
