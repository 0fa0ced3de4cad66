"""`league`: start, show and stop a league among a community's models."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import combinations
from math import ceil, log2
from random import Random
from typing import Any, NamedTuple, TypeVar

from ulid import ULID

from engine.chat.answers import Answer
from engine.chat.answers.management import LEAGUE_STOPPED, league_standing, league_started
from engine.chat.context import Context, Requester, check, managers, settings_of
from engine.chat.invocation import suggest
from engine.chat.settings import check_channel, overlay
from engine.delivery.reasons import without_settings
from engine.formats import find_format
from engine.run.order import Defaults
from engine.series.contents import begin_in_chat, first_time
from engine.series.matches import choose, draw
from engine.series.recurrence import written
from engine.series.runner import order_of
from engine.series.schedule import read_record, table_of
from engine.series.spec import (
    FEWEST_MODELS,
    Decided,
    League,
    Series,
    SeriesPlace,
    Sides,
    System,
    contenders_of,
    read_people,
)
from engine.store.series import StoredSeries
from engine.values.debate import Model
from engine.values.errors import NotAllowedError, NotFoundError, UsageError
from engine.values.language import N_, Text
from engine.values.messages import Outcome
from engine.values.options import BUILT_IN, Options
from engine.values.ports import Location
from engine.values.text import clean, headline

MOST_MODELS = 20
MOST_MATCHES = 200
E = TypeVar("E", bound=StrEnum)
MANAGERS = managers(N_("start or stop a league"))
NO_LEAGUE = N_("There is no league here yet; a manager can begin one with league start.")


class _Wanted(NamedTuple):
    """How a league is to be played; None means the default.

    `every` is in minutes, and `at` a time of day with a time zone, as a series' file has it.
    """

    system: str | None = None
    decided: str | None = None
    every: str | None = None
    at: str | None = None
    rounds: int | None = None
    quorum: int | None = None
    format: str | None = None


async def league(
    context: Context, person: Requester, action: str = "standing", **wanted: Any
) -> Answer:
    """Start or stop a league, or show its standing. Raises NotAllowedError and UsageError."""
    match action:
        case "standing":
            stored = await _newest(context, person)
            series = Series.model_validate_json(stored.body)
            assert series.league is not None  # noqa: S101 - as `_newest` chose it
            debates = await context.store.series.debates(stored.name)
            record = await read_record(context.store, series.league, debates)
            now, due = context.service.clock.now(), stored.due_at
            ended: Outcome = "stopped" if stored.stop else "over"
            table = table_of(
                series,
                series.league,
                record,
                due_at=due if due is not None and due > now else None,
                outcome="going" if due is not None and not stored.stop else ended,
            )
            return league_standing(table, without_settings(stored.problem or ""))
        case "start":
            await check(MANAGERS, context.store, person)
            return await _start(context, person, _Wanted(**wanted))
        case "stop":
            await check(MANAGERS, context.store, person)
            stored = await _newest(context, person)
            if stored.due_at is None or stored.stop:
                raise UsageError(
                    "The league here has ended already; the command shows its standing."
                )
            await context.store.series.ask_stop(stored.name)
            context.service.notifier.notify("series")
            return Answer(texts=(Text(LEAGUE_STOPPED),))
    raise UsageError(
        "The command league has no “{action}”; {near}",
        action=headline(clean(action), 40),
        near=suggest(action, ("start", "standing", "stop")),
    )


async def _newest(context: Context, person: Requester) -> StoredSeries:
    """Return the community's newest league. Raises NotFoundError."""
    for stored in await context.store.series.of_community(person.platform, person.community):
        if Series.model_validate_json(stored.body).league is not None:
            return stored
    raise NotFoundError(NO_LEAGUE)


