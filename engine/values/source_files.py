"""Reads files and pasted texts as the sources of a debate; few debates have any."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from engine.values.debate import Source
from engine.values.errors import NotTextError, UsageError
from engine.values.language import N_
from engine.values.sources import PASTED, UNTITLED, SourceFile, SourceLimits
from engine.values.text import clean, headline, is_visible

TITLE_CHARS = 80
SUFFIXES = (".txt", ".text", ".md", ".markdown")
TOO_MANY = N_("A debate takes at most {files} sources, and these are {n}; leave some out.")
TOO_LONG = N_(
    "{name} has {n:,} characters; a source may have at most {most:,}. Shorten it, or divide it."
)


def pasted(text: str) -> SourceFile:
    """Return a text that was pasted into a form, as a file."""
    return SourceFile(name=f"{PASTED}.txt", content=text.encode(errors="ignore"))


def check_files(sizes: Sequence[tuple[str, int]], limits: SourceLimits) -> None:
    """Check names and sizes in bytes, before anything is read.

    Raises UsageError; of a file that is no text, NotTextError.
    """
    if len(sizes) > limits.files:
        raise UsageError(TOO_MANY, files=limits.files, n=len(sizes))
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


def check_sources(sources: Sequence[Source], limits: SourceLimits) -> None:
    """Refuse more sources than a debate takes, or longer ones. Raises UsageError."""
    if len(sources) > limits.files:
        raise UsageError(TOO_MANY, files=limits.files, n=len(sources))
    for source in sources:
        if len(source.text) > limits.characters:
            name, n = f"“{source.title}”", len(source.text)
            raise UsageError(TOO_LONG, name=name, n=n, most=limits.characters)
    total = sum(len(source.text) for source in sources)
    if total > limits.total:
        raise UsageError(
            "The sources have {total:,} characters together; at most {most:,} are "
            "allowed. Leave some out, or shorten them.",
            total=total,
            most=limits.total,
        )


def read_sources(files: Sequence[SourceFile], limits: SourceLimits) -> tuple[Source, ...]:
    """Read files as the sources of a debate, in their order. Raises what `check_files` does."""
    check_files([(file.name, len(file.content)) for file in files], limits)
    sources = tuple(_read(file, limits.characters) for file in files)
    check_sources(sources, limits)
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
        raise UsageError(TOO_LONG, name=_called(file.name), n=len(text), most=most)
    return Source(title=_title(file.name), text=text)


def _title(name: str) -> str:
    """Return a file's name as a title, without folder and ending."""
    return title_of(PurePath(clean(name).replace("\\", "/")).stem)


def _called(name: str) -> str:
    return f"“{_title(name)}{PurePath(clean(name)).suffix[:12]}”"


def title_of(text: str) -> str:
    """Return a text as a title: one line without markup."""
    plain = re.sub(r"[<>\[\]*_`~|@#!\\\"“”„«»()]+", " ", clean(text))
    title = headline(" ".join(plain.split()), TITLE_CHARS)
    return title if is_visible(title) else UNTITLED
