"""How a shared text is spelled for PostgreSQL and its driver."""

from __future__ import annotations

import re
from functools import cache

PARAMETER = re.compile(r"(?<![:\w]):([a-z_]\w*)")
LIST = re.compile(r"\b(NOT )?IN :(\w+)")
FIELD = re.compile(r"(\w+\.\w+) ->> '\$\.(\w+)'")
ITEMS = re.compile(r"json_each\((\w+\.\w+), '\$\.(\w+)'\) AS (\w+)")
OURS = re.compile(r"/\*\+ (.*?) \*/", re.DOTALL)
CLOCK = {
    "clock": "clock_timestamp()",
    "clock_later": "clock_timestamp() + make_interval(secs => %(seconds)s)",
}


@cache
def spell(sql: str) -> tuple[str, tuple[str, ...]]:
    """Return a text as psycopg takes it, and the names of its lists."""
    lists = tuple(name for _, name in LIST.findall(sql))
    text = OURS.sub(r"\1", sql).replace("%", "%%")
    text = LIST.sub(lambda found: _among(found[2], without=bool(found[1])), text)
    text = PARAMETER.sub(lambda found: CLOCK.get(found[1], f"%({found[1]})s"), text)
    text = ITEMS.sub(r"json_array_elements((\1)::json -> '\2') AS \3(value)", text)
    return FIELD.sub(r"((\1)::json ->> '\2')", text), lists


def _among(name: str, *, without: bool) -> str:
    return f"<> ALL(%({name})s)" if without else f"= ANY(%({name})s)"
