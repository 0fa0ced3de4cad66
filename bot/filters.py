"""The filters of `rostrum export`, `rostrum stats` and `rostrum usage`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine.prompts.library import check_language
from engine.store import Store
from engine.store.series import StoredSeries
from engine.values.errors import NotFoundError, UsageError
from engine.values.options import hint

INSTANT = timedelta(microseconds=1)


def split_list(text: str | None) -> tuple[str, ...]:
    """Return the items of a comma-separated list."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def read_formats(text: str | None) -> tuple[str, ...]:
    """Return the names of debate formats. Raises UsageError for an unknown one."""
    if not (names := split_list(text)):
        return ()
    # Imported only here: formats load much, and few use this option.
    from engine.formats import find_format

    return tuple(find_format(name).name for name in names)


def read_languages(text: str | None) -> tuple[str, ...]:
    """Return language codes. Raises UsageError for an invalid one."""
    return tuple(check_language(code) for code in split_list(text))


def read_period(since: str | None, until: str | None) -> tuple[datetime | None, datetime | None]:
    """Return the moments of --since and --until. Raises UsageError, also for none between them."""
    first, last = (
        read_moment("--since", since, after=False),
        read_moment("--until", until, after=True),
    )
    if first is not None and last is not None and first >= last:
        raise UsageError(f"--since {since} is after --until {until}; exchange them.")
    return first, last


def read_moment(option: str, text: str | None, *, after: bool) -> datetime | None:
    """Read a date or time, in UTC unless it has an offset.

    A date is included as a whole, as the first day or (`after`) the last.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        if len(text) > len("2026-03-31"):
            return moment
        return moment + timedelta(days=1) - INSTANT if after else moment - INSTANT
    except (ValueError, OverflowError):
        raise UsageError(
            f"{option} is “{text}”; write a date such as 2026-03-31, or the cutoff of an "
            "earlier export's manifest."
        ) from None


async def check_series(store: Store, name: str | None) -> None:
    """Raise NotFoundError for the name of no series; None names none."""
    if name is not None:
        await find_series(store, name)


async def find_series(store: Store, name: str) -> StoredSeries:
    """Return a series. Raises NotFoundError."""
    stored = await store.series.find(name)
    if stored is None:
        known = [series.name for series in await store.series.all()]
        near = hint(name, known)
        raise NotFoundError(
            f"There is no series “{name}”; {f'{near} A' if near else 'a'} series is known once "
            "it has run."
        )
    return stored
