"""A debate for the tables, with everything that several of them need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from engine.dataset.voters import Pseudonyms
from engine.store import DebateRecord, StandingAnswer
from engine.tally.tally import agreement, count
from engine.values.debate import ENDED, Debate, Turn
from engine.values.judging import Persuasion, Question, Summary, Tally
from engine.values.text import scrub
from engine.values.topics import split_of, topic_id
from engine.votes.labels import persuasion
from engine.votes.web import tally_labels

LabelSource = Literal["chat", "web", "both"]
"""Whose winner makes pairs: the chat's people, labels, or labels where the chat has none."""

NO_CHANCES: Mapping[str, float] = {}


class ExportedTurn(NamedTuple):
    """A turn with its text as exported."""

    turn: Turn
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A debate's record and derived values; `tally` is None without a closed vote.

    `labels` counts what people said on pages, None where nobody did; `by` says whose winner makes
    pairs of cases, and `flawed` whether turns with flaws make pairs and examples too.

    `persuasion` is None if people were not asked for stances. `mirror` is the debate with sides
    swapped, if an export pairs the two. `chances` are the export's probabilities that most others
    agree with a vote, by how clear its person found the debate.
    """

    record: DebateRecord
    voters: Pseudonyms
    topic: str
    topic_id: str
    conditions: str
    stances: Mapping[str, str]
    split: str
    speeches: tuple[ExportedTurn, ...]
    votes: tuple[StandingAnswer, ...]
    tally: Tally | None
    labels: Tally | None
    agree: bool | None
    persuasion: Persuasion | None = None
    mirror: Entry | None = None
    chances: Mapping[str, float] = field(default_factory=dict)
    secrets: tuple[str, ...] = field(default=(), repr=False)
    by: LabelSource = "chat"
    flawed: bool = False

    @property
    def debate(self) -> Debate:
        """The debate itself."""
        return self.record.debate

    @property
    def decided(self) -> tuple[str, Tally] | None:
        """Whose winner makes pairs, and their count; None where nobody decided."""
        counts = {"chat": self.tally, "web": self.labels}
        wanted = counts if self.by == "both" else {self.by: counts[self.by]}
        found = ((name, tally) for name, tally in wanted.items() if tally and tally.winner)
        return next(found, None)

    @property
    def person(self) -> bool:
        """Whether a person argued a side, so that nothing in it compares models."""
        return bool(self.debate.request.guest)

    @property
    def summary(self) -> Summary | None:
        """A juror's neutral summary, where one was asked for."""
        return self.record.verdict.summary if self.record.verdict else None

    @property
    def replaced(self) -> str | None:
        """The replaced models, `old=new`; for a pair, those of both debates."""
        pair = [self.debate] if self.mirror is None else [self.debate, self.mirror.debate]
        found = [f"{one.was.ref}={one.now.ref}" for each in pair for one in each.setup.replaced]
        return ", ".join(found) or None


def make_entry(record: DebateRecord, voters: Pseudonyms, salt: bytes) -> Entry:
    """Prepare a record for the tables; `salt` is the installation's salt for splits."""
    # From the scrubbed topic, because a mention could be guessed from its hash.
    topic = scrub(record.debate.request.topic)
    identity = topic_id(topic)
    votes = record.asked(Question.VOTE)
    tally = _count(record, votes)
    return Entry(
        record=record,
        voters=voters,
        topic=topic,
        topic_id=identity,
        conditions=scrub(record.debate.request.conditions),
        stances={side: scrub(said) for side, said in record.debate.request.stances.items()},
        split=split_of(identity, salt),
        speeches=tuple(ExportedTurn(turn, scrub(turn.text)) for turn in record.turns),
        votes=votes,
        tally=tally,
        labels=_count_labels(record),
        agree=agreement(tally, record.verdict) if tally and record.verdict else None,
        persuasion=_measure(record),
    )


def may_be_read(debate: Debate) -> bool:
    """Return whether nothing in a debate is sealed any more."""
    return debate.status in ENDED


def newest_moment(debate: Debate) -> datetime:
    """Return when a debate was revealed or, without a vote, requested."""
    return debate.revealed_at or debate.created_at


def _count(record: DebateRecord, votes: tuple[StandingAnswer, ...]) -> Tally | None:
    if record.debate.revealed_at is None or not (record.debate.attended or votes):
        return None
    request = record.debate.request
    return count(votes, tuple(request.sides), request.quorum)


def _count_labels(record: DebateRecord) -> Tally | None:
    labels = record.asked(Question.LABEL)
    return tally_labels(labels, tuple(record.debate.request.sides)) if labels else None


def _measure(record: DebateRecord) -> Persuasion | None:
    before, after = record.asked(Question.STANCE_BEFORE), record.asked(Question.STANCE_AFTER)
    sides = tuple(record.debate.request.sides)
    return persuasion(before, after, sides) if (before or after) and len(sides) == 2 else None
