"""The Store port: what the engine asks of a database, in small parts.

Every method that takes a lease writes only while that lease is the newest of its name, checked
in the same transaction, and raises LeaseLostError otherwise. Every method may raise StoreError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple, Protocol

from engine.community import CommunitySettings
from engine.debate import (
    Ballot,
    BallotKind,
    Debate,
    How,
    Question,
    Setup,
    Status,
    Turn,
    TurnLabel,
    Value,
    Verdict,
    Vote,
    VoteEvent,
)
from engine.errors import StoppedError, ThreadGoneError
from engine.findings import Adjustment, Artifact, Score
from engine.installs import Installs
from engine.jury.history import PastDebate
from engine.messages import Message
from engine.ports import Attempt, Call, Part, Reply
from engine.votes.recovery import NewEvent


class Stop(Value):
    """A wish that a debate stops; `gone` when its thread is, for good."""

    reason: str
    gone: bool = False

    def error(self) -> StoppedError:
        """Return the error that ends the debate's work."""
        return ThreadGoneError(self.reason) if self.gone else StoppedError(self.reason)


class Lease(Value):
    """The right to write for a debate or a connection; a higher epoch ends it."""

    name: str
    epoch: int


class Caps(Value):
    """What may be spent and run at once; None is no cap. Money is USD."""

    debate_usd: float | None = 1.0
    community_daily_usd: float | None = 10.0
    user_daily_debates: int | None = 10
    max_live_per_community: int | None = 3


class NewDebate(Value):
    """A debate about to be stored; `user` is the platform's id of who starts it."""

    id: str
    number: int
    platform: str
    community: str
    place: str
    user: str | None
    setup: Setup
    created_at: datetime


class Post(Value):
    """A message on its way to the outbox, under a key that is unique in its debate.

    `target` is the key of an earlier message that this one replaces; None posts anew.
    """

    key: str
    message: Message
    target: str | None = None


class Note(Value):
    """What a format keeps beside its turns, stored together or not at all.

    `posts` are queued at once, and `held` only with the reveal. `verdicts` are those of the
    format's own judges, by judge.
    """

    artifacts: tuple[Artifact, ...] = ()
    scores: tuple[Score, ...] = ()
    adjustments: tuple[Adjustment, ...] = ()
    verdicts: Mapping[str, Verdict] = {}
    posts: tuple[Post, ...] = ()
    held: tuple[Post, ...] = ()


class DeliveryState(StrEnum):
    """How far an outbox row is."""

    HELD = "held"  # waits for the reveal
    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    DOUBTFUL = "doubtful"  # sent, never seen, and reading back is refused: left alone
    REFUSED = "refused"


class Intent(Value):
    """An outbox row: what to say, the parts it was frozen into, and what is known of them.

    `refs` are the platform's message references of the parts posted so far; `sending` is
    set while the next part may be on its way, until `deadline`.
    """

    id: int
    debate: str
    platform: str
    channel: str
    thread: str | None
    number: int
    key: str
    message: Message
    target: str | None
    parts: tuple[Part, ...] | None
    refs: tuple[str, ...]
    state: DeliveryState
    deadline: datetime | None


class Step(Value):
    """A step's stored result."""

    reply: Reply
    prompt_hash: str


class Journaled(Value):
    """What the journal holds of a debate: results, and money settled or still unknown.

    `spent` is USD; an attempt whose cost is unknown counts with its maximum. `unanswered` says why
    the script went on without an answer at a step.
    """

    steps: dict[str, Step]
    attempts: dict[str, int]
    spent: float
    unanswered: Mapping[str, str] = {}


class AttemptStart(Value):
    """One try of a step, written before it is sent; `cost_max` is USD."""

    debate: str
    step: str
    number: int
    cost_max: float
    prompt_hash: str


class Closing(Value):
    """How a vote ends: the standing votes, what to say about it, what stances decided.

    `last` is queued behind what was held back until the reveal.
    """

    votes: tuple[Vote, ...]
    posts: tuple[Post, ...]
    last: tuple[Post, ...] = ()
    verdicts: Mapping[str, Verdict] = {}


