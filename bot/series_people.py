"""Series before people: stored for the process that serves their platform."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from bot.reading import read_store
from bot.settings.settings import Settings
from engine.series.contents import save_series
from engine.series.spec import People, Place, Series
from engine.store.series import StoredSeries
from engine.values.errors import SettingsError, UsageError, VenueAwayError, VenueError

if TYPE_CHECKING:
    from bot.platforms import Platform


async def plan_before_people(settings: Settings, series: Series, people: People) -> None:
    """Store a series for the process that serves its platform, which may be running."""
    platform = _platform_of(settings, people.place)
    async with read_store(settings) as store:
        try:
            await platform.prepare(store)
            await platform.venue.locate(people.place.channel)
            note = ""
        except VenueAwayError as error:
            note = f"\nIts place could not be checked, and will be when it begins: {error}"
        except VenueError as error:
            raise UsageError(f"people.place is {people.place.said}: {error}") from None
        finally:
            await platform.close()
        stored = await save_series(store, series)
    print(
        f"The series {series.name} is stored; rostrum run holds it in {people.place.said}, one "
        f"debate at a time.{note}"
    )
    print("\n".join(people_lines(stored, people)))


def _platform_of(settings: Settings, place: Place) -> Platform:
    """Return the platform of a place. Raises UsageError if it is not configured."""
    from bot.platforms import open_platforms  # and with it the SDKs

    with suppress(SettingsError):
        for platform in open_platforms(settings):
            if platform.venue.platform == place.platform:
                return platform
    raise UsageError(
        f"people.place is on {place.platform}, which is not configured; see docs/{place.platform}"
        ".md, or name a place on another platform."
    )


def people_lines(stored: StoredSeries, people: People | None) -> Iterator[str]:
    """Yield when the next debate before people may begin, and what keeps it from that."""
    if people is None:
        return
    if stored.due_at is not None and not stored.stop:
        zone = ZoneInfo(people.at.zone if people.at else "UTC")
        time = f"{stored.due_at.astimezone(zone):%Y-%m-%d %H:%M %Z}"
        after = "" if stored.recurs else ", once the one before has ended"
        yield f"Next debate: {time} in {people.place.said}{after}"
    if stored.problem:
        yield f"{'Skipped' if stored.recurs else 'Waiting'}: {stored.problem}"
