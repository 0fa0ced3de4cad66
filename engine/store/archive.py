"""Debates as exports and statistics read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple, Protocol

from engine.store.asking import AudienceQuestion
from engine.store.journal import Judging
from engine.values.debate import Debate, Turn
from engine.values.judging import (
    Adjustment,
    Artifact,
    Ballot,
    Question,
    Recovery,
    Score,
    TurnLabel,
    Verdict,
    Vote,
)
from engine.values.ports import Reply


@dataclass(frozen=True, slots=True)
class ExportFilter:
    """Which debates an export covers; empty: all that have ended.

    `revealed` leaves out debates that never named their models and may still be resumed.
    `since` (exclusive) and `until` (inclusive) apply to the time of the reveal or, without a vote,
    of the request. `quorum_met` leaves out debates that people did not decide.
    `without_rehearsal` leaves out debates with a speaker, juror or judge that is a rehearsal model.
    `ids` are the only debates to include, `series` the series that they are part of.
    `settled` leaves out debates whose mirror goes on, `told` also those whose chat does not show
    the result yet.
    `asked` leaves out debates that did not ask people this. `prompts` reads what calls asked, too.
    With `steps` only the turns of these steps are read, and the calls; None reads all.
    """

    platform: str | None = None
    community: str | None = None
    revealed: bool = False
    formats: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    quorum_met: bool = False
    without_rehearsal: bool = False
    ids: tuple[str, ...] = ()
    series: str | None = None
    asked: Question | None = None
    prompts: bool = False
    steps: tuple[str, ...] | None = None
    settled: bool = False
    told: bool = False


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One attempt of a model call, as exports and statistics read it; `model` was asked.

    `request` is JSON, and empty unless a filter wants prompts.
    """

    step: str
    attempt: int
    reply: Reply | None
    error: str
    cost: float | None
    cost_max: float
    prompt_hash: str
    cost_origin: str
    model: str = ""
    request: str = ""


class StandingAnswer(NamedTuple):
    """A standing vote or stance as it is stored: a Vote whose question and times are texts.

    An export reads a million of them; building a Vote for each would take most of its time.
    """

    person: int
    option: str
    ambiguous: bool
    gold: bool
    starter: bool
    judge_visible: bool
    late_seen: bool
    tally_visible: bool
    votes_seen_before: int
    changes: int
    first_at: str
    last_at: str
    question: str = Question.VOTE
    mirror_revealed: bool = False
    fast: bool = False
    reason: str = ""
    recovery: Recovery = "complete"
    step: str = ""
    confidence: str = ""
    ground: str = ""
    account_days: int | None = None
    member_days: int | None = None
    order: str = ""
    seconds: float | None = None
    comment: str = ""
    task: str = ""

    def to_vote(self) -> Vote:
        """Return it as a Vote."""
        return Vote.model_validate(self._asdict())


@dataclass(frozen=True, slots=True)
class DebateRecord:
    """Everything kept of one debate, for an export.

    `verdict` is the panel's; `verdicts` are those of the format's own judges, by judge.
    `answers` are all standing votes and stances, and the answers after the reveal. `opted_out` are
    people who count in every tally but appear nowhere else in an export, because they opted out or
    were forgotten. `judgings` are complete. `questions` are the audience's; those of people who are
    left out have no person.
    """

    debate: Debate
    turns: tuple[Turn, ...]
    ballots: tuple[Ballot, ...]
    verdict: Verdict | None
    answers: tuple[StandingAnswer, ...]
    calls: tuple[CallRecord, ...]
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()
    scores: tuple[Score, ...] = ()
    adjustments: tuple[Adjustment, ...] = ()
    labels: tuple[TurnLabel, ...] = ()
    judgings: tuple[Judging, ...] = ()
    opted_out: frozenset[int] = frozenset()
    questions: tuple[AudienceQuestion, ...] = ()

    @property
    def votes(self) -> tuple[Vote, ...]:
        """People's standing votes."""
        return tuple(answer.to_vote() for answer in self.asked(Question.VOTE))

    @property
    def stances(self) -> tuple[Vote, ...]:
        """People's stances on the topic, before the debate and then after it."""
        stood = (*self.asked(Question.STANCE_BEFORE), *self.asked(Question.STANCE_AFTER))
        return tuple(answer.to_vote() for answer in stood)

    def asked(self, question: Question) -> tuple[StandingAnswer, ...]:
        """Return the answers to a question."""
        return tuple(answer for answer in self.answers if answer.question == question)


class Archive(Protocol):
    """Finished debates, read beside a running process; used from a worker thread."""

    def reading(self, where: ExportFilter) -> AbstractContextManager[Iterator[DebateRecord]]:
        """Open one consistent view and yield its debates, by id."""

    def newest(self, where: ExportFilter) -> datetime | None:
        """Return the newest time in the debates or None; ignores `quorum_met` for speed."""

    def size(self, where: ExportFilter) -> int:
        """Return the number of debates; ignores `quorum_met` for speed."""

    def ids(self, where: ExportFilter) -> tuple[str, ...]:
        """Return the debates' ids; ignores `quorum_met` for speed."""

    def last_deletion(self) -> str:
        """Return a mark that every deletion of a debate changes."""


def count_rehearsals(archive: Archive, where: ExportFilter) -> int:
    """Return how many debates a filter leaves out because of rehearsal models."""
    if not where.without_rehearsal:
        return 0
    return archive.size(replace(where, without_rehearsal=False)) - archive.size(where)