class Cast(Value):
    """A reaction or button press as a platform reports it; `event` deduplicates retries."""

    platform: str
    place: str
    message: str
    user: str
    option: str
    added: bool
    how: How = How.LIVE
    event: str | None = None
    received_at: datetime


Outcome = Literal["stored", "duplicate", "closed", "unknown", "forgotten"]
"""What became of an answer: kept, kept already, too late, or to nothing that was asked.

"forgotten" is of somebody who was forgotten, or who came back after the debate had begun.
"""


class Press(Value):
    """A button of a vote; `option` is None for the one that withdraws."""

    platform: str
    place: str
    message: str
    user: str
    option: str | None
    event: str | None = None
    received_at: datetime


class Revision(Value):
    """What somebody answers to who debated better, of a debate whose models they know.

    `option` is None to take an answer back; `ballot` is the debate's.
    """

    debate: str
    ballot: BallotKind
    platform: str
    user: str
    option: str | None
    received_at: datetime


class Pressed(Value):
    """What became of a button; `option` is what its person has chosen now, None for nothing."""

    outcome: Outcome
    option: str | None = None


class Target(Value):
    """A message whose reactions or buttons mean something; `step` is that of a turn.

    `deadline` is until when one asks again after the reveal. `closed` says that its answers are as
    they will stay: it was deleted, or its time is over.
    """

    debate: str
    question: Question
    platform: str
    place: str
    message: str
    ballot: BallotKind
    options: tuple[str, ...]
    step: str = ""
    deadline: datetime | None = None
    closed: bool = False


class Traces(Value):
    """What is stored of a person: how often they answered, and how many debates they started.

    `known` says that their user id is. `votes`, `stances`, `revisions` (answers after a reveal) and
    `thumbs` count questions, `entries` every choice made or taken back.
    `since` is when somebody came back who had been forgotten.
    """

    known: bool = False
    votes: int = 0
    stances: int = 0
    revisions: int = 0
    thumbs: int = 0
    entries: int = 0
    started: int = 0
    opted_out: bool = False
    forgotten: bool = False
    since: datetime | None = None


class Left(NamedTuple):
    """A community that has removed Rostrum."""

    platform: str
    community: str


class Intervention(Value):
    """What a moderator did to a question's message; `option` is the one cleared, None for all."""

    debate: str
    question: Question
    act: Literal["cleared", "deleted", "archived", "locked", "reopened"]
    option: str | None = None
    at: datetime


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One attempt of a model call, as exports and statistics read it."""

    step: str
    attempt: int
    reply: Reply | None
    error: str
    cost: float | None
    cost_max: float
    prompt_hash: str


class Answer(NamedTuple):
    """A standing vote or stance as it is stored: a Vote whose question and times are texts.

    An export reads a million of them, and a Vote each would take most of its time.
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

    def to_vote(self) -> Vote:
        """Return the same as a Vote."""
        return Vote.model_validate(self._asdict())


@dataclass(frozen=True, slots=True)
class DebateRecord:
    """Everything kept of one debate, for an export.

    `verdict` is the panel's; `verdicts` are those of the format's own judges, by judge.
    `answers` are all standing votes and stances, and what was answered after the reveal; `votes`
    answer the one question of the vote, `stances` those before and after it. `opted_out` are people
    who count in every tally, and of whom an export may show nothing else: by their own wish, or as
    they were forgotten.
    """

    debate: Debate
    turns: tuple[Turn, ...]
    ballots: tuple[Ballot, ...]
    verdict: Verdict | None
    answers: tuple[Answer, ...]
    calls: tuple[CallRecord, ...]
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    artifacts: tuple[Artifact, ...] = ()
    scores: tuple[Score, ...] = ()
    adjustments: tuple[Adjustment, ...] = ()
    labels: tuple[TurnLabel, ...] = ()
    opted_out: frozenset[int] = frozenset()

    @property
    def votes(self) -> tuple[Vote, ...]:
        """What people answered to the one question of the vote."""
        return tuple(answer.to_vote() for answer in self.asked(Question.VOTE))

    @property
    def stances(self) -> tuple[Vote, ...]:
        """What people thought of the topic, before the debate and then after it."""
        stood = (*self.asked(Question.STANCE_BEFORE), *self.asked(Question.STANCE_AFTER))
        return tuple(answer.to_vote() for answer in stood)

    def asked(self, question: Question) -> tuple[Answer, ...]:
        """Return the answers to a question."""
        return tuple(answer for answer in self.answers if answer.question == question)


