"""What was learned of jurors: stored fits, and ballots from outside the debates held here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from engine.store.debates import NewDebate
from engine.store.leases import Lease
from engine.values.debate import Criterion, Debate, Value
from engine.values.judging import Ballot

SESSION = "calibration"  # the platform of the debates that calibrations are journaled as


class Evidence(Value):
    """What a fit rests on, or would: how many debates and ballots, from here and from outside.

    `debates` are the closed ones with a verdict, the newest of which has the number `newest`;
    `ballots` are theirs. `learnt` judgments came from outside, with `learnt_ballots`.
    """

    debates: int = 0
    newest: int = 0
    ballots: int = 0
    learnt: int = 0
    learnt_ballots: int = 0

    @property
    def readings(self) -> int:
        """All ballots."""
        return self.ballots + self.learnt_ballots


class StoredFit(NamedTuple):
    """A fit as it is stored: its number, from 1, when it was made, and its figures as JSON."""

    number: int
    made_at: datetime
    evidence: Evidence
    body: str


class Learnt(Value):
    """A judgment from outside: jurors' ballots, and whom people preferred, None where unknown.

    `key` is the id of the debate, or the source's own; `source` is a digest of where it came from.
    The ballots have scores and verdicts, and no text.
    """

    key: str
    source: str
    ballots: tuple[Ballot, ...]
    rubric: str = "debate"
    criteria: tuple[Criterion, ...] = ()
    human: str | None = None
    blind: bool = True
    rehearsal: bool = False


class Learning(Protocol):
    """Stored fits, one line for real debates and one for rehearsals, and what came from outside."""

    async def newest(self, *, rehearsal: bool) -> StoredFit | None:
        """Return the newest fit, None before the first."""

    async def find(self, number: int) -> StoredFit | None:
        """Return a fit by its number."""

    async def evidence(self, *, rehearsal: bool) -> Evidence:
        """Return what a fit would rest on now."""

    async def keep(
        self, lease: Lease, evidence: Evidence, body: str, now: datetime, *, rehearsal: bool
    ) -> int:
        """Store a fit and return its number."""

    async def learn(self, lease: Lease, judgments: Sequence[Learnt]) -> None:
        """Store judgments from outside; one that is there already gets the new ballots too."""

    async def learnt(self, *, rehearsal: bool) -> list[Learnt]:
        """Return the judgments from outside."""

    async def session(self, new: NewDebate) -> Debate:
        """Return the debate that a calibration is journaled as: the stored one, or this one.

        It is known by its community, the source's digest. It is over from the beginning, and no
        list, vote or export has it.
        """
