"""The rule engine of a team debate, and how speeches, seats and teams are counted; pure.

A speech's score is the weighted sum of five criteria, 1–10. A seat's total is the sum of its
speeches and its own penalties, a team's the sum of its seats and the team's penalties; nothing
stops either from falling below 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from engine.values.debate import Turn, Value
from engine.values.judging import Adjustment

WEIGHTS: Mapping[str, float] = {
    "logic": 0.25,
    "persuasion": 0.25,
    "expression": 0.20,
    "teamwork": 0.15,
    "rule_compliance": 0.15,
}
PENALTIES: Mapping[str, float] = {
    "overtime_team": 3,
    "overtime_seat": 2,
    "twice": 3,
    "counter_question": 2,
    "attacker_answered": 2,
}
KINDS = (
    "counter_question",
    "not_direct_answer",
    "attacker_answered",
    "off_topic",
    "scripted_summary",
    "personal_attack",
)
# What the judge reports and the engine punishes; only in cross-examination.
PUNISHED = ("counter_question", "attacker_answered")
CROSS = "cross-examination"


class Scoring(Value):
    """The relative weight of each criterion, and the points that a breach costs."""

    weights: Mapping[str, float] = WEIGHTS
    penalties: Mapping[str, float] = PENALTIES

    @classmethod
    def of(cls, limits: Mapping[str, float]) -> Scoring:
        """Return the scoring among a debate's limits, `weight_logic` or `penalty_twice`."""
        return cls(
            weights={name: limits.get(f"weight_{name}", value) for name, value in WEIGHTS.items()},
            penalties={name: limits.get(f"penalty_{name}", p) for name, p in PENALTIES.items()},
        )

    def weigh(self, sheet: Mapping[str, float]) -> float:
        """Return a speech's score, 1–10: the weighted mean of its criteria."""
        total = sum(self.weights.values())
        return sum(weight * sheet[name] for name, weight in self.weights.items()) / total


USUAL = Scoring()


class Scored(Value):
    """A speech as the judge saw it; `score` (1–10) is None for one that could not be scored.

    With several judges `score` is that of their median, and `opinions` those of each alone.
    """

    step: str
    seat: str
    side: str
    score: float | None
    violations: tuple[str, ...] = ()
    opinions: tuple[float | None, ...] = ()

    @property
    def round(self) -> str:
        """The round that it was given in, such as `cross-2`."""
        return self.step.split("/")[1]

    def by(self, judge: int) -> Scored:
        """Return the speech as one of several judges saw it, counted from 0."""
        return self.model_copy(update={"score": self.opinions[judge]})


def overtime(turn: Turn, scoring: Scoring = USUAL) -> Iterator[Adjustment]:
    """Yield the penalties of a speech over its time, for speaker and team."""
    over = next((broken for broken in turn.violations if broken.kind == "overtime"), None)
    if over is None:
        return
    # As measured: of a speech that was cut, the turn has only the words that stayed.
    reason = f"overtime: {over.measured:g} words where {over.limit:g} were given"
    yield _penalty(turn, "overtime", turn.seat, scoring.penalties["overtime_seat"], reason)
    yield _penalty(turn, "overtime-team", turn.side, scoring.penalties["overtime_team"], reason)


def reported(
    turn: Turn, stage: str, violations: Sequence[str], scoring: Scoring = USUAL
) -> Iterator[Adjustment]:
    """Yield what the judge's reports cost the speaker; most are only recorded and shown."""
    if stage != CROSS:
        return
    for kind in dict.fromkeys(violations):
        if kind in PUNISHED:
            yield _penalty(turn, kind, turn.seat, scoring.penalties[kind], kind)


def twice_running(turns: Sequence[Turn], scoring: Scoring = USUAL) -> Iterator[Adjustment]:
    """Yield a team's penalty for speaking twice in a row in the free debate."""
    for before, turn in pairwise(turn for turn in turns if turn.round.startswith("free-")):
        if before.side == turn.side:
            reason = "the same team spoke twice running"
            yield _penalty(turn, "twice", turn.side, scoring.penalties["twice"], reason)


def _penalty(turn: Turn, name: str, subject: str, points: float, reason: str) -> Adjustment:
    return Adjustment(
        name=f"rule/{name}/{turn.step}",
        subject=subject,
        side=turn.side,
        amount=-points,
        reason=reason,
        by=turn.step,
    )


class Totals(Value):
    """The count: seats and teams, the mean a speech of each, and the best debater.

    `mean_winner` is who leads by the mean a speech; it is flagged where that is not the winner.
    """

    seats: dict[str, float]
    teams: dict[str, float]
    means: dict[str, float]
    best: str | None

    @property
    def winner(self) -> str:
        """The team with the larger total, or a tie."""
        return _ahead(self.teams)

    @property
    def mean_winner(self) -> str:
        """The team with the larger mean a speech, or a tie."""
        return _ahead(self.means)


def count_up(
    speeches: Sequence[Scored], penalties: Sequence[Adjustment], seats: Sequence[str]
) -> Totals:
    """Count seats and teams."""
    totals = dict.fromkeys(seats, 0.0)
    for speech in speeches:
        totals[speech.seat] += speech.score or 0.0
    for penalty in penalties:
        if penalty.subject in totals:
            totals[penalty.subject] += penalty.amount
    teams = {side: sum(totals[seat] for seat in seats if seat[0] == side) for side in "AB"}
    for penalty in penalties:
        if penalty.subject in teams:
            teams[penalty.subject] += penalty.amount
    means = {subject: _mean(speeches, penalties, subject) for subject in (*seats, "A", "B")}
    scored = {speech.seat for speech in speeches if speech.score is not None}
    best = min(scored, key=lambda seat: (-round(totals[seat], 9), seat)) if scored else None
    return Totals(seats=totals, teams=teams, means=means, best=best)


def _mean(speeches: Sequence[Scored], penalties: Sequence[Adjustment], subject: str) -> float:
    """Return the mean a speech of a seat or a team, what it lost spread over its speeches."""
    own = (speech.score for speech in speeches if speech.seat.startswith(subject))
    scores = [score for score in own if score is not None]
    lost = sum(penalty.amount for penalty in penalties if penalty.subject.startswith(subject))
    return fmean(scores) + lost / len(scores) if scores else 0.0


def _ahead(counted: Mapping[str, float]) -> str:
    if abs(counted["A"] - counted["B"]) < 1e-9:
        return "tie"
    return max("AB", key=lambda side: counted[side])
