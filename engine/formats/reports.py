"""The words around what judges say, for people, in the debate's language: see `reports.toml`.

They are read when a report is written, and not frozen with a debate.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

ENGLISH = "en"


def report_words(kind: str, language: str) -> Mapping[str, str]:
    """Return the words of a kind of report; what a language lacks is English.

    `kind` is a format, or `judges` for what reports of all formats share.
    """
    by_language = _read()[kind]
    return by_language[ENGLISH] | by_language.get(language.split("-")[0].lower(), {})


@cache
def _read() -> dict[str, dict[str, dict[str, str]]]:
    text = files("engine.formats").joinpath("reports.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
