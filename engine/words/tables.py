"""Tables in Markdown, for platforms that show none; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-{3,}:?[ \t]*(\|[ \t]*:?-{3,}:?[ \t]*)*\|?[ \t]*$")


def fence_tables(text: str) -> str:
    """Put tables into code blocks, where their columns stay."""
    if "|" not in text:
        return text
    return "\n".join(_with_fences(text.split("\n")))


def closing_fence(text: str) -> str:
    """Return the line that closes a code block which a text leaves open, else nothing."""
    fence = ""
    for line in text.split("\n"):
        fence = _fence_after(line, fence)
    return f"\n{fence}" if fence else ""


def _fence_after(line: str, fence: str) -> str:
    """Return the fence that is open after a line, empty for none."""
    opened = _FENCE.match(line)
    if opened is None:
        return fence
    return "" if fence and opened[1].startswith(fence) else fence or opened[1]


def _with_fences(lines: list[str]) -> Iterator[str]:
    fence, table = "", False
    for i, line in enumerate(lines):
        if table and "|" not in line:
            yield "```"
            table = False
        if not table:
            fence = _fence_after(line, fence)
        below = lines[i + 1] if i + 1 < len(lines) else ""
        if not fence and not table and "|" in line and "|" in below and _RULE.match(below):
            yield "```"
            table = True
        yield line
    if table:
        yield "```"
