"""What a file or a setting may hold: models with settings of their own, numbers in a range."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from engine.values.debate import Configuration, Effort, Model
from engine.values.errors import UsageError
from engine.values.text import headline

EFFORTS: tuple[str, ...] = get_args(Effort)
_LIMITS = {
    "effort": f"{', '.join(EFFORTS[:-1])} or {EFFORTS[-1]}",
    "temperature": "a number from 0 to 2",
    "top_p": "a number above 0, up to 1",
    "max_tokens": "a whole number from 1 to 1,000,000",
    "note": "a text of 1 to 4,000 characters",
    "extra": "an object of request fields",
}
_BOUNDS = {"gt": "more than", "ge": "at least", "lt": "less than", "le": "at most"}


def between(limits: Mapping[str, float]) -> str:
    """Return what a number within limits must be, such as “between 1 and 9”."""
    if {"ge", "le"} <= limits.keys():
        return f"between {limits['ge']:.10g} and {limits['le']:.10g}"
    bounds = (f"{said} {limits[name]:.10g}" for name, said in _BOUNDS.items() if name in limits)
    return " and ".join(bounds)


def limits_at(model: type[BaseModel], path: Iterable[object]) -> dict[str, float]:
    """Return the limits of a number at the place in a model that one of its errors names."""
    kind: Any = model
    limits: dict[str, float] = {}
    for key in path:
        if get_origin(kind) is dict:
            kind = get_args(kind)[-1]
        elif field := getattr(kind, "model_fields", {}).get(key):
            kind, limits = field.annotation, dict(_limits_in(field))
    return limits


def _limits_in(declared: Any) -> Iterator[tuple[str, float]]:
    """Yield the limits that a field, or a part of its type, has."""
    for name in _BOUNDS:
        if isinstance(limit := getattr(declared, name, None), int | float):
            yield name, limit
    field = isinstance(declared, FieldInfo)
    parts = (declared.annotation, *declared.metadata) if field else get_args(declared)
    for part in parts:
        yield from _limits_in(part)


def parse_model(text: str, variants: Mapping[str, Model] | None = None) -> Model:
    """Read `backend/model[@setting=value,…][#family]`, or the name of a variant.

    Raises UsageError, which names the setting that is wrong.
    """
    text = text.strip()
    for name, known in (variants or {}).items():
        if text in (name, known.ref):
            return known
    found = re.search(r"@(?=[a-z_]+=)", text)  # some models have an @ in their name
    if found is None:
        return Model.parse(text)
    settings, hash_, family = text[found.end() :].partition("#")
    plain = Model.parse(f"{text[: found.start()]}{hash_}{family}")
    return plain.model_copy(update={"configuration": _read_inline(settings)})


def _read_inline(text: str) -> Configuration:
    settings: dict[str, Any] = {}
    for item in text.split(","):
        name, _, value = (part.strip() for part in item.partition("="))
        if name in ("note", "extra"):
            raise UsageError(
                "{name} cannot be written behind a model; name a variant in ROSTRUM_VARIANTS.",
                name=name,
            )
        if name in settings:
            raise UsageError("{name} stands twice behind a model; remove one.", name=name)
        settings[name] = value
    return read_configuration(settings)


def read_configuration(settings: Mapping[str, Any]) -> Configuration:
    """Check settings by name. Raises UsageError, which names the one that is wrong."""
    for name in settings:
        if name not in Configuration.model_fields:
            raise UsageError(
                "“{name}” is no setting of a model; there are {known:and}.",
                name=name,
                known=tuple(Configuration.model_fields),
            )
    try:
        return Configuration.model_validate(dict(settings))
    except ValidationError as error:
        mistake = error.errors(include_url=False, include_context=False)[0]
        name = str(mistake["loc"][0])
        given = headline(str(settings[name]), 40)
        raise UsageError(
            "{name} of a model is “{given}”; write {limits}.",
            name=name,
            given=given,
            limits=_LIMITS[name],
        ) from None
