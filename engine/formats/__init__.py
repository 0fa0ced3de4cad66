"""The debate formats, each one linear script."""

from __future__ import annotations

from engine.debate import Setup
from engine.errors import StoreError, UsageError
from engine.formats.audited.audited import Audited
from engine.formats.classic import Classic
from engine.formats.format import Format
from engine.formats.oxford import Oxford
from engine.formats.roundtable import Roundtable
from engine.formats.structured.structured import Structured
from engine.formats.team.team import Team
from engine.text import clean, headline

FORMATS: dict[str, Format] = {
    script.name: script
    for script in (Classic(), Team(), Structured(), Roundtable(), Audited(), Oxford())
}


def find_format(name: str) -> Format:
    """Return a format by name. Raises UsageError naming those that exist."""
    if name not in FORMATS:
        said = headline(clean(name), 40)
        raise UsageError(f"There is no format “{said}”; choose from {', '.join(FORMATS)}.")
    return FORMATS[name]


def length_of(setup: Setup) -> int:
    """Return how many turns a stored debate surely has.

    0 where a clock decides, and where the script that it began with is gone.
    """
    script = _script_of(setup.request.format, setup.format_version)
    return 0 if script is None else script.length(setup.request)


def format_of(name: str, version: int) -> Format:
    """Return the script that a stored debate began with. Raises StoreError when it is gone."""
    script = _script_of(name, version)
    if script is None:
        raise StoreError(
            f"This debate began with version {version} of the format {name}, which this Rostrum "
            "no longer has; finish it with the version that started it, or start it anew."
        )
    return script


def _script_of(name: str, version: int) -> Format | None:
    script = FORMATS.get(name)
    return script if script is not None and script.version == version else None


__all__ = ["FORMATS", "Format", "find_format", "format_of", "length_of"]
