"""Results, stored before the next step: calls, turns, ballots and a format's findings."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

import orjson

from engine.store.leases import Lease
from engine.store.outbox import Post
from engine.store.served import EVERYONE, Served
from engine.values.debate import Criterion, Model, Origin, PanelMode, Turn, Value
from engine.values.judging import Adjustment, Artifact, Ballot, Score, Verdict
from engine.values.ports import Attempt, Call, CallRole, ChatMessage, Reply

JUDGING = "judging"  # what the steps of a later judging begin with


class PastDebate(NamedTuple):
    """A closed debate as the fit needs it.

    `human` is the winner by gold votes (a contender or "tie"), None without one; `z` is the
    verdict's, None without a verdict. `criteria` are those of a rubric that is not built
    in. `id` is the debate's, empty for what was judged elsewhere.
    """

    ballots: tuple[Ballot, ...]
    rubric: str = "debate"
    criteria: tuple[Criterion, ...] = ()
    human: str | None = None
    z: float | None = None
    blind: bool = True
    id: str = ""


class Tried(NamedTuple):
    """A try of a call; tokens, `cost` (USD) and `latency` (seconds) are None where unknown.

    Without an answer there is no latency: how long a failure took says nothing of a model.
    """

    step: str
    attempt: int
    model: str
    answered: bool
    tokens_in: int | None
    tokens_cached: int | None
    tokens_out: int | None
    cost: float | None
    latency: float | None


class Failed(NamedTuple):
    """How often a step's calls of a model failed so; `why` has the backend's own words."""

    step: str
    model: str
    why: str
    tries: int


class Step(Value):
    """A step's stored result."""

    reply: Reply
    prompt_hash: str


class Journaled(Value):
    """What the journal holds of a debate: results, and money settled or still unknown.

    `spent` is USD; an attempt of unknown cost counts at its maximum. `unanswered` gives, by step,
    the reason why the script continued without an answer. `asked` is what the audience put to the
    sides, None before its time to ask was over.
    """

    steps: dict[str, Step]
    attempts: dict[str, int]
    spent: float
    unanswered: Mapping[str, str] = {}
    asked: tuple[str, ...] | None = None


class AttemptStart(NamedTuple):
    """One try of a step, stored before it is sent; `cost_max` is USD.

    `cost` is its cost if no response arrives: 0 for a free model, else None.
    """

    debate: str
    step: str
    number: int
    cost_max: float
    role: CallRole = "debater"
    cost: float | None = None
    origin: Origin = Origin.UNKNOWN


class Note(Value):
    """A format's findings beside its turns, stored together or not at all.

    `posts` are queued at once, `held` with the reveal. `verdicts` are those of the
    format's own judges, by judge. `ballots` are of a later jury, with its verdict.
    """

    artifacts: tuple[Artifact, ...] = ()
    scores: tuple[Score, ...] = ()
    adjustments: tuple[Adjustment, ...] = ()
    verdicts: Mapping[str, Verdict] = {}
    ballots: tuple[Ballot, ...] = ()
    posts: tuple[Post, ...] = ()
    held: tuple[Post, ...] = ()


class Judging(Value):
    """A later judging of a debate, `number` from 1; `found` is None until it is complete.

    With a `mode` these are the jurors of another panel, else judges of the format.
    """

    number: int
    judges: tuple[Model, ...]
    mode: PanelMode | None = None
    found: Note | None = None

    @property
    def prefix(self) -> str:
        """What the names of its steps begin with."""
        return f"{JUDGING}/{self.number}/"

    def is_by(self, judges: Sequence[Model], mode: PanelMode | None) -> bool:
        """Whether these judges, or these jurors in that mode, are its own."""
        return ([one.ref for one in self.judges], self.mode) == ([one.ref for one in judges], mode)


def prompt_hash(messages: Sequence[ChatMessage]) -> str:
    """Return the SHA-256 of a prompt's messages, in hexadecimal."""
    body = orjson.dumps([[message.role, message.content] for message in messages])
    return hashlib.sha256(body).hexdigest()


