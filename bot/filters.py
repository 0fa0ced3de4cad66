"""The filters of `rostrum export`, `rostrum stats` and `rostrum usage`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from engine.errors import UsageError
from engine.prompts.languages import check_language

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
