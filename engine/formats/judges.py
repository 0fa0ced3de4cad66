"""A format's own judges: each answers independently, and the median of their answers stands.

With one judge, its answer stands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel

from engine.floor.floor import Floor
from engine.floor.shapes import Shape, ShapedAnswer
from engine.formats.median import median_answer
from engine.values.judging import TIE, Artifact, Score
from engine.values.text import marked
from engine.words.translation import plural, say

S = TypeVar("S", bound=BaseModel)
OPINION = "opinion"
NO_NAMES: Mapping[str, str] = {}
AHEAD = ("{n} has {side} ahead", "{n} have {side} ahead")
ALIKE = ("{n} calls it level", "{n} call it level")
UNREAD = "{n} gave nothing that can be counted"
APART = "The highest and the lowest score of {subject} are {spread:.1f} points apart on average."
SEVERAL = "{n} judges, the median counts: {told}."
SUBJECT = "a turn"
SUBJECTS = {
    "roundtable": "an answer",
    "structured": "an argument",
    "team": "a speech",
}


async def ask_judges(
    floor: Floor,
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
    judges = floor.request.judges
    answers = await floor.together(
        *(
            floor.consult(
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
    await floor.keep(
        artifacts=[_keep_opinion(step, number, one) for number, one in enumerate(answers, 1)]
    )
    opinions = tuple(answer.value if answer.valid else None for answer in answers)
    given = [opinion for opinion in opinions if opinion is not None]
    if not given:
        return replace(answers[0], opinions=opinions)
    return ShapedAnswer(_stand(shape, given), (), "", opinions=opinions)


def _stand(shape: Shape[S], given: list[S]) -> S:
    dumped = [orjson.loads(opinion.model_dump_json()) for opinion in given]
    middle = median_answer(shape.schema.json_schema, dumped)
    return shape.model.model_validate_json(orjson.dumps(middle))


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
    said = [say(SEVERAL, n=len(by_judge), told=told)]
    if spreads:
        said.append(say(APART, subject=say(SUBJECTS.get(format, SUBJECT)), spread=fmean(spreads)))
    return " ".join(said)


def _tell_winner(winner: str | None, n: int) -> str:
    if winner is None:
        return say(UNREAD, n=n)
    return plural(ALIKE if winner == TIE else AHEAD, n, side=winner)
