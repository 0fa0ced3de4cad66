"""The debate formats, each one linear script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pkgutil import resolve_name

from engine.formats.format import Format
from engine.values.debate import Setup, TrialProtocol
from engine.values.errors import PausedError, StoreError, UsageError
from engine.values.language import Text
from engine.values.options import Options
from engine.values.text import clean, headline


class _Formats(Mapping[str, Format]):
    """The formats by name, given by their places; each is imported when it is first asked for."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = places
        self._scripts: dict[str, Format] = {}

    def __getitem__(self, name: str) -> Format:
        if name not in self._scripts:
            self._scripts[name] = resolve_name(f"engine.formats.{self._places[name]}")()
        return self._scripts[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


FORMATS: Mapping[str, Format] = _Formats(
    {
        "classic": "classic:Classic",
        "team": "team:Team",
        "structured": "structured:Structured",
        "roundtable": "roundtable:Roundtable",
        "audited": "audited:Audited",
        "oxford": "oxford:Oxford",
    }
)


def find_format(name: str) -> Format:
    """Return a format by name. Raises UsageError naming those that exist."""
    if name in FORMATS:
        return FORMATS[name]
    said = headline(clean(name), 40)
    raise UsageError(
        "There is no format “{said}”; choose from {formats}.",
        said=said,
        formats=tuple(FORMATS),
    )


@lru_cache
def under(protocol: TrialProtocol | None, script: Format) -> Format:
    """Return a format's script, or what a protocol in which no side is opposed has in its place."""
    if protocol is None or protocol.opposed:
        return script
    unopposed: Format = resolve_name("engine.formats.trial:Unopposed")(protocol, script)
    return unopposed


def choose_format(asked: Options, options: Options) -> Format:
    """Return the script of a debate's options; `asked` are those that are nobody's default.

    Raises UsageError for what the format does not have.
    """
    script = under(options.protocol, FORMATS[options.format or ""])
    if options.rounds is not None and not script.takes_rounds:
        raise UsageError(
            "The format {name} has a fixed number of rounds: leave rounds out. Its own "
            "options: {own}.",
            name=script.name,
            own=tuple(script.options.model_fields) or Text("none"),
        )
    if script.question and asked.stance:
        raise UsageError(
            "A {name} debate answers a question, so no one takes a side on it: leave stance out.",
            name=script.name,
        )
    if asked.questions and not script.takes_questions:
        raise UsageError(
            "In the format {name} the audience cannot ask questions; leave questions out, or "
            "choose one of {known}.",
            name=script.name,
            known=tuple(name for name in FORMATS if FORMATS[name].takes_questions),
        )
    return script


def length_of(setup: Setup) -> int:
    """Return how many turns a stored debate surely has.

    0 where a clock decides, and where the script that it began with no longer exists.
    """
    script = FORMATS.get(setup.request.format)
    if script is None or script.version != setup.format_version:
        return 0
    return under(setup.request.protocol, script).length(setup.request)


def format_of(setup: Setup) -> Format:
    """Return the script that a stored debate began with.

    Raises StoreError when it is gone, and PausedError for one of a newer version.
    """
    name, version = setup.request.format, setup.format_version
    script = FORMATS.get(name)
    if script is None or version > script.version:
        raise PausedError(
            f"This debate began with version {version} of the format {name}, which a newer Rostrum "
            "has; a process of that version goes on with it."
        )
    if version != script.version:
        raise StoreError(
            f"This debate began with version {version} of the format {name}, which this Rostrum "
            "no longer has; finish it with the version that started it, or start a new one."
        )
    return under(setup.request.protocol, script)


__all__ = ["FORMATS", "Format", "choose_format", "find_format", "format_of", "length_of", "under"]
