"""The debate formats, each one linear script."""

from __future__ import annotations

from typing import Protocol

from engine.debate import Request
from engine.errors import StoreError, UsageError
from engine.floor import Floor
from engine.formats.classic import Classic


class Format(Protocol):
    """A format: who contends, how many turns there are, and the script."""

    name: str
    version: int
    contenders: tuple[str, ...]

    def rounds(self, request: Request) -> tuple[str, ...]:
        """Return the names of the rounds, in order."""
        ...

    def turns(self, request: Request) -> int:
        """Return how many turns a debate has."""
        ...

    def waves(self, request: Request) -> int:
        """Return how many calls of the script have to wait for one another."""
        ...

    async def run(self, floor: Floor) -> None:
        """Hold the debate."""
        ...


FORMATS: dict[str, Format] = {script.name: script for script in (Classic(),)}


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
