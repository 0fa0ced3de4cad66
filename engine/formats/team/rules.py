"""The rule engine of a team debate, and how speeches, seats and teams are counted; pure.

A speech's score is the weighted sum of five criteria, 1–10. A seat's total is the sum of its
speeches and its own penalties, a team's the sum of its seats and the team's penalties; nothing
stops either from falling below 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from engine.debate import Turn, Value
from engine.findings import Adjustment

WEIGHTS = {
    "logic": 0.25,
    "persuasion": 0.25,
    "expression": 0.20,
    "teamwork": 0.15,
    "rule_compliance": 0.15,
}
KINDS = (
    "counter_question",
    "not_direct_answer",
    "attacker_answered",
    "off_topic",
    "scripted_summary",
    "personal_attack",
)
OVERTIME_TEAM, OVERTIME_SEAT, TWICE_TEAM = -3.0, -2.0, -3.0
# What the judge reports and the engine punishes; only in cross-examination.
PUNISHED = {"counter_question": -2.0, "attacker_answered": -2.0}
CROSS = "cross-examination"


class Scored(Value):
    """A speech as the judge saw it; `sheet` is None for one that could not be scored.

    Of several judges `sheet` is the median, and `opinions` holds the sheet of each.
    """

    step: str
    seat: str
    side: str
    sheet: dict[str, float] | None
    violations: tuple[str, ...] = ()
    opinions: tuple[dict[str, float] | None, ...] = ()

    @property
    def round(self) -> str:
        """The round that it was given in, such as `cross-2`."""
        return self.step.split("/")[1]

    @property
    def score(self) -> float | None:
        """The speech's score, 1–10."""
        return None if self.sheet is None else weigh(self.sheet)

    def by(self, judge: int) -> Scored:
        """Return the speech as one of several judges saw it, counted from 0."""
        return self.model_copy(update={"sheet": self.opinions[judge]})


def weigh(sheet: Mapping[str, float]) -> float:
    """Return a speech's score: the weighted sum of its criteria."""
    return sum(weight * sheet[name] for name, weight in WEIGHTS.items())


def overtime(turn: Turn) -> Iterator[Adjustment]:
    """Yield what a speech over its time costs the speaker and the team."""
    if not any(broken.kind == "overtime" for broken in turn.violations):
        return
    reason = f"overtime: {turn.words} words where {turn.limit} were given"
    yield _penalty(turn, "overtime", turn.seat, OVERTIME_SEAT, reason)
    yield _penalty(turn, "overtime-team", turn.side, OVERTIME_TEAM, reason)


def reported(turn: Turn, stage: str, violations: Sequence[str]) -> Iterator[Adjustment]:
    """Yield what the judge's reports cost the speaker; most are only recorded and shown."""
    if stage != CROSS:
        return
    for kind in dict.fromkeys(violations):
        if kind in PUNISHED:
            yield _penalty(turn, kind, turn.seat, PUNISHED[kind], kind)


def twice_running(turns: Sequence[Turn]) -> Iterator[Adjustment]:
    """Yield what it costs a team to speak twice running in the free debate."""
    for before, turn in pairwise(turn for turn in turns if turn.round.startswith("free-")):
        if before.side == turn.side:
            reason = "the same team spoke twice running"
            yield _penalty(turn, "twice", turn.side, TWICE_TEAM, reason)


def _penalty(turn: Turn, name: str, subject: str, amount: float, reason: str) -> Adjustment:
    return Adjustment(
        name=f"rule/{name}/{turn.step}",
        subject=subject,
        side=turn.side,
        amount=amount,
        reason=reason,
        by=turn.step,
    )


def sure_speeches(own: int, other: int, most: int, least: int) -> int:
    """Return how many speeches the team whose turn it is can be sure of in the free debate.

    All are words: what the team and the other one have left, and what a speech has at most and
    costs at least. Nobody running over time is assumed; and as the first team without time ends
    it, the other's clock counts too.
    """

    def full(left: int) -> int:
        return max(0, (left - least) // most + 1)

    return min(full(own), full(other) + 1)


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
    scored = {speech.seat for speech in speeches if speech.sheet is not None}
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
