"""Reads an operator's own files: topics, and a rubric.

Topics are in TOML, in YAML, or one a line. What is wrong with an entry is said with its line, and
leaves the other entries as they are.
"""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field, ValidationError

from engine.jury.rubric import HIGHEST, LOWEST, RUBRICS, Rubric
from engine.prompts import check_language
from engine.values.debate import Criterion, Value
from engine.values.errors import SettingsError, UsageError
from engine.values.options import hint
from engine.values.text import clean, headline, is_visible
from engine.values.topics import LONGEST_STANCE, Topic, TopicList, fold_topic

YAML = (".yaml", ".yml")
KEYS = (
    *("text", "for", "against", "conditions", "language", "category"),
    *("options", "answer", "source"),
)
LONGEST = {"text": 1000, "conditions": 1000, "category": 40}  # characters
MOST_CHOICES = 9
MOST = 2000  # topics
DEEP = "it is nested too deeply; write a plain list of topics."
_TABLE = re.compile(r"\s*\[\[\s*topics\s*\]\]")
_NESTED = re.compile(r"(?:[\[{]\s*){20}")
_LANGUAGE = re.compile(r"\[([\w-]+)\]")


class _TopicEntry(NamedTuple):
    """One entry as it was written: its line, and what it holds or why it cannot be read."""

    line: int
    held: dict[str, Any]
    fault: str = ""


def read_topics(file: Path, named_by: str = "ROSTRUM_TOPICS_FILE") -> TopicList:
    """Read a file of topics. Raises SettingsError if it cannot be read at all."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SettingsError(
            f"{named_by} names {file}, which cannot be read: {error.strerror}."
        ) from None
    except UnicodeDecodeError:
        raise SettingsError(
            f"{named_by} names {file}, which is not UTF-8 text; save it as UTF-8."
        ) from None
    suffix = file.suffix.lower()
    read = _from_toml if suffix == ".toml" else _from_yaml if suffix in YAML else _from_lines
    return _check(file, list(read(text)))


def _check(file: Path, entries: list[_TopicEntry]) -> TopicList:
    topics: list[Topic] = []
    faults: list[str] = []
    first: dict[str, int] = {}
    for line, held, fault in entries:
        try:
            topic = _topic(held) if not fault else None
        except (UsageError, ValueError) as error:
            topic, fault = None, str(error)
        if topic and (before := first.setdefault(fold_topic(topic.text), line)) != line:
            fault = f"repeats the topic of line {before}; remove one of them."
        if fault:
            faults.append(f"{file}, line {line}: {fault}")
        elif topic:
            topics.append(topic)
    if not entries or len(entries) > MOST:
        count = "no topic" if not entries else f"{len(entries)} topics; at most {MOST} are allowed"
        faults.append(f"{file} holds {count}.")
    return TopicList(tuple(topics), tuple(faults))


def _topic(held: dict[str, Any]) -> Topic:
    """Return an entry's topic. Raises ValueError with a sentence, or UsageError for a language."""
    held = dict(held)
    choices, source = _choices(held.pop("options", ())), held.get("source", "")
    for key, value in held.items():
        if key not in KEYS:
            known = hint(key, KEYS) or f"use {', '.join(KEYS)}."
            raise ValueError(f"there is no entry “{headline(key, 40)}”; {known}")
        if not isinstance(value, str):
            raise ValueError(f"{key} is not a text; put it between quotation marks.")
    said = {key: " ".join(clean(value).split()) for key, value in held.items()}
    text = said.get("text", "")
    if not text or not is_visible(text):
        raise ValueError("the topic has no text; write one.")
    for key, most in LONGEST.items():
        if len(said.get(key, "")) > most:
            raise ValueError(f"{key} has more than {most} characters; shorten it.")
    a, b = said.get("for", ""), said.get("against", "")
    if bool(a) != bool(b):
        raise ValueError("one stance is missing; give for and against, or neither.")
    if max(len(a), len(b)) > LONGEST_STANCE:
        raise ValueError(f"a stance has more than {LONGEST_STANCE} characters; shorten it.")
    if a and fold_topic(a) == fold_topic(b):
        raise ValueError("both stances are the same; give each side one of its own.")
    language = check_language(said.get("language") or "en")
    return Topic(
        text=text,
        conditions=said.get("conditions", ""),
        stance_a=a,
        stance_b=b,
        language=language,
        category=said.get("category", ""),
        choices=choices,
        answer=_answer(said.get("answer", ""), choices, a, b, source),
        source=clean(source).strip(),
    )


def _choices(listed: object) -> tuple[str, ...]:
    """Return the answers to choose from. Raises ValueError with a sentence."""
    if listed == ():
        return ()
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise ValueError('options is not a list of texts; write it as in ["Bern", "Basel"].')
    choices = tuple(" ".join(clean(one).split()) for one in listed)
    if not 2 <= len(choices) <= MOST_CHOICES or not all(map(is_visible, choices)):
        raise ValueError(f"options needs 2 to {MOST_CHOICES} answers, none of them empty.")
    if max(map(len, choices)) > LONGEST_STANCE:
        raise ValueError(f"an option has more than {LONGEST_STANCE} characters; shorten it.")
    if len({fold_topic(one) for one in choices}) < len(choices):
        raise ValueError("two options are the same; give each one of its own.")
    return choices


