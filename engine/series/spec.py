"""A series as its file describes it, checked: every mistake is one sentence that names its key."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import time
from enum import StrEnum
from itertools import combinations
from operator import not_
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from engine.formats import find_format
from engine.formats.format import Roles, read_own
from engine.prompts import check_language
from engine.run.request import seat_judges
from engine.values.configuration import between, limits_at, parse_model
from engine.values.debate import Model, PanelMode, Value
from engine.values.errors import UsageError
from engine.values.language import N_, Text
from engine.values.options import STANCES, Options, check_limits, hint, parse_minutes, read_options
from engine.values.text import clean, headline, is_visible
from engine.values.topics import Topic, fold_topic

# A league among a community's models, as it is stored with its series.


FEWEST_MODELS = 3


class System(StrEnum):
    """How a league is played."""

    ROUND_ROBIN = "round_robin"
    SWISS = "swiss"
    KNOCKOUT = "knockout"


class Decided(StrEnum):
    """Whose word decides a match."""

    PEOPLE = "people"
    JURY = "jury"
    PEOPLE_THEN_JURY = "people_then_jury"


class Match(Value):
    """A match that was drawn: `a` and `b` are the models on either side."""

    round: int
    a: Model
    b: Model

    @property
    def pair(self) -> frozenset[str]:
        """Both models, whatever their sides."""
        return frozenset((self.a.ref, self.b.ref))


class Bye(Value):
    """A model that went on without a match, as their number was odd."""

    round: int
    model: Model


class League(Value):
    """A league among a community's models; `drawn` are its matches so far, in order.

    `rounds` is how often each pair meets, or how many rounds a Swiss system has.
    """

    system: System
    decided: Decided = Decided.PEOPLE_THEN_JURY
    rounds: int = 1
    seed: int
    models: tuple[Model, ...]
    drawn: tuple[Match, ...] = ()
    byes: tuple[Bye, ...] = ()

    @property
    def total(self) -> int:
        """How many matches it has, without those that a tie repeats."""
        count = len(self.models)
        match self.system:
            case System.ROUND_ROBIN:
                return self.rounds * count * (count - 1) // 2
            case System.SWISS:
                return self.rounds * (count // 2)
            case System.KNOCKOUT:
                return count - 1


Group = tuple[Model, ...]
"""The models of one debate: a pair, or as many as sit at a table."""
LONGEST_NAME = 60
DAY = 1440.0  # minutes
_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NAMED_DAYS: Mapping[str, tuple[int, ...]] = {
    "weekday": (0, 1, 2, 3, 4),
    "weekend": (5, 6),
    **{name: (number,) for number, name in enumerate(_WEEK)},
    **{name[:3]: (number,) for number, name in enumerate(_WEEK)},
}
_LONG_UNITS = re.compile(r"\b(?<![a-z])\s*(d|h)(?:ays?|ours?)\b")
_SPAN = re.compile(r"(?:\d+ ?)?(?:d|h|days?|hours?)")
_WHEN = re.compile(
    r"(?:every )?(?P<every>.*?)[ ,]*(?:\bat )?(?P<at>\d{1,2}:\d\d(?: [^ ]+)?)", re.IGNORECASE
)
NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
FIXED = ("topic", "language", "panel", "mirror", *STANCES.values())
"""The options of a debate that a series sets itself."""


class Pairing(StrEnum):
    """Which debates of a series are held, and in which order."""

    ALL = "all"
    INFORMATIVE = "informative"
    SWISS = "swiss"


class Sides(StrEnum):
    """How a pair of models is put on two sides."""

    BOTH = "both"  # every debate twice, with sides exchanged
    DRAWN = "drawn"


class SeriesPlace(Value):
    """A channel where people vote: its platform, and its id there."""

    platform: str
    channel: str

    @property
    def said(self) -> str:
        """The place as a file writes it."""
        return f"{self.platform}:{self.channel}"


class Daily(Value):
    """A time of day in a time zone."""

    hour: int
    minute: int
    zone: str

    @property
    def clock(self) -> time:
        """The time of day."""
        return time(self.hour, self.minute)


class SeriesAudience(Value):
    """Where a series is held before people, and how often.

    `every` is in minutes; `at` is when the first debate of a day may begin. With `days`, 0 for
    Monday, it is held once on each of them instead.
    """

    place: SeriesPlace
    every: float
    at: Daily | None = None
    days: tuple[int, ...] = Field((), exclude_if=not_)


class Recurring(Value):
    """A debate that is held again and again; without a topic, on the one most wanted.

    `said` is when, as it was asked for; models are named as they were typed. `place` is where it is
    held, and `channel` that place in settings.
    """

    said: str
    place: str
    channel: str
    options: Options = Options()
    sides: Mapping[str, str] = {}
    jurors: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()


class Jury(Value):
    """The jury of every debate of a series; without models it is the installation's."""

    models: tuple[Model, ...] = ()
    mode: PanelMode = PanelMode.ADAPTIVE


