"""A debate's options as one value, and how each is parsed from text.

A request is `built-in | operator | community | asked`; each layer sets only what it overrides.
Debaters and jurors are not options: they are chosen from the offered models, or drawn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, JsonValue, field_validator

from engine.values.debate import (
    BallotKind,
    ConfidenceScale,
    Length,
    PanelMode,
    Request,
    Scores,
    TurnOrder,
    Value,
)
from engine.values.errors import UsageError
from engine.values.language import N_, Text
from engine.values.text import READING, headline

E = TypeVar("E", bound=StrEnum)
Reader = Callable[[str, str], Any]

_SPAN = re.compile(r"(\d+(?:\.\d+)?)(d|h|min|m|sec|s|)")
_MINUTES = {"d": 1440.0, "h": 60.0, "min": 1.0, "m": 1.0, "": 1.0, "sec": 1 / 60, "s": 1 / 60}
NONE = ("off", "no", "none")  # for a number that may be 0
SIMILAR = 0.7  # of 1; below it, `nope` would be taken for `openai`, and `foo` for `for`
ON = {"pace": str(READING)}  # the number that `on` stands for
_YES = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}


class Options(Value):
    """One layer of options; None leaves a value to the layers below.

    `options` are the format's own. `quorum` counts gold votes. `stance` asks people for their
    opinion on the topic for `stance_seconds` before the first turn, and again with the vote.
    `again` repeats the question of who debated better below the reveal, for `again_minutes`.
    `broadcast` also shows the reveal in the channel, where the platform supports it. `mirror` adds
    a second debate with sides swapped. `panel` is how many jurors read, and how often. `stance_a`
    and `stance_b` are what the sides argue, where that is not for and against the topic.
    `round_votes` asks people after each round who is ahead, `confidence` with the vote how clear
    it was, or how sure they are in percent. `why` asks a juror to say for the reveal why the panel
    decided so. `questions` is for how many minutes the audience may ask the sides something before
    they close; 0 for none. `reasons` lets those who voted say in private what decided and how clear
    it was, `guess` guess the models. `pace` is at how many words a minute turns are
    posted at most; 0 for no limit. `turn_minutes` is how long a person who argues a side has for
    each turn.
    """

    topic: str | None = None
    conditions: str | None = None
    format: str | None = None
    language: str | None = None
    options: Mapping[str, JsonValue] = {}
    rounds: int | None = None
    turn_order: TurnOrder | None = None
    blind: bool | None = None
    scores: Scores | None = None
    ballot: BallotKind | None = None
    vote_minutes: float | None = None
    quorum: int | None = None
    extend: bool | None = None
    stance: bool | None = None
    stance_seconds: float | None = None
    again: bool | None = None
    again_minutes: float | None = None
    broadcast: bool | None = None
    mirror: bool | None = None
    panel: PanelMode | None = None
    stance_a: str | None = None
    stance_b: str | None = None
    length: Length | None = None
    round_votes: bool | None = None
    confidence: ConfidenceScale | None = None
    why: bool | None = None
    questions: float | None = None
    reasons: bool | None = None
    guess: bool | None = None
    pace: int | None = None
    turn_minutes: float | None = None

    @field_validator("topic", "format", "language")
    @classmethod
    def _skip_empty(cls, text: str | None) -> str | None:
        return text or None

    @classmethod
    def of(cls, settings: BaseModel) -> Options:
        """Return the options among settings; some have a `default_` prefix there."""
        held = {
            name.removeprefix("default_"): value
            for name, value in settings
            if not isinstance(value, BaseModel)  # a section of settings may share a name
        }
        return Options(**{name: held[name] for name in Options.model_fields if name in held})

    def given(self) -> dict[str, Any]:
        """Return the options that are set, by name."""
        fields, given = Options.model_fields, self.model_fields_set
        return {
            name: value
            for name, value in self.__dict__.items()
            if name in given and name in fields and value is not None and value != {}
        }

    def __or__(self, other: Options) -> Options:
        """Return these options, overridden by those that `other` sets.

        Stances belong to their topic: another topic drops them.
        """
        given = other.given()
        if other.topic:
            given = dict.fromkeys(STANCES.values()) | given
        return self.model_copy(update=given)  # each is valid on its own


STANCES = {"for": "stance_a", "against": "stance_b"}
"""The options of what the sides argue, by the names that people write."""

BUILT_IN = Options(
    **{
        name: field.default
        for name, field in Request.model_fields.items()
        if name in Options.model_fields and not field.is_required() and name != "rounds"
    }
    | {
        "panel": PanelMode.ADAPTIVE,
        "why": True,
        "reasons": True,
        "guess": True,
        "turn_minutes": 10.0,
    },
)
"""The built-in defaults; the number of rounds is up to the format."""


# --- limits ------------------------------------------------------------------------------


def check_limits(options: Options) -> None:
    """Check the range of each number. Raises UsageError naming the option."""
    for name in LIMITS:
        if (value := getattr(options, name)) is not None:
            _check_limit(name, value, name, f"{value:.10g}")


def _check_limit(name: str, value: float, spelled: str, written: str) -> None:
    low, high = LIMITS[name]
    if low <= value <= high:
        return
    template = OUTSIDE.get(
        name, N_("{spelled} is {text}; it must be between {low:.10g} and {high:.10g}.")
    )
    raise UsageError(
        template,
        spelled=spelled,
        text=_shorten(written),
        low=low,
        high=high,
    )


OUTSIDE = {  # of what has a unit
    "pace": N_(
        "{spelled} is {text}; it must be between {low:.10g} and {high:.10g} words a minute."
    ),
    "questions": N_("{spelled} is “{text}”; choose at most an hour, or 0 for none."),
    "turn_minutes": N_("{spelled} is “{text}”; choose at most a day."),
    "vote_minutes": N_("{spelled} is “{text}”; choose more than 0 and at most a week."),
}
LIMITS: Mapping[str, tuple[float, float]] = {
    name: (field.metadata[0].ge, field.metadata[1].le)
    for name, field in Request.model_fields.items()
    if [hasattr(limit, "ge") for limit in field.metadata] == [True, False]
}


# --- from text ---------------------------------------------------------------------------


def read_options(
    given: Mapping[str, object], spell: Callable[[str], str] = lambda name: name
) -> Options:
    """Read options by name: text is parsed, other values are used unchanged.

    `spell` maps a name to its spelling for people. Raises UsageError naming the invalid option.
    """
    return Options(
        **{
            name: read_option(name, value, spell(name)) if isinstance(value, str) else value
            for name, value in given.items()
        }
    )


def read_option(name: str, text: str, spelled: str = "") -> Any:
    """Read one option, which people know as `spelled`. Raises UsageError."""
    word = text.strip().casefold()
    if name in ON and word in _YES:
        text = ON[name] if _YES[word] else "0"
    off = LIMITS.get(name, (None,))[0] == 0.0 and word in NONE
    said = "0" if off else text.casefold() if name == "format" else text
    value = READERS.get(name, _reader_of(name))(spelled or name, said)
    if name in LIMITS:
        _check_limit(name, value, spelled or name, text)
    return value


def parse_minutes(name: str, text: str) -> float:
    """Read a span such as `30m`, `1h30m`, `90s`, `2d` or plain minutes. Raises UsageError."""
    compact = "".join(text.casefold().split())
    spans = _SPAN.findall(compact)
    if not spans or "".join(number + unit for number, unit in spans) != compact:
        raise UsageError(
            "{name} is “{text}”; write a time such as 30m, 1h or 90s.",
            name=name,
            text=_shorten(text),
        )
    if len(spans) > 1 and any(not unit for _, unit in spans):
        raise UsageError(
            "{name} is “{text}”; give each number a unit, as in 1h30m.",
            name=name,
            text=_shorten(text),
        )
    return sum(float(number) * _MINUTES[unit] for number, unit in spans)


def parse_number(name: str, text: str) -> int:
    """Read a whole number. Raises UsageError."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise UsageError(
            "{name} is “{text}”; write a whole number.",
            name=name,
            text=_shorten(text),
        )
    return int(text)


