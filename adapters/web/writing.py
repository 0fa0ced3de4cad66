"""Pages from their templates; what models and people wrote is data in them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files

from aiohttp import web
from babel import negotiate_locale
from jinja2 import Environment, FunctionLoader, StrictUndefined

from adapters.web.assets import address_of
from engine.dataset.page import RIGHT_TO_LEFT, shown, to_html
from engine.values.language import ENGLISH, speaking
from engine.words.translation import LANGUAGES, day, plural, say

KNOWN = (ENGLISH, *LANGUAGES)
MOST_LANGUAGES = 10  # of those that a browser wants


def write(
    name: str, language: str, /, *, asset: Callable[[str], str] = address_of, **values: object
) -> str:
    """Return a page; `asset` tells where a style sheet or script is."""
    direction = "rtl" if language.split("-")[0].lower() in RIGHT_TO_LEFT else "ltr"
    with speaking(language):
        template = _environment().get_template(name)
        page = template.render(language=language, direction=direction, asset=asset, **values)
    return page.strip() + "\n"


def language_of(request: web.Request) -> str:
    """Return the language that a reader wants, of those that we have; English otherwise."""
    accepted = request.headers.get("Accept-Language", "").split(",")[:MOST_LANGUAGES]
    wanted = [part.partition(";")[0].strip().replace("-", "_") for part in accepted]
    return negotiate_locale([one for one in wanted if one.isascii()], KNOWN) or ENGLISH


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_read),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
        autoescape=True,
    )
    environment.globals |= {"say": say, "plural": plural, "day": day}
    environment.filters |= {"markdown": to_html}
    return environment


def _read(name: str) -> str | None:
    file = files(__package__).joinpath("templates", name)
    return file.read_text(encoding="utf-8") if file.is_file() else None