class _Arm(Value):
    """Options of some debates of a series, which are compared with those of its other arms."""

    name: str
    options: Options

    def over(self, options: Options) -> Options:
        """Return a format's options with those of the arm in place of them."""
        own = {**options.options, **self.options.options}
        return (options | self.options).model_copy(update={"options": own})


class _Limits(Value):
    """What a series may spend and do at once.

    `interval_points` is the width of ratings' intervals at which `informative` pairing stops.
    """

    usd: float | None = Field(None, gt=0, allow_inf_nan=False)
    debates_at_once: int = Field(20, ge=1, le=10_000)
    interval_points: float = Field(100.0, gt=0, le=2000)


class Series(Value):
    """A series: every debate follows from this value alone (see engine/series/contents.py).

    `formats` have a format and its options each; `pairs` are the models that meet, more than two
    at a table. A topic without a language is held in each of the `languages`. Each debate falls to
    one of the `arms`, if there are any, by a draw with `arms_seed`. `judges` are those of formats
    that have their own, `seats` models of single seats, on either side.
    """

    name: str
    topics: tuple[Topic, ...]
    models: tuple[Model, ...]
    pairs: tuple[Group, ...]
    pairing: Pairing = Pairing.ALL
    rounds: int | None = None
    sides: Sides = Sides.BOTH
    formats: tuple[Options, ...]
    languages: tuple[str, ...] = ("en",)
    repeats: int = 1
    arms: tuple[_Arm, ...] = Field((), exclude_if=not_)
    arms_seed: int = Field(0, exclude_if=not_)
    jury: Jury = Jury()
    judges: tuple[Model, ...] = Field((), exclude_if=not_)
    seats: Mapping[str, Model] = Field({}, exclude_if=not_)
    limits: _Limits = _Limits()
    people: SeriesAudience | None = None
    league: League | None = None
    recurring: Recurring | None = Field(None, exclude_if=not_)

    @property
    def size(self) -> int:
        """How many debates the series has."""
        held = sum(len(self.languages_of(topic)) for topic in self.topics)
        seatings = [len(exchanges(pair)) for pair in self.pairs]
        often = sum(seatings) if self.sides is Sides.BOTH else len(seatings)
        return held * len(self.formats) * often * self.repeats

    @property
    def format_names(self) -> tuple[str, ...]:
        """The formats of its debates, each once."""
        held = [arm.over(one) for one in self.formats for arm in self.arms] or self.formats
        return tuple(dict.fromkeys(options.format or "" for options in held))

    def languages_of(self, topic: Topic) -> tuple[str, ...]:
        """Return the languages that a topic is debated in."""
        return tuple(one for one in self.languages if not topic.language or topic.speaks(one))


def exchanges(group: Group) -> list[Group]:
    """Return a group with each of its models on each side once, in every order that differs."""
    turned = (group[start:] + group[:start] for start in range(len(group)))
    return list({tuple(model.ref for model in one): one for one in turned}.values())


# --- the file ----------------------------------------------------------------------------


