"""How much texts have in common: the mean Jaccard similarity of their sets of words.

Words are lower-cased Unicode words; scripts written without spaces count pairs of neighbouring
characters instead. Jaccard similarity: P. Jaccard, 1912, size of the intersection over size of
the union.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations, pairwise
from statistics import fmean

import regex

_UNSPACED = (
    r"\p{Script_Extensions=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}"
    r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
)
_RUN = regex.compile(rf"(?:(?=[\p{{L}}\p{{M}}\p{{N}}])[{_UNSPACED}])+")
_WORD = regex.compile(r"[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}]|'(?=\p{L}))*")
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


def most_central(texts: Mapping[str, str]) -> str:
    """Return the text most like the others; of equals the longer, then the lower name."""
    overlaps = mean_overlaps(texts)
    return min(texts, key=lambda name: (-round(overlaps[name], 12), -len(texts[name]), name))
