"""A debate for the tables, with everything that several of them need."""

from __future__ import annotations

import hmac
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

import orjson

from engine.store import DebateRecord, ExportFilter
from engine.tally import agreement, count, persuasion
from engine.values.debate import ENDED, Debate, Turn
from engine.values.text import redact
from engine.values.topics import split_of, topic_id
from engine.values.verdicts import Persuasion, Question, Score, Summary, Tally, Vote
from engine.votes.close import tally_labels

# Pseudonyms of voters: the same within one export, different in the next.


class Keys(NamedTuple):
    """The keys of an export; neither is ever written into it.

    `splits` is the installation's salt for splits, `master` the key of pseudonyms.
    """

    splits: bytes
    master: bytes


REMEMBERED = 50_000  # cached pseudonyms, for people who vote often


class Pseudonyms:
    """The pseudonyms of one export, which depend on its filters, tables and cut-off.

    They come from a keyed hash: plain hashes of user ids could be reversed by trying all ids.
    """

    def __init__(
        self,
        master: bytes,
        where: ExportFilter,
        cutoff: datetime | None,
        tables: Iterable[str] = (),
        labels: str = "chat",
        *,
        flawed: bool = False,
    ) -> None:
        scope = {
            "platform": where.platform,
            "community": where.community,
            "revealed": where.revealed,
            "formats": sorted(where.formats),
            "languages": sorted(where.languages),
            "since": where.since and where.since.isoformat(),
            "until": where.until and where.until.isoformat(),
            "quorum_met": where.quorum_met,
            "without_rehearsal": where.without_rehearsal,
            "cutoff": cutoff and cutoff.isoformat(),
            "tables": sorted(tables),
            # Not in the scope of those that are as ever, so that they repeat.
            **({} if labels == "chat" else {"labels": labels}),
            **({"flawed": True} if flawed else {}),
        }
        self._key = hmac.digest(master, orjson.dumps(scope), "sha256")
        self._voters: dict[int, str] = {}

    def voter(self, person: int) -> str:
        """Return a person's pseudonym: 128 bits in hexadecimal."""
        known = self._voters.get(person)
        if known is None:
            if len(self._voters) >= REMEMBERED:
                self._voters.clear()
            known = self._voters[person] = self._name(f"person/{person}")
        return known

    def community(self, community: str) -> str:
        """Return the pseudonym of a community, by its platform id."""
        return self._name(f"community/{community}")

    def _name(self, subject: str) -> str:
        return hmac.digest(self._key, subject.encode(), "sha256")[:16].hex()


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
    votes: tuple[Vote, ...]
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
        """Whether a person argued a side, or not both sides spoke: nothing compares models."""
        asked = self.debate.request
        return bool(asked.guest or (asked.protocol and not asked.protocol.opposed))

    @property
    def summary(self) -> Summary | None:
        """A juror's neutral summary, where one was asked for."""
        return self.record.verdict.summary if self.record.verdict else None

    def standing_scores(self) -> Iterator[tuple[Score, float]]:
        """Yield each score, and what it is after every adjustment to it or to a part of it."""
        added: defaultdict[tuple[str, str], float] = defaultdict(float)
        for change in self.record.adjustments:
            if change.criterion:  # one to a total is in the total already
                for criterion in {change.criterion, "total"}:
                    added[change.subject, criterion] += change.amount
        for score in self.record.scores:
            yield score, score.value + added[score.subject, score.criterion]

    @property
    def replaced(self) -> str | None:
        """The replaced models, `old=new`; for a pair, those of both debates."""
        pair = [self.debate] if self.mirror is None else [self.debate, self.mirror.debate]
        found = [f"{one.was.ref}={one.now.ref}" for each in pair for one in each.setup.replaced]
        return ", ".join(found) or None


def make_entry(record: DebateRecord, voters: Pseudonyms, salt: bytes) -> Entry:
    """Prepare a record for the tables; `salt` is the installation's salt for splits."""
    # From the redacted topic, because a mention could be guessed from its hash.
    topic = redact(record.debate.request.topic)
    identity = topic_id(topic)
    votes = record.asked(Question.VOTE)
    labels, sides = record.asked(Question.LABEL), tuple(record.debate.request.sides)
    told = record.debate.revealed_at is not None and (record.debate.attended or votes)
    tally = count(votes, sides, record.debate.request.quorum) if told else None
    stances = (record.asked(Question.STANCE_BEFORE), record.asked(Question.STANCE_AFTER))
    return Entry(
        record=record,
        voters=voters,
        topic=topic,
        topic_id=identity,
        conditions=redact(record.debate.request.conditions),
        stances={side: redact(said) for side, said in record.debate.request.stances.items()},
        split=split_of(identity, salt),
        speeches=tuple(ExportedTurn(turn, redact(turn.text)) for turn in record.turns),
        votes=votes,
        tally=tally,
        labels=tally_labels(labels, sides) if labels else None,
        agree=agreement(tally, record.verdict) if tally and record.verdict else None,
        persuasion=persuasion(*stances, sides),
    )


def may_be_read(debate: Debate) -> bool:
    """Return whether nothing in a debate is sealed any more."""
    return debate.status in ENDED


def newest_moment(debate: Debate) -> datetime:
    """Return when a debate was revealed or, without a vote, requested."""
    return debate.revealed_at or debate.created_at
