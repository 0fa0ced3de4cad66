"""The sources of settings, and the messages about invalid ones.

Three layers, name by name, each over the one before: `rostrum.toml`, `.env`, the environment.
A setting is known by its path (`("log", "level")`) and named by its variable
(`ROSTRUM_LOG__LEVEL`), in every source. An empty value counts as unset.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Any, NamedTuple, TypeAlias, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    TomlConfigSettingsSource,
)

from engine.debate import Value
from engine.errors import SettingsError
from engine.options import nearest

PREFIX = "ROSTRUM_"
ANY = "*"  # stands for a name chosen by the user

NamePath: TypeAlias = tuple[str, ...]
Shape: TypeAlias = "dict[str, Shape | None]"


class Section(Value):
    """Settings that share a prefix; a `dict` of sections has keys chosen by the user."""


class Wrong(NamedTuple):
    """An invalid setting: its path, and the message."""

    path: NamePath
    sentence: str


class Given(NamedTuple):
    """One value as written; `origin` is the file, or empty for the environment."""

    path: NamePath
    value: Any
    origin: str


# --- names -----------------------------------------------------------------------------


def variable(path: Iterable[str]) -> str:
    """Return the variable of a path."""
    return PREFIX + "__".join(path).upper()


def shape_of(model: type[BaseModel]) -> Shape:
    """Return a model's names, nested; None marks a setting."""
    return {name: _shape(field.annotation) for name, field in model.model_fields.items()}


def _shape(annotation: Any) -> Shape | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return shape_of(annotation)
    of = get_args(annotation)[-1] if get_origin(annotation) is dict else None
    if isinstance(of, type) and issubclass(of, Section):
        return {ANY: shape_of(of)}
    return None


def known_paths(shape: Shape, like: NamePath = ()) -> Iterator[NamePath]:
    """Yield every setting's path; names chosen by the user come from `like`."""
    for key, inner in shape.items():
        shown = like[0] if key == ANY and like else key
        if inner is None:
            yield (shown,)
        else:
            yield from ((shown, *rest) for rest in known_paths(inner, like[1:]))


def _where(path: NamePath, origin: str) -> str:
    return f"{variable(path)} in {origin}" if origin else variable(path)


def _unknown(shape: Shape, path: NamePath, origin: str) -> Wrong:
    close = nearest("__".join(path), map("__".join, known_paths(shape, path)))
    hint = f"did you mean {variable([close])}?" if close else ".env.example lists every setting."
    return Wrong(path, f"{_where(path, origin)} is not a setting; {hint}")


def _inside(shape: Shape, path: NamePath) -> Shape | None:
    """Return the shape below a path. Raises KeyError for an unknown path."""
    here: Shape | None = shape
    for key in path:
        if here is None:
            raise KeyError(key)
        here = here[ANY if here and key and ANY in here else key]
    return here


# --- layers ----------------------------------------------------------------------------


def read_layers(
    settings: type[BaseSettings], env_file: Path, toml_file: Path
) -> tuple[list[Given], list[Wrong]]:
    """Read all values, the weakest layer first, and the unreadable ones.

    Raises SettingsError for an unreadable file.
    """
    shape = shape_of(settings)
    toml = _expand(shape, (), _read_toml(settings, toml_file), toml_file.name)
    dotenv = _from_variables(shape, _read_env_file(settings, env_file), env_file.name)
    environment = _from_variables(shape, EnvSettingsSource(settings).env_vars, "")
    values = [*toml, *dotenv, *environment]
    given = [value for value in values if isinstance(value, Given)]
    return given, [value for value in values if isinstance(value, Wrong)]


def _read_toml(settings: type[BaseSettings], file: Path) -> dict[str, Any]:
    try:
        return TomlConfigSettingsSource(settings, file).toml_data
    except (TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file} is not valid TOML: {error}.") from None
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}.") from None


def _read_env_file(settings: type[BaseSettings], file: Path) -> Mapping[str, str | None]:
    try:
        return DotEnvSettingsSource(settings, env_file=file).env_vars
    except UnicodeDecodeError:
        raise SettingsError(f"{file} is not UTF-8 text; save it as UTF-8.") from None
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}.") from None


