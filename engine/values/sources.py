"""Sources that all sides read, and the check of what a turn quotes from them.

A quotation is marked by the source's name behind it: “exact words” [Source 2]. Whether a source has
those words is decided by near-match (engine/values/overlap.py), not by a model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import NamedTuple

from engine.values.debate import Quotation, Source, Value
from engine.values.errors import NotTextError, UsageError
from engine.values.language import N_
from engine.values.text import clean, headline, is_visible

PASTED, UNTITLED = N_("pasted text"), N_("untitled")  # titles of sources without one of their own
SUFFIXES = (".txt", ".text", ".md", ".markdown")
TITLE_CHARS = 80
LONGEST_QUOTATION = 2_000  # characters between two quotation marks
MOST_QUOTATIONS = 20  # of a turn that are checked
IN_NAMED, IN_OTHER, IN_NONE = "found", "elsewhere", "missing"


class SourceLimits(Value):
    """How many files a debate takes, and how long each and all together may be."""

    files: int = 8
    bytes: int = 200_000
    characters: int = 20_000
    total: int = 40_000


class SourceFile(Value):
    """A file as it was given: its name and its bytes."""

    name: str
    content: bytes


def pasted(text: str) -> SourceFile:
    """Return a text that was pasted into a form, as a file."""
    return SourceFile(name=f"{PASTED}.txt", content=text.encode(errors="ignore"))


# --- from files to sources ---------------------------------------------------------------


def check_files(sizes: Sequence[tuple[str, int]], limits: SourceLimits) -> None:
    """Check names and sizes in bytes, before anything is read.

    Raises UsageError; of a file that is no text, NotTextError.
    """
    if len(sizes) > limits.files:
        raise UsageError(
            "A debate takes at most {files} sources, and these are {n}; leave some out.",
            files=limits.files,
            n=len(sizes),
        )
    for name, size in sizes:
        if PurePath(name).suffix.lower() not in SUFFIXES:
            raise NotTextError(
                "{name} is not a source that debaters can read; give plain text or "
                "Markdown, as a file that ends in {suffixes:or}.",
                name=_called(name),
                suffixes=tuple(SUFFIXES),
            )
        if size > limits.bytes:
            raise UsageError(
                "{name} has {size:,} bytes; a source may have at most {most:,}. Shorten it.",
                name=_called(name),
                size=size,
                most=limits.bytes,
            )


def read_sources(files: Sequence[SourceFile], limits: SourceLimits) -> tuple[Source, ...]:
    """Read files as the sources of a debate, in their order. Raises what `check_files` does."""
    check_files([(file.name, len(file.content)) for file in files], limits)
    sources = tuple(_read(file, limits.characters) for file in files)
    total = sum(len(source.text) for source in sources)
    if total > limits.total:
        raise UsageError(
            "The sources have {total:,} characters together; at most {most:,} are "
            "allowed. Leave some out, or shorten them.",
            total=total,
            most=limits.total,
        )
    return sources


def _read(file: SourceFile, most: int) -> Source:
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NotTextError(
            "{name} is not text in UTF-8; save it in that encoding.",
            name=_called(file.name),
        ) from None
    if "\0" in text:
        raise NotTextError(
            "{name} is not text; give plain text or Markdown.",
            name=_called(file.name),
        )
    text = clean(text).strip()
    if not is_visible(text):
        raise NotTextError(
            "{name} is empty; leave it out, or write something in it.",
            name=_called(file.name),
        )
    if len(text) > most:
        raise UsageError(
            "{name} has {n:,} characters; a source may have at most {most:,}. Shorten it, "
            "or divide it.",
            name=_called(file.name),
            n=len(text),
            most=most,
        )
    return Source(title=_title(file.name), text=text)


def _title(name: str) -> str:
    """Return a file's name as a title, without folder and ending."""
    return title_of(PurePath(clean(name).replace("\\", "/")).stem)


