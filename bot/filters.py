"""The filters of `rostrum export` and `rostrum stats`."""

from __future__ import annotations

from engine.prompts.languages import check_language


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
