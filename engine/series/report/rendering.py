"""A report as Markdown and as HTML; names and topics stay data in both."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jinja2 import Environment, StrictUndefined, Template

from engine.dataset.page_rendering import inline
from engine.series.report.page import ReportPage
from engine.series.report.pictures import Picture


def write_markdown(page: ReportPage, pictures: Mapping[str, Picture]) -> str:
    """Return a report as Markdown; its pictures are files beside it."""
    return _template("md").render(page=page, pictures=pictures).strip() + "\n"


def write_html(page: ReportPage, pictures: Mapping[str, Picture]) -> str:
    """Return a report as one HTML file that loads nothing and runs nothing."""
    return _template("html").render(page=page, pictures=pictures).strip() + "\n"


def _data(svg: str) -> str:
    """Return a picture as an address that holds it."""
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}"


@cache
def _template(kind: str) -> Template:
    environment = Environment(
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=kind == "html",  # noqa: S701 - Markdown is no HTML; `inline` escapes
    )
    environment.filters |= {"inline": inline, "data": _data}
    text = files(__package__).joinpath(f"page.{kind}.jinja").read_text(encoding="utf-8")
    return environment.from_string(text)
