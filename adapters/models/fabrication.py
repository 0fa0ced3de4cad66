"""Structured answers of a rehearsal model: a value that satisfies a JSON schema."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from typing import Any

from adapters.models.speeches import Point

Schema = dict[str, Any]

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


class Fabricator:
    """Makes values for schemas of engine/floor/shapes.py; `points` are the material of its texts.

    `side` is A or B. `phrases` returns texts for a property's name, in the order in which they are
    used.
    """

    def __init__(
        self,
        chance: random.Random,
        points: Sequence[Point],
        side: str,
        phrases: Callable[[str], Sequence[str]],
    ) -> None:
        self._phrases = phrases
        self._texts: dict[str, Iterator[str]] = {}
        self._chance = chance
        self._points = points
        self._side = side
        self._told = 0
        self._pointed = 0
        self._stated = ""  # the rest of the point behind the last claim

    def value(self, node: Schema, name: str = "") -> Any:
        """Return a value for a schema node; `name` is the property it is for."""
        if node.get("enum"):
            said = [word for word in self._phrases(name) if word in node["enum"]]
            return self._chance.choice(said or node["enum"])
        match node["type"]:
            case "object":
                return self._object(node, name)
            case "array":
                return self._array(node, name)
            case "integer":
                return self._chance.randint(node["minimum"], node["maximum"])
            case "number":
                low, high = (round(100 * node[end]) for end in ("minimum", "maximum"))
                return round(self._chance.randint(low, high) * 0.01, 10)
            case "boolean":
                return self._chance.random() < 0.5
            case _:
                return self._text(name)

    def _object(self, node: Schema, parent: str) -> dict[str, Any]:
        made = {
            # Below an id as key, the parent's name says what the text is about.
            name: self.value(item, parent if _ID.fullmatch(name) else name)
            for name, item in node["properties"].items()
        }
        if made.get("type") == "concede" and "reasoning" in made:
            made["reasoning"] = self._text("conceded")
        for deciding in _DECIDING:
            for name in ("reason", "narrative"):
                about = f"{name}_{str(made.get(deciding)).lower()}"
                if deciding in made and name in made and self._phrases(about):
                    made[name] = self._text(about)
        return made

    def _array(self, node: Schema, name: str) -> list[Any]:
        fewest = node["minItems"]
        most = node.get("maxItems", max(fewest, 1) + 1)
        if name in _RARE and not fewest and self._chance.random() < _SELDOM:
            return []
        more = 0 if name in _FEW else 2
        wanted = self._chance.randint(fewest, max(fewest, min(most, fewest + more)))
        return [self.value(node["items"], name) for _ in range(min(most, wanted))]

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
