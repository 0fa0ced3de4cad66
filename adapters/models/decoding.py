"""JSON from backends, whose texts may contain lone surrogates.

`"\\ud800"` is valid JSON, but no database, file or platform accepts such a text.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import orjson

_HALF = re.compile("[\ud800-\udfff]")
MARK = "\N{REPLACEMENT CHARACTER}"


class Decoded(NamedTuple):
    """A JSON value, and how many lone surrogates in it were replaced."""

    value: Any
    replaced: int = 0


def decode(content: bytes | str) -> Decoded:
    """Read JSON; joins surrogate pairs, and replaces lone surrogates by U+FFFD.

    Raises JSONDecodeError for invalid or too deeply nested JSON.
    """
    try:
        return Decoded(orjson.loads(content))
    except orjson.JSONDecodeError:
        value, replaced = _mend(decode_raw(content))
        return Decoded(value, replaced)


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
