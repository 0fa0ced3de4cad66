"""The tables of sources, and of what turns quoted from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from engine.dataset.columns import (
    DEBATE,
    REAL,
    REPLACED,
    SIDE,
    SPLIT,
    STEP,
    TEXT,
    WHOLE,
    Column,
    Table,
)
from engine.dataset.entry import Entry
from engine.values.debate import Quotation, Turn
from engine.values.judging import RETRIEVED, Artifact
from engine.values.sources import outcome_of
from engine.values.text import scrub


class _Given(NamedTuple):
    number: int
    title: str
    text: str
    url: str | None = None
    side: str | None = None
    query: str | None = None


class _Quoted(NamedTuple):
    turn: Turn
    number: int
    quotation: Quotation


def _given(entry: Entry) -> Iterator[_Given]:
    for number, source in enumerate(entry.debate.request.sources, 1):
        yield _Given(number, scrub(source.title), scrub(source.text))
    for one in retrieved(entry.record.artifacts):
        yield _Given(
            one["number"],
            scrub(one["title"]),
            scrub(one["text"]),
            scrub(one["url"]) or None,
            one["side"],
            scrub(one["query"]),
        )


def _quoted(entry: Entry) -> Iterator[_Quoted]:
    for speech in entry.speeches:
        for number, quotation in enumerate(speech.turn.quotations, 1):
            yield _Quoted(speech.turn, number, quotation)


def retrieved(artifacts: Iterable[Artifact]) -> list[dict[str, Any]]:
    """Return the sources that sides looked up, in the order of their numbers."""
    bodies: list[Any] = [one.body for one in artifacts if one.kind == RETRIEVED]
    return [source for body in bodies for source in body["sources"]]


SOURCES = Table(
    "sources",
    "a source that every side read",
    _given,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        Column("number", WHOLE, "its number in the debate, from 1, as in “Source 1”"),
        Column("title", TEXT, "its title, from the name of its file or by the search endpoint; "
               "mentions removed", maker="asker"),
        Column("text", TEXT, "its text; mentions removed", maker="asker"),
        Column("url", TEXT, "the address of one that was looked up; null without one, or if it was "
               "given", maker="backend"),
        Column("side", TEXT, "the side that looked it up; null for one that was given"),
        Column("query", TEXT, "what it searched for, mentions removed; null likewise",
               maker="model"),
        Column("characters", WHOLE, "its length", lambda given: len(given.text),
               unit="characters"),
        Column("sha256", TEXT, "SHA-256 of the text in UTF-8: the same source in other debates",
               lambda given: sha256(given.text.encode()).hexdigest()),
    ),
)  # fmt: skip
QUOTATIONS = Table(
    "quotations",
    "a quotation that a turn marked as from a source",
    _quoted,
    (
        DEBATE,
        SPLIT,
        REPLACED,
        STEP._replace(value="turn.step"),
        SIDE._replace(value="turn.side"),
        Column("number", WHOLE, "its number in the turn, from 1"),
        Column("text", TEXT, "the quoted words; mentions removed",
               lambda quoted: scrub(quoted.quotation.text), "model"),
        Column("source", WHOLE, "the number of the source that the turn named",
               "quotation.source", "model"),
        Column("found_in", WHOLE, "the number of the source that has the words, by near-match; "
               "null if none has", "quotation.found_in"),
        Column("outcome", TEXT, "`found` in the source named, `elsewhere` in another one, or "
               "`missing`", lambda quoted: outcome_of(quoted.quotation)),
        Column("share", REAL, "how much of the words stands there in this order, or in the source "
               "named if none has them", "quotation.share", unit="share"),
    ),
)  # fmt: skip
