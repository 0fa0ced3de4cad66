"""Texts of backends made fit to be kept: JSON with lone surrogates, one short line."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from itertools import groupby
from string import ascii_lowercase, ascii_uppercase
from typing import Any

import orjson
import regex

from engine.values.text import clean

_HALF = re.compile("[\ud800-\udfff]")
MARK = "\N{REPLACEMENT CHARACTER}"


def decode(content: bytes | str) -> tuple[Any, int]:
    """Read JSON; joins surrogate pairs, and replaces lone surrogates by U+FFFD.

    Returns the value, and how many lone surrogates in it were replaced.
    Raises JSONDecodeError for invalid or too deeply nested JSON.
    """
    try:
        return orjson.loads(content), 0
    except orjson.JSONDecodeError:
        return _mend(decode_raw(content))


def decode_raw(content: bytes | str) -> Any:
    """Read JSON, keeping lone surrogates: the other half may follow in another piece.

    Raises JSONDecodeError as `decode` does.
    """
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        try:
            value = json.loads(content, parse_constant=_refuse)
        except (RecursionError, ValueError):
            raise error from None
        # Python's parser is laxer, so it is trusted only about lone surrogates.
        if _HALF.search(json.dumps(value, ensure_ascii=False)) is None:
            raise
        return value


def join(text: str) -> tuple[str, int]:
    """Return a text with surrogates joined or replaced, and how many were replaced."""
    if _HALF.search(text) is None:
        return text, 0
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _HALF.subn(MARK, joined)


def _mend(value: Any) -> tuple[Any, int]:
    if isinstance(value, str):
        return join(value)
    if isinstance(value, list):
        items = [_mend(item) for item in value]
        return [item for item, _ in items], sum(n for _, n in items)
    if isinstance(value, dict):
        pairs = [(_mend(key), _mend(item)) for key, item in value.items()]
        return {key[0]: item[0] for key, item in pairs}, sum(k[1] + i[1] for k, i in pairs)
    return value, 0


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


# Makes a backend's words fit for the journal: one clean, short line without keys.
#
# A word too many may go: these texts are read by the operator, to find out what failed.


HIDDEN = "***"
LONGEST = 300  # characters of the line
MOST_READ = 5_000  # characters that are looked at
PART = 6  # characters of a configured key that are hidden wherever they stand
SHORTEST = 4  # a shorter secret is in ordinary words

_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)  # keeps lengths
_INVISIBLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cf}]+")
# Keys of the presets (openai, openrouter, anthropic and deepseek: sk-, gemini: AIza, zhipu: hex and
# a point) and of what is often set beside them; and tokens without a prefix, which are long.
_KEYS = re.compile(
    r"""
    (?<=://)[^\s"'<>]+(?=@)                              # the user of an address
  | \b[\w.+-]+:[^\s@/"'<>]+(?=@)
  | (?<![^\W_])(?i:(?:api)?key|authorization|passw(?:or)?d|secret|token)["']?\s*[:=]\s*["']?
    (?:(?i:bearer|basic)\s+)?[^\s,;"']+
  | \b(?i:bearer|basic)\s+[^\s,;"']+
  | \b(?:sk|pk|rk|key|csk)[-_][-\w*.]{6,}
  | \b(?:gsk|hf|r8|fw|tgp|ghp|gho|github_pat|glpat|xai|nvapi|pplx|tvly|jina|dg|sess)[-_][-\w*.]{6,}
  | \b(?:xox[a-z]|xapp)(?:\.xox[a-z])?-[-\w*.]{4,}
  | \b(?:AIza|AKIA|ASIA|BSA|ya29\.|eyJ)[-\w*.]{6,}
  | \b(?=[A-Za-z]*[0-9])(?=[0-9]*[A-Za-z])[A-Za-z0-9]{32,}(?:\.\w+)?
    """,
    re.VERBOSE,
)


def redact(text: str, *secrets: str) -> str:
    """Return one short line of a backend's words without keys or parts of the secrets."""
    read = _INVISIBLE.sub("", clean(text[:MOST_READ]))
    line = _without_parts(" ".join(_KEYS.sub(HIDDEN, read).split()), secrets)
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _without_parts(line: str, secrets: tuple[str, ...]) -> str:
    """Hide every stretch of a line that is made of parts of the secrets, in capitals or not."""
    lower, hidden = line.translate(_LOWER), set[int]()
    for size, parts in _parts(secrets).items():
        starts = (at for at in range(len(line)) if lower[at : at + size] in parts)
        hidden.update(at + i for at in starts for i in range(size))
    runs = groupby(range(len(line)), lambda at: at in hidden)
    return "".join(HIDDEN if hides else "".join(line[at] for at in run) for hides, run in runs)


@lru_cache(maxsize=64)
def _parts(secrets: tuple[str, ...]) -> dict[int, frozenset[str]]:
    """Return the parts to look for by their length: a short secret is one whole."""
    found: dict[int, set[str]] = {}
    for secret in (one.translate(_LOWER) for one in secrets if len(one) >= SHORTEST):
        size = min(PART, len(secret))
        parts = (secret[at : at + size] for at in range(len(secret) - size + 1))
        found.setdefault(size, set()).update(parts)
    return {size: frozenset(parts) for size, parts in found.items()}
