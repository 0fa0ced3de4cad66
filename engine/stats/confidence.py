"""How often a vote agrees with the others, by how clear its person found the debate; pure.

Histogram binning with one bin for each word, and Laplace's correction: B. Zadrozny and C. Elkan,
“Obtaining calibrated probability estimates from decision trees and naive Bayesian classifiers”,
ICML 2001.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

from engine.tally.questions import CONFIDENCE_NAMES
from engine.tally.tally import FEWEST
from engine.values.debate import Value

WORDS = tuple(CONFIDENCE_NAMES.values())


Sure: TypeAlias = tuple[str, bool]
"""A vote's word, and whether most of the others chose the same side."""


class Confidence(Value):
    """One word's votes: how many, how many agreed with most others, and the probability of that.

    `p` is None for fewer than 30 votes.
    """

    word: str
    n: int
    agreed: int
    p: float | None = None


class _Voted(Protocol):
    """The part of a vote that is needed here."""

    @property
    def option(self) -> str:
        """The chosen option."""
        ...

    @property
    def gold(self) -> bool:
        """Whether it is a label, and so not ambiguous."""
        ...

    @property
    def confidence(self) -> str:
        """How clear its person found it; empty if unknown."""
        ...


def compare(votes: Iterable[_Voted], sides: Sequence[str]) -> Iterator[Sure]:
    """Compare the gold votes of a debate with a word with the other gold votes.

    Only votes for one of two sides; one whose others are level is left out.
    """
    if len(sides) != 2:
        return
    chosen = [vote for vote in votes if vote.gold and vote.option in sides]
    counts = Counter(vote.option for vote in chosen)
    for vote in chosen:
        own = counts[vote.option] - 1
        others = counts.total() - counts[vote.option]
        if vote.confidence and own != others:
            yield vote.confidence, own > others


def calibrate(compared: Iterable[Sure]) -> tuple[Confidence, ...]:
    """Return each word's probability that most others agree: (k + 1) / (n + 2)."""
    pairs = Counter(compared)
    found = []
    for word in WORDS:
        agreed, not_agreed = pairs[word, True], pairs[word, False]
        n = agreed + not_agreed
        p = (agreed + 1) / (n + 2) if n >= FEWEST else None
        found.append(Confidence(word=word, n=n, agreed=agreed, p=p))
    return tuple(found)


def chances(compared: Iterable[Sure]) -> Mapping[str, float]:
    """Return the known probabilities by word."""
    return {one.word: one.p for one in calibrate(compared) if one.p is not None}
