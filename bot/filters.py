"""Which debates `rostrum export` and `rostrum stats` are about, as it is typed."""

from __future__ import annotations

from engine.prompts.languages import check_language


def split_list(text: str | None) -> tuple[str, ...]:
    """Return what stands between commas."""
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def read_formats(text: str | None) -> tuple[str, ...]:
    """Return the names of formats of debate. Raises UsageError for one that does not exist."""
    if not (names := split_list(text)):
        return ()
    # Only now: with all that formats need, for an option that few give.
    from engine.formats import find_format

    return tuple(find_format(name).name for name in names)


def read_languages(text: str | None) -> tuple[str, ...]:
    """Return language codes. Raises UsageError for what cannot be one."""
    return tuple(check_language(code) for code in split_list(text))
