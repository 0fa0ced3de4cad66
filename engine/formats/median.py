"""The median of several judges' answers, part by part; pure.

A score becomes the median. Of several words the one named most often stands; where two are named
equally often, the undecided one of the list (`UNDECIDED`), if it has one. An entry of a list stands
when more than half of the judges named it. Texts, and whatever is still open then, are those of the
judge whose answer is nearest to the median.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from engine.floor.schema import Node
from engine.values.overlap import similarity

UNDECIDED = ("draw", "tie", "UNCERTAIN", "none")
ALIKE = 0.4  # overlap of words from which two judges' entries speak of the same thing


def median_answer(node: Node, answers: Sequence[Any]) -> Any:
    """Return the median of answers that follow a JSON schema; at least one."""
    nearest = min(answers, key=lambda answer: _distance(node, answers, answer))
    return _merge(node, answers, nearest)


def _merge(node: Node, answers: Sequence[Any], nearest: Any) -> Any:
    if "properties" in node:
        return _merge_record(node, answers, nearest)
    if node["type"] in ("integer", "number"):
        return _middle(answers)
    if "enum" in node or node["type"] == "boolean":
        stands = _most_named(node, answers)
        return nearest if stands is None else stands
    if node["type"] == "array" and node["items"] != {"type": "string"}:
        return _merge_list(answers, nearest)
    return nearest


def _merge_record(node: Node, answers: Sequence[Any], nearest: Any) -> dict[str, Any]:
    merged = {}
    for name, inner in node["properties"].items():
        given = [answer[name] for answer in answers if name in answer]
        if given:
            merged[name] = _merge(inner, given, nearest.get(name, given[0]))
    return merged


def _middle(answers: Sequence[float]) -> float:
    middle = median(answers)
    return int(middle) if middle == int(middle) else middle


def _most_named(node: Node, answers: Sequence[Any]) -> Any:
    """Return the word that stands; None where several are named equally often."""
    counts = Counter(answers)
    most = max(counts.values())
    ahead = [answer for answer, times in counts.items() if times == most]
    if len(ahead) == 1:
        return ahead[0]
    return next((word for word in UNDECIDED if word in node.get("enum", ())), None)


@dataclass(frozen=True, slots=True)
class _Named:
    """An entry of a judge's list, in that judge's words, and how many judges have named it."""

    entry: Any
    judges: frozenset[int]


def _merge_list(answers: Sequence[Sequence[Any]], nearest: Sequence[Any]) -> list[Any]:
    """Return the entries that more than half named, worded by the nearest judge where it did."""
    first = next((at for at, given in enumerate(answers) if given is nearest), 0)
    order = [first, *(at for at in range(len(answers)) if at != first)]
    found: list[_Named] = []
    for judge in order:
        for entry in answers[judge]:
            place = next((at for at, one in enumerate(found) if _alike(one.entry, entry)), None)
            if place is None:
                found.append(_Named(entry, frozenset({judge})))
            else:
                known = found[place]
                found[place] = _Named(known.entry, known.judges | {judge})
    return [one.entry for one in found if 2 * len(one.judges) > len(answers)]


def _alike(one: Any, other: Any) -> bool:
    """Return whether two judges' entries are the same: equal but for texts, and those overlap."""
    if not isinstance(one, dict):
        return bool(one == other)
    return one.keys() == other.keys() and all(
        one[name] == value or _overlap(one[name], value) for name, value in other.items()
    )


def _overlap(one: Any, other: Any) -> bool:
    # A word of a fixed list has no space; a text of one word must be the same.
    texts = isinstance(one, str) and isinstance(other, str)
    return texts and similarity(one, other) >= ALIKE


def _distance(node: Node, answers: Sequence[Any], answer: Any) -> float:
    """Return how far an answer is from the median, each score in shares of its range."""
    if "properties" in node:
        inner = node["properties"].items()
        return sum(
            _distance(each, [given[name] for given in answers if name in given], answer[name])
            for name, each in inner
            if name in answer
        )
    if node["type"] in ("integer", "number"):
        span = float(node.get("maximum", 1)) - float(node.get("minimum", 0))
        return abs(float(answer) - float(_middle(answers))) / (span or 1.0)
    if "enum" in node or node["type"] == "boolean":
        stands = _most_named(node, answers)
        return float(stands is not None and stands != answer)
    return 0.0
