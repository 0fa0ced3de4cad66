"""The pictures of a report; pure."""

from __future__ import annotations

from typing import NamedTuple


class Picture(NamedTuple):
    """An SVG with its alternative text."""

    svg: str
    alt: str
