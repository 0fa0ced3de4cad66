"""How often a vote agrees with the others, by how clear its person found the debate; pure.

Histogram binning with one bin for each word, and Laplace's correction: B. Zadrozny and C. Elkan,
“Obtaining calibrated probability estimates from decision trees and naive Bayesian classifiers”,
ICML 2001.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

from engine.stats.figure import Bin, Figure, Forecast, brier_sums, mean_of, reliability
from engine.tally import FEWEST
from engine.tally.questions import CONFIDENCE_NAMES, PERCENTS
from engine.values.debate import Value

WORDS = tuple(CONFIDENCE_NAMES.values())
FIFTHS = ("0 to 20 %", "21 to 40 %", "41 to 60 %", "61 to 80 %", "81 to 100 %")
FIFTH_OF = {percent: FIFTHS[max(0, int(percent) - 1) // 20] for percent in PERCENTS}


Sure: TypeAlias = tuple[str, bool]
"""A vote's word or percent, and whether most of the others chose the same side."""


class Confidence(Value):
    """The votes with one word, or in one fifth of percents: how many, how many agreed with most.

    `p` is the probability of that, None for fewer than 30 votes.
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
    """Compare the gold votes of a debate with a word or percent with the other gold votes.

    Only votes for one of two sides; one whose others are level is left out.
    """
    for vote, alike in _beside_others(votes, sides):
        if alike is not None:
            yield vote.confidence, alike


def _beside_others(
    votes: Iterable[_Voted], sides: Sequence[str]
) -> Iterator[tuple[_Voted, bool | None]]:
    """Yield votes with a word or percent, and whether most others agree; None: level, or none."""
    if len(sides) != 2:
        return
    chosen = [vote for vote in votes if vote.gold and vote.option in sides]
    counts = Counter(vote.option for vote in chosen)
    for vote in chosen:
        own = counts[vote.option] - 1
        others = counts.total() - counts[vote.option]
        if vote.confidence:
            yield vote, None if own == others else own > others


def calibrate(compared: Iterable[Sure]) -> tuple[Confidence, ...]:
    """Return each word's probability that most others agree: (k + 1) / (n + 2).

    Percents are told in fifths, if there are any.
    """
    pairs = Counter((FIFTH_OF.get(said, said), alike) for said, alike in compared)
    given = {word for word, _ in pairs}
    found = []
    for word in (*WORDS, *(fifth for fifth in FIFTHS if fifth in given)):
        agreed, not_agreed = pairs[word, True], pairs[word, False]
        n = agreed + not_agreed
        p = (agreed + 1) / (n + 2) if n >= FEWEST else None
        found.append(Confidence(word=word, n=n, agreed=agreed, p=p))
    return tuple(found)


def chances(compared: Iterable[Sure]) -> Mapping[str, float]:
    """Return the known probabilities, by word and by percent."""
    known = {one.word: one.p for one in calibrate(compared) if one.p is not None}
    return known | {one: known[fifth] for one, fifth in FIFTH_OF.items() if fifth in known}


# Votes in percent beside the panel's probability: both are of A, on one scale.


SureVote: TypeAlias = tuple[float, bool | None]
"""The probability of A by a vote in percent, and whether most others chose A; None: level."""


class PercentFigures(Value):
    """People's probabilities beside the panel's, over the same votes, which `n` counts.

    `difference` is the mean absolute one. The Brier scores, and the bins of p(A), are of whether
    most other voters of a debate chose A.
    """

    difference: Figure
    brier_people: Figure
    brier_jury: Figure
    people: tuple[Bin, ...]
    jury: tuple[Bin, ...]


def sure_votes(votes: Iterable[_Voted], sides: Sequence[str]) -> Iterator[SureVote]:
    """Yield the probabilities of A by a debate's gold votes in percent."""
    for vote, alike in _beside_others(votes, sides):
        if vote.confidence in FIFTH_OF:
            p, for_a = int(vote.confidence) / 100, vote.option == sides[0]
            a_won = alike if for_a or alike is None else not alike
            yield p if for_a else 1 - p, a_won


def measure_percents(
    debates: Iterable[tuple[str, float | None, Iterable[SureVote]]],
) -> PercentFigures:
    """Return the figures of debates: each its topic, the panel's p(A), and votes in percent."""
    both = [(topic, p_a, *one) for topic, p_a, votes in debates if p_a is not None for one in votes]
    decided = [one for one in both if one[3] is not None]
    people: list[Forecast] = [(said, float(a_won or 0)) for _, _, said, a_won in decided]
    jury: list[Forecast] = [(p_a, float(a_won or 0)) for _, p_a, _, a_won in decided]

    def brier(forecasts: Sequence[Forecast]) -> Figure:
        scored = zip(decided, forecasts, strict=True)
        return Figure.estimate(((one[0], brier_sums(*of)) for one, of in scored), mean_of)

    apart = ((topic, (abs(said - p_a), 1.0)) for topic, p_a, said, _ in both)
    return PercentFigures(
        difference=Figure.estimate(apart, mean_of),
        brier_people=brier(people),
        brier_jury=brier(jury),
        people=reliability(people),
        jury=reliability(jury),
    )
