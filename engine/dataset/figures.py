"""Counts of an export, for its card."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from engine.dataset.entry import Entry
from engine.stats.figure import Figure, estimate_share


@dataclass(slots=True)
class Figures:
    """Counts of an export; `compared` debates were decided by both people and panel."""

    statuses: Counter[str] = field(default_factory=Counter)
    languages: set[str] = field(default_factory=set)
    by_people: int = 0
    by_panel: int = 0
    compared: int = 0
    agreed: int = 0
    rehearsed: int = 0
    ballots: int = 0
    invalid: int = 0
    votes: int = 0
    gold: int = 0

    @property
    def debates(self) -> int:
        """The number of debates."""
        return self.statuses.total()

    @property
    def agreement(self) -> Figure:
        """The share of compared debates in which people and panel agree."""
        return estimate_share(self.agreed, self.compared)

    def count(self, entry: Entry) -> None:
        """Add a debate."""
        record = entry.record
        self.statuses[entry.debate.status.value] += 1
        self.languages.add(entry.debate.request.language)
        self.by_people += entry.tally is not None and entry.tally.winner is not None
        self.by_panel += record.verdict is not None and record.verdict.winner is not None
        self.compared += entry.agree is not None
        self.agreed += entry.agree is True
        self.rehearsed += bool(entry.debate.setup.rehearsal)
        self.ballots += len(record.ballots)
        self.invalid += sum(not ballot.valid for ballot in record.ballots)
        self.votes += len(entry.votes)
        self.gold += sum(vote.gold for vote in entry.votes)