class Leases(Protocol):
    """Claims on debates (`debate/ID`) and on platform connections (`connection/NAME`)."""

    async def claim(self, name: str, holder: str, seconds: float) -> Lease | None:
        """Take a lease that is free or has run out, raising its epoch; None if it is held."""
        ...

    async def renew(self, holder: str, seconds: float) -> dict[str, int]:
        """Hold on to all of a holder's leases from now; return the epochs by name."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give a lease back, if it is still ours."""
        ...


class Debates(Protocol):
    """Debates and their states."""

    async def next_number(self) -> int:
        """Count one more debate and return its number, from 1."""
        ...

    async def create(self, new: NewDebate, caps: Caps, posts: Sequence[Post]) -> Debate:
        """Store a queued debate with its first posts, reserving its budget in one update.

        Raises BudgetError, naming the cap that is reached, and then stores nothing; as does
        NotAllowedError, for a starter who was forgotten.
        """
        ...

    async def create_pair(
        self, pair: Sequence[tuple[NewDebate, Sequence[Post]]], caps: Caps
    ) -> list[Debate]:
        """Store debates that belong together, all or none of them. Raises BudgetError."""
        ...

    async def get(self, debate_id: str) -> Debate:
        """Return a debate by its id or its short code. Raises NotFoundError."""
        ...

    async def recent(self, statuses: Sequence[Status] = (), limit: int = 100) -> list[Debate]:
        """Return debates, newest first."""
        ...

    async def of_community(
        self, platform: str, community: str, statuses: Sequence[Status] = (), limit: int = 100
    ) -> list[Debate]:
        """Return a community's own debates, newest first."""
        ...

    async def is_starter(self, debate_id: str, user: str) -> bool:
        """Tell whether a user of the debate's platform started it."""
        ...

    async def unfinished(self) -> list[str]:
        """Return the ids of debates that somebody has to think for, oldest first."""
        ...

    async def advance(
        self, lease: Lease, debate_id: str, status: Status, reason: str = ""
    ) -> Debate:
        """Move a debate to a status that may follow its own; an end settles its budget."""
        ...

    async def requeue(self, debate_id: str, caps: Caps, now: datetime) -> Debate:
        """Queue a failed or partial debate again, keeping what it paid for. Raises BudgetError.

        What it may still cost is reserved from the budget of the day that `now` is in.
        """
        ...

    async def ask_stop(self, debate_id: str, reason: str) -> None:
        """Leave the wish, to be read between steps, that a debate stops."""
        ...

    async def stops(self) -> dict[str, Stop]:
        """Return the live debates that were asked to stop."""
        ...

    async def set_waiting(self, debate_id: str, reason: str) -> None:
        """Say what a debate waits for; an empty reason: nothing any more.

        A debate whose thread is gone keeps the reason of that.
        """
        ...

    async def keep_templates(self, digest: str, texts: Mapping[str, str]) -> None:
        """Keep a set of template texts under its hash."""
        ...

    async def templates(self, digest: str) -> dict[str, str]:
        """Return the template texts that were kept under a hash."""
        ...

    async def secret(self, name: str) -> bytes:
        """Return this installation's own random 32 bytes of that name, made when first asked."""
        ...


