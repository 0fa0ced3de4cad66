"""`schedule`: hold a debate again and again at set times, show that, and end it."""

from __future__ import annotations

from ulid import ULID

from engine.chat.answers import Answer
from engine.chat.answers.management import SCHEDULE_ENDED, schedule_list
from engine.chat.context import Context, Requester, check, managers, settings_of
from engine.chat.invocation import StartArguments
from engine.chat.lifecycle import begin
from engine.chat.participants import guest_among
from engine.chat.settings import check_channel, order_of, overlay
from engine.delivery.reasons import without_settings
from engine.run.order import Defaults, Order
from engine.series.contents import begin_in_chat, first_time
from engine.series.recurrence import written
from engine.series.spec import Recurring, Series, SeriesAudience, SeriesPlace, Sides, read_when
from engine.store.series import StoredSeries
from engine.store.suggestions import next_topic
from engine.values.debate import SeriesKey
from engine.values.errors import NotAllowedError, UsageError
from engine.values.language import N_, Text
from engine.values.options import Options
from engine.values.ports import Location

MANAGERS = managers(N_("set or end a schedule"))
ANY_TOPIC = N_(
    "Remote work is better than working in an office"
)  # to estimate a debate without one


async def schedule(context: Context, person: Requester, when: str, asked: StartArguments) -> Answer:
    """Show the schedules here, set the one of this channel, or end it."""
    if not when:
        return schedule_list(await _lines(context, person), person.place)
    await check(MANAGERS, context.store, person)
    if when == "off":
        ended = await _here(context, person)
        if not ended:
            raise UsageError(
                "There is no schedule in this channel; the command schedule lists all."
            )
        for stored in ended:
            await context.store.series.ask_stop(stored.name)
        context.service.notifier.notify("series")
        return Answer(texts=(Text(SCHEDULE_ENDED),))
    settings = await settings_of(context.store, person)
    check_channel(settings, person.channel or person.place)
    if person.capabilities.unfit:
        raise NotAllowedError(person.capabilities.unfit)
    if asked.mirror or asked.sources:
        raise UsageError("A schedule holds one debate at a time, without sources; leave them out.")
    if guest_among(asked.sides, person.user) is not None:
        raise UsageError("A schedule holds debates of models alone; name no person for a side.")
    series, now = _series(person, when, asked), context.service.clock.now()
    people, recurring = series.people, series.recurring
    assert people is not None  # noqa: S101 - as `_series` made them
    assert recurring is not None  # noqa: S101
    wanted = await next_topic(
        context.store.communities, context.store.suggestions, person.platform, person.community
    )
    topic = recurring.options.topic or (wanted.text if wanted else ANY_TOPIC)
    defaults = overlay(context.defaults, settings)
    inside = person.model_copy(update={"thread": None})
    await context.service.quote(_order(inside, recurring, topic, defaults), defaults, 1)
    for old in await _here(context, person):
        await context.store.series.ask_stop(old.name)
    where, due = Location(person.community, person.place), first_time(people, now)
    await begin_in_chat(context.store, series, where, person.platform, due, now)
    context.service.notifier.notify("series")
    return schedule_list(await _lines(context, person), person.place, new=True)


async def hold(
    context: Context,
    stored: StoredSeries,
    recurring: Recurring,
    where: Location,
    topic: str,
    which: SeriesKey,
) -> None:
    """Start a debate of a schedule, as `start` does. Raises RostrumError."""
    person = Requester(
        platform=stored.platform or "",
        community=where.community,
        place=where.place,
        channel=recurring.channel,
        user="",
    )
    await begin(context, person, lambda defaults: _order(person, recurring, topic, defaults, which))


def _order(
    person: Requester,
    recurring: Recurring,
    topic: str,
    defaults: Defaults,
    which: SeriesKey | None = None,
) -> Order:
    given = recurring.options.given() | {"topic": topic}
    named = {name: getattr(recurring, name) for name in ("sides", "jurors", "judges")}
    order = order_of(person, StartArguments(**given, **named), defaults)
    return order.model_copy(update={"user": None, "series": which})


def _series(person: Requester, when: str, asked: StartArguments) -> Series:
    place = SeriesPlace(platform=person.platform, channel=person.place)
    recurring = Recurring(
        said=when,
        place=person.place,
        channel=person.channel or person.place,
        options=Options(**asked.given()),
        sides=asked.sides,
        jurors=asked.jurors,
        judges=asked.judges,
    )
    return Series(
        name=f"schedule-{str(ULID()).lower()}",
        topics=(),
        models=(),
        pairs=(),
        sides=Sides.DRAWN,
        formats=(),
        people=read_when(when, place),
        recurring=recurring,
    )


async def _here(context: Context, person: Requester) -> list[StoredSeries]:
    going = await _going(context, person)
    return [stored for stored, _, recurring in going if recurring.place == person.place]


async def _lines(context: Context, person: Requester) -> list[tuple[Recurring, str, str]]:
    return [
        (
            recurring,
            written(people, stored.due_at) if stored.due_at else "",
            without_settings(stored.problem or ""),
        )
        for stored, people, recurring in await _going(context, person)
    ]


async def _going(
    context: Context, person: Requester
) -> list[tuple[StoredSeries, SeriesAudience, Recurring]]:
    """Return the community's schedules that have not ended, the newest first."""
    found = []
    for stored in await context.store.series.of_community(person.platform, person.community):
        if stored.due_at is None or stored.stop:
            continue
        series = Series.model_validate_json(stored.body)
        if series.recurring is not None and series.people is not None:
            found.append((stored, series.people, series.recurring))
    return found