async def _start(context: Context, person: Requester, wanted: _Wanted) -> Answer:
    settings = await settings_of(context.store, person)
    check_channel(settings, person.channel or person.place)
    if person.capabilities.unfit:
        raise NotAllowedError(person.capabilities.unfit)
    for stored in await context.store.series.of_community(person.platform, person.community):
        if stored.due_at is not None and Series.model_validate_json(stored.body).league:
            raise UsageError("A league is running here already; stop it first with league stop.")
    defaults, now = overlay(context.defaults, settings), context.service.clock.now()
    series = _series(context, person, wanted, defaults)
    where = Location(person.community, person.place)
    first = next(iter(choose(series).next((), {})))
    await context.service.quote(order_of(series, first, where), defaults, first.ordinal)
    due = now if series.people is None else first_time(series.people, now)
    await begin_in_chat(context.store, series, where, person.platform, due, now)
    context.service.notifier.notify("series")
    played = series.league
    assert played is not None  # noqa: S101 - as `_series` made it
    later = written(series.people, due) if due > now else ""
    return league_started(len(played.models), played.total, later)


def _series(context: Context, person: Requester, wanted: _Wanted, defaults: Defaults) -> Series:
    """Return the series of a league, with its first round drawn. Raises UsageError."""
    seed = context.service.new_seed()
    chosen = BUILT_IN | defaults
    options = Options(format=find_format(wanted.format or chosen.format or "").name)
    options = options.model_copy(update={"quorum": wanted.quorum})
    contenders_of(options)
    models = list({model.ref: model for model in defaults.models}.values())
    Random(seed).shuffle(models)
    played = _play(wanted, models, seed)
    topics = [topic for topic in defaults.topics if topic.speaks(chosen.language or "")]
    if not topics:
        raise UsageError(
            "The list has no topic in the language {language}; change the setting language.",
            language=chosen.language,
        )
    Random(f"topics/{seed}").shuffle(topics)
    place = SeriesPlace(platform=person.platform, channel=person.place)
    return Series(
        name=f"league-{str(ULID()).lower()}",
        topics=tuple(topics),
        models=tuple(models),
        pairs=tuple(combinations(models, 2)),
        sides=Sides.DRAWN,
        formats=(options,),
        languages=(chosen.language or "en",),
        people=read_people(place, wanted.every or "1d", wanted.at or "", ("every", "at")),
        league=draw(played, {}),
    )


def _play(wanted: _Wanted, models: Sequence[Model], seed: int) -> League:
    count = len(models)
    if not FEWEST_MODELS <= count <= MOST_MODELS:
        raise UsageError(
            "A league has {fewest} to {most} models, and {count} are offered here; a manager can "
            "change that with the setting models.",
            fewest=FEWEST_MODELS,
            most=MOST_MODELS,
            count=count,
        )
    system = _choice("system", wanted.system, System, System.ROUND_ROBIN)
    if system is System.KNOCKOUT and wanted.rounds is not None:
        raise UsageError("A knock-out has as many rounds as it needs; leave rounds out.")
    usual = ceil(log2(count)) if system is System.SWISS else 1
    played = League(
        system=system,
        decided=_choice("decided", wanted.decided, Decided, Decided.PEOPLE_THEN_JURY),
        rounds=usual if wanted.rounds is None else wanted.rounds,
        seed=seed,
        models=tuple(models),
    )
    if not 1 <= played.total <= MOST_MATCHES:
        raise UsageError(
            "This league would have {total} matches; it can have 1 to {most}. "
            "Change rounds, or let fewer models take part.",
            total=played.total,
            most=MOST_MATCHES,
        )
    return played


def _choice(name: str, text: str | None, choices: type[E], default: E) -> E:
    if text is None:
        return default
    said = text.strip().casefold().replace("-", "_").replace("knock_out", "knockout")
    if said not in tuple(choices):
        raise UsageError(
            "{name} is “{text}”; {near}",
            name=name,
            text=headline(clean(text), 40),
            near=suggest(said, tuple(choices)),
        )
    return choices(said)