def _listed(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class _Jury(Value):
    models: Texts = ()
    mode: PanelMode = PanelMode.ADAPTIVE


class _People(Value):
    place: str
    every: str = "1d"
    at: str = ""


class _File(Value):
    """The keys of a file as they are written."""

    name: str
    topics: Texts = ()
    topics_file: str = ""
    models: Texts = ()
    pairing: str | tuple[tuple[str, ...], ...] = Pairing.ALL.value
    rounds: int | None = Field(None, ge=1, le=1000)
    sides: Sides = Sides.BOTH
    formats: Annotated[tuple[str | dict[str, Any], ...], BeforeValidator(_listed)] = ("classic",)
    languages: Texts = ("en",)
    repeats: int = Field(1, ge=1, le=1000)
    arms: tuple[dict[str, Any], ...] = ()
    arms_seed: int = 0
    jury: _Jury = _Jury()
    judges: Texts = ()
    seats: Mapping[str, str] = {}
    limits: _Limits = _Limits()
    people: _People | None = None


def read_series(
    held: Mapping[str, Any],
    topics: Sequence[Topic],
    offered: Sequence[Model] = (),
    variants: Mapping[str, Model] | None = None,
) -> Series:
    """Check what a file holds; `topics` are those of its `topics_file`, or the built-in ones.

    `offered` debate if the file names no models; `variants` may be named in it. Raises UsageError
    with the first mistake.
    """
    try:
        file = _File.model_validate(dict(held))
    except ValidationError as error:
        raise UsageError(_describe(error)) from None
    formats = tuple(map(_format, file.formats))
    if len({one.model_dump_json() for one in formats}) < len(formats):
        raise UsageError("formats has an entry twice; remove one.")
    arms = _arms(file, formats)
    roles = _roles(formats, arms)
    models = _models("models", file.models, variants) if file.models else tuple(offered)
    pairs = _pairs(file.pairing, models, variants, len(roles[0].contenders))
    try:
        languages = tuple(map(check_language, file.languages))
    except UsageError as error:
        raise UsageError(f"languages: {error}") from None
    if len(set(languages)) < len(languages):
        raise UsageError("languages names one twice; remove it.")
    if not file.formats or not languages:
        raise UsageError(f"{'languages' if file.formats else 'formats'} is empty; name one.")
    text = _check_name("name", file.name)
    return Series(
        name=text,
        topics=_topics(file, topics, languages),
        models=tuple({model.ref: model for pair in pairs for model in pair}.values()),
        pairs=pairs,
        pairing=_pairing(file),
        rounds=file.rounds,
        sides=file.sides,
        formats=formats,
        languages=languages,
        repeats=file.repeats,
        arms=arms,
        arms_seed=file.arms_seed,
        jury=Jury(models=_models("jury.models", file.jury.models, variants), mode=file.jury.mode),
        judges=_judges(file, roles, variants),
        seats=_seats(file, roles, variants),
        limits=file.limits,
        people=_people(file.people) if file.people else None,
    )


def _describe(error: ValidationError) -> str:
    """Return the sentence for the first mistake, with the nearest key for an unknown one."""
    mistake = error.errors(include_url=False, include_input=False)[0]
    sections: Mapping[str, type[BaseModel]] = {"jury": _Jury, "limits": _Limits, "people": _People}
    kinds: tuple[type[BaseModel], ...] = (_File, *sections.values())
    keys = {name for kind in kinds for name in kind.model_fields}
    path = [part for part in mistake["loc"] if isinstance(part, str) and part in keys]
    key = ".".join(path) or "the file"
    if key == "pairing":
        return (
            "pairing must be all, informative, swiss, or a list of pairs, as in "
            '[["online/x", "online/y"]].'
        )
    match mistake["type"]:
        case "extra_forbidden":
            word = str(mistake["loc"][-1])
            inside = sections.get(str(mistake["loc"][0])) if len(mistake["loc"]) > 1 else None
            known = tuple((inside or _File).model_fields)
            where = f" in [{mistake['loc'][0]}]" if len(mistake["loc"]) > 1 else ""
            near = hint(word, known) or f"the keys are {', '.join(known)}."
            return f"There is no key “{headline(word, 40)}”{where}; {near}"
        case "missing":
            return f"{key} is missing; the file must give it."
        case "enum":
            return f"{key} must be {mistake['ctx']['expected']}.".replace("'", "")
        case "greater_than" | "greater_than_equal" | "less_than_equal":
            return f"{key} must be {between(limits_at(_File, mistake['loc']))}."
        case "int_parsing" | "int_type":
            return f"{key} must be a whole number."
        case _:
            return f"{key} cannot be used: {mistake['msg'][0].lower()}{mistake['msg'][1:]}."


def _ahead(near: str) -> str:
    """Return a hint with a space behind it, if there is one."""
    return f"{near} " if near else ""


# --- its parts ---------------------------------------------------------------------------


def _models(
    key: str, names: Sequence[str], variants: Mapping[str, Model] | None
) -> tuple[Model, ...]:
    found: dict[str, Model] = {}
    for name in names:
        try:
            model = parse_model(name, variants)
        except UsageError as error:
            raise UsageError(f"{key}: {error}") from None
        if model.ref in found:
            raise UsageError(f"{key} names {model.ref} twice; remove one.")
        found[model.ref] = model
    return tuple(found.values())


def _pairs(
    pairing: str | tuple[tuple[str, ...], ...],
    models: Sequence[Model],
    variants: Mapping[str, Model] | None,
    size: int,
) -> tuple[Group, ...]:
    """Return who meets, `size` at once: those listed, or each model with all others.

    At a table of three or more a model may sit several times, where it is listed so.
    """
    if isinstance(pairing, str):
        if size > 2 and pairing in (Pairing.SWISS, Pairing.INFORMATIVE):
            raise UsageError(f"pairing {pairing} is for two models, and {size} meet; list groups.")
        if len(models) < size:
            held = {0: "no model", 1: "one model"}.get(len(models), f"{len(models)} models")
            least = "two" if size == 2 else size
            raise UsageError(f"models has {held}; a series needs at least {least}.")
        return tuple(combinations(models, size))
    known = {model.ref: model for model in models}
    pairs: dict[tuple[str, ...], Group] = {}
    for names in pairing:
        if len(names) != size:
            raise UsageError(
                f"pairing has an entry of {len(names)}; in this format {size} models meet."
            )
        group = tuple(_of_list(known, name, variants) for name in names)
        met = tuple(sorted(model.ref for model in group))
        if size == 2 and met[0] == met[1]:
            raise UsageError(f"pairing lets {met[0]} meet itself; name two different models.")
        if met in pairs:
            said, called = (
                " and ".join(model.ref for model in group),
                "pair" if size == 2 else "group",
            )
            raise UsageError(f"pairing has {said} twice; remove one {called}.")
        pairs[met] = group
    if not pairs:
        raise UsageError("pairing is an empty list; name pairs of models, or write “all”.")
    return tuple(pairs.values())


def _of_list(known: Mapping[str, Model], name: str, variants: Mapping[str, Model] | None) -> Model:
    (model,) = _models("pairing", (name,), variants)
    if known and model.ref not in known:
        raise UsageError(
            f"pairing names {model.ref}, which is not in models; {_ahead(hint(model.ref, known))}"
            "add it there."
        )
    return known.get(model.ref, model)


def _pairing(file: _File) -> Pairing:
    if not isinstance(file.pairing, str):
        return Pairing.ALL
    known = [one.value for one in Pairing]
    if file.pairing not in known:
        near = _ahead(hint(file.pairing, known))
        raise UsageError(
            f"pairing is “{headline(file.pairing, 40)}”; {near}it must be "
            f"{', '.join(known)}, or a list of pairs."
        )
    pairing = Pairing(file.pairing)
    if (pairing is Pairing.SWISS) is not (file.rounds is not None):
        missing = file.rounds is None
        raise UsageError(
            "pairing is swiss, so rounds must say how many rounds to hold."
            if missing
            else "rounds is for pairing “swiss” alone; leave it out. A debate's own rounds are an "
            "option of its format."
        )
    return pairing


def _topics(file: _File, listed: Sequence[Topic], languages: Sequence[str]) -> tuple[Topic, ...]:
    named = []
    for written in () if file.topics == ("builtin",) else file.topics:
        text = " ".join(clean(written).split())
        if not text or not is_visible(text):
            raise UsageError("topics has an empty entry; write a topic, or remove it.")
        named.append(Topic(text=text, language=""))
    topics: dict[str, Topic] = {}
    for topic in (*named, *listed):
        if topics.setdefault(fold_topic(topic.text), topic) is not topic:
            raise UsageError(f"The topic “{headline(topic.text, 60)}” is there twice; remove one.")
    spoken = [
        topic
        for topic in topics.values()
        if not topic.language or any(topic.speaks(language) for language in languages)
    ]
    if not spoken:
        others = f" in {' or '.join(languages)}" if topics else ""
        raise UsageError(f"There is no topic{others}; give topics, or name a topics_file.")
    return tuple(spoken)


def _format(entry: str | Mapping[str, Any]) -> Options:
    """Return a format with its options: those of every debate, and its own."""
    if isinstance(entry, str):
        entry = {"format": entry}
    if not isinstance(name := entry.get("format"), str):
        raise UsageError('formats: each entry needs its name, as in { format = "classic" }.')
    try:
        options = _options(entry, name)
        roles_of(options)
    except UsageError as error:
        raise UsageError(f"formats: {error}") from None
    return options


def _options(entry: Mapping[str, Any], name: str) -> Options:
    """Read the options of an entry: those of every debate, and a format's own."""
    common = {key: value for key, value in entry.items() if key in Options.model_fields}
    own = {key: value for key, value in entry.items() if key not in Options.model_fields}
    for key in FIXED:
        if key in common:
            raise UsageError(f"{key} is not an option of a format in a series; leave it out.")
    options = read_options(common | {"options": own}, lambda key: f"{key} of {name}")
    check_limits(options)
    return options


def _arms(file: _File, formats: Sequence[Options]) -> tuple[_Arm, ...]:
    """Read the arms, and check each with every format."""
    if len(file.arms) == 1:
        raise UsageError("arms has one arm; add another one to compare it with.")
    arms: dict[str, _Arm] = {}
    for entry in file.arms:
        if not isinstance(named := entry.get("name"), str):
            raise UsageError('arms: each arm needs a name, as in name = "debate".')
        name = _check_name("arms: name", named)
        if name in arms:
            raise UsageError(f"arms has two arms named {name}; give each a name of its own.")
        if "format" in entry and "formats" in file.model_fields_set:
            raise UsageError(f"arms: {name} has a format, and so has formats; leave one out.")
        try:
            asked = {key: value for key, value in entry.items() if key != "name"}
            arms[name] = _Arm(name=name, options=_options(asked, name))
            for options in formats:
                roles_of(arms[name].over(options))
        except UsageError as error:
            raise UsageError(f"arms: {name}: {error}") from None
    return tuple(arms.values())


def _check_name(key: str, text: str) -> str:
    if not NAME.fullmatch(text) or len(text) > LONGEST_NAME:
        raise UsageError(
            f"{key} is “{headline(clean(text), 40)}”; use at most {LONGEST_NAME} small letters, "
            "digits, dots and hyphens, as in spring-2026."
        )
    return text


def _roles(formats: Sequence[Options], arms: Sequence[_Arm]) -> list[Roles]:
    """Return who takes part in each format and arm: equally many, as the same models meet."""
    held = [arm.over(one) for one in formats for arm in arms] or formats
    ways = [roles_of(one) for one in held]
    sizes = {len(roles.contenders): one.format for one, roles in zip(held, ways, strict=True)}
    if len(sizes) > 1:
        told = " and ".join(f"{size} ({name})" for size, name in sizes.items())
        raise UsageError(
            f"{'arms' if arms else 'formats'}: {told} models meet; give each number a series of "
            "its own."
        )
    return ways


def _judges(
    file: _File, ways: Sequence[Roles], variants: Mapping[str, Model] | None
) -> tuple[Model, ...]:
    """Read the judges of formats that have their own, and check how many there may be."""
    judges = _models("judges", file.judges, variants)
    try:
        for roles in ([one for one in ways if one.judges] or ways) if judges else ():
            seat_judges(roles, judges, judges, (), ())
    except UsageError as error:
        raise UsageError(f"judges: {error}") from None
    return judges


def _seats(
    file: _File, ways: Sequence[Roles], variants: Mapping[str, Model] | None
) -> dict[str, Model]:
    known = dict.fromkeys(seat for roles in ways for seat in roles.seats)
    seats = {}
    for seat, name in file.seats.items():
        if seat not in known:
            there = f"there are {', '.join(known)}" if known else "its formats have none"
            raise UsageError(f"seats names {headline(clean(seat), 20)}, which is no seat; {there}.")
        (seats[seat],) = _models(f"seats.{seat}", (name,), variants)
    return seats


def roles_of(options: Options) -> Roles:
    """Return who takes part in a format with its options. Raises UsageError."""
    script = find_format(options.format or "")
    own = read_own(script.name, script.options, options.options).model_dump(mode="json")
    return script.roles(own)


def contenders_of(options: Options) -> tuple[str, str]:
    """Return what a format calls its two sides. Raises UsageError if it has more or fewer."""
    contenders = roles_of(options).contenders
    if len(contenders) != 2:
        raise UsageError(
            N_(
                "In the format {name} with these options {n} take part; in a series "
                "two models meet."
            ),
            name=options.format,
            n=len(contenders),
        )
    return contenders[0], contenders[1]


def _people(people: _People) -> SeriesAudience:
    platform, colon, channel = people.place.partition(":")
    if not colon or platform not in ("discord", "slack") or not channel.strip():
        raise UsageError(
            f"people.place is “{headline(clean(people.place), 40)}”; write the platform and the "
            "id of a channel, as in discord:123456789."
        )
    place = SeriesPlace(platform=platform, channel=channel.strip())
    return read_people(place, people.every, people.at, ("people.every", "people.at"))


def read_people(place: SeriesPlace, every: str, at: str, names: tuple[str, str]) -> SeriesAudience:
    """Read how often people watch a series; `names` are those of both options.

    Raises UsageError.
    """
    days = _days(every)
    if days and not at:
        raise UsageError(
            N_("{name} is missing: say at what time, as in 09:00 Europe/Berlin."), name=names[1]
        )
    short = _LONG_UNITS.sub(lambda unit: unit[1], every.strip().casefold())  # `2 days` is `2d`
    short = f"1{short}" if short in ("d", "h") else short
    minutes = DAY if days else parse_minutes(names[0], short)
    if not 1 <= minutes <= 366 * DAY:
        raise UsageError(
            N_("{name} must be between a minute and a year, as in 1d or 12h."), name=names[0]
        )
    return SeriesAudience(
        place=place, every=minutes, at=_daily(names[1], at) if at else None, days=days
    )


def read_when(text: str, place: SeriesPlace) -> SeriesAudience:
    """Read times such as `every weekday 09:00 Europe/Berlin`. Raises UsageError."""
    found = _WHEN.fullmatch(" ".join(clean(text).split()))
    every = found["every"].strip() or "day" if found else ""
    if found is None or not (_days(every) or _SPAN.fullmatch(every.casefold())):
        raise UsageError(
            N_(
                "“{text}” is not a time; write for example “every weekday 09:00 Europe/Berlin”, "
                "“monday, thursday 18:30 UTC” or “every 2 days 09:00 UTC”."
            ),
            text=headline(clean(text), 40),
        )
    return read_people(place, every, found["at"], ("every", "The time"))


def _days(text: str) -> tuple[int, ...]:
    """Return the days of the week that a text names; none if it says something else."""
    words = re.split(r"[\s,]+(?:and\s+)?", text.strip().casefold())
    found: set[int] = set()
    for word in words:
        known = _NAMED_DAYS.get(word) or _NAMED_DAYS.get(word.removesuffix("s"))
        if known is None:
            return ()
        found.update(known)
    return tuple(sorted(found))


def _daily(name: str, text: str) -> Daily:
    clock, _, zone = text.strip().partition(" ")
    found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", clock)
    if not found:
        raise UsageError(
            N_(
                "{name} is “{text}”; write a time of day and a time zone, as in 09:00 "
                "Europe/Berlin."
            ),
            name=name,
            text=headline(clean(text), 40),
        )
    zone = zone.strip() or "UTC"
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        from zoneinfo import available_timezones  # reads many files

        near = hint(zone, sorted(available_timezones()))
        near = near or Text(N_("write one such as Europe/Berlin."))
        raise UsageError(
            N_("{name} names the time zone “{zone}”, which does not exist; {near}"),
            name=name,
            zone=headline(clean(zone), 40),
            near=near,
        ) from None
    return Daily(hour=int(found[1]), minute=int(found[2]), zone=zone)
