"""Questions, the log of what people answer, and what stands at the close."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Protocol, Self

from engine.store.guests import Withheld
from engine.store.leases import Lease
from engine.store.outbox import Post
from engine.store.served import EVERYONE, Served
from engine.values.debate import BallotKind, Value
from engine.values.judging import How, Log, Question, Verdict, Vote, VoteEvent
from engine.values.text import split_variant


@dataclass(frozen=True, slots=True)
class NewEvent:
    """A vote event that is still to be numbered and appended to the log."""

    person: int
    option: str
    added: bool
    how: How = How.RECOVERED
    variant: str = ""
    heard_from: datetime | None = None
    newer_since: datetime | None = None
    account_days: int | None = None


class Silences(Value):
    """When answers to a question can have been missed.

    `read_at` is when the last reading that was complete began, `first_ended` and `last_ended` are
    the ends of the first and the last silence of the platform since.
    """

    read_at: datetime | None = None
    first_ended: datetime | None = None
    last_ended: datetime | None = None


class Asked(NamedTuple):
    """A question of a debate, which is one row; `step` is that of a turn, or a round."""

    debate: str
    question: Question = Question.VOTE
    step: str = ""


class Cast(Value):
    """A reaction or button press as a platform reports it; `event` deduplicates retries.

    `heard_from` is since when everything was told; the days are those of VoteEvent.
    """

    platform: str
    place: str
    message: str
    user: str
    option: str
    added: bool
    variant: str = ""
    how: How = How.LIVE
    event: str | None = None
    given_at: datetime | None = None
    heard_from: datetime | None = None
    received_at: datetime
    account_days: int | None = None
    member_days: int | None = None


Outcome = Literal["stored", "duplicate", "closed", "unknown", "forgotten", "unvoted"]
"""What became of an answer: kept, kept already, too late, or to nothing that was asked.

"forgotten" is of somebody who was forgotten, or who came back after the debate had begun;
"unvoted" of one who has to vote first.
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
    account_days: int | None = None
    member_days: int | None = None


class Pressed(Value):
    """What became of a button; `option` is what its person has chosen now, None for nothing."""

    outcome: Outcome
    option: str | None = None


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


class Remark(Value):
    """What somebody says beside their vote: the reason, how clear it was, or a guess.

    Without a `question` it only asks what they hold. `step` is the side whose model is guessed, and
    `option` then its number on the debate's menu; `ballot` is the debate's.
    """

    debate: str
    ballot: BallotKind
    platform: str
    user: str
    question: Question | None
    step: str = ""
    option: str = ""
    received_at: datetime


class Remarked(Value):
    """What became of a remark, and all that its person holds now; empty for what they do not.

    `option` is the vote, None if it is not known which choice is the last; `guesses` are numbers on
    the menu, by side.
    """

    outcome: Outcome
    option: str | None = None
    ground: str = ""
    confidence: str = ""
    guesses: Mapping[str, str] = {}


class Target(Value):
    """A message whose reactions or buttons mean something; `step` is that of a turn, or a round.

    `closed` says that its answers stay as they are: it was deleted, or its question has `ended`;
    `unread` that this was without a reading. `closes_at` is when its question does, if it has a
    time of its own.
    """

    debate: str
    question: Question
    platform: str
    place: str
    message: str
    ballot: BallotKind
    options: tuple[str, ...]
    step: str = ""
    closed: bool = False
    ended: bool = False
    unread: bool = False
    closes_at: datetime | None = None

    def option_of(self, reaction: str) -> str | None:
        """Return the option that a reaction stands for here, None if it means nothing."""
        option, _ = split_variant(reaction)
        return option if option in self.options else None

    def variant_of(self, reaction: str) -> str:
        """Return what tells a reaction here from others of its option that a person can hold.

        A turn may have several messages, and each may have a person's thumb.
        """
        variant = split_variant(reaction)[1]
        return f"{self.message} {variant}".rstrip() if self.question is Question.TURN else variant


