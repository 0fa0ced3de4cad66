"""An operator's own rubric, as a TOML file:


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
from typing import Any

from pydantic import Field, ValidationError

from engine.jury.rubric import HIGHEST, LOWEST, RUBRICS, Rubric
from engine.values.debate import Criterion, Value
from engine.values.text import headline

MOST_CRITERIA = 12
FARTHEST = 1000  # a score at most, above or below 0
_NAME = re.compile(r"[^\W_][\w-]{0,39}")


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
