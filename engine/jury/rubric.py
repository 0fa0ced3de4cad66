"""Rubrics: criteria, their weights and ranges, and the meaning of a range's ends.

A few rubrics are built in, by name; an operator's own is a TOML file:

    name = "policy"
    [[criteria]]
    name = "feasibility"
    description = "could it be done with what exists?"
    low = "a wish"
    high = "a plan with its costs"
    lowest = 0
    highest = 20
    weight = 2
"""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError

from engine.values.debate import Criterion, Value
from engine.values.errors import UsageError
from engine.values.language import N_
from engine.values.text import headline

LOWEST, HIGHEST = 1, 10
MOST_CRITERIA = 12
FARTHEST = 1000  # a score at most, above or below 0
_NAME = re.compile(r"[^\W_][\w-]{0,39}")


class Rubric(Value):
    """A named set of criteria whose weights add up to 1."""

    name: str
    criteria: tuple[Criterion, ...]

    def score(self, scores: Mapping[str, float]) -> float:
        """Return a contender's score on one ballot: the weighted mean of its criteria, 1–10."""
        whole = 0.0
        for one in self.criteria:
            whole += one.weight * one.points(scores[one.name])
        return whole

    def weighed(self, weights: Mapping[str, float]) -> Rubric:
        """Return the rubric with other weights by criterion, in shares of one another."""
        total = math.fsum(weights.values())
        criteria = (
            one.model_copy(update={"weight": weights[one.name] / total}) for one in self.criteria
        )
        return self.model_copy(update={"criteria": tuple(criteria)})


def _rubric(name: str, *criteria: tuple[str, float, str, str]) -> Rubric:
    made = [Criterion(name=n, weight=w, low=low, high=high) for n, w, low, high in criteria]
    return Rubric(name=name, criteria=tuple(made))


DEBATE = _rubric(
    "debate",
    (N_("logic"), 0.30, "full of gaps", "flawless"),
    (N_("evidence"), 0.30, "all vague", "each piece independently verifiable"),
    (N_("responsiveness"), 0.25, "evaded everything", "answered point by point"),
    (N_("honesty"), 0.15, "sophistry and distortion", "honest and fair"),
)
EVIDENCE_FIRST = _rubric(
    "evidence_first",
    (N_("evidence"), 0.40, "all vague", "each piece independently verifiable"),
    (N_("logic"), 0.30, "full of gaps", "flawless"),
    (N_("rebuttal"), 0.20, "evaded everything", "answered point by point"),
    (N_("clarity"), 0.10, "hard to follow", "clear to any reader"),
)
ANSWERS = _rubric(
    "answers",
    (N_("correctness"), 0.35, "wrong where it can be checked", "right wherever it can be checked"),
    (N_("reasoning"), 0.25, "asserts", "every step shown"),
    (N_("usefulness"), 0.25, "misses the question", "answers it so that one can act on it"),
    (N_("candour"), 0.15, "sure of everything", "says how sure it is and where it does not hold"),
)
TRUTH = _rubric("truth", (N_("truth"), 1.0, "certainly wrong", "certainly right"))
CLASSIC_SIX = Rubric(
    name="classic-six",
    criteria=tuple(
        Criterion(name=name, weight=1 / 6, low=low, high=high, lowest=0, highest=20)
        for name, low, high in (
            (N_("clarity"), "hard to follow", "clear to any reader"),
            (N_("consistency"), "contradicts itself", "one case from first to last"),
            (N_("strength"), "no argument holds", "every argument holds"),
            (N_("counter-arguments"), "ignores the other side", "answers its strongest points"),
            (N_("realism"), "could not happen", "holds in the world as it is"),
            (N_("synthesis"), "repeats itself", "draws out what the debate has shown"),
        )
    ),
)
RUBRICS = {rubric.name: rubric for rubric in (DEBATE, ANSWERS, CLASSIC_SIX, EVIDENCE_FIRST, TRUTH)}


def find_rubric(name: str, criteria: tuple[Criterion, ...] = ()) -> Rubric:
    """Return a rubric by name, or a debate's frozen one. Raises UsageError if unknown."""
    if criteria:
        return Rubric(name=name, criteria=criteria)
    if rubric := RUBRICS.get(name):
        return rubric
    raise UsageError(
        "There is no rubric “{name}”; choose one of {rubrics}.",
        name=name,
        rubrics=tuple(RUBRICS),
    )


def own_criteria(rubric: Rubric) -> tuple[Criterion, ...]:
    """Return the criteria that a debate must freeze: none for a built-in rubric."""
    return () if rubric == RUBRICS.get(rubric.name) else rubric.criteria


# --- from a file -------------------------------------------------------------------------


class _FileCriterion(Value):
    """A criterion as a file has it."""

    name: str
    description: str = ""
    low: str = ""
    high: str = ""
    lowest: int = Field(LOWEST, ge=-FARTHEST, le=FARTHEST)
    highest: int = Field(HIGHEST, ge=-FARTHEST, le=FARTHEST)
    weight: float = Field(1.0, gt=0, le=1e6, allow_inf_nan=False)


def read_rubric(text: str, name: str) -> Rubric:
    """Read a rubric from TOML; `name` is used if the text has none.

    Raises ValueError; its message continues a sentence that begins with the file.
    """
    try:
        given = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"which is not valid TOML: {error}") from None
    name = _check_name(given.pop("name", name), "whose name")
    if name in RUBRICS:
        raise ValueError(f"whose name “{name}” is that of a built-in rubric; choose another")
    entries = given.pop("criteria", None)
    if given:
        raise ValueError(f"which has an unknown entry “{next(iter(given))}”; leave it out")
    if not isinstance(entries, list) or not 0 < len(entries) <= MOST_CRITERIA:
        raise ValueError(f"which needs 1 to {MOST_CRITERIA} entries [[criteria]]")
    written = [_read(*entry) for entry in enumerate(entries, 1)]
    names = [one.name for one in written]
    if twice := next((one for one in names if names.count(one) > 1), None):
        raise ValueError(f"which names the criterion “{twice}” twice; name each once")
    total = math.fsum(one.weight for one in written)
    shares = (one.model_dump() | {"weight": one.weight / total} for one in written)
    return Rubric(name=name, criteria=tuple(Criterion(**one) for one in shares))


def _read(number: int, entry: Any) -> _FileCriterion:
    where = f"whose criterion {number}"
    try:
        read = _FileCriterion.model_validate(entry)
    except ValidationError as error:
        mistake = error.errors(include_url=False, include_input=False)[0]
        key = str(mistake["loc"][0]) if mistake["loc"] else "a table"
        said = mistake["msg"][0].lower() + mistake["msg"][1:]
        raise ValueError(f"{where} is wrong at “{key}”: {said}") from None
    read = read.model_copy(update={"name": _check_name(read.name, f"{where} has a name that")})
    if read.lowest >= read.highest:
        raise ValueError(f"{where} “{read.name}” has a lowest score that is not below its highest")
    return read


def _check_name(name: object, where: str) -> str:
    plain = unicodedata.normalize("NFC", str(name).strip().replace("İ", "i").casefold())
    if not _NAME.fullmatch(plain):
        said = headline(plain, 40)
        raise ValueError(f"{where} is “{said}”; write at most 40 letters, digits and hyphens")
    return plain
