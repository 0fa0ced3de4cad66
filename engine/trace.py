"""The trace table of a structured debate: what became of each argument; pure.

Consensus is never read from polite words: an argument is agreed when the other side conceded it
in cross-examination and says so again in its closing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from engine.debate import Value
from engine.text import headline

Consensus = Literal["agreed", "claimed", "retracted", "disputed"]
Standing = Literal["UPHELD", "PARTIALLY_UPHELD", "REFUTED", "UNCERTAIN"]
STANDINGS: tuple[Standing, ...] = ("UPHELD", "PARTIALLY_UPHELD", "REFUTED", "UNCERTAIN")
SHOWN_CLAIM = 120  # characters of a claim in the table
LEVEL, SIGNIFICANT = 1.0, 3.0  # gaps of totals, in points of the 1–10 scale

# A year, a link, a title in quotation marks, or a name of two words: something to look up.
_SOURCE = re.compile(
    r"\b(?:1[89]|20)\d\d\b|https?://|doi\b|《[^》]+》|[“«„][^”»“]{6,}[”»“]"
    r"|\b[A-ZÇĞİÖŞÜÄ][\w.-]+\s+(?:[a-z]{1,3}\s+)?[A-ZÇĞİÖŞÜÄ][\w-]+"
)


class Argument(Value):
    """One numbered argument of an opening."""

    id: str
    claim: str
    reasoning: str = ""
    evidence: str = ""

    @property
    def sourced(self) -> bool:
        """Whether its evidence names something that a reader could look up."""
        return _SOURCE.search(self.evidence) is not None


class Response(Value):
    """What the other side said to an argument, and what it asked."""

    type: str
    reasoning: str = ""
    questions: tuple[str, ...] = ()


class Trace(Value):
    """One argument's course: raised, answered, taken up again, and where it stands.

    `response` and `answer` are empty where nothing usable was said; `standing` and `reason` are
    the judge's, and empty without one.
    """

    id: str
    side: str
    claim: str
    sourced: bool
    response: str = ""
    answer: str = ""
    consensus: Consensus
    standing: str = ""
    reason: str = ""
    fallacies: tuple[str, ...] = ()
    scores: dict[str, int]


def consensus_of(response: Response | None, *, confirmed: bool, withdrawn: bool) -> Consensus:
    """Say what both sides make of an argument in the end.

    `confirmed` says that the other side's closing concedes it, `withdrawn` that its own side
    gave it up.
    """
    if withdrawn:
        return "retracted"
    conceded = response is not None and response.type == "concede"
    if conceded and confirmed:
        return "agreed"
    return "claimed" if conceded or confirmed else "disputed"


def read_gap(totals: Mapping[str, float]) -> str:
    """Say how much a gap of totals means: under 1 point level, over 3 significant."""
    gap = abs(totals["A"] - totals["B"])
    if gap < LEVEL:
        return "level"
    return "a significant lead" if gap > SIGNIFICANT else "a lead"


def table(traces: Sequence[Trace]) -> str:
    """Return the trace table as Markdown."""
    rows = ["| | claim | response | consensus | standing |", "| --- | --- | --- | --- | --- |"]
    for trace in traces:
        unsourced = "" if trace.sourced else " (names no source)"
        cells = (
            trace.id,
            headline(trace.claim, SHOWN_CLAIM) + unsourced,
            trace.response or "none",
            trace.consensus,
            trace.standing or "not judged",
        )
        rows.append(f"| {' | '.join(_cell(cell) for cell in cells)} |")
    return "\n".join(rows)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
