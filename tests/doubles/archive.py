"""The Archive port over records in memory, and records to put into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.dataset.entry import may_be_read, newest_moment
from engine.store import CallRecord, DebateRecord, ExportFilter, Judging, Note, StandingAnswer
from engine.store.asking import AudienceQuestion
from engine.values.debate import (
    Debate,
    Model,
    PanelSetup,
    Request,
    Setup,
    Status,
    Turn,
    Usage,
    Violation,
)
from engine.values.errors import StoreError
from engine.values.judging import Adjustment, Artifact, Ballot, Score, TurnLabel, Verdict, Vote
from engine.values.ports import Reply
from tests.sample import turn, vote

NOON = datetime(2026, 3, 1, 12, 0, 30, tzinfo=UTC)
MAPLE, BIRCH, ASPEN = (Model.parse(f"rehearsal/{name}") for name in ("maple", "birch", "aspen"))
ROUNDS = ("opening", "closing")


class MemoryArchive:
    """Yields its records by id; `fails_after` breaks a reading off."""

    def __init__(self, *records: DebateRecord, fails_after: int | None = None) -> None:
        self.records = sorted(records, key=lambda record: record.debate.id)
        self._fails_after = fails_after

    @contextmanager
    def reading(self, where: ExportFilter) -> Iterator[Iterator[DebateRecord]]:
        yield self._wanted(where)

    def newest(self, where: ExportFilter) -> datetime | None:
        found = (record.debate for record in self.records if self._has(record.debate, where))
        return max(map(newest_moment, filter(may_be_read, found)), default=None)

    def last_deletion(self) -> str:
        return ""

    def size(self, where: ExportFilter) -> int:
        return sum(self._has(record.debate, where) for record in self.records)

    def ids(self, where: ExportFilter) -> tuple[str, ...]:
        return tuple(r.debate.id for r in self.records if self._has(r.debate, where))

    def _wanted(self, where: ExportFilter) -> Iterator[DebateRecord]:
        for number, record in enumerate(self.records):
            if number == self._fails_after:
                raise StoreError("The database is gone.")
            if self._has(record.debate, where) and _is_decided(record, where):
                yield record

    def _has(self, debate: Debate, where: ExportFilter) -> bool:
        others = (record.debate for record in self.records)
        pair = {debate.id, debate.setup.mirror_of or debate.id}
        goes_on = any(
            not may_be_read(other) and {other.id, other.setup.mirror_of} & pair for other in others
        )
        return _is_wanted(debate, where) and not (where.settled and goes_on)


def _is_wanted(debate: Debate, where: ExportFilter) -> bool:
    request = debate.request
    return (
        where.platform in (None, debate.platform)
        and (debate.revealed_at is not None or not where.revealed)
        and where.community in (None, debate.community)
        and (not where.formats or request.format in where.formats)
        and (not where.languages or request.language in where.languages)
        and (where.since is None or newest_moment(debate) > where.since)
        and (where.until is None or newest_moment(debate) <= where.until)
        and not (where.without_rehearsal and debate.setup.rehearsal)
        and (not where.ids or debate.id in where.ids)
    )


def _is_decided(record: DebateRecord, where: ExportFilter) -> bool:
    gold = sum(vote.gold for vote in record.votes)
    closed = record.debate.revealed_at is not None
    return not where.quorum_met or (closed and gold >= record.debate.request.quorum)


def answers_of(*votes: Vote) -> tuple[StandingAnswer, ...]:
    """Return votes and stances as the store keeps them."""
    return tuple(StandingAnswer(**vote.model_dump(mode="json")) for vote in votes)


def make_label(
    step: str, person: int = 880010, *, up: bool = True, blind: bool = True
) -> TurnLabel:
    """A thumb that somebody gave a turn."""
    return TurnLabel(step=step, person=person, up=up, blind=blind, received_at=NOON)


def real(debate: Debate) -> Debate:
    """The same debate of models that are not rehearsal ones."""
    text = debate.model_dump_json().replace('"backend":"rehearsal"', '"backend":"online"')
    return Debate.model_validate_json(text)


def id_of(number: int) -> str:
    """The id of the debate of that number."""
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
    side, round_name = "AB"[(number - 1) % 2], ROUNDS[(number - 1) // 2]
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


def make_call(
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
        answers=answers_of(*votes),
        labels=tuple(labels),
        calls=tuple([make_call(turn.step) for turn in turns] if calls is None else calls),
        questions=tuple(
            AudienceQuestion(number=n, person=880000 + n, text=text, asked_at=debate.created_at)
            for n, text in enumerate(questions, start=1)
        ),
    )