class Journal(Protocol):
    """Results, kept before the next step; a stored result is never called for again."""

    async def load(self, debate_id: str) -> Journaled:
        """Return what a debate has so far."""
        ...

    async def began(self, lease: Lease, start: AttemptStart, call: Call) -> None:
        """Write down a try before it is sent. Raises StoppedError for a debate asked to stop."""
        ...

    async def ended(
        self, lease: Lease, start: AttemptStart, attempt: Attempt, reply: Reply | None
    ) -> None:
        """Write down how a try ended, and the step's result with the one that succeeded."""
        ...

    async def record_turn(self, lease: Lease, debate_id: str, turn: Turn, post: Post) -> int:
        """Store a turn and its post together; storing it again changes nothing.

        Returns how many turns of the debate are not delivered yet.
        """
        ...

    async def note(self, lease: Lease, debate_id: str, note: Note) -> None:
        """Store what a format keeps beside its turns; storing it again changes nothing."""
        ...

    async def record_verdict(
        self,
        lease: Lease,
        debate_id: str,
        verdict: Verdict,
        ballots: Mapping[str, Ballot],
        invitation: Sequence[Post] = (),
    ) -> None:
        """Store the panel's verdict and its ballots by step, sealed until the vote closes.

        With it, where one is given, the invitation to vote is queued and the debate is `voting`:
        a vote opens on a sealed verdict, or not at all.
        """
        ...

    async def judged(self, debate_id: str) -> tuple[Verdict | None, tuple[Ballot, ...]]:
        """Return a debate's verdict and ballots, for the reveal."""
        ...

    async def turns_held(self, debate_id: str) -> int:
        """Return how many turns a debate has so far."""
        ...

    async def newest_turn(self, debate_id: str) -> Turn | None:
        """Return a debate's turn with the highest number, None before the first."""
        ...

    async def words_spoken(self, debate_id: str) -> int:
        """Return how many words the turns of a debate have so far."""
        ...

    async def spending(self, debate_id: str) -> tuple[int, float | None]:
        """Return how many tries a debate took and their cost in USD, None if unknown."""
        ...

    async def thinking(
        self, platform: str, channel: str | None = None
    ) -> list[tuple[str, str, str]]:
        """Return (debate, thread, step) of every call that is out now on open threads."""
        ...

    async def past(self, limit: int) -> list[PastDebate]:
        """Return the ballots of the newest revealed debates, oldest first."""
        ...


class Outbox(Protocol):
    """Messages on their way to a thread."""

    async def publish(self, lease: Lease, debate_id: str, posts: Sequence[Post]) -> None:
        """Queue messages, once for each key."""
        ...

    async def waiting(self, platform: str, channel: str | None = None) -> list[str]:
        """Return the debates with something to deliver on a platform, or one channel of it."""
        ...

    async def next(self, debate_id: str) -> Intent | None:
        """Return the first message of a debate that is not settled yet."""
        ...

    async def undelivered_turns(self, debate_id: str) -> int:
        """Return how many turns are not settled yet."""
        ...

    async def sending(
        self, lease: Lease, intent: Intent, parts: Sequence[Part], deadline: datetime
    ) -> Intent:
        """Freeze the parts, and note that the next one is about to be sent."""
        ...

    async def posted(self, lease: Lease, intent: Intent, ref: str) -> Intent:
        """Note the platform's reference of the part that was being sent."""
        ...

    async def settle(
        self, lease: Lease, intent: Intent, state: DeliveryState, error: str = ""
    ) -> Intent | None:
        """Finish a message: sent, doubtful or refused. Returns the debate's next one."""
        ...

    async def find(self, debate_id: str, key: str) -> Intent | None:
        """Return a debate's message, whatever has become of it."""
        ...

    async def set_thread(self, lease: Lease, debate_id: str, thread: str) -> None:
        """Note the thread that a debate is held in."""
        ...

    async def abandon(self, lease: Lease, debate_id: str, reason: str) -> None:
        """Give up everything undelivered: the thread is gone.

        A debate that runs is asked to stop, and a vote that is open is due at once.
        """
        ...


