"""What a report shows, in its order, before it is Markdown or HTML."""

from __future__ import annotations

from typing import NamedTuple


class Grid(NamedTuple):
    """A table; every row has as many cells as there are columns."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Section(NamedTuple):
    """A part of a report; `picture` is the name of its picture, empty without one."""

    title: str
    lines: tuple[str, ...]
    grids: tuple[Grid, ...]
    picture: str = ""


class ReportPage(NamedTuple):
    """A whole report; all of it is plain text."""

    name: str
    title: str
    lines: tuple[str, ...]
    sections: tuple[Section, ...]