def _from_variables(
    shape: Shape, variables: Mapping[str, str | None], origin: str
) -> Iterator[Given | Wrong]:
    prefix = PREFIX.lower()
    paths = {
        tuple(name[len(prefix) :].split("__")): value
        for name, value in variables.items()
        if name.startswith(prefix)
    }
    # A JSON object comes before the nested names that refine it.
    for path in sorted(paths, key=len):
        yield from _expand(shape, path, paths[path], origin)


def _expand(shape: Shape, path: NamePath, value: object, origin: str) -> Iterator[Given | Wrong]:
    """Split a value into single settings."""
    try:
        inner = _inside(shape, path)
    except KeyError:
        yield _unknown(shape, path, origin)
        return
    value = value.strip() if isinstance(value, str) else value
    if value is None or value == "":
        return
    if not _is_text(value):
        yield Wrong(path, f"{_where(path, origin)} is not UTF-8 text; write it as UTF-8.")
        return
    if inner is None:
        yield Given(path, value, origin)
        return
    try:
        entries = json_object(value)
    except ValueError as error:
        yield Wrong(path, f"{_where(path, origin)} {error}.")
        return
    for key, entry in entries.items():
        yield from _expand(shape, (*path, key.strip().lower()), entry, origin)


def _is_text(value: object) -> bool:
    """Return whether a value is storable text: bytes that are not UTF-8 become lone surrogates."""
    return not isinstance(value, str) or not any("\ud800" <= char <= "\udfff" for char in value)


def json_object(value: object) -> dict[str, Any]:
    """Return a dict unchanged, or parse it from JSON text. Raises ValueError."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except json.JSONDecodeError as error:
            raise ValueError(
                f"is not valid JSON at line {error.lineno}, column {error.colno}; "
                'it must be a JSON object such as {"name": …}'
            ) from None
    if not isinstance(value, dict):
        raise ValueError('must be a JSON object such as {"name": …}')
    return value


def as_tree(given: Iterable[Given]) -> dict[str, Any]:
    """Nest values by their paths; a later value wins."""
    tree: dict[str, Any] = {}
    for path, value, _ in given:
        here = tree
        for key in path[:-1]:
            here = here.setdefault(key, {})
        here[path[-1]] = value
    return tree


# --- sentences -------------------------------------------------------------------------

_EXPECTED = {
    "int": "must be a whole number",
    "float": "must be a number",
    "finite_number": "must be a finite number",
    "bool": "must be on or off",
    "string": "must be text",
    "tuple": "must be a list",
    "greater_than_equal": "must be at least {ge:.10g}",
    "greater_than": "must be more than {gt:.10g}",
    "less_than_equal": "must be at most {le:.10g}",
    "enum": "must be {expected}",
    "literal": "must be {expected}",
}


def describe(
    settings: type[BaseSettings], error: ValidationError, given: Iterable[Given]
) -> list[Wrong]:
    """Return one message per invalid setting: what it must be, never its value."""
    shape, given = shape_of(settings), list(given)
    problems = error.errors(include_url=False, include_input=False)
    found = [_describe_one(shape, problem, given) for problem in problems]
    return list({wrong.path: wrong for wrong in reversed(found)}.values())[::-1]


def _describe_one(shape: Shape, problem: Mapping[str, Any], given: Sequence[Given]) -> Wrong:
    path: list[str] = []
    here: Shape | None = shape
    for key in map(str, problem["loc"]):
        if here is None:
            break
        path.append(key)
        here = here.get(key, here.get(ANY))
    where = tuple(path)
    origin = next((g.origin for g in reversed(given) if g.path == where), "")
    last = problem["loc"][-1]
    entry = f", entry {last + 1}," if isinstance(last, int) else ""
    predicate = _predicate(problem["type"], problem.get("ctx", {}), problem["msg"])
    return Wrong(where, f"{_where(where, origin)}{entry} {predicate}.")


def _predicate(kind: str, context: Mapping[str, Any], message: str) -> str:
    if kind == "value_error":
        return str(context["error"])
    for beginning, text in _EXPECTED.items():
        if kind.startswith(beginning):
            return text.format(**context).replace("'", "")
    return "cannot be used: " + message.removesuffix(".").lower()
