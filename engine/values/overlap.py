"""How much texts have in common, and whether one quotes the other.

Words are lower-cased Unicode words; of scripts written without spaces they are pairs of
neighbouring characters in a set, and single characters in a quotation. Jaccard similarity: P.
Jaccard, 1912, size of the intersection over size of the union. Near-match of a quotation: the least
number of words to insert, drop or change that makes it a part of the text, P. H. Sellers, “The
Theory and Computation of Evolutionary Distances: Pattern Recognition”, Journal of Algorithms 1,
1980; computed a column at once as in G. Myers, “A Fast Bit-Vector Algorithm for Approximate String
Matching Based on Dynamic Programming”, Journal of the ACM 46, 1999.

A quotation is marked by the source's name behind it: “exact words” [Source 2]. Whether a source has
those words is decided by near-match, not by a model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from statistics import fmean
from typing import NamedTuple

import regex

from engine.values.debate import Quotation, Source
from engine.values.sources import name_of, outcome_of

_UNSPACED = (
    r"\p{Script_Extensions=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
)
_RUN = regex.compile(rf"(?:(?=[\p{{L}}\p{{M}}\p{{N}}])[{_UNSPACED}])+")
_WORD = regex.compile(r"[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}]|'(?=\p{L}))*")
_GAP = regex.compile(r"…|\.{3,}|\[\s*\]")
NEAR = 0.75  # share of a quotation's words that have to stand in a text as they are quoted
LONGEST = 200  # words of a quotation that are compared
# Lower-cased, a word that begins a Turkish sentence differs from itself by the dot of its i.
_FOLD = str.maketrans({"ı": "i", "\u0307": "", "’": "'"})


@lru_cache(maxsize=256)
def tokens(text: str) -> frozenset[str]:
    """Return the set of words and, of unspaced scripts, of pairs of characters in a text.

    Cached because every draft is compared with every other, and again with the next ones.
    """
    text = text.lower().translate(_FOLD)
    found = set(_WORD.findall(_RUN.sub(" ", text)))
    for run in _RUN.findall(text):
        found |= {first + second for first, second in pairwise(run)} or {run}
    return frozenset(found)


def similarity(first: str, second: str) -> float:
    """Return the Jaccard similarity of two texts, 0–1; two texts without words are alike."""
    one, other = tokens(first), tokens(second)
    union = one | other
    return len(one & other) / len(union) if union else 1.0


def least_overlap(texts: Mapping[str, str]) -> float:
    """Return the similarity of the two texts that are least alike; 1 for fewer than two."""
    pairs = combinations(texts.values(), 2)
    return min((similarity(first, second) for first, second in pairs), default=1.0)


def mean_overlaps(texts: Mapping[str, str]) -> dict[str, float]:
    """Return for each text its mean similarity to all the others; 0 for a text on its own."""
    return {
        name: fmean([similarity(text, other) for rival, other in texts.items() if rival != name])
        if len(texts) > 1
        else 0.0
        for name, text in texts.items()
    }


def most_central(texts: Mapping[str, str]) -> str | None:
    """Return the text most like the others; None where several are, as two texts always are."""
    overlaps = {name: round(share, 12) for name, share in mean_overlaps(texts).items()}
    most = [name for name, share in overlaps.items() if share == max(overlaps.values())]
    return most[0] if len(most) == 1 else None


def share_of(quotation: str, text: str) -> float:
    """Return which share of a quotation stands in a text in its order and in one place, 0–1.

    Punctuation and capitals do not matter. Parts around an ellipsis may stand in several places.
    A quotation without words has no share.
    """
    words = _words(text)
    parts = [_words(part)[:LONGEST] for part in _GAP.split(quotation)]
    total = sum(map(len, parts))
    return sum(len(part) - least_edits(part, words) for part in parts) / total if total else 0.0


quoted_share = lru_cache(maxsize=4096)(share_of)
"""The same, cached, because what was found in a turn is looked up again."""


def is_quoted(quotation: str, text: str) -> bool:
    """Say whether a text holds a quotation, to within a quarter of its words."""
    return quoted_share(quotation, text) >= NEAR


@lru_cache(maxsize=64)
def _words(text: str) -> tuple[str, ...]:
    text = text.lower().translate(_FOLD)
    return tuple(_WORD.findall(_RUN.sub(lambda run: f" {' '.join(run[0])} ", text)))


def least_edits(wanted: Sequence[str], words: Sequence[str]) -> int:
    """Return the least number of edits that turn `wanted` into some stretch of `words`.

    A column of the table is two integers, whose bits say where it rises and falls.
    """
    if not wanted:
        return 0
    places: dict[str, int] = {}
    for at, word in enumerate(wanted):
        places[word] = places.get(word, 0) | 1 << at
    every, last = (1 << len(wanted)) - 1, 1 << len(wanted) - 1
    rises, falls, edits = every, 0, len(wanted)
    least = edits
    for word in words:
        same = places.get(word, 0)
        level = same | falls
        across = (((same & rises) + rises) ^ rises) | same
        more, fewer = falls | ~(across | rises), rises & across
        edits += bool(more & last) - bool(fewer & last)
        least = min(least, edits)
        more, fewer = more << 1 & every, fewer << 1 & every
        rises, falls = (fewer | ~(level | more)) & every, more & level
    return least


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
