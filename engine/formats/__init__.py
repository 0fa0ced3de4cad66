"""The debate formats, each one linear script."""

from __future__ import annotations

from engine.errors import StoreError, UsageError
from engine.formats.audited import Audited
from engine.formats.classic import Classic
from engine.formats.format import Format
from engine.formats.oxford import Oxford
from engine.formats.roundtable import Roundtable
from engine.formats.structured import Structured
from engine.formats.team import Team

FORMATS: dict[str, Format] = {
    script.name: script
    for script in (Classic(), Team(), Structured(), Roundtable(), Audited(), Oxford())
}


def find_format(name: str) -> Format:
    """Return a format by name. Raises UsageError naming those that exist."""
    if name not in FORMATS:
        raise UsageError(f"There is no format “{name}”; choose from {', '.join(FORMATS)}.")
    return FORMATS[name]


def format_of(name: str, version: int) -> Format:
    """Return the script that a stored debate began with. Raises StoreError when it is gone."""
    script = FORMATS.get(name)
    if script is None or script.version != version:
        raise StoreError(
            f"This debate began with version {version} of the format {name}, which this Rostrum "
            "no longer has; finish it with the version that started it, or start it anew."
        )
    return script


__all__ = ["FORMATS", "Format", "find_format", "format_of"]