Act = Literal["cleared", "deleted", "archived", "locked", "reopened", "shown", "unseeded", "seeded"]
"""What a moderator does to a message, or to its thread.

"shown": a reaction of a secret ballot stays on the message, as the bot may not take it away.
"unseeded": the bot could not add its own reaction for an option; "seeded": later it could.
"""


class Intervention(Value):
    """What a moderator did to a question's message; `option` is the one cleared, None for all.

    `step` is that of a turn.
    """

    debate: str
    question: Question
    step: str = ""
    act: Act
    option: str | None = None
    at: datetime

    @classmethod
    def on(cls, target: Target, act: Act, at: datetime, option: str | None = None) -> Self:
        """Say what was done to the message of a question."""
        return cls(
            debate=target.debate,
            question=target.question,
            step=target.step,
            act=act,
            option=option,
            at=at,
        )


def unseeded_of(target: Target, interventions: Sequence[Intervention]) -> frozenset[str]:
    """Return the options of a question that never had the bot's own reaction."""
    lacking: set[str] = set()
    for noted in interventions:
        same = (noted.question, noted.step) == (target.question, target.step)
        if same and noted.option is not None:
            if noted.act == "unseeded":
                lacking.add(noted.option)
            elif noted.act == "seeded":
                lacking.discard(noted.option)
    return frozenset(lacking)


class Closing(Value):
    """How a question ends: the standing votes, what to say about it, what stances decided.

    `last` is queued behind what was held back until the reveal; `unread` are the logs whose
    reactions could not be read. `said` is what a person wrote for their turn, and
    `withheld` why something that they wrote is not.
    """

    votes: tuple[Vote, ...] = ()
    posts: tuple[Post, ...] = ()
    last: tuple[Post, ...] = ()
    verdicts: Mapping[str, Verdict] = {}
    unread: frozenset[Log] = frozenset()
    said: str = ""
    withheld: Withheld = ""


class Brought(NamedTuple):
    """A label from another tool for a debate, by a user of it; `vote` has no person yet."""

    debate: str
    user: str
    vote: Vote


Kept = Literal["new", "same", "changed", "forgotten"]
"""What became of a label that was brought."""

Conclude = Callable[[tuple[VoteEvent, ...]], Closing]
"""What a question ends with, given its log; the vote's has every log but those of thumbs."""


def end_plainly(events: tuple[VoteEvent, ...]) -> Closing:
    """Store and say nothing at the end of a question."""
    return Closing()