class Journal(Protocol):
    """Results, stored before the next step; a stored step is never called again."""

    async def load(self, debate_id: str) -> Journaled:
        """Return what a debate has so far, its steps in the order in which they began."""

    def began(self, lease: Lease, start: AttemptStart, call: Call) -> Awaitable[None]:
        """Store a try before it is sent. Raises StoppedError if the debate is to stop."""

    def ended(
        self, lease: Lease, start: AttemptStart, attempt: Attempt, reply: Reply | None
    ) -> Awaitable[None]:
        """Store how a try ended, and with a successful one the step's result."""

    def record_turn(self, lease: Lease, debate_id: str, turn: Turn, post: Post) -> Awaitable[None]:
        """Store a turn and its post together; storing it again changes nothing."""

    async def note(self, lease: Lease, debate_id: str, note: Note) -> None:
        """Store a format's findings; storing them again changes nothing."""

    async def record_verdict(
        self,
        lease: Lease,
        debate_id: str,
        verdict: Verdict,
        ballots: Mapping[str, Ballot],
        invitation: Sequence[Post] = (),
        closes_at: datetime | None = None,
    ) -> None:
        """Store the panel's verdict and its ballots by step, sealed until the vote closes.

        An `invitation` to vote is queued with it, and the debate is then `voting`: no vote opens
        without a sealed verdict. A debate that no one watches `closes_at` once instead.
        """

    async def found(self, debate_id: str, kind: str) -> tuple[Artifact, ...]:
        """Return a debate's artifacts of a kind."""

    async def judgings(self, debate_id: str) -> tuple[Judging, ...]:
        """Return a debate's later judgings, also those that are not complete."""

    async def open_judging(
        self,
        lease: Lease,
        debate_id: str,
        judges: Sequence[Model],
        mode: PanelMode | None = None,
    ) -> Judging:
        """Return the judging by these judges, or by these jurors: theirs so far, or a new one."""

    async def close_judging(self, lease: Lease, debate_id: str, number: int, found: Note) -> None:
        """Store what a judging found, once."""

    async def judged(self, debate_id: str) -> tuple[Verdict | None, tuple[Ballot, ...]]:
        """Return a debate's verdict and ballots, for the reveal."""

    async def own_verdict(self, debate_id: str, judge: str) -> Verdict | None:
        """Return the verdict of a format's own judge, who goes by the format's name."""
        ...

    async def turns(self, debate_id: str) -> tuple[Turn, ...]:
        """Return what was said so far, in order."""
        ...

    async def turns_between(self, debate_id: str, first: int, last: int) -> tuple[Turn, ...]:
        """Return the turns with these numbers and those between them, in order."""
        ...

    async def turns_held(self, debate_id: str) -> int:
        """Return how many turns a debate has so far."""

    async def request(self, debate_id: str, step: str, attempt: int) -> str:
        """Return what a try asked, as JSON; empty if it was deleted."""
        ...

    async def newest_turn(self, debate_id: str) -> Turn | None:
        """Return a debate's turn with the highest number, None before the first."""

    async def words_spoken(self, debate_id: str) -> int:
        """Return how many words the turns of a debate have so far."""

    async def cost_origins(self, debate_id: str) -> dict[str, int]:
        """Return the number of a debate's tries by the origin of their cost."""

    async def tries(self, debate_id: str) -> tuple[Tried, ...]:
        """Return every try in the order of an export, without what was asked and answered."""
        ...

    async def failures(self, debate_id: str) -> tuple[Failed, ...]:
        """Return a debate's failed tries, those of a step that failed alike together.

        They are for an operator alone: `why` may hold anything that a backend says.
        """
        ...

    async def spending(self, debate_id: str) -> tuple[int, float | None]:
        """Return how many tries a debate took and their cost in USD, None if unknown."""

    async def thinking(
        self, platform: str, channel: str | None = None, *, served: Served = EVERYONE
    ) -> list[tuple[str, str, str]]:
        """Return (debate, thread, step) of every call in flight for an open thread."""

    async def past(self, limit: int, *, rehearsal: bool) -> list[PastDebate]:
        """Return the ballots of the newest revealed debates of one kind, oldest first."""
