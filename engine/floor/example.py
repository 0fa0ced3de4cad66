"""An answer of the right shape and of about the right length, for a dry run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import orjson

_PROSE = re.compile(r"(\d+) to \d+ words")  # as engine/floor/schema.py describes a text


def example(
    schema: dict[str, Any], text: str, longer: Mapping[str, str] | None = None, spare: int = 1
) -> str:
    """Return JSON that satisfies a schema of engine/floor/schema.py, with `text` for every text.

    `longer` are the texts of some of the fields at its top; a list has `spare` items beyond the
    fewest.
    """
    made = _value(schema, text, spare)
    made |= {name: long for name, long in (longer or {}).items() if name in made}
    return orjson.dumps(made, option=orjson.OPT_INDENT_2).decode()


def _value(node: dict[str, Any], text: str, spare: int) -> Any:
    if "enum" in node:
        return node["enum"][0]
    match node["type"]:
        case "object":
            return {name: _value(item, text, spare) for name, item in node["properties"].items()}
        case "array":
            fewest = int(node.get("minItems", 0))
            length = min(fewest + spare, int(node.get("maxItems", fewest + spare)))
            return [_value(node["items"], text, spare)] * length
        case "integer":
            return (int(node["minimum"]) + int(node["maximum"])) // 2
        case "number":
            return (node["minimum"] + node["maximum"]) / 2
        case "boolean":
            return False
        case _:
            asked = _PROSE.fullmatch(node.get("description", ""))
            return " ".join(["words"] * int(asked[1])) if asked else text