class Votes(Protocol):
    """The append-only log of votes, and what stands at the close."""

    async def accept(
        self,
        lease: Lease,
        debate_id: str,
        message: str,
        question: Question = Question.VOTE,
        step: str = "",
    ) -> None:
        """Take answers on a posted message from now on; a question's first message stays."""

    async def open(
        self,
        lease: Lease,
        debate_id: str,
        message: str,
        now: datetime,
        closes_at: datetime | None,
        question: Question = Question.VOTE,
        step: str = "",
    ) -> None:
        """Open a question on a delivered message; one that has been opened stays as it is.

        Without `closes_at` it closes with another. Those that were open until then (`KINDS`) are
        due now. A vote and an open one on the debate's mirror close at the later time of both from
        then on.
        """

    async def due(
        self,
        platform: str,
        channel: str | None = None,
        limit: int | None = None,
        *,
        now: datetime | None = None,
        served: Served = EVERYONE,
    ) -> dict[Asked, datetime]:
        """Return when each open question of a platform closes, the first to close first.

        Only those that may close in the state their debate is in (`KINDS`). With `now`, votes that
        wait for the vote on their mirror to open are left out.
        """

    async def extend(self, lease: Lease, debate_id: str, closes_at: datetime, *posts: Post) -> None:
        """Let a vote close later, once; an open vote on its mirror does not close before it."""

    async def ask_to_close(self, debates: Sequence[str], now: datetime) -> None:
        """Note that votes are to close as soon as their reactions can be read.

        They are due from then on, whatever their deadlines, and are not extended.
        """

    async def close(
        self,
        lease: Lease,
        debate_id: str,
        now: datetime,
        early: bool = False,
        conclude: Conclude = end_plainly,
        question: Question = Question.VOTE,
        step: str = "",
    ) -> None:
        """Close a question, once: store what `conclude` makes of its log; at once.

        The vote's close is the reveal, and ends everything that may not be answered after it. What
        was held back until then is queued behind the reveal, in the same transaction. Without posts
        nothing names the models, and the debate's mirror stays unspoiled.
        """

    async def revise(self, revision: Revision) -> Pressed:
        """Keep what somebody answers after the reveal, in place of what they answered before."""

    async def remark(self, remark: Remark) -> Remarked:
        """Keep what somebody says beside their vote while it is open, in place of what they said.

        One who holds no vote is "unvoted", and no trace of them is kept.
        """

    async def bring(self, labels: Sequence[Brought]) -> list[Kept]:
        """Keep labels from other tools as votes of platform `import`, in place of earlier ones.

        One that says the same as before changes nothing. All at once, or none.
        """

    async def revised_by(self, platform: str, user: str, among: Sequence[str]) -> frozenset[str]:
        """Return those of some debates that somebody has answered after the reveal."""

    async def target(self, platform: str, place: str, message: str) -> Target | None:
        """Return what a message asks, None for one that asks nothing."""

    async def seeds_left(
        self, platform: str, channel: str | None = None, *, served: Served = EVERYONE
    ) -> tuple[Target, ...]:
        """Return the messages of closed questions that still carry the bot's own reactions.

        Those of a debate whose reveal is still to be posted are left out.
        """

    async def seeds_gone(self, target: Target) -> None:
        """Note that a message carries none of the bot's own reactions any more."""

    async def places(self, platform: str, message: str) -> tuple[str, ...]:
        """Return where messages of this reference ask something."""

    async def targets(self, debate_id: str, *questions: Question) -> tuple[Target, ...]:
        """Return the messages that ask one of these questions, those of a turn one after another.

        Without questions: all of the debate that ask something, which its turns do not.
        """

    async def cast(self, cast: Cast) -> Outcome:
        """Append an event to the question of a message, in the order of receipt."""

    async def press(self, press: Press) -> Pressed:
        """Choose, or withdraw what was chosen when that is pressed again; at once."""

    async def intervene(self, target: Target, intervention: Intervention) -> None:
        """Note what a moderator did; a message that was deleted takes no more answers.

        A vote on it is to close, unless it is tied to that on a mirror.
        """

    async def interventions(self, debate_id: str) -> tuple[Intervention, ...]:
        """Return what moderators did to a debate's messages, the first first."""

    async def events(
        self, debate_id: str, question: Question | None = None
    ) -> tuple[VoteEvent, ...]:
        """Return a question's log, or those of all but thumbs, in the order of receipt."""

    async def people(self, platform: str, users: Sequence[str]) -> dict[str, int]:
        """Return surrogate ids of platform users, making those that are new.

        Forgotten people are left out.
        """

    async def recover(
        self,
        lease: Lease,
        target: Target,
        find: Callable[[tuple[VoteEvent, ...]], Sequence[NewEvent]],
        now: datetime,
        late: bool,
        *,
        read_at: datetime | None = None,
    ) -> int:
        """Append what `find` makes of the log and a reading, at once; return how many events.

        The log is that of the target's question, or of its turn; `now` is when the reading ended,
        and `read_at` when it began, if it was complete.
        A vote that is cast meanwhile is in the log that `find` sees, or comes after all of it.
        Nothing is appended of somebody who was forgotten, nor taken back.
        """

    async def hear_again(self, platform: str, now: datetime) -> None:
        """Note that what happened until now may not have been told, and is told from now on."""

    async def silences(self, target: Target) -> Silences:
        """Return when answers to a target's question, or its turn, can have been missed."""

    async def held_in(
        self,
        platform: str,
        *,
        thread: str | None = None,
        community: str | None = None,
        channel: str | None = None,
        served: Served = EVERYONE,
    ) -> list[str]:
        """Return the debates that go on in a thread, in a community, or in a channel."""
