"""Structured answers of a rehearsal model: a value that satisfies a JSON schema.

Covers types, `enum`, `const`, bounds, lengths, `items`, `prefixItems`, `anyOf`, `oneOf`, `allOf`
and local `$ref`. Of patterns it knows identifiers such as `A-1`; a text for any other pattern may
not match it.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Any

from adapters.models.speeches import Point

Schema = dict[str, Any]

_DEEP = 6
_FORMATS = {
    "date": "2025-01-15",
    "date-time": "2025-01-15T12:00:00Z",
    "time": "12:00:00Z",
    "email": "reader@example.org",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_FEW = ("questions", "arguments")  # of which a reader wants no more than asked for
_DECIDING = ("standing", "outcome", "winner")  # a text beside it has variants by its value
_RARE = (
    "violations",
    "fallacies",
    "suspect",
    "exposed",
    "premises",
    "new_arguments",
    "withdrawn",
)
_SELDOM = 0.75  # share of answers without any
_REASONED = 20  # minimum characters of a reasoning
_ID = re.compile(r"[AB]-\d+")
_SENTENCE = re.compile(r"[.!?](?=\s)|[。！？]")
_TITLES = ("title", "name", "label", "heading", "headline")
_GUESSES = ("A-1", "B-1", "A1", "B1", "A", "B", "1", "0", "a", "x1", "2025", "2025-01-15")


class Fabricator:
    """Makes values for one schema; `side` is A or B, `points` are the material of its texts.

    `phrases` returns texts for a property's name, in the order in which they are used.
    """

    def __init__(
        self,
        schema: Schema,
        chance: random.Random,
        points: Sequence[Point],
        side: str,
        phrases: Callable[[str], Sequence[str]] = lambda name: (),
    ) -> None:
        self._phrases = phrases
        self._texts: dict[str, Iterator[str]] = {}
        self._root = schema
        self._chance = chance
        self._points = points
        self._side = side
        self._told = 0
        self._pointed = 0
        self._stated = ""  # the rest of the point behind the last claim

    def value(self, node: Any, name: str = "", depth: int = 0) -> Any:
        """Return a value for a schema node; `name` is the property it is for."""
        node = self.resolve(node)
        if "const" in node:
            return node["const"]
        if node.get("enum"):
            said = [word for word in self._phrases(name) if word in node["enum"]]
            return self._chance.choice(said or node["enum"])
        kind = _kind(node)
        if kind == "object":
            return self._object(node, name, depth)
        if kind == "array":
            return self._array(node, name, depth)
        if kind in ("integer", "number"):
            return self._number(node, whole=kind == "integer")
        if kind == "boolean":
            return self._chance.random() < 0.5
        return None if kind == "null" else self._string(node, name)

    def resolve(self, node: Any) -> Schema:
        """Resolve references and alternatives to a plain node."""
        plain: Schema = dict(node) if isinstance(node, dict) else {}
        for _ in range(20):
            if "$ref" in plain:
                target = self._target(plain.pop("$ref"))
                plain = {**target, **plain}
            elif choices := plain.pop("anyOf", None) or plain.pop("oneOf", None):
                plain = {**plain, **self._choice(choices)}
            elif parts := plain.pop("allOf", None):
                plain = _merged([plain, *(self.resolve(part) for part in parts)])
            else:
                break
        return plain

    def _target(self, reference: str) -> Schema:
        node: Any = self._root
        for step in reference.lstrip("#/").split("/") if reference != "#" else []:
            node = node[step.replace("~1", "/").replace("~0", "~")]
        return node if isinstance(node, dict) else {}

    def _choice(self, choices: list[Any]) -> Schema:
        real = [c for c in choices if isinstance(c, dict) and c.get("type") != "null"]
        return dict(real[0]) if real else {"type": "null"}

    def _object(self, node: Schema, parent: str, depth: int) -> dict[str, Any]:
        properties: Schema = node.get("properties", {})
        required = node.get("required", [])
        names = [n for n in properties if depth < _DEEP or n in required]
        made = {
            # Below an id as key, the parent's name says what the text is about.
            name: self.value(properties[name], parent if _ID.fullmatch(name) else name, depth + 1)
            for name in names
        }
        if made.get("type") == "concede" and "reasoning" in made:
            made["reasoning"] = self._text("conceded")
        for deciding in _DECIDING:
            for name in ("reason", "narrative"):
                about = f"{name}_{str(made.get(deciding)).lower()}"
                if deciding in made and name in made and self._phrases(about):
                    made[name] = self._text(about)
        extra = node.get("additionalProperties")
        for name in self._extra_names(node, made) if extra is not False else []:
            made[name] = self.value(extra if isinstance(extra, dict) else {}, name, depth + 1)
        return made

    def _extra_names(self, node: Schema, made: dict[str, Any]) -> list[str]:
        missing = [name for name in node.get("required", []) if name not in made]
        fewest = int(node.get("minProperties", 0))
        if isinstance(node.get("additionalProperties"), dict) and not node.get("properties"):
            fewest = max(fewest, 1)
        allowed = self.resolve(node.get("propertyNames", {})).get("enum")
        pool = allowed or [f"item_{i}" for i in range(1, fewest + 1)]
        free = [n for n in pool if n not in made and n not in missing]
        return missing + free[: max(0, fewest - len(made) - len(missing))]

    def _array(self, node: Schema, name: str, depth: int) -> list[Any]:
        made = [self.value(item, name, depth + 1) for item in node.get("prefixItems", [])]
        fewest = int(node.get("minItems", 1 if depth < _DEEP else 0))
        most = int(node.get("maxItems", max(fewest, 1) + 1))
        if name in _RARE and not fewest and self._chance.random() < _SELDOM:
            return []
        more = 0 if name in _FEW else 2
        wanted = min(most, self._chance.randint(fewest, max(fewest, min(most, fewest + more))))
        if node.get("items") is False or (made and "items" not in node):
            return made
        for _ in range(50 * wanted):
            if len(made) >= wanted:
                break
            item = self.value(node.get("items", {}), name, depth + 1)
            if not node.get("uniqueItems") or item not in made:
                made.append(item)
        return made

    def _number(self, node: Schema, *, whole: bool) -> int | float:
        step = float(node.get("multipleOf", 1 if whole else 0.01))
        low, high = _bounds(node, step, 10.0 if whole else 1.0)
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last < first:
            return (low + high) / 2
        chosen = self._chance.randint(first, last) * step
        return round(chosen) if whole else round(chosen, 10)

    def _string(self, node: Schema, name: str) -> str:
        if node.get("format") in _FORMATS:
            return _FORMATS[node["format"]]
        if "pattern" in node:
            guesses = [f"{self._side}-{self._told % 9 + 1}", *_GUESSES]
            self._told += 1
            text = next((g for g in guesses if re.search(node["pattern"], g)), guesses[0])
        else:
            text = self._text(name)
        while len(text) < int(node.get("minLength", 0)):
            text = f"{text} {self._text('')}"
        most = node.get("maxLength")
        return text if most is None or len(text) <= most else text[: int(most)]

    def _text(self, name: str) -> str:
        self._told += 1
        if name not in self._texts:
            self._texts[name] = cycle(self._phrases(name))
        if (text := next(self._texts[name], None)) is not None:
            return text
        if name == "reasoning" and self._stated:
            reasoning, self._stated = self._stated, ""
            return reasoning
        point = self._points[self._pointed % len(self._points)]
        self._pointed += 1
        if name == "claim":
            claim, rest = _first_sentence(point.text)
            self._stated = rest if len(rest) >= _REASONED else point.text
            return f"{point.title}: {claim}"
        if name == "id" or name.endswith("_id"):
            return f"{self._side}-{self._told}"
        return point.title if name.lower() in _TITLES else point.text


def _first_sentence(text: str) -> tuple[str, str]:
    end = _SENTENCE.search(text)
    return (text[: end.end()].strip(), text[end.end() :].strip()) if end else (text, "")


def _kind(node: Schema) -> str:
    kind = node.get("type")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), "null")
    if isinstance(kind, str):
        return kind
    if "properties" in node or "additionalProperties" in node:
        return "object"
    if "items" in node or "prefixItems" in node:
        return "array"
    return "number" if "minimum" in node or "maximum" in node else "string"


def _merged(parts: list[Schema]) -> Schema:
    whole: Schema = {}
    for part in parts:
        properties = {**whole.get("properties", {}), **part.get("properties", {})}
        required = [*whole.get("required", []), *part.get("required", [])]
        whole = {**whole, **part}
        if properties:
            whole |= {"properties": properties, "required": required}
    return whole


def _bounds(node: Schema, step: float, span: float) -> tuple[float, float]:
    """Return the minimum and maximum; an open one is `span` from the other."""
    low, high = node.get("minimum"), node.get("maximum")
    if isinstance(node.get("exclusiveMinimum"), int | float):
        low = max(node["exclusiveMinimum"] + step, -math.inf if low is None else low)
    if isinstance(node.get("exclusiveMaximum"), int | float):
        high = min(node["exclusiveMaximum"] - step, math.inf if high is None else high)
    if low is None:
        return (0.0, span) if high is None else (float(high) - span, float(high))
    return float(low), float(low) + span if high is None else float(high)