def parse_signed(name: str, text: str) -> int:
    """Read a whole number that may have a minus, so that its range is what is named."""
    below = text.startswith("-") and text[1:].isdigit()
    return -parse_number(name, text[1:]) if below else parse_number(name, text)


def parse_pace(name: str, text: str) -> int:
    """Read words a minute; `on` and `off` are numbers by now. Raises UsageError."""
    try:
        return parse_signed(name, text)
    except UsageError:
        raise UsageError(
            "{name} is “{text}”; write on, off, or a number of words a minute up to {most}.",
            name=name,
            text=_shorten(text),
            most=int(LIMITS["pace"][1]),
        ) from None


def parse_switch(name: str, text: str) -> bool:
    """Read `on` or `off`. Raises UsageError."""
    if text.strip().casefold() not in _YES:
        raise UsageError(
            "{name} is “{text}”; write on or off.",
            name=name,
            text=_shorten(text),
        )
    return _YES[text.strip().casefold()]


def split_models(text: str) -> list[str]:
    """Split a comma-separated list of models, whose settings have commas too."""
    found: list[str] = []
    for item in map(str.strip, text.split(",")):
        if found and "@" in found[-1] and re.match(r"[a-z_]+=[^/]*$", item):
            found[-1] += f",{item}"
        else:
            found.append(item)
    return found


