"""A format's own judges: each answers independently, and the median of their answers stands.

With one judge, its answer stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel

from engine.stage import Stage
from engine.stage.shapes import Node, Shape, ShapedAnswer
from engine.values.language import N_
from engine.values.overlap import similarity
from engine.values.text import marked
from engine.values.verdicts import TIE, Artifact, Score
from engine.words.translation import plural, say

# The median of several judges' answers, part by part; pure.
#
# A score becomes the median. Of several words the one named most often stands; where two are named
# equally often, the undecided one of the list (`UNDECIDED`), if it has one. An entry of a list
# stands when more than half of the judges named it. Texts, and whatever is still open then, are
# those of the judge whose answer is nearest to the median.


UNDECIDED = ("draw", "tie", "UNCERTAIN", "none")
ALIKE_OVERLAP = 0.4  # overlap of words from which two judges' entries speak of the same thing


def median_answer(node: Node, answers: Sequence[Any]) -> Any:
    """Return the median of answers that follow a JSON schema; at least one."""
    nearest = min(answers, key=lambda answer: _distance(node, answers, answer))
    return _merge(node, answers, nearest)


def _merge(node: Node, answers: Sequence[Any], nearest: Any) -> Any:
    if "properties" in node:
        merged = {}
        for name, inner in node["properties"].items():
            given = [answer[name] for answer in answers if name in answer]
            if given:
                merged[name] = _merge(inner, given, nearest.get(name, given[0]))
        return merged
    if node["type"] in ("integer", "number"):
        return _middle(answers)
    if "enum" in node or node["type"] == "boolean":
        stands = _most_named(node, answers)
        return nearest if stands is None else stands
    if node["type"] == "array" and node["items"] != {"type": "string"}:
        # What more than half named, worded by the nearest judge where it did.
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
    return nearest


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


def _alike(one: Any, other: Any) -> bool:
    """Return whether two judges' entries are the same: equal but for texts, and those overlap."""
    if not isinstance(one, dict):
        return bool(one == other)
    return one.keys() == other.keys() and all(
        one[name] == value
        or (  # a word of a fixed list has no space; a text of one word must be the same
            isinstance(one[name], str)
            and isinstance(value, str)
            and similarity(one[name], value) >= ALIKE_OVERLAP
        )
        for name, value in other.items()
    )


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


S = TypeVar("S", bound=BaseModel)
OPINION = "opinion"
NO_NAMES: Mapping[str, str] = {}
SUBJECTS = {
    "roundtable": N_("an answer"),
    "structured": N_("an argument"),
    "team": N_("a speech"),
}


async def ask_judges(
    stage: Stage,
    step: str,
    *,
    system: str,
    template: str,
    shape: Shape[S],
    facts: Mapping[str, Any],
    own: Callable[[int], Mapping[str, Any]] = lambda judge: {},
) -> ShapedAnswer[S]:
    """Ask all judges of the format the same question at once; return the median answer.

    Its `opinions` are what each judge answered, None for one that could not be read; what each
    said is kept. Without a single answer that can be read, the first judge's is returned. `own` are
    facts that differ by judge, counted from 0, such as the order of what it reads.
    """
    judges = stage.request.judges
    answers = await stage.together(
        *(
            stage.consult(
                step if number == 1 else f"{step}/judge-{number}",
                judge,
                system=system,
                template=template,
                shape=shape,
                **facts,
                **own(number - 1),
            )
            for number, judge in enumerate(judges, 1)
        )
    )
    if len(answers) == 1:
        return answers[0]
    await stage.keep(
        artifacts=[_keep_opinion(step, number, one) for number, one in enumerate(answers, 1)]
    )
    opinions = tuple(answer.value if answer.valid else None for answer in answers)
    given = [opinion for opinion in opinions if opinion is not None]
    if not given:
        return replace(answers[0], opinions=opinions)
    dumped = [orjson.loads(opinion.model_dump_json()) for opinion in given]
    middle = median_answer(shape.schema.json_schema, dumped)
    return ShapedAnswer(
        shape.model.model_validate_json(orjson.dumps(middle)), (), "", opinions=opinions
    )


def _keep_opinion(step: str, number: int, answer: ShapedAnswer[S]) -> Artifact:
    value = answer.value.model_dump(mode="json") if answer.valid and answer.value else None
    body = {"judge": number, "step": step, "answer": value}
    if value is None:
        body |= {"raw": answer.raw, "problem": answer.problem}
    name = f"{OPINION}/{step}/{number}"
    return Artifact.of(name, OPINION, body, valid=value is not None)


def tell_judges(
    by_judge: Sequence[str | None],
    scores: Iterable[Score],
    format: str,
    names: Mapping[str, str] = NO_NAMES,
) -> str:
    """Say how far several judges agree: each one's winner, and the mean spread of `scores`.

    Empty for a single judge. `scores` are of the `format`'s subject, such as a speech; `names` are
    of contenders that have more than a letter.
    """
    if not by_judge:
        return ""
    counts = Counter(by_judge).most_common()
    told = say(", ").join(
        _tell_winner(winner and names.get(winner, marked(winner)), n) for winner, n in counts
    )
    spreads = [score.spread for score in scores if score.spread is not None]
    said = [say("{n} judges, the median counts: {told}.", n=len(by_judge), told=told)]
    if spreads:
        subject = SUBJECTS.get(format, N_("a turn"))
        said.append(
            say(
                "The highest and the lowest score of {subject} are {spread:.1f} points "
                "apart on average.",
                subject=say(subject),
                spread=fmean(spreads),
            )
        )
    return " ".join(said)


def _tell_winner(winner: str | None, n: int) -> str:
    if winner is None:
        return say("{n} gave nothing that can be counted", n=n)
    if winner == TIE:
        return plural("{n} calls it level", "{n} call it level", n)
    return plural("{n} has {side} ahead", "{n} have {side} ahead", n, side=winner)