class Votes(Protocol):
    """The append-only log of votes, and what stands at the close."""

    async def accept(
        self, lease: Lease, debate_id: str, message: str, question: Question = Question.VOTE
    ) -> None:
        """Take answers on a posted message from now on; a deadline comes with `open`."""
        ...

    async def open(
        self, lease: Lease, debate_id: str, message: str, now: datetime, deadline: datetime
    ) -> None:
        """Open a vote on a delivered message; a vote that is open stays as it is."""
        ...

    async def open_stance(self, lease: Lease, debate_id: str, deadline: datetime) -> None:
        """Say until when the first stance is asked for; one that is open stays as it is."""
        ...

    async def close_stance(self, lease: Lease, debate_id: str, now: datetime) -> None:
        """Take no more first stances."""
        ...

    async def open_again(self, lease: Lease, debate_id: str, deadline: datetime) -> None:
        """Say until when it is asked again; a question that has been opened stays as it is."""
        ...

    async def agains(self, platform: str, channel: str | None = None) -> dict[str, datetime]:
        """Return when the questions that ask again are due, the first due first."""
        ...

    async def close_again(self, lease: Lease, debate_id: str, now: datetime) -> None:
        """Take no more answers on the message that asks again."""
        ...

    async def revise(self, revision: Revision) -> Pressed:
        """Keep what somebody answers after the reveal, in place of what they answered before."""
        ...

    async def revised_by(self, platform: str, user: str, among: Sequence[str]) -> frozenset[str]:
        """Return those of some debates that somebody has answered after the reveal."""
        ...

    async def target(self, platform: str, place: str, message: str) -> Target | None:
        """Return what a message asks, None for one that asks nothing."""
        ...

    async def targets(self, debate_id: str) -> tuple[Target, ...]:
        """Return the messages of a debate that ask a question, without its turns."""
        ...

    async def cast(self, cast: Cast) -> Outcome:
        """Append an event to the question of a message, in the order of receipt."""
        ...

    async def press(self, press: Press) -> Pressed:
        """Choose, or withdraw what was chosen when that is pressed again; at once."""
        ...

    async def intervene(self, target: Target, intervention: Intervention) -> None:
        """Note what a moderator did; a message that was deleted takes no more answers."""
        ...

    async def interventions(self, debate_id: str) -> tuple[Intervention, ...]:
        """Return what moderators did to a debate's messages, the first first."""
        ...

    async def events(
        self, debate_id: str, question: Question | None = None
    ) -> tuple[VoteEvent, ...]:
        """Return a question's log, or those of all, in the order of receipt."""
        ...

    async def people(self, platform: str, users: Sequence[str]) -> dict[str, int]:
        """Return surrogate ids of platform users, making those that are new.

        Whoever was forgotten is left out.
        """
        ...

    async def recover(
        self,
        lease: Lease,
        debate_id: str,
        find: Callable[[tuple[VoteEvent, ...]], Sequence[NewEvent]],
        now: datetime,
        late: bool,
        question: Question = Question.VOTE,
    ) -> int:
        """Append what `find` makes of the log and a reading, at once; return how many events.

        A vote that is cast meanwhile is in the log that `find` sees, or comes after all of it.
        Nothing is appended of somebody who was forgotten, nor taken back.
        """
        ...

    async def deadlines(
        self, platform: str, channel: str | None = None, limit: int | None = None
    ) -> dict[str, datetime]:
        """Return when the open votes of a platform are due, the first due first."""
        ...

    async def stances(self, platform: str, channel: str | None = None) -> dict[str, datetime]:
        """Return when the first stances that are asked for now are due, the first due first."""
        ...

    async def held_in(
        self, platform: str, *, thread: str | None = None, community: str | None = None
    ) -> list[str]:
        """Return the debates that go on in a thread, or in a community."""
        ...

    async def extend(self, lease: Lease, debate_id: str, deadline: datetime, post: Post) -> None:
        """Move a vote's deadline, once."""
        ...

    async def close(
        self,
        lease: Lease,
        debate_id: str,
        now: datetime,
        early: bool,
        conclude: Callable[[tuple[VoteEvent, ...]], Closing],
    ) -> None:
        """Close a vote: store what `conclude` makes of all its logs, and reveal; at once.

        What was held back until then is queued behind the reveal, in the same transaction.
        """
        ...


