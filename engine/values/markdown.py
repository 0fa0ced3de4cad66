"""Splits Markdown for chats: a piece is at most as long as a platform takes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

import regex

from engine.values.text import (
    BLANK_LINE,
    JOINED,
    SENTENCE,
    SPACE,
    CodeBlock,
    block_at,
    block_before,
    fences,
    grapheme_end,
    last_end,
    last_start,
)

_SPACES = regex.compile(rf"(?:[ \t](?!{JOINED}))*")
_EMPTY_LINES = re.compile(r"(?:[ \t]*\n)*")


def split_markdown(text: str, limit: int, length: Callable[[str], int] = len) -> tuple[str, ...]:
    """Cut a text into pieces of at most `limit`, as `length` measures them.

    Cuts fall between paragraphs, else lines, sentences, words, else anywhere but inside a
    visible character (unless one alone passes the limit). A code fence that is open at a cut
    is closed there and opened again with its info string; one never closed is closed at the
    end. Nothing but white space at cuts is lost. `length` must grow with the text and never
    be below its number of characters. A fence line over a quarter of the limit is plain text.
    Raises ValueError for a limit below 1.
    """
    if limit < 1:
        raise ValueError(f"Pieces need room for a character; the limit is {limit}.")
    blocks = fences(text, longest=limit // 4, length=length)
    if not blocks and len(text) <= limit and length(text) <= limit:  # as most messages are
        whole = text[_resume(text, 0) :].rstrip()
        return (whole,) if whole else ()
    return tuple(_pieces(_Source(text, limit, length, blocks)))


class _Source(NamedTuple):
    text: str
    limit: int
    length: Callable[[str], int]
    blocks: list[CodeBlock]

    def fits(self, start: int, end: int, room: int) -> bool:
        # The first test spares `length` a text that is far too long.
        return end - start <= room and self.length(self.text[start:end]) <= room


def _pieces(source: _Source) -> Iterator[str]:
    start, size = _resume(source.text, 0), len(source.text)
    while start < size:
        inside = block_at(source.blocks, start)
        if (
            inside
            and inside.close - start <= source.limit
            and not source.text[start : inside.close].strip()
        ):  # nothing but its end is left
            start = _resume(source.text, inside.end)
            continue
        prefix = f"{inside.opening}\n" if inside else ""
        cut = _cut(source, start, prefix)
        torn = block_at(source.blocks, cut)
        body = source.text[start:cut]
        if body.strip():
            yield prefix + (body.removesuffix("\n") + f"\n{torn.marker}" if torn else body.rstrip())
        start = cut if torn else _resume(source.text, cut)


def _resume(text: str, cut: int) -> int:
    """Return where prose goes on after a cut: past spaces and empty lines, at an indent."""
    at_line_start = cut == 0 or text[cut - 1] == "\n"
    return _past(_EMPTY_LINES, text, cut if at_line_start else _past(_SPACES, text, cut))


def _past(pattern: re.Pattern[str] | regex.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _cut(source: _Source, start: int, prefix: str) -> int:
    """Return where the piece from `start` ends, with room kept to close the fence it tears."""
    room = source.limit - source.length(prefix)
    reserve = 0
    while True:
        cut = _cut_within(source, start, room - reserve)
        torn = block_at(source.blocks, cut)
        if torn is None:
            return cut
        if torn.closed and source.fits(start, torn.end, room):
            return torn.end
        needed = source.length(f"\n{torn.marker}")
        if needed <= reserve:
            return cut
        reserve = needed


def _cut_within(source: _Source, start: int, room: int) -> int:
    end = _furthest(source, start, room)
    if end == len(source.text):
        return end
    block = block_at(source.blocks, end)
    if block is None:
        return _prose_cut(source, start, end)
    worth_it = block.start - start >= (end - start) // 3
    whole = block.closed and block.end - block.start <= source.limit
    if block.start > start and (end <= block.code or (whole and worth_it)):
        return block.start
    code, high = max(start, block.code), max(min(end, block.close), start + 1)
    line = source.text.rfind("\n", code, high) + 1
    if line or block.start > start:
        return line or block.start
    return last_end(SPACE, source.text, code, high) or grapheme_end(source.text, code, high)


def _prose_cut(source: _Source, start: int, end: int) -> int:
    """Return the best place for a cut outside code; none of the first third for its form."""
    text = source.text
    block = block_before(source.blocks, end)
    low = max(start, block.end if block else 0)
    late = max(low, start + 1, start + (end - start) // 3)
    return (
        last_start(BLANK_LINE, text, late, end)
        or max(text.rfind("\n", late, end + 1), 0)
        or last_end(SENTENCE, text, late, end)
        or last_start(SPACE, text, low + 1, end)
        or (low if low > start else grapheme_end(text, start, end))
    )


def _furthest(source: _Source, start: int, room: int) -> int:
    """Return the furthest end of a piece from `start` that fits; at least one character on."""
    low, high = start + 1, min(start + max(room, 1), len(source.text))
    if source.fits(start, high, room):
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if source.fits(start, middle, room):
            low = middle
        else:
            high = middle - 1
    return low


def chop(text: str, most: int, length: Callable[[str], int] = len) -> tuple[str, ...]:
    """Cut plain text into pieces of at most `most`, between words where there are any.

    Nothing but white space at cuts is lost; an empty text gives one piece. `length` must grow
    with the text and never be below its number of characters.
    """
    pieces, rest = [], text.strip()
    while length(rest) > most:
        room = range(min(len(rest), most) + 1)
        end = max(bisect_right(room, most, key=lambda n: length(rest[:n])) - 1, 1)
        cut = max(rest.rfind(gap, end // 2, end) for gap in ("\n", " "))
        cut = cut if cut > 0 else end
        pieces.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return (*pieces, rest)
