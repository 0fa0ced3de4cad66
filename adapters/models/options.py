"""Options of a rehearsal model, in its name: `maple?latency=0.25&fail=503x2`."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import parse_qsl

from engine.values.errors import UsageError

Preference = Literal["", "first", "second", "stronger"]
Over = Literal["", "once", "always"]

_TRUTH = {"": True, "1": True, "true": True, "0": False, "false": False}
_FAIL = re.compile(r"(\d{3})(?:x(\d+))?")


@dataclass(frozen=True, slots=True)
class Failure:
    """The first `tries` tries of each call fail with this HTTP status; None: all of them."""

    status: int
    tries: int | None = None


@dataclass(frozen=True, slots=True)
class RehearsalOptions:
    """The options after `?` in a model's name, joined by `&`.

    - `latency=0.25`: seconds that each try takes.
    - `fail=503x2`: the first two tries of each call end with status 503; `fail=503`: all.
    - `garbage`: answers are text that no parser takes.
    - `empty`: answers have no text.
    - `over` or `over=once`: turns pass every limit until asked to shorten; `over=always`: even
      then.
    - `words=N`: turns have about N words.
    - `tokens_out=N`: each answer reports N tokens written.
    - `prefer=first` or `prefer=second`: a juror whose scores and verdict follow the order of
      presentation alone; `prefer=stronger`: one who always names the better contender.
    - `margin=N`: points between the preferred contender and the others (3).
    """

    latency: float = 0.0
    fail: Failure | None = None
    garbage: bool = False
    empty: bool = False
    over: Over = ""
    words: int | None = None
    tokens_out: int | None = None
    prefer: Preference = ""
    margin: int = 3
    name: str = ""

    @classmethod
    def of(cls, model_name: str) -> RehearsalOptions:
        """Read a model's name. Raises UsageError that names the option."""
        name, _, query = model_name.partition("?")
        given = dict(parse_qsl(query, keep_blank_values=True))
        for key in given:
            if key not in _READERS:
                raise UsageError(
                    f"The rehearsal model “{model_name}” has the unknown option “{key}”; "
                    f"known are {', '.join(_READERS)}."
                )
        try:
            values = {key: _READERS[key](value) for key, value in given.items()}
        except ValueError:
            raise UsageError(
                f"The rehearsal model “{model_name}” has an option with a wrong value; write "
                "for example latency=0.25, fail=503x2, prefer=first or words=80."
            ) from None
        return cls(name=name, **values)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 3600:
        raise ValueError(text)
    return value


def _number(text: str) -> int:
    value = int(text)
    if not 0 <= value <= 1_000_000:
        raise ValueError(text)
    return value


def _failure(text: str) -> Failure:
    match = _FAIL.fullmatch(text)
    if match is None or int(match[1]) < 400:
        raise ValueError(text)
    return Failure(int(match[1]), int(match[2]) if match[2] else None)


def _truth(text: str) -> bool:
    if text not in _TRUTH:
        raise ValueError(text)
    return _TRUTH[text]


def _one_of(*words: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in words:
            raise ValueError(text)
        return text or words[1]

    return read


_READERS: dict[str, Callable[[str], Any]] = {
    "latency": _seconds,
    "fail": _failure,
    "garbage": _truth,
    "empty": _truth,
    "over": _one_of("", "once", "always"),
    "words": _number,
    "tokens_out": _number,
    "prefer": _one_of("first", "second", "stronger"),
    "margin": _number,
}