@dataclass(frozen=True, slots=True)
class ExportFilter:
    """Which debates an export covers; empty: all that have ended.

    `revealed` leaves out those that never named their models, and may still be resumed.
    `since` (later than) and `until` (not later than) go by when a debate was revealed, or was
    asked for where it had no vote. `quorum_met` leaves out whatever people did not decide.
    `ids` are the only debates that are wanted.
    """

    platform: str | None = None
    community: str | None = None
    revealed: bool = False
    formats: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    quorum_met: bool = False
    ids: tuple[str, ...] = ()


class Communities(Protocol):
    """What communities have set, and since when they have Rostrum."""

    async def get(self, platform: str, community: str) -> CommunitySettings:
        """Return a community's settings; nothing is set in one that is not known."""
        ...

    async def change(
        self,
        platform: str,
        community: str,
        make: Callable[[CommunitySettings], CommunitySettings],
        now: datetime,
    ) -> CommunitySettings:
        """Store what `make` makes of a community's settings, at once; what it raises undoes it."""
        ...

    async def joined(self, platform: str, community: str, now: datetime) -> None:
        """Note that a community has Rostrum; one that is known stays as it is."""
        ...

    async def left(self, platform: str, community: str, now: datetime) -> None:
        """Note that a community removed Rostrum, and delete its settings."""
        ...

    async def gone(self, before: datetime) -> list[Left]:
        """Return those that left before a moment, and where no debate runs any more."""
        ...

    async def purge(self, platform: str, community: str) -> int:
        """Delete a community's debates wholly, and what is kept for it; return how many.

        Debates that wait or run stay. People of whom nothing else is stored are deleted too.
        """
        ...


class People(Protocol):
    """Who is behind the surrogate ids, and what they wish; users are the platform's ids."""

    async def traces(self, platform: str, user: str) -> Traces:
        """Return what is stored of a person."""
        ...

    async def forget(self, platform: str, user: str) -> None:
        """Delete who is behind a surrogate id, for good, and store nothing of them any more."""
        ...

    async def opt_out(self, platform: str, user: str) -> None:
        """Leave a person out of exports; whoever was forgotten is in none anyway."""
        ...

    async def opt_in(self, platform: str, user: str, now: datetime) -> None:
        """Undo an opting out; whoever was forgotten comes back, as somebody new."""
        ...

    async def wipe(self) -> bool:
        """Overwrite what was deleted wherever it still lies; False: somebody reads it, try again.

        Does nothing when nothing was deleted since the last time.
        """
        ...


class Archive(Protocol):
    """Finished debates, read beside a running process; used from a worker thread."""

    def reading(self, where: ExportFilter) -> AbstractContextManager[Iterator[DebateRecord]]:
        """Open one consistent view and yield the debates of it, by id."""
        ...

    def newest(self, where: ExportFilter) -> datetime | None:
        """Return the newest moment in the debates, None without any; cheap, so whatever quorum."""
        ...

    def size(self, where: ExportFilter) -> int:
        """Return how many debates there are; cheap, so whatever their quorum."""
        ...


class Store(Protocol):
    """The database, by what is asked of it."""

    @property
    def leases(self) -> Leases:
        """Claims."""
        ...

    @property
    def debates(self) -> Debates:
        """Debates and their states."""
        ...

    @property
    def journal(self) -> Journal:
        """Steps and their results."""
        ...

    @property
    def outbox(self) -> Outbox:
        """Messages on their way."""
        ...

    @property
    def votes(self) -> Votes:
        """The log of votes."""
        ...

    @property
    def people(self) -> People:
        """Who is behind the surrogate ids."""
        ...

    @property
    def communities(self) -> Communities:
        """What communities have set."""
        ...

    @property
    def installs(self) -> Installs:
        """What communities gave that installed Rostrum by themselves."""
        ...

    @property
    def archive(self) -> Archive:
        """Debates that have ended."""
        ...