def _answer(said: str, choices: tuple[str, ...], a: str, b: str, source: str) -> str:
    """Return the right answer as one of the claims. Raises ValueError with a sentence."""
    if choices and a:
        raise ValueError("it has both options and stances; give options, or for and against.")
    if not said:
        if source:
            raise ValueError("a source is for a topic with an answer; leave it out.")
        if choices:
            raise ValueError("options without an answer; write which of them is right.")
        return ""
    named = {one: one for one in choices} if choices else {"for": a, "against": b, a: a, b: b}
    if not choices and not a:
        raise ValueError("an answer needs options, or for and against, to be one of.")
    if said not in named:
        known = ", ".join(choices or ("for", "against"))
        raise ValueError(f"the answer “{headline(said, 40)}” is none of {known}; write one.")
    return named[said]


def read_tables(tables: list[dict[str, Any]], file: Path) -> tuple[Topic, ...]:
    """Return the topics that the file of a series holds as tables. Raises UsageError."""
    places = chain(_table_lines(file.read_text(encoding="utf-8-sig")), repeat(1))
    listed = _check(file, list(map(_TopicEntry, places, tables)))
    if listed.faults:
        raise UsageError(listed.faults[0].removeprefix(f"{file}, "))
    return listed.topics


# --- the three ways to write it ----------------------------------------------------------


def _from_toml(text: str) -> Iterator[_TopicEntry]:
    try:
        data = tomllib.loads(text)
    except RecursionError:
        yield _TopicEntry(1, {}, DEEP)
        return
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        line = int(place[1]) if place else len(text.splitlines()) or 1
        yield _TopicEntry(line, {}, f"this is not valid TOML: {error}.")
        return
    held = data.pop("topics", [])
    lines = _table_lines(text)
    if data or not isinstance(held, list):
        yield _TopicEntry(1, {}, "only tables [[topics]] may be here, one for each topic.")
        return
    for number, entry in enumerate(held):
        line = lines[number] if number < len(lines) else 1
        yield _TopicEntry(line, entry if isinstance(entry, dict) else {"text": entry})


def _table_lines(text: str) -> list[int]:
    return [n for n, line in enumerate(text.splitlines(), 1) if _TABLE.match(line)]


def _from_yaml(text: str) -> Iterator[_TopicEntry]:
    import yaml  # few use it

    try:
        if _NESTED.search(text):  # which takes PyYAML quadratic time
            raise RecursionError
        # Its parser in C, which wheels have, takes a tenth of the time.
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except RecursionError:
        yield _TopicEntry(1, {}, DEEP)
        return
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        yield _TopicEntry(line, {}, f"this is not valid YAML: {error.problem or error.context}.")
        return
    except yaml.YAMLError as error:
        yield _TopicEntry(1, {}, f"this is not valid YAML: {headline(str(error), 80)}.")
        return
    if isinstance(root, yaml.MappingNode) and [key.value for key, _ in root.value] == ["topics"]:
        root = root.value[0][1]
    if not isinstance(root, yaml.SequenceNode):
        yield _TopicEntry(1, {}, "write a list of topics, each line beginning with a hyphen.")
        return
    for node in root.value:
        yield _TopicEntry(node.start_mark.line + 1, _node(node))


def _node(node: Any) -> dict[str, Any]:
    """Return an item's texts as they are written, so that “no” stays a word."""
    if isinstance(node.value, str):
        return {"text": node.value}
    pairs = node.value if node.id == "mapping" else ()
    return {
        str(key.value): value.value
        if isinstance(value.value, str)
        else [one.value for one in value.value if value.id == "sequence"] or None
        for key, value in pairs
    }


def _from_lines(text: str) -> Iterator[_TopicEntry]:
    """Read `topic | for | against` of each line; a line `[de]` sets the language of the next."""
    language = "en"
    for number, line in enumerate(text.splitlines(), 1):
        said = line.strip()
        if not said or said.startswith("#"):
            continue
        if named := _LANGUAGE.fullmatch(said):
            language = named[1]
            continue
        parts = [part.strip() for part in said.split("|")]
        if len(parts) not in (1, 3):
            yield _TopicEntry(number, {}, "write the topic alone, or topic | for | against.")
            continue
        yield _TopicEntry(number, dict(zip(KEYS, parts, strict=False)) | {"language": language})


# An operator's own rubric, as a TOML file:
#
#     name = "policy"
#     [[criteria]]
#     name = "feasibility"
#     description = "could it be done with what exists?"
#     low = "a wish"
#     high = "a plan with its costs"
#     lowest = 0
#     highest = 20
#     weight = 2


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
