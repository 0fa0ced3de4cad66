"""Samples of every value of a debate, complete: a test names only what it is about."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, TypeVar

from pydantic import BaseModel
from ulid import ULID

from engine.stats.row import JurorBallot, Row
from engine.store import (
    AttemptStart,
    CallRecord,
    Cast,
    DebateRecord,
    ExportFilter,
    Judging,
    Lease,
    NewDebate,
    Note,
    Post,
    Store,
    Target,
)
from engine.store.targets import AudienceQuestion
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
    Usage,
    Violation,
)
from engine.values.limits import Caps
from engine.values.messages import Announcement, Estimate, Notice, Reveal, TurnPost, VoteInvite
from engine.values.ports import Attempt, Call, ChatMessage, Reply
from engine.values.verdicts import (
    Adjustment,
    Artifact,
    Ballot,
    How,
    Question,
    Score,
    Tally,
    TurnLabel,
    Verdict,
    Vote,
    VoteEvent,
    iso,
)

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
D = TypeVar("D", NewDebate, Debate)
T0 = TypeVar("T0")
NOON = NOW + timedelta(seconds=30)
ASPEN = Model.parse("rehearsal/aspen")
_numbers = count(1)


def make(kind: type[T], plain: Mapping[str, Any], given: Mapping[str, Any]) -> T:
    """Return a plain sample of a value, but for what is given."""
    return kind.model_validate({**plain, **given})


def some(value: T0 | None) -> T0:
    """Return a value that has to be there."""
    assert value is not None
    return value


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


def real(debate: D) -> D:
    """Return the same debate of models that are not rehearsal ones."""
    text = debate.model_dump_json().replace('"backend":"rehearsal"', '"backend":"near"')
    return type(debate).model_validate_json(text)


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
    return make(Debate, new.model_dump(exclude={"user", "answer"}) | {"starter": None}, fields)


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
    plain: dict[str, Any] = {
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
    times = {name: iso(at) for name, at in (plain | fields).items() if isinstance(at, datetime)}
    return Vote(**plain | fields | times)


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


def make_call(debate: str = "debate-1", step: str = "turn/opening/A", **fields: Any) -> Call:
    plain: dict[str, Any] = {
        "session": debate,
        "step": step,
        "model": MAPLE,
        "messages": (ChatMessage(role="user", content="Answer in JSON."),),
        "sampling": Sampling(temperature=0.7, max_tokens=500),
    }
    return Call(**plain | fields)


async def create(
    store: Store, new: NewDebate, caps: Caps = NO_CAPS, posts: Sequence[Post] = ()
) -> Debate:
    return (await store.debates.create([(new, posts)], caps))[0]


async def run(store: Store, new: NewDebate | None = None, caps: Caps = NO_CAPS) -> Running:
    """Store a debate and begin to think for it."""
    new = new or new_debate()
    await create(store, new, caps)
    return await begin(store, new.id)


async def begin(store: Store, debate_id: str) -> Running:
    """Begin to think for a stored debate."""
    lease = some(await store.leases.claim(f"debate/{debate_id}", "runner", 9))
    running = Running(store, debate_id, lease)
    await running.advance(Status.RUNNING)
    return running


async def records_of(store: Store, *ids: str) -> dict[str, DebateRecord]:
    """Return all that is kept of debates that have ended, as an export reads it; or of these."""

    def read() -> dict[str, DebateRecord]:
        with store.archive.reading(ExportFilter(ids=ids)) as records:
            return {record.debate.id: record for record in records}

    return await asyncio.to_thread(read)


async def record_of(store: Store, debate: str) -> DebateRecord:
    return (await records_of(store, debate))[debate]


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


# --- what exports and figures read -----------------------------------------------------------


def votes_in(record: DebateRecord, *questions: Question) -> tuple[Vote, ...]:
    """Return the standing answers to questions as votes; without one those of the vote."""
    asked = questions or (Question.VOTE,)
    return tuple(one for question in asked for one in record.asked(question))


def stances_in(record: DebateRecord) -> tuple[Vote, ...]:
    """Return the stances of a record, before the debate and then after it."""
    return votes_in(record, Question.STANCE_BEFORE, Question.STANCE_AFTER)


def make_label(
    step: str, person: int = 880010, *, up: bool = True, blind: bool = True
) -> TurnLabel:
    return TurnLabel(step=step, person=person, up=up, blind=blind, received_at=NOON)


def id_of(number: int) -> str:
    return f"01JCANARY{number:017d}"


def make_debate(
    number: int = 1, status: Status = Status.CLOSED, *, mirror_of: str | None = None, **asked: Any
) -> Debate:
    """A debate of a community; a closed one was revealed `number` hours after noon."""
    request = Request(
        **{"topic": f"Topic {number}", "sides": {"A": MAPLE, "B": BIRCH}, "quorum": 3} | asked
    )
    setup = Setup(
        request=request,
        format_version=1,
        templates="ab" * 32,
        panel=PanelSetup(roster=(ASPEN,)),
        names={"A": "Lagoon", "B": "Meadow"},
        sampling={},
        limits={},
        seed=number,
        ordinal=number,
        mirror_of=mirror_of,
    )
    closed = status is Status.CLOSED
    return Debate(
        id=id_of(number),
        number=number,
        platform="discord",
        community="700000000000000001",
        place="700000000000000002",
        thread="700000000000000003",
        vote_message="700000000000000004",
        starter=880001,
        status=status,
        setup=setup,
        created_at=NOON,
        opened_at=NOON,
        vote_opened_at=NOON if closed else None,
        revealed_at=NOON + timedelta(hours=number) if closed else None,
    )


def make_turn(number: int, text: str = "Because it is so.", **fields: Any) -> Turn:
    """The turn of that number, A and B in turn."""
    side, round_name = "AB"[(number - 1) % 2], ("opening", "closing")[(number - 1) // 2]
    plain: dict[str, Any] = {
        "step": f"turn/{round_name}/{side}",
        "seat": side,
        "side": side,
        "round": round_name,
        "place": (number - 1) % 2 + 1,
        "words": 4,
        "model": "maple-2026",
    }
    return turn(number, text, **plain | fields)


def make_ballot(order: str = "AB", **fields: Any) -> Ballot:
    """A valid ballot for A by the juror Aspen."""
    sheet = {"logic": 7, "evidence": 7, "responsiveness": 7, "honesty": 7}
    plain: dict[str, Any] = {
        "juror": ASPEN.ref,
        "family": ASPEN.family,
        "order": tuple(order),
        "names": {"A": "Lagoon", "B": "Meadow"},
        "valid": True,
        "scores": {"A": sheet, "B": dict.fromkeys(sheet, 5)},
        "verdict": "A",
        "confidence": 0.8,
        "reasons": "Lagoon answered.",
        "raw": '{"verdict": "Lagoon"}',
        "signal": {"A": 1.7, "B": -1.7},
        "weight": 1.0,
        "pos": 0.0,
        "sd": 1.5,
        "prompt_hash": "cd" * 32,
        "model": "aspen-2026",
        "usage": Usage(tokens_in=900, tokens_out=120),
        "cost": 0.0,
        "latency": 1.25,
    }
    return Ballot(**plain | fields)


def make_invalid_ballot() -> Ballot:
    """A ballot whose reply was no ballot."""
    return make_ballot(
        "BA",
        valid=False,
        problem="the answer holds no JSON object",
        scores=None,
        verdict=None,
        confidence=None,
        reasons="",
        raw="I cannot say.",
        signal=None,
        weight=None,
        pos=None,
        sd=None,
    )


def make_vote(person: int, option: str = "A", **fields: Any) -> Vote:
    """A gold vote, unless the fields say otherwise."""
    times = {"first_at": NOON, "last_at": NOON + timedelta(seconds=45)}
    return vote(person, option, **times | fields)


def call_record(
    step: str, *, attempt: int = 1, cost: float | None = 0.25, **reply: Any
) -> CallRecord:
    """A call that was answered; its prompt's hash tells its step."""
    plain: dict[str, Any] = {
        "text": "…",
        "finish": "stop",
        "model": "maple-2026",
        "usage": Usage(tokens_in=300, tokens_out=40),
        "cost": cost,
        "latency": 0.5,
    }
    return CallRecord(
        step=step,
        attempt=attempt,
        reply=Reply(**plain | reply),
        error="",
        cost=cost,
        cost_max=1.0,
        prompt_hash=f"hash of {step}",
        cost_origin="unknown",
    )


