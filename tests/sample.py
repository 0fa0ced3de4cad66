"""Samples of every value of a debate, complete: a test names only what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

from pydantic import BaseModel
from ulid import ULID

from engine.store import AttemptStart, Caps, Cast, Lease, NewDebate, Post, Store, Target
from engine.tally.questions import options_of
from engine.values.debate import (
    BallotKind,
    Debate,
    Model,
    PanelSetup,
    Request,
    Sampling,
    Setup,
    Status,
    Turn,
)
from engine.values.judging import Ballot, How, Question, Tally, Verdict, Vote, VoteEvent
from engine.values.messages import Announcement, Estimate, Notice, Reveal, TurnPost, VoteInvite
from engine.values.ports import Attempt, Call, ChatMessage, Reply

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LATER = NOW + timedelta(minutes=30)
NO_CAPS = Caps(
    debate_usd=None, community_daily_usd=None, user_daily_debates=None, max_live_per_community=None
)
MAPLE = Model(backend="rehearsal", name="maple", family="maple")
BIRCH = Model(backend="rehearsal", name="birch", family="birch")
NAMES = {"A": "Alder", "B": "Rowan"}
ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
T = TypeVar("T", bound=BaseModel)
_numbers = count(1)


def make(kind: type[T], plain: Mapping[str, Any], given: Mapping[str, Any]) -> T:
    """Return a plain sample of a value, but for what is given."""
    return kind.model_validate({**plain, **given})


# --- debates -----------------------------------------------------------------------------


def make_setup(*, reserved: float = 0.0, **request: Any) -> Setup:
    """Return the setup of a debate that was asked for in this way."""
    asked = {"topic": "Tea or coffee", "sides": {"A": MAPLE, "B": BIRCH}} | request
    return Setup(
        request=Request.model_validate(asked),
        format_version=1,
        templates="digest",
        panel=PanelSetup(roster=(MAPLE,)),
        names=NAMES,
        sampling={"debater": Sampling(temperature=0.7, max_tokens=100)},
        limits={"opening": 500},
        seed=7,
        ordinal=1,
        reserved_usd=reserved,
    )


def real(new: NewDebate) -> NewDebate:
    """Return the same debate of models that are not rehearsal ones."""
    return NewDebate.model_validate_json(
        new.model_dump_json().replace('"backend":"rehearsal"', '"backend":"near"')
    )


def new_debate(*, reserved: float = 0.0, **fields: Any) -> NewDebate:
    """Return a debate to store; `request` is what was asked for."""
    request = fields.pop("request", {})
    plain = {
        "id": str(ULID()),
        "number": next(_numbers),
        "platform": "chat",
        "community": "club",
        "place": "lobby",
        "user": "user-1",
        "setup": make_setup(reserved=reserved, **request),
        "created_at": NOW,
    }
    return make(NewDebate, plain, fields)


def stored(new: NewDebate, **fields: Any) -> Debate:
    """Return a debate as it is once it is stored."""
    return make(Debate, new.model_dump(exclude={"user"}) | {"starter": None}, fields)


def turn(number: int = 1, text: str = "Tea wakes gently.", **fields: Any) -> Turn:
    plain = {
        "step": f"turn/round{number}/A",
        "seat": "A",
        "side": "A",
        "round": f"round{number}",
        "number": number,
        "place": 1,
        "text": text,
        "words": 3,
        "limit": 500,
        "model": "maple",
    }
    return make(Turn, plain, fields)


# --- judging -----------------------------------------------------------------------------


def ballot(juror: str = "rehearsal/oak", **fields: Any) -> Ballot:
    plain = {
        "juror": juror,
        "family": "oak",
        "order": ("A", "B"),
        "names": NAMES,
        "valid": True,
        "verdict": "A",
    }
    return make(Ballot, plain, fields)


def verdict(winner: str = "A") -> Verdict:
    return Verdict(winner=winner, p={"A": 0.8, "B": 0.2}, z=1.5, valid=2, invalid=0)


def event(number: int, person: int, option: str, **fields: Any) -> VoteEvent:
    """Return what was heard of a vote, as many minutes after noon."""
    plain = {
        "number": number,
        "person": person,
        "option": option,
        "added": True,
        "how": How.LIVE,
        "received_at": NOW + timedelta(minutes=number),
    }
    return make(VoteEvent, plain, fields)


def vote(person: int, option: str = "A", **fields: Any) -> Vote:
    """Return a gold vote."""
    plain = {
        "person": person,
        "option": option,
        "ambiguous": False,
        "gold": True,
        "starter": False,
        "judge_visible": False,
        "late_seen": False,
        "tally_visible": True,
        "votes_seen_before": 0,
        "changes": 0,
        "first_at": NOW,
        "last_at": NOW,
    }
    return make(Vote, plain, fields)


# --- messages ----------------------------------------------------------------------------


def notice(key: str, text: str = "") -> Post:
    return Post(key=key, message=Notice(text=text or key))


def speech(text: str = "Tea wakes gently.", side: str = "A", **fields: Any) -> TurnPost:
    """Return the message of a turn."""
    plain = {
        "side": side,
        "seat": side,
        "round": "opening",
        "number": 1,
        "total": 8,
        "text": text,
        "words": 3,
        "limit": 500,
    }
    return make(TurnPost, plain, fields)


def turn_post(number: int = 1, text: str = "Tea wakes gently.") -> Post:
    return Post(key=f"turn/{number}", message=speech(text, round=f"round{number}", number=number))


def estimate(**fields: Any) -> Estimate:
    plain = {
        "calls": 11,
        "calls_max": 30,
        "tokens_in": 1,
        "tokens_out": 1,
        "minutes": 1,
        "usd": None,
        "usd_max": None,
    }
    return make(Estimate, plain, fields)


def announcement(topic: str = "Tea", **fields: Any) -> Announcement:
    plain = {
        "code": "k7f2qz",
        "topic": topic,
        "format": "classic",
        "language": "en",
        "rounds": ("opening",),
        "contenders": ("A", "B"),
        "jurors": 3,
        "vote_minutes": 30,
        "estimate": estimate(),
    }
    return make(Announcement, plain, fields)


def invitation() -> Post:
    return Post(key="vote", message=VoteInvite(options=("A", "B"), minutes=30, quorum=5))


def reveal(**fields: Any) -> Reveal:
    """Return the reveal of a debate in which nobody voted and no juror could be read."""
    plain = {
        "topic": "Tea",
        "models": {"A": "near/ana", "B": "near/ben"},
        "tally": Tally(counts={}, gold={}, quorum_met=False, winner=None),
        "verdict": Verdict(winner=None, problem="no ballot", valid=0, invalid=0),
        "jurors": (),
        "agree": None,
        "usd": None,
        "calls": 11,
    }
    return make(Reveal, plain, fields)


# --- what the store keeps ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Running:
    """A debate that somebody thinks for, and what every test does to one."""

    store: Store
    id: str
    lease: Lease

    async def call(
        self,
        step: str,
        *,
        number: int = 1,
        cost: float | None = 0.01,
        text: str | None = "An answer.",
        cost_max: float = 0.25,
    ) -> None:
        """Journal one try of a step; without a text, it failed."""
        start = await self.began(step, number=number, cost_max=cost_max)
        reply = None if text is None else Reply(text=text, finish="stop", model="m", cost=cost)
        error = "" if reply else "503"
        attempt = Attempt(number=number, cost=cost, error=error)
        await self.store.journal.ended(self.lease, start, attempt, reply)

    async def began(self, step: str, *, number: int = 1, cost_max: float = 0.25) -> AttemptStart:
        start = make_start(self.id, step, number, cost_max)
        await self.store.journal.began(self.lease, start, make_call(self.id, step))
        return start

    async def advance(self, *statuses: Status, reason: str = "") -> Debate:
        for status in statuses:
            await self.store.debates.advance(self.lease, self.id, status, reason)
        return await self.get()

    async def open_vote(self, message: str = "vote-message") -> None:
        """Bring the debate to an open vote in thread `thread`."""
        await self.store.outbox.set_thread(self.lease, self.id, "thread")
        await self.store.votes.open(self.lease, self.id, message, NOW, LATER)
        await self.advance(Status.VOTING)

    async def get(self) -> Debate:
        return await self.store.debates.get(self.id)


def make_start(
    debate: str, step: str = "turn/opening/A", number: int = 1, cost_max: float = 0.25
) -> AttemptStart:
    return AttemptStart(debate=debate, step=step, number=number, cost_max=cost_max)


def make_call(debate: str, step: str = "turn/opening/A") -> Call:
    return Call(
        session=debate,
        step=step,
        model=MAPLE,
        messages=(ChatMessage(role="user", content="Speak."),),
        sampling=Sampling(temperature=0, max_tokens=100),
    )


async def create(
    store: Store, new: NewDebate, caps: Caps = NO_CAPS, posts: Sequence[Post] = ()
) -> Debate:
    """Store one queued debate."""
    return (await store.debates.create([(new, posts)], caps))[0]


async def run(store: Store, new: NewDebate | None = None, caps: Caps = NO_CAPS) -> Running:
    """Store a debate and begin to think for it."""
    new = new or new_debate()
    await create(store, new, caps)
    return await begin(store, new.id)


async def begin(store: Store, debate_id: str) -> Running:
    """Begin to think for a stored debate."""
    lease = await store.leases.claim(f"debate/{debate_id}", "runner", 9)
    assert lease is not None
    running = Running(store, debate_id, lease)
    await running.advance(Status.RUNNING)
    return running


def asking(debate: str, question: Question = Question.VOTE, step: str = "") -> Target:
    """Return what asks a question in thread `thread`."""
    return Target(
        debate=debate,
        question=question,
        platform="chat",
        place="thread",
        message="vote-message",
        ballot=BallotKind.OPEN,
        options=options_of(question, ("A", "B")),
        step=step,
    )


def cast(user: str = "user-1", option: str = "A", **fields: Any) -> Cast:
    plain = {
        "platform": "chat",
        "place": "thread",
        "message": "vote-message",
        "user": user,
        "option": option,
        "added": True,
        "received_at": NOW,
    }
    return make(Cast, plain, fields)
