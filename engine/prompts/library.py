"""Prompt templates: the built-in texts, overridden file by file, checked before any use.

A template is the operator's text and is trusted; topics and models' words reach it only as values
of its variables, so any syntax in them stays data. The filter `quoted` marks their lines.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

import orjson
from jinja2 import Environment, StrictUndefined, Template, TemplateError, meta
from pydantic import BaseModel, ValidationError

from engine.prompts.quoting import guard, quote, shown
from engine.values.errors import SettingsError

SUFFIX = ".jinja"
DATA = ".toml"  # a table beside the templates, frozen with them: personalities, archetypes, …
D = TypeVar("D", bound=BaseModel)
# The variables that the floor provides to every template of a format, and the panel to those of
# a juror's first question, whether or not the built-in ones use them.
SPOKEN = frozenset(
    {"topic", "conditions", "language", "language_code", "round", "opposing", "limits"}
    | {"stances", "stands", "aims", "part"}
)
JUDGED = frozenset(
    {"topic", "conditions", "stances", "rounds", "names", "criteria", "language", "tie_word"}
    | {"answers"}
)
SOURCES = "sources"  # the folder of what is said about sources, where a debate has some
AUDIENCE = "audience"  # the folder of what is said about the audience's questions
# A template is a small program; its expressions can fail.
MISTAKES = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError)


# Prompts are plain text for a model, not HTML: escaping would corrupt what people wrote.
ENVIRONMENT = Environment(  # noqa: S701
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=shown
)
ENVIRONMENT.filters["quoted"] = quote
# Of templates that put tags around texts, as all did before they were quoted.
ENVIRONMENT.filters["guarded"] = guard


@lru_cache(maxsize=1024)
def _compile(text: str) -> Template:
    """Compile a template once for all debates; that takes far longer than rendering."""
    template = ENVIRONMENT.from_string(text)
    # Each rendering copies them, and Jinja's chain of maps is slow to copy.
    template.globals = dict(template.globals)
    return template


class _Table(BaseModel, extra="allow"):
    """Any table; only its format knows the fields."""


class Prompts:
    """A set of template texts, by name such as `classic/a/opening`."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self._parts: dict[tuple[str, ...], Prompts] = {}
        self._data: dict[tuple[str, type[BaseModel]], Any] = {}

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the texts, in hexadecimal."""
        return hashlib.sha256(orjson.dumps(self.texts, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def only(self, *folders: str) -> Prompts:
        """Return the templates of some folders, such as a format's and the jury's; cached."""
        if folders not in self._parts:
            wanted = tuple(f"{folder}/" for folder in folders)
            texts = {name: text for name, text in self.texts.items() if name.startswith(wanted)}
            self._parts[folders] = Prompts(texts)
        return self._parts[folders]

    def render(self, name: str, **variables: Any) -> str:
        """Render a template. Raises SettingsError if the template itself is wrong."""
        try:
            return _compile(self.texts[name]).render(**variables).strip()
        except MISTAKES as error:
            raise SettingsError(
                f"The template {name}{SUFFIX} cannot be filled in: {error}. "
                "Correct it, or remove it from ROSTRUM_TEMPLATES_DIR to use the built-in one."
            ) from error

    def compile(self) -> None:
        """Compile every template ahead of its use; a wrong one is refused there."""
        for name, text in self.texts.items():
            if not name.endswith(DATA):
                with suppress(TemplateError):
                    _compile(text)

    def data(self, name: str, shape: type[D]) -> D:
        """Return a data file such as `team/personalities`, read once; do not change the value.

        Raises SettingsError for a wrong one.
        """
        if (name, shape) not in self._data:
            self._data[name, shape] = self._read_data(name, shape)
        known: D = self._data[name, shape]
        return known

    def _read_data(self, name: str, shape: type[D]) -> D:
        try:
            return shape.model_validate(tomllib.loads(self.texts[name + DATA]))
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            problem = str(error).partition("\n  For further")[0].replace("\n", " ")
            raise SettingsError(
                f"The file {name}{DATA} cannot be used: {problem}. Correct it, or remove it from "
                "ROSTRUM_TEMPLATES_DIR to use the built-in one."
            ) from error

    def variables(self, name: str) -> set[str]:
        """Return the names of the variables that a template uses. Raises SettingsError."""
        try:
            return meta.find_undeclared_variables(ENVIRONMENT.parse(self.texts[name]))
        except TemplateError as error:
            raise SettingsError(
                f"The template {name}{SUFFIX} cannot be read: {error}. "
                "Correct it, or remove it from ROSTRUM_TEMPLATES_DIR to use the built-in one."
            ) from error


def load_prompts(overrides: Path | None = None) -> Prompts:
    """Read the built-in templates, replaced by those of a folder with the same names.

    Raises SettingsError for a file that replaces nothing, cannot be read, or uses a variable
    that its place in a debate does not provide.
    """
    root = files("engine.prompts")
    built_in = Prompts({name: _read(file) for name, file in _walk(root, "")})
    if overrides is None:
        return built_in
    if not overrides.is_dir():
        raise SettingsError(f"ROSTRUM_TEMPLATES_DIR is {overrides}, which is not a folder.")
    changed = Prompts(built_in.texts | {name: _read(file) for name, file in _walk(overrides, "")})
    for name in sorted(changed.texts):
        _check(name, changed, built_in)
    return changed


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for item in folder.iterdir():
        if item.is_dir():
            found += _walk(item, f"{prefix}{item.name}/")
        elif item.name.endswith((SUFFIX, DATA)):
            found.append((prefix + item.name.removesuffix(SUFFIX), item))
    return found


def _read(file: Traversable) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"The template {file.name} cannot be read: {error}.") from error


def _check(name: str, changed: Prompts, built_in: Prompts) -> None:
    if name not in built_in.texts:
        file = name if name.endswith(DATA) else name + SUFFIX
        raise SettingsError(
            f"The template {file} in ROSTRUM_TEMPLATES_DIR replaces none of Rostrum's; "
            f"it has {', '.join(sorted(built_in.texts))}."
        )
    if name.endswith(DATA):
        changed.data(name.removesuffix(DATA), _Table)
        return
    given = JUDGED if name.startswith("jury/") else SPOKEN
    allowed = built_in.variables(name) | (frozenset() if name == "jury/retry" else given)
    unknown = changed.variables(name) - allowed
    if unknown:
        raise SettingsError(
            f"The template {name}{SUFFIX} uses {', '.join(sorted(unknown))}, which Rostrum does "
            f"not provide there; it may use {', '.join(sorted(allowed))}."
        )
