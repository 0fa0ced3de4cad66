"""Texts of people and models as prompts show them: every line of them begins with `>`.

This is the only place where a prompt's layout and a text meet. A line begins where Unicode has one
begin, so a text has no way to write a line of the prompt's own, whatever it imitates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

import regex

from engine.values.text import clean

MARK = ">"


class Quoted(str):
    """A text whose every line carries the mark."""

    __slots__ = ()


class Speech:
    """A text of others, below a line of the prompt's own that says whose it is."""

    def __init__(self, head: str, text: str) -> None:
        self.head, self.text = head, text

    @cached_property
    def quoted(self) -> str:
        """The speech with its text quoted; kept, as judges read it again with every turn."""
        return f"{self.head}\n{_quote(self.text)}"


class Record(str):
    """Several speeches, to be quoted one by one; as a plain text they have no marks.

    `end` follows each of them.
    """

    speeches: tuple[Speech, ...]
    end: str

    def __new__(cls, speeches: Iterable[Speech], end: str = "") -> Record:
        """Join speeches in their order."""
        given = tuple(speeches)
        said = (f"{one.head}\n{one.text}{end}" for one in given)
        record = super().__new__(cls, "\n\n".join(said))
        record.speeches, record.end = given, end
        return record


def quote(text: str) -> Quoted:
    """Return a text with a mark before each line; of a record, before each line of its texts."""
    if isinstance(text, Record):
        return Quoted("\n\n".join(f"{one.quoted}{text.end}" for one in text.speeches))
    return text if isinstance(text, Quoted) else Quoted(_quote(text))


def _quote(text: str) -> str:
    # Without carriage returns, separators and other controls: only a newline begins a line.
    lines = clean(text).split("\n") if text else ()
    return "\n".join(f"{MARK} {line}".rstrip() for line in lines)


_MARKS = regex.compile(rf"^{MARK} ?", regex.MULTILINE)


def unquote(prompt: str) -> str:
    """Return a prompt without the marks, to look for what somebody said in it."""
    return _MARKS.sub("", prompt)


_LESS = "<＜﹤˂≺⟨〈《❮❰"
_SUSPECT = re.compile(f"[{_LESS}&]")  # rules most texts out quickly
_UNSEEN = r"[\s\p{M}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]"
_CLOSING = regex.compile(
    rf"(?:[{_LESS}]|&(?:lt|\#0*60|\#x0*3c);?)"
    rf"(?={_UNSEEN}*(?:[/／∕⁄⧸╱]|&(?:sol|\#0*47|\#x0*2f);?))",
    regex.IGNORECASE,
)


def guard(text: str) -> str:
    """Keep a text from closing a tag, for templates that put tags around it.

    It may be any tag, as a model reads look-alike letters as its name. Full-width signs and
    entities count, and so do signs with invisible characters or marks between them.
    """
    # Removing it could join the halves of another one.
    return _CLOSING.sub("‹", text) if _SUSPECT.search(text) else text


def shown(value: object) -> object:
    """Return what a template shows of a value: a text that it does not quote closes no tag."""
    if isinstance(value, str) and not isinstance(value, Quoted):
        return guard(value)
    return value
