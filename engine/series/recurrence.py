"""A debate that a community holds again and again, at set times.

Each is begun at most once, as its time is its key in the series. A time that cannot be kept within
the hour is skipped, and the channel reads why: once for each cause, until a debate begins again. A
topic of the list that is refused goes back to the managers, so that the next one has its turn.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from zlib import crc32
from zoneinfo import ZoneInfo

import structlog

from engine.delivery.reasons import without_settings
from engine.fleet.leases import Notifier
from engine.series.contents import next_time
from engine.series.spec import Recurring, Series, SeriesAudience
from engine.store import Lease, Post, Store
from engine.store.series import SeriesDebate, StoredSeries
from engine.store.suggestions import next_topic
from engine.values.debate import SeriesKey
from engine.values.errors import (
    BudgetError,
    FlaggedError,
    LeaseLostError,
    ModelError,
    RostrumError,
    StoreError,
    VenueAwayError,
    VenueError,
)
from engine.values.language import N_, speaking
from engine.values.messages import Message, Skipped
from engine.values.ports import Clock, Location
from engine.values.topics import has_blocked

if TYPE_CHECKING:
    from engine.values.protocols import Venue

# Posts a message that belongs to no debate, and so has no row in the outbox.
#
# Its reference finds it again: posted before a kill, it is not posted twice.


async def post_alone(venue: Venue, places: Sequence[str], message: Message, stem: str) -> None:
    """Post to the first of these places that takes it, unless it is there already.

    Raises VenueAwayError, and VenueError if all refuse it.
    """
    for place in places:
        try:
            for part in venue.render(message, stem):
                if await venue.find(place, part.reference, None) is None:
                    async with venue.turn(place):
                        await venue.post(place, part)
        except VenueAwayError:
            raise
        except VenueError:
            if place == places[-1]:
                raise
        else:
            return


GRACE = timedelta(hours=1)
"""How late a debate may begin; after that its time is skipped."""
AWAY = N_("Rostrum was not running at that time.")
EMPTY = N_("The topic list is empty. Anyone can add one with the command suggest.")
REFUSED = N_(
    "The topic that people want most was refused, so it is off the list. A manager can put it back "
    "or remove it with the command topics."
)
OVER_LIMIT = N_("A limit on debates or their cost was reached.")
NO_PLACE = N_("Rostrum could not hold a debate in its channel. Check its permissions there.")
log = structlog.get_logger(__name__)

Hold = Callable[[StoredSeries, Recurring, Location, str, SeriesKey], Awaitable[None]]
"""Starts one debate, as the command does: where, on which topic, and which of its series it is."""


@dataclass(slots=True)
class Recurrences:
    """Begins recurring debates, or skips them."""

    venues: Mapping[str, Venue]
    store: Store
    notifier: Notifier
    clock: Clock
    hold: Hold
    _waits: dict[str, str] = field(default_factory=dict)  # why a series waits within its hour

    async def step(
        self, lease: Lease, stored: StoredSeries, series: Series, debates: Sequence[SeriesDebate]
    ) -> bool:
        """Begin the debate that is due, or skip it; False if it is to be tried again soon."""
        due, now, recurring = stored.due_at, self.clock.now(), series.recurring
        if stored.stop:
            await self._keep(lease, stored, due_at=None, problem=None)
            return True
        if due is None or recurring is None or series.people is None or now < due:
            return True
        key = key_of(due)
        if any(debate.key == key for debate in debates):
            await self._next(lease, stored, series.people, problem=None)
            return True
        if now - due > GRACE or now >= next_time(series.people, due, due):
            why = self._waits.get(stored.name, AWAY)
            return await self._skip(lease, stored, series.people, debates, why)
        try:
            await self._begin(stored, series, recurring, debates, key)
        except _SkippedError as error:
            return await self._skip(lease, stored, series.people, debates, error.text)
        except _WaitsError as error:
            log.warning("scheduled debate waits", series=stored.name, why=str(error))
            self._waits[stored.name] = error.text
            return False
        else:
            self._waits.pop(stored.name, None)
            await self._next(lease, stored, series.people, problem=None)
        return True

    async def _begin(
        self,
        stored: StoredSeries,
        series: Series,
        recurring: Recurring,
        debates: Sequence[SeriesDebate],
        key: str,
    ) -> None:
        """Begin a debate. Raises _SkippedError for what does not pass, else _WaitsError."""
        if any(debate.status.live for debate in debates):
            raise _WaitsError(N_("The debate before it had not ended yet."))
        platform, community = stored.platform or "", stored.community or ""
        topic, wanted = recurring.options.topic, None
        if topic is None:
            wanted = await next_topic(
                self.store.communities, self.store.suggestions, platform, community
            )
            if wanted is None:
                raise _SkippedError(EMPTY)
            topic = wanted.text
        which = SeriesKey(name=series.name, key=key, ordinal=len(debates) + 1)
        try:
            where = await self.venues[platform].locate(recurring.place)
            await self.hold(stored, recurring, where, topic, which)
        except (LeaseLostError, StoreError):
            raise
        except FlaggedError as error:
            if wanted is None or await self._refuses_its_own(stored, recurring):
                raise _explained(error) from error
            of = stored.platform or "", stored.community or ""
            await self.store.suggestions.set_aside(*of, wanted.text)
            raise _SkippedError(REFUSED) from error
        except RostrumError as error:
            raise _explained(error) from error

    async def _refuses_its_own(self, stored: StoredSeries, recurring: Recurring) -> bool:
        """Return whether what was set with the schedule has a blocked word, whatever the topic."""
        of = stored.platform or "", stored.community or ""
        settings, options = await self.store.communities.get(*of), recurring.options
        own = (options.conditions, options.stance_a, options.stance_b)
        return has_blocked(settings.blocked_words, *filter(None, own))

    async def _skip(
        self,
        lease: Lease,
        stored: StoredSeries,
        people: SeriesAudience,
        debates: Sequence[SeriesDebate],
        why: str,
    ) -> bool:
        """Skip a time; False if the channel cannot be told now, so that it is tried again soon.

        It is told once for each cause, and of each topic that was refused.
        """
        if stored.problem != why or why == REFUSED:
            try:
                await self._tell(lease, stored, people, debates, why)
            except VenueAwayError as error:
                self._waits[stored.name] = why
                log.warning("skip cannot be told now", series=stored.name, why=str(error))
                return False
        log.warning("scheduled debate skipped", series=stored.name, due=stored.due_at, why=why)
        self._waits.pop(stored.name, None)
        await self._next(lease, stored, people, problem=why)
        return True

    async def _tell(
        self,
        lease: Lease,
        stored: StoredSeries,
        people: SeriesAudience,
        debates: Sequence[SeriesDebate],
        why: str,
    ) -> None:
        """Post why beside the newest debate here, or alone where there was none yet."""
        if stored.due_at is None:
            return
        debate = await self._beside(stored, debates)
        platform, community = stored.platform or "", stored.community or ""
        settings = await self.store.communities.get(platform, community)
        due, now = stored.due_at, self.clock.now()
        with speaking(settings.language or "en"):
            message = Skipped(
                due=written(people, due),
                why=why,
                following=written(people, next_time(people, due, now)),
                manager=0 if why == NO_PLACE else None,
            )
        if debate is None:
            await self._tell_alone(stored, message)
            return
        post = Post(key=f"skipped/{key_of(due)}", message=message)
        await self.store.outbox.publish(lease, debate, [post])
        self.notifier.publish(f"outbox/{platform}", debate)

    async def _tell_alone(self, stored: StoredSeries, message: Skipped) -> None:
        """Post to managers or in the channel. Raises VenueAwayError."""
        venue = self.venues[stored.platform or ""]
        recurring = Series.model_validate_json(stored.body).recurring
        if recurring is None:
            return
        mark = f"{crc32(f'{stored.name}/{stored.due_at}'.encode()):08x}"
        try:
            managers: Sequence[str] = ()
            if message.manager is not None and venue.managers is not None:
                managers = await venue.managers(recurring.place)
            await post_alone(venue, [*managers, recurring.place], message, f"{mark}·1")
        except VenueAwayError:
            raise
        except VenueError as error:
            log.warning("skip cannot be told", series=stored.name, why=str(error))

    async def _beside(self, stored: StoredSeries, debates: Sequence[SeriesDebate]) -> str | None:
        if debates:
            return debates[-1].id
        platform, community = stored.platform or "", stored.community or ""
        recurring = Series.model_validate_json(stored.body).recurring
        found = await self.store.listings.of_community(platform, community)
        place = recurring and recurring.place
        return next((debate.id for debate in found if debate.place == place), None)

    async def _next(
        self, lease: Lease, stored: StoredSeries, people: SeriesAudience, *, problem: str | None
    ) -> None:
        if stored.due_at is not None:
            due = next_time(people, stored.due_at, self.clock.now())
            await self._keep(lease, stored, due_at=due, problem=problem)

    async def _keep(self, lease: Lease, stored: StoredSeries, **changes: Any) -> None:
        await self.store.series.schedule(lease, stored.model_copy(update=changes))


class _WaitsError(RostrumError):
    """It may begin a little later; the message is why not now."""


class _SkippedError(RostrumError):
    """It cannot begin until someone changes something; the message is why."""


def _explained(error: RostrumError) -> RostrumError:
    match error:
        case BudgetError():
            return _WaitsError(OVER_LIMIT)
        case VenueAwayError() | ModelError():
            return _WaitsError(N_("The platform or a model could not be reached."))
        case VenueError():
            return _SkippedError(NO_PLACE)
    return _SkippedError(without_settings(error.text))


def key_of(due: datetime) -> str:
    """Return the key of the debate that is due at a time."""
    return f"{due:%Y-%m-%dT%H:%MZ}"


def written(people: SeriesAudience | None, moment: datetime) -> str:
    """Return a time in the time zone that it was set in."""
    zone = people.at.zone if people and people.at else "UTC"
    return f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M} ({zone})"
