"""Models with settings of their own: written behind the name, or named as a variant."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from engine.values.debate import Configuration, Model
from engine.values.errors import UsageError
from engine.values.text import headline

_LIMITS = {
    "effort": "one word of small letters, such as low or high",
    "temperature": "a number from 0 to 2",
    "top_p": "a number above 0, up to 1",
    "max_tokens": "a whole number from 1 to 1,000,000",
    "note": "a text of 1 to 4,000 characters",
    "extra": "an object of request fields",
}


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