def parse_confidence(name: str, text: str) -> ConfidenceScale:
    """Read a switch, or `percent`. Raises UsageError."""
    switched = _YES.get(text.strip().casefold())
    return (
        parse_choice(ConfidenceScale, name, text)
        if switched is None
        else ConfidenceScale("on" if switched else "off")
    )


def parse_list(name: str, text: str) -> tuple[str, ...]:
    """Read a comma-separated list without empty or repeated entries. Raises UsageError."""
    items = split_models(text)
    if not all(items):
        raise UsageError(
            "{name} has an empty entry; write a list such as one,two.",
            name=name,
        )
    return tuple(dict.fromkeys(items))


def parse_choice(kinds: type[E], name: str, text: str) -> E:
    """Read one of some words. Raises UsageError naming them."""
    word = text.strip().casefold().replace("-", "_")
    known = [kind.value for kind in kinds]
    if word not in known:
        raise UsageError(
            N_("{name} is “{text}”; {near} it must be {known:or}.")
            if nearest(word, known)
            else N_("{name} is “{text}”; it must be {known:or}."),
            name=name,
            text=_shorten(text),
            near=hint(word, known),
            known=tuple(known),
        )
    return kinds(word)


def _reader_of(name: str) -> Reader:
    """Return the parser for an option, by its type."""
    kind = get_args(Options.model_fields[name].annotation)[0]
    if issubclass(kind, StrEnum):
        return partial(parse_choice, kind)
    return _BY_TYPE[kind]


_BY_TYPE: Mapping[type, Reader] = {
    str: lambda _, text: text,
    int: parse_signed,
    float: parse_minutes,
    bool: parse_switch,
}
READERS: Mapping[str, Reader] = {"pace": parse_pace, "confidence": parse_confidence}
"""Options that are read otherwise than by their type."""


# --- what was meant ----------------------------------------------------------------------


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the closest known word to a mistyped one, if any is close."""
    words = {one.casefold(): one for one in known}
    close = get_close_matches(word.casefold(), words, n=1, cutoff=SIMILAR)
    return words[close[0]] if close else None


def hint(word: str, known: Iterable[str]) -> Text:
    """Return “did you mean …?” with the closest known word, or nothing."""
    close = nearest(word, known)
    template = N_("did you mean {close}?") if close else ""
    return Text(template, close=close)


def suggest(word: str, known: Iterable[str], *, listed_by: str = "") -> Text:
    """Return “did you mean …?” with the closest known word, or else all of them.

    `listed_by` is the command that lists them, where they are too many for a sentence.
    """
    known = tuple(known)
    if listed_by:
        all_of_them = Text("the command {command} lists them.", command=listed_by)
    else:
        all_of_them = Text("choose from {known}.", known=known)
    return hint(word, known) or all_of_them


def _shorten(text: str) -> str:
    return headline(text, 40)
