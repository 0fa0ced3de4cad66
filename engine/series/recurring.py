"""A debate that a community holds again and again, at set times.

Each is begun at most once, as its time is its key in the series. A time that cannot be kept within
the hour is skipped, and the channel reads why: once for each cause, until a debate begins again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import structlog

from engine.debate import SeriesKey
from engine.delivery.ending import without_settings
from engine.errors import (
    BudgetError,
    LeaseLostError,
    ModelError,
    RostrumError,
    StoreError,
    VenueAwayError,
    VenueError,
)
from engine.floor.wake import Bell
from engine.language import speaking
from engine.line.next_topic import next_topic
from engine.messages import Skipped
from engine.ports import Clock, Location, Venue
from engine.series.spec import People, Recurring, Series
from engine.series.times import next_time
from engine.store import Lease, Post, Store
from engine.store.series import SeriesDebate, StoredSeries

GRACE = timedelta(hours=1)
"""How late a debate may begin; after that its time is skipped."""
AWAY = "Rostrum was not running at that time."
EMPTY = "The topic list is empty. Anyone can add one with the command suggest."
GOES_ON = "The debate before it had not ended yet."
OVER_LIMIT = "A limit on debates or their cost was reached."
NO_PLACE = "Rostrum could not hold a debate in its channel. Check its permissions there."
NO_ANSWER = "The platform or a model could not be reached."
log = structlog.get_logger(__name__)

Hold = Callable[[StoredSeries, Recurring, Location, str, SeriesKey], Awaitable[None]]
"""Starts one debate, as the command does: where, on which topic, and which of its series it is."""


@dataclass(slots=True)
class Recurrences:
    """Begins recurring debates, or skips them."""

    venues: Mapping[str, Venue]
    store: Store
    bell: Bell
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
            why = self._waits.pop(stored.name, AWAY)
            await self._skip(lease, stored, series.people, debates, why)
            return True
        try:
            await self._begin(stored, series, recurring, debates, key)
        except _SkippedError as error:
            await self._skip(lease, stored, series.people, debates, str(error))
        except _WaitsError as error:
            log.warning("scheduled debate waits", series=stored.name, why=str(error))
            self._waits[stored.name] = str(error)
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
            raise _WaitsError(GOES_ON)
        platform, community = stored.platform or "", stored.community or ""
        topic = recurring.options.topic
        if topic is None:
            wanted = await next_topic(self.store, platform, community)
            if wanted is None:
                raise _SkippedError(EMPTY)
            topic = wanted.text
        which = SeriesKey(name=series.name, key=key, ordinal=len(debates) + 1)
        try:
            where = await self.venues[platform].locate(recurring.place)
            await self.hold(stored, recurring, where, topic, which)
        except (LeaseLostError, StoreError):
            raise
        except RostrumError as error:
            raise _explained(error) from error

    async def _skip(
        self,
        lease: Lease,
        stored: StoredSeries,
        people: People,
        debates: Sequence[SeriesDebate],
        why: str,
    ) -> None:
        """Skip a time; the channel is told once for each cause."""
        log.warning("scheduled debate skipped", series=stored.name, due=stored.due_at, why=why)
        if stored.problem != why:
            await self._tell(lease, stored, people, debates, why)
        await self._next(lease, stored, people, problem=why)

    async def _tell(
        self,
        lease: Lease,
        stored: StoredSeries,
        people: People,
        debates: Sequence[SeriesDebate],
        why: str,
    ) -> None:
        """Post why beside the newest debate here, as each message belongs to one."""
        debate = await self._beside(stored, debates)
        if debate is None or stored.due_at is None:
            return
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
        post = Post(key=f"skipped/{key_of(due)}", message=message)
        await self.store.outbox.publish(lease, debate, [post])
        self.bell.ring(f"outbox/{platform}", debate)

    async def _beside(self, stored: StoredSeries, debates: Sequence[SeriesDebate]) -> str | None:
        if debates:
            return debates[-1].id
        platform, community = stored.platform or "", stored.community or ""
        recurring = Series.model_validate_json(stored.body).recurring
        found = await self.store.debates.of_community(platform, community)
        place = recurring and recurring.place
        return next((debate.id for debate in found if debate.place == place), None)

    async def _next(
        self, lease: Lease, stored: StoredSeries, people: People, *, problem: str | None
    ) -> None:
        if stored.due_at is not None:
            due = next_time(people, stored.due_at, self.clock.now())
            await self._keep(lease, stored, due_at=due, problem=problem)

    async def _keep(self, lease: Lease, stored: StoredSeries, **changes: Any) -> None:
        await self.store.series.schedule(lease, stored.model_copy(update=changes))


class _WaitsError(Exception):
    """It may begin a little later; the message is why not now."""


class _SkippedError(Exception):
    """It cannot begin until someone changes something; the message is why."""


def _explained(error: RostrumError) -> Exception:
    match error:
        case BudgetError():
            return _WaitsError(OVER_LIMIT)
        case VenueAwayError() | ModelError():
            return _WaitsError(NO_ANSWER)
        case VenueError():
            return _SkippedError(NO_PLACE)
    return _SkippedError(without_settings(str(error)))


def key_of(due: datetime) -> str:
    """Return the key of the debate that is due at a time."""
    return f"{due:%Y-%m-%dT%H:%MZ}"


def written(people: People, moment: datetime) -> str:
    """Return a time in the time zone that it was set in."""
    zone = people.at.zone if people.at else "UTC"
    return f"{moment.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M} ({zone})"