def make_findings() -> dict[str, Any]:
    """What a format's own judge found, one of each kind."""
    step = "turn/opening/A"
    docked = Adjustment(
        name="docked/1", subject=step, side="A", criterion="logic", amount=-1, reason="hollow"
    )
    verdicts = {"audited": Verdict(winner="B", valid=1, invalid=0, rubric="audited")}
    scores = (Score(subject=step, side="A", criterion="logic", value=22, original=20),)
    found = Note(scores=scores, verdicts=verdicts)
    return {
        "judgings": (Judging(number=1, judges=(BIRCH,), found=found),),
        "verdicts": verdicts,
        "scores": scores,
        "adjustments": (docked,),
        "artifacts": (Artifact(name="register", kind="register", body={"claims": ["<@1> said"]}),),
    }


def make_record(
    debate: Debate | None = None,
    *,
    turns: Sequence[Turn] | None = None,
    ballots: Sequence[Ballot] | None = None,
    votes: Sequence[Vote] | None = None,
    calls: Sequence[CallRecord] | None = None,
    labels: Sequence[TurnLabel] = (),
    questions: Sequence[str] = (),
) -> DebateRecord:
    """A debate with everything that its status allows: A won with people and jury alike."""
    debate = debate or make_debate()
    closed = debate.status is Status.CLOSED
    if turns is None:
        broken = Violation(kind="too_many_words", measured=512, limit=500)
        turns = [make_turn(n) for n in (1, 2, 3)] + [make_turn(4, violations=(broken,))]
    if ballots is None:
        ballots = [make_ballot(), make_ballot("BA"), make_invalid_ballot()] if closed else []
    if votes is None:
        cast = ["A", "A", "A", "B", "tie"] if closed else []
        votes = [make_vote(880010 + n, option) for n, option in enumerate(cast)]
    verdict = Verdict(
        winner="A", p={"A": 0.8, "B": 0.2}, z=1.5, valid=2, invalid=1, effective_votes=None
    )
    return DebateRecord(
        debate=debate,
        turns=tuple(turns),
        ballots=tuple(ballots),
        **(make_findings() if closed else {}),
        verdict=verdict if closed else None,
        answers=tuple(votes),
        labels=tuple(labels),
        calls=tuple([call_record(turn.step) for turn in turns] if calls is None else calls),
        questions=tuple(
            AudienceQuestion(number=n, person=880000 + n, text=text, asked_at=debate.created_at)
            for n, text in enumerate(questions, start=1)
        ),
    )


def make_row(n: int = 1, people: str | None = "A", jury: str | None = "A", **fields: object) -> Row:
    """A debate between ana (A) and ben (B) whose voters and jurors are of one mind each."""
    plain: dict[str, object] = {
        "topic": f"t{n}",
        "title": f"Topic {n}",
        "language": "en",
        "format": "classic",
        "models": {"A": "near/ana", "B": "near/ben"},
        "families": {"A": "ana", "B": "ben"},
        "people": people,
        "jury": jury,
        "gold": {people: 5} if people else {},
        "p_a": {"A": 0.9, "B": 0.1, "tie": 0.5}.get(jury or ""),
        "closer": "B",
        "blind": True,
        "readings": tuple(juror_ballot(f"near/j{k}", jury or "tie") for k in (1, 2, 3)),
    }
    return Row(**plain | fields)  # type: ignore[arg-type]


def juror_ballot(
    juror: str, verdict: str | None, order: str = "AB", **fields: object
) -> JurorBallot:
    plain = JurorBallot(juror, "kin", tuple(order), audit=False, verdict=verdict, usd=0.25)
    return plain._replace(**fields)  # type: ignore[arg-type]