def title_of(text: str) -> str:
    """Return a text as a title: one line without markup."""
    plain = re.sub(r"[<>\[\]*_`~|@#!\\\"“”„«»()]+", " ", clean(text))
    title = headline(" ".join(plain.split()), TITLE_CHARS)
    return title if is_visible(title) else UNTITLED


def _called(name: str) -> str:
    return f"“{_title(name)}{PurePath(clean(name)).suffix[:12]}”"


def name_of(number: int) -> str:
    """Return what prompts call a source, by its number from 1."""
    return f"Source {number}"


def named(sources: Sequence[Source]) -> tuple[str, ...]:
    """Return every source's name with its title, as prompts have it."""
    return tuple(f"{name_of(at)}: {source.title}" for at, source in enumerate(sources, 1))


# --- quotations --------------------------------------------------------------------------

# The name as prompts have it, and what writers of the built-in languages make of it.
_MARK = re.compile(
    r"[\[【(（]\s*(?:sources?|quelle|fuente|kaynak|来源|來源|资料|資料)\s*[#:]?\s*(\d{1,3})"
    r"[^\[\]【】()（）\n]{0,80}[\]】)）]",
    re.IGNORECASE,
)
_OPENERS = {
    "”": "“„”",
    "“": "„",
    "»": "«»",
    "«": "»",
    '"': '"',
    "＂": "＂",
    "」": "「",
    "』": "『",
    "›": "‹",
    "’": "‘‚",
    "'": "'",
}
_BETWEEN = " \t\n*_.,;:!?。，；：！？…—–-"


class _Marked(NamedTuple):
    text: str
    source: int


def _marked(text: str) -> list[_Marked]:
    """Return what a text quotes as from a source; a mark without a quotation before it is none."""
    found, since = [], 0
    for mark in _MARK.finditer(text):
        before = text[max(since, mark.start() - LONGEST_QUOTATION) : mark.start()].rstrip(_BETWEEN)
        openers = _OPENERS.get(before[-1:], "")
        start = max((before[:-1].rfind(one) for one in openers), default=-1)
        quoted = before[start + 1 : -1].strip()
        if start >= 0 and any(one.isalnum() for one in quoted):
            found.append(_Marked(quoted, int(mark[1])))
        since = mark.end()
    return found[:MOST_QUOTATIONS]


def check_quotations(text: str, sources: Sequence[Source]) -> tuple[Quotation, ...]:
    """Return what a text quotes as from a source, each with where it was found.

    Takes some seconds for many long quotations and sources.
    """
    return tuple(_check(quoted, sources) for quoted in _marked(text))


def _check(quoted: _Marked, sources: Sequence[Source]) -> Quotation:
    from engine.values.overlap import NEAR, share_of  # few turns quote a source

    shares = {quoted.source: 0.0}
    order = sorted(range(1, len(sources) + 1), key=lambda number: number != quoted.source)
    for number in order:
        shares[number] = share_of(quoted.text, sources[number - 1].text)
        if shares[number] >= NEAR:
            return Quotation(
                text=quoted.text, source=quoted.source, found_in=number, share=shares[number]
            )
    share = shares[quoted.source]
    return Quotation(text=quoted.text, source=quoted.source, found_in=None, share=share)


def outcome_of(quotation: Quotation) -> str:
    """Return `found` in the named source, `elsewhere` in another one, or `missing`."""
    if quotation.found_in is None:
        return IN_NONE
    return IN_NAMED if quotation.found_in == quotation.source else IN_OTHER


def tell_quotation(quotation: Quotation) -> str:
    """Say where a quotation was found."""
    match outcome_of(quotation):
        case "found":
            return f"found in {name_of(quotation.source)}"
        case "elsewhere":
            return f"not in {name_of(quotation.source)}, but in {name_of(quotation.found_in or 0)}"
    return f"not found in {name_of(quotation.source)} or any other source"
