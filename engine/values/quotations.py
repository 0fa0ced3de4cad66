"""What a turn quotes from sources, looked up by code; few debates have any.

A quotation is marked by the source's name behind it: “exact words” [Source 2]. Whether a source has
those words is decided by near-match (engine/values/overlap.py), not by a model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from engine.values.debate import Quotation, Source
from engine.values.overlap import NEAR, share_of
from engine.values.sources import name_of, outcome_of

LONGEST_QUOTATION = 2_000  # characters between two quotation marks
MOST_QUOTATIONS = 20  # of a turn that are checked
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


def tell_quotation(quotation: Quotation) -> str:
    """Say where a quotation was found."""
    match outcome_of(quotation):
        case "found":
            return f"found in {name_of(quotation.source)}"
        case "elsewhere":
            return f"not in {name_of(quotation.source)}, but in {name_of(quotation.found_in or 0)}"
    return f"not found in {name_of(quotation.source)} or any other source"
